// Command compare runs prospectkit and its peers against one local server, on the same bytes, each in its own process, and
// writes what they cost to docs/benchmarks.md. See README.md of the module.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"time"
)

// The roles of a process that this command starts from its own binary.
const (
	serverRole = "COMPARE_SERVER"
	clientRole = "COMPARE_CLIENT" // holds the job
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run() error {
	if done, err := playRole(); done {
		return err
	}
	o := options{log: os.Stderr}
	only := flag.String("works", "", "only works whose id matches this expression, such as ^W3")
	among := flag.String("contenders", "", "only contenders whose name matches this expression")
	toolchains := flag.String("go", supported, "toolchains to build the contenders with, local for the one of this command")
	out := flag.String("out", "", "the file to write (default ../docs/benchmarks.md for a whole run, else standard output)")
	flag.IntVar(&o.rounds, "rounds", 3, "measurements of each; the median counts")
	flag.Float64Var(&o.scale, "scale", 1, "part of the full size")
	flag.Parse()
	var err error
	if o.works, err = regexp.Compile(*only); err != nil {
		return err
	}
	if o.contenders, err = regexp.Compile(*among); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "compare")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := o.choose(ctx, *toolchains); err != nil {
		return err
	}
	if err := o.build(ctx, dir); err != nil {
		return err
	}
	t, err := o.compare(ctx)
	if err != nil {
		return err
	}
	if *out == "" && *only == "" && *among == "" && *toolchains == supported && o.scale == 1 {
		*out = "../docs/benchmarks.md"
	}
	if *out == "" {
		_, err := os.Stdout.WriteString(t.report())
		return err
	}
	return os.WriteFile(*out, []byte(t.report()), 0o644) //nolint:gosec // a document
}

// playRole does the work of a process that another one has started.
func playRole() (done bool, err error) {
	if os.Getenv(serverRole) != "" {
		return true, serve()
	}
	if text := os.Getenv(clientRole); text != "" {
		return true, obey(text)
	}
	return false, nil
}

type options struct {
	rounds     int
	scale      float64
	works      *regexp.Regexp
	contenders *regexp.Regexp
	log        io.Writer
	gos        []string          // versions
	binaries   map[string]string // by version and tag; one that is not there is this binary
}

// compare measures everything, round by round, so that a slow minute of the machine meets all contenders alike; the order
// changes with each round.
func (o *options) compare(ctx context.Context) (*table, error) {
	server, stop, err := startServer(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	before := readMachineTime()
	t := &table{options: o, began: time.Now(), results: make(map[cell][]result)}
	for round := range o.rounds {
		for _, w := range works() {
			if !o.works.MatchString(w.id) || w.once && round > 0 {
				continue
			}
			fmt.Fprintf(o.log, "%s round %d, %s: %s\n", time.Since(t.began).Round(time.Second), round+1, w.id, w.title)
			for turn := range max(1, w.turns) {
				for i := range o.gos { // the first of one turn is the last of the next
					version := o.gos[(i+round+turn)%len(o.gos)]
					if err := t.measure(ctx, server, version, &w, round+turn); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	t.took = time.Since(t.began)
	stop() // what it has used is known when it has ended
	t.others = readMachineTime().othersSince(before)
	return t, nil
}

// measure lets all contenders do a work, in an order that changes with the turn.
func (t *table) measure(ctx context.Context, server, version string, w *work, turn int) error {
	all := contenders()
	if w.packed && len(t.results[cell{version, w.id, all[0].name}]) == 0 {
		if _, err := t.start(ctx, server, version, w, &all[0]); err != nil { // has the server compress its pages
			return err
		}
	}
	for i := range all {
		c := &all[(i*(1+turn%2*(len(all)-2))+turn*3)%len(all)] // forwards, then backwards, from another one each time
		if !w.has(c) || !t.takes(c, version) {
			continue
		}
		r, err := t.start(ctx, server, version, w, c)
		if err != nil {
			return err
		}
		t.add(cell{version, w.id, c.name}, r)
	}
	return t.agree(w)
}

func (t *table) start(ctx context.Context, server, version string, w *work, c *contender) (result, error) {
	r, err := job{Server: server, Work: w.id, Contender: c.name, N: w.size(t.scale)}.start(ctx, t.binary(version, c))
	if err != nil {
		return r, fmt.Errorf("%s, %s, %s: %w", version, w.id, c.name, err)
	}
	if r.Go != version {
		return r, fmt.Errorf("%s was built with %s instead of %s", c.name, r.Go, version)
	}
	return r, nil
}

// inRole prepares a process of a binary, or of this one, in another role.
func inRole(ctx context.Context, binary, role, value string) (*exec.Cmd, error) {
	if binary == "" {
		var err error
		if binary, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, binary)
	cmd.Env = append(os.Environ(), role+"="+value)
	return cmd, nil
}

func startServer(ctx context.Context) (address string, stop func(), err error) {
	cmd, err := inRole(ctx, "", serverRole, "1")
	if err != nil {
		return "", nil, err
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = sync.OnceFunc(func() {
		_ = in.Close() // it ends by that
		_ = cmd.Wait()
	})
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the server did not start: %w", err)
	}
	return strings.TrimSpace(address), stop, nil
}

// start does a job in a new process.
func (j job) start(ctx context.Context, binary string) (result, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd, err := inRole(ctx, binary, clientRole, string(text))
	if err != nil {
		return result{}, err
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return result{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(complaint.String()))
	}
	var r result
	return r, json.Unmarshal(out, &r)
}

type cell struct{ version, work, contender string }

// table is what was measured.
type table struct {
	*options

	began   time.Time
	others  float64 // the part of the machine that other programs had
	took    time.Duration
	results map[cell][]result
}

func (t *table) add(c cell, r result) { t.results[c] = append(t.results[c], r) }

// agree checks that all contenders have decoded the same values, with every version of Go.
func (t *table) agree(w *work) error {
	var first *result
	all := contenders()
	for _, v := range t.views() {
		for i := range all {
			rs := v.of(w, all[i].name)
			if len(rs) == 0 || all[i].floor {
				continue
			}
			last := &rs[len(rs)-1]
			if first == nil {
				first = last
			}
			if last.N != first.N || last.Sum != first.Sum || last.All != first.All {
				return fmt.Errorf("%s, %s: %s has read other values than the others", v.version, w.id, all[i].name)
			}
			if last.N == 0 {
				return errors.New(w.id + ": nothing was read")
			}
		}
	}
	return nil
}
