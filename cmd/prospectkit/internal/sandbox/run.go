// Package sandbox is the command that serves the sandbox to programs in any language.
package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/faultspec"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

const help = `Runs a double of the Prospecting and Outreach Business API on a port of this machine, for programs in any
language and for curl. It prints the two variables to export. Everything but the API is under /_sandbox/.
`

const helpEnd = `
The paths of agents.pause, campaigns.preview-step and contacts.timeline are undocumented. Serve them at the paths that your program
uses, with their parameters: agentId, campaignId and stepId, contactId. For example

  -route 'agents.pause=POST /path/to/{agentId}/pause'

A fault is OPERATION:WHEN:WHAT, for example

  -fault lists.rows:nth=3:status=429:code=RATE_LIMITED:retry-after=2
  -fault lists.create:nth=2:drop-after

` + faultspec.Help

// config is the command line.
type config struct {
	addr, seed, clock string
	allowRemote       bool
	json, assumptions bool
	credits           int64            // negative is as seeded
	options           []sandbox.Option // of -limits and -route
	faults            []string
}

// New returns the command.
func New() cli.Command {
	var cfg config
	return cli.Command{
		Name: "sandbox", Summary: "serve a double of the service on a port of this machine", Help: help, HelpEnd: helpEnd, Flags: cfg.flags,
		Run: func(ctx context.Context, std cli.Std, _ []string) (int, error) { return cli.OK, cfg.run(ctx, std) },
	}
}

func (cfg *config) flags(flags *flag.FlagSet) {
	flags.StringVar(&cfg.addr, "addr", "127.0.0.1:0", "`address` to listen on; port 0 takes a free one")
	flags.BoolVar(&cfg.allowRemote, "allow-remote", false, "allow an -addr that other machines can reach, and accept every host name")
	flags.StringVar(&cfg.seed, "seed", "small", "the initial state, `small|large:N|empty|FILE`: N rows, or a file of JSON, as GET /_sandbox/state returns it")
	flags.StringVar(&cfg.clock, "clock", "real", "`real|manual|xN`: moved by you, or N times as fast")
	flags.Func("limits", "rate limits, `on|off`; off raises them to a million a minute (default on)", func(s string) error {
		if s == "off" {
			cfg.options = append(cfg.options, sandbox.NoLimits())
		} else if s != "on" {
			return errors.New("on or off")
		}
		return nil
	})
	flags.Func("route", "where to serve an operation with an undocumented path, `OPERATION=METHOD PATH`; may be repeated", func(s string) error {
		operation, route, _ := strings.Cut(s, "=")
		cfg.options = append(cfg.options, sandbox.WithRoute(operation, route))
		return nil
	})
	flags.Int64Var(&cfg.credits, "credits", -1, "credits of every workspace; negative leaves them as seeded")
	flags.Func("fault", "inject a `fault`, see below; may be repeated", func(spec string) error {
		cfg.faults = append(cfg.faults, spec)
		return nil // it is read later, because a -route may follow
	})
	flags.BoolVar(&cfg.assumptions, "assumptions", false, "print what the sandbox assumes, because it is undocumented, and end")
	flags.BoolVar(&cfg.json, "json", false, "print one JSON object instead of text")
}

// run returns when the context ends.
func (cfg *config) run(ctx context.Context, std cli.Std) error {
	if cfg.assumptions {
		_, err := io.WriteString(std.Out, sandbox.Assumptions())
		return err
	}
	host, _, err := net.SplitHostPort(cfg.addr)
	switch {
	case err != nil:
		return cli.Usage("-addr: %w", err)
	case !check.IsLoopback(host) && !cfg.allowRemote:
		return cli.Usage("-addr %s: other machines could reach the sandbox; if that is meant, add -allow-remote", cfg.addr)
	}
	made := make(chan func() error, 1)
	go func() { // many rows take a while
		h, err := newHost(*cfg)
		made <- func() error {
			if err != nil {
				return err
			}
			return h.serve(ctx, std)
		}
	}()
	select {
	case serve := <-made:
		return serve()
	case <-ctx.Done():
		return errors.New("stopped")
	}
}

// load reads the initial state.
func (cfg *config) load() (state sandbox.State, err error) {
	kind, count, counted := strings.Cut(cfg.seed, ":")
	switch {
	case cfg.seed == "small":
		return fixture.Small(1), nil
	case cfg.seed == "empty":
		return fixture.Empty(), nil
	case kind == "large" && counted:
		const most = 1_000_000
		rows, err := strconv.Atoi(count)
		if err != nil || rows < 0 || rows > most {
			return state, fmt.Errorf("-seed %s: rows have to be a number from 0 to %d", cfg.seed, most)
		}
		return fixture.Large(1, rows), nil
	}
	text, err := os.ReadFile(cfg.seed)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%q is neither small, large:N, empty nor a file", cfg.seed)
	}
	if err == nil {
		err = decode(bytes.NewReader(text), &state)
	}
	if err == nil {
		err = state.Validate()
	}
	if err != nil {
		err = fmt.Errorf("-seed: %w", err)
	}
	return state, err
}

// decode reads one JSON value. An unknown field is an error, and so is anything after the value.
func decode(r io.Reader, into any) error {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil && !errors.Is(dec.Decode(new(any)), io.EOF) {
		err = errors.New("something follows the JSON value")
	}
	return err
}

func clockOf(name string) (sandbox.Clock, error) {
	n, err := strconv.ParseFloat(strings.TrimPrefix(name, "x"), 64)
	switch {
	case name == "real":
		return sandbox.RealClock(), nil
	case name == "manual":
		return sandbox.NewManualClock(time.Now().UTC().Truncate(time.Second)), nil
	case err == nil && n > 0 && n <= 1e6:
		return sandbox.NewScaledClock(n), nil
	}
	return nil, fmt.Errorf("-clock %s: real, manual or a factor such as x60, at most a million", name)
}

// serve listens until the context ends, then waits for calls in flight, and reports faults that never fired.
func (h *host) serve(ctx context.Context, std cli.Std) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", h.cfg.addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h.routes(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(std.Err, "prospectkit sandbox: ", 0)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	addr := listener.Addr().String()
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() { // which no client can reach
		addr = fmt.Sprintf("127.0.0.1:%d", tcp.Port)
	}
	if err := h.announce(std.Out, "http://"+addr); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if server.Shutdown(end) != nil {
			err = server.Close() // a call hangs, perhaps on a fault: not an error
		}
	}
	for _, given := range h.current.Load().faults {
		if h.current.Load().Hits(given.fault) == 0 {
			fmt.Fprintln(std.Err, "a fault never fired:", given.spec)
		}
	}
	return err
}

// announce prints how to reach the sandbox at root, and with -json what there is, without the rows.
func (h *host) announce(stdout io.Writer, root string) error {
	box := h.current.Load()
	all, lines := box.Snapshot().Workspaces, ""
	for _, ws := range all {
		for i, l := range ws.Lists {
			if ws.Lists[i].Rows = nil; ws.Name == all[0].Name && !l.System {
				lines += fmt.Sprintf("list %s  %-11s %7d rows  %s\n", l.ID, l.EntityType, len(l.Rows), cli.Printable(l.Name))
			}
		}
	}
	base, token, control := root+"/api/v1", box.Token(), root+controlPath
	if h.cfg.json {
		return cli.WriteJSON(stdout, announcement{base, token, control, all[0], all[1:]})
	}
	_, err := fmt.Fprintf(stdout, `The sandbox is running (seed %s, clock %s). Ctrl-C stops it.

export PROSPECTKIT_BASE_URL=%s
export PROSPECTKIT_TOKEN=%s

%s
Try it:
  curl -u %s '%s'
  curl %sjournal

Agents and campaigns take time: the first run of an agent ends after five minutes. With -clock x60 a minute takes a second.
`, cli.Printable(h.cfg.seed), h.cfg.clock, cli.Quoted(base), cli.Quoted(token), lines, cli.Quoted(token+":"), base+op.ListsList.Path, control)
	return err
}

// announcement is what -json prints, for programs that start the command.
type announcement struct {
	BaseURL    string `json:"baseURL"`
	Token      string `json:"token"`
	ControlURL string `json:"controlURL"`
	sandbox.Workspace

	Others []sandbox.Workspace `json:"otherWorkspaces"`
}
