// Command flips changes one cell of the decision table of retries at a time, and demands that a test fails:
//
//	go run ./internal/cmd/flips
//
// It builds the tests of the client once, with a copy of call_retry.go in which the environment chooses the cell, and the step in
// its place. With -conditions, it does the same with each condition that chooses the row. The test that repeats the table, and
// the test that holds testdata/retry.json against it, do not count: the behavior has to give the change away.
//
// Flips that change nothing a caller could see are listed in instrument.go, with the reason. They are left out.
//
// With -few, each cell gets one other step.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

const (
	source   = "call_retry.go"
	variable = "PROSPECTKIT_FLIP"
	rooms    = "internal/tests"
	uncalled = "^(TestRetry_DecisionTable|TestRetryData|TestRetryDocs_.*)$" // they know the table
)

func main() {
	log.SetFlags(0)
	few := flag.Bool("few", false, "only one other step for each cell")
	conditions := flag.Bool("conditions", false, "also the conditions that choose the row")
	only := flag.String("only", "", "only flips whose text matches a regular `expression`")
	jobs := flag.Int("jobs", runtime.GOMAXPROCS(0), "`number` of tests at a time")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err != nil || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, kinds{*few, *conditions}, wanted, max(1, *jobs)); err != nil {
		log.Fatal(err)
	}
}

// run prints each flip and what caught it. It fails if one survives.
func run(out io.Writer, which kinds, wanted *regexp.Regexp, jobs int) error {
	scratch, err := os.MkdirTemp("", "flips")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	code, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	changed, flips, err := instrument(source, code)
	if err != nil {
		return err
	}
	stages, err := build(scratch, changed)
	if err != nil {
		return err
	}
	flips = choose(flips, which, wanted)
	caught, survivors := catch(out, stages, flips, jobs)
	if len(survivors) > 0 {
		return fmt.Errorf("flipped %d, caught %d; no test fails after:\n%s", len(flips), caught, strings.Join(survivors, "\n"))
	}
	_, err = fmt.Fprintf(out, "flipped %d = caught %d\n", len(flips), caught)
	return err
}

// kinds are the kinds of flips to try.
type kinds struct{ few, conditions bool }

// choose keeps the wanted flips; of few, the first of each cell.
func choose(flips []flip, which kinds, wanted *regexp.Regexp) (chosen []flip) {
	seen := map[string]bool{}
	for _, f := range flips {
		if alike.MatchString(f.text) || !wanted.MatchString(f.text) || !f.cell && !which.conditions || f.cell && which.few && seen[f.place] {
			continue
		}
		seen[f.place] = true
		chosen = append(chosen, f)
	}
	return chosen
}

// catch runs the tests for each flip until one fails, and prints them in order.
func catch(out io.Writer, stages []stage, flips []flip, jobs int) (caught int, survivors []string) {
	by, slots := make([]chan string, len(flips)), make(chan struct{}, jobs)
	for i, f := range flips {
		by[i] = make(chan string, 1)
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			by[i] <- caughtBy(stages, f)
		}()
	}
	for i, f := range flips {
		name := <-by[i]
		if name == "" {
			survivors = append(survivors, f.text)
			fmt.Fprintf(out, "%s: SURVIVED\n", f.text)
			continue
		}
		caught++
		fmt.Fprintf(out, "%s: caught by %s\n", f.text, name)
	}
	return caught, survivors
}

func caughtBy(stages []stage, f flip) string {
	for _, s := range stages {
		s.sound()
		if name, _ := s.failure(f.place + "=" + f.value); name != "" {
			return name
		}
	}
	return ""
}

// stage is a part of the tests of a package, as a program.
type stage struct {
	program, dir, tests string
	sound               func() // ends the command if the tests fail without a flip: else everything would be caught
}

// only is the stage with some of its tests.
func (s stage) only(tests string) stage {
	s.tests = tests
	return s
}

// build makes the stages, the fastest first.
func build(scratch string, changed map[string][]byte) ([]stage, error) {
	overlay, err := writeOverlay(scratch, changed)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", scratch+"/", ".", "./"+rooms+"/...") //nolint:gosec // packages of ours
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	root := stage{program: scratch + "/prospectkit.test", dir: "."}
	in := func(room string) stage {
		return stage{program: scratch + "/" + path.Base(room) + ".test", dir: room}
	}
	stages := []stage{
		root.only("^TestRetry_AttemptsPerResponse$"), root.only("^TestRetry_"), in(rooms + "/call").only("^TestRetry_"), in(rooms).only("^TestRetry"),
		root.only("^Test"),
	}
	for _, subject := range []string{"call", "errors", "options", "outcome", "pages", "services"} {
		stages = append(stages, in(rooms+"/"+subject).only("^Test"))
	}
	stages = append(stages, in(rooms).only("^Test"))
	for i := range stages {
		stages[i].sound = sync.OnceFunc(func() {
			if by, output := stages[i].failure(""); by != "" {
				log.Fatalf("%s fails without a flip:\n%s", by, output)
			}
		})
	}
	return stages, nil
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// failure runs the tests with a flip. It returns the name of the test that fails, if one does, and the output.
func (s stage) failure(flip string) (test, output string) {
	cmd := exec.CommandContext(context.Background(), s.program, "-test.short", "-test.failfast", "-test.timeout=2m", "-test.run", s.tests, "-test.skip", uncalled) //nolint:gosec // our own program
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), variable+"="+flip)
	text, err := cmd.CombinedOutput()
	if err == nil {
		return "", ""
	}
	names := failed.FindAllStringSubmatch(string(text), -1)
	if len(names) == 0 {
		return "a crash", string(text)
	}
	name := names[0][1] // with -failfast, a subtest follows its parent
	if len(names) > 1 && strings.HasPrefix(names[1][1], name+"/") {
		name = names[1][1]
	}
	return name, string(text)
}
