package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit-check/internal/firstcontact"
	"example.com/prospectkit/event"
	"example.com/prospectkit/internal/shapes"
	"example.com/prospectkit/internal/termline"
)

// Exit codes.
const (
	exitHeld    = 0
	exitFailure = 2
	exitDiffers = 3
)

const usage = `prospectkit-check asks the service what it is like, before your programs depend on it.

It only reads. It changes nothing, spends no credits and sends no message. It shows
names and types of fields, never the content of your lists, nobody's name or address,
and never your key. You can forward what it prints.

Before you start, set two variables:

  export PROSPECTKIT_BASE_URL=https://.../api/v1   the address of the service
  export PROSPECTKIT_TOKEN=...                     an API key

Usage:

  prospectkit-check                     say what differs from the documentation
  prospectkit-check -dry-run            list the requests, and send none; needs no key
  prospectkit-check -o shapes.json      also keep what was seen, for your programs
  prospectkit-check -compare old.json   say what is different since you kept old.json

Flags:
`

const usageEnd = `
The exit status is 0 if everything held, 3 if something differs, and 2 if the check
could not run, or was stopped: then it reports what it has found so far. With -compare,
only what is different since then counts.
`

type flags struct {
	dryRun, json, verbose bool
	output, compare       string
	timeout               time.Duration
	routes                map[string]string
}

func parse(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{routes: map[string]string{}}
	set := flag.NewFlagSet("prospectkit-check", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.BoolVar(&f.dryRun, "dry-run", false, "list the requests, and send none")
	set.BoolVar(&f.json, "json", false, "write the report as JSON, for programs")
	set.BoolVar(&f.verbose, "v", false, "also name what held")
	set.StringVar(&f.output, "o", "", "keep what was seen in this `file`")
	set.StringVar(&f.compare, "compare", "", "say what is different since this `file` was written by -o")
	set.DurationVar(&f.timeout, "timeout", 10*time.Minute, "stop after this time, and report what was found so far; most of it is waiting for rate limits")
	set.Func("route", "ask an `OPERATION` at another path, as in -route 'hubs.pages=GET /the/path/{hubId}'", func(text string) error {
		name, route, ok := strings.Cut(text, "=")
		f.routes[name] = route
		if !ok {
			return errors.New("must be OPERATION=GET PATH")
		}
		return nil
	})
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stderr, usage)
		set.SetOutput(stderr)
		set.PrintDefaults()
		fmt.Fprint(stderr, usageEnd)
		return nil, err
	case err != nil:
		return nil, err
	case set.NArg() > 0:
		return nil, fmt.Errorf("%q is not expected", set.Arg(0))
	case f.timeout <= 0:
		return nil, errors.New("-timeout must be positive")
	}
	return f, nil
}

// run is the command.
func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	f, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitHeld
	}
	complain := func(err error) int {
		fmt.Fprintf(stderr, "prospectkit-check: %v\n", err)
		return exitFailure
	}
	if err != nil {
		return complain(fmt.Errorf("%w (-help shows the flags)", err))
	}
	if f.dryRun {
		if err := firstcontact.DryRun(stdout); err != nil {
			return complain(err)
		}
		return exitHeld
	}
	same, err := f.check(ctx, env, stdout, stderr)
	switch {
	case err != nil:
		return complain(err)
	case !same:
		return exitDiffers
	}
	return exitHeld
}

func (f *flags) check(ctx context.Context, env func(string) string, stdout, stderr io.Writer) (same bool, err error) {
	older, err := f.older()
	if err != nil {
		return false, err
	}
	baseURL, token := strings.TrimSpace(env(prospectkit.EnvBaseURL)), strings.TrimSpace(env(prospectkit.EnvToken))
	switch {
	case baseURL == "":
		return false, fmt.Errorf("the variable %s is not set: it is the address of the service, which ends in /api/v1", prospectkit.EnvBaseURL)
	case token == "":
		return false, fmt.Errorf("the variable %s is not set: it is an API key, from the key management of the app", prospectkit.EnvToken)
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	var wait waiting
	run, err := firstcontact.Start(firstcontact.Config{
		BaseURL: baseURL, Token: token, Transport: firstcontact.NewTransport(), Routes: f.routes,
		Options: []prospectkit.ClientOption{prospectkit.WithObserver(wait.observe)},
	})
	if err != nil {
		if _, cause, ok := strings.Cut(err.Error(), "refused locally: "); ok {
			err = errors.New(strings.ReplaceAll(cause, "base URL ", prospectkit.EnvBaseURL+" "))
		}
		return false, err
	}
	stop := termline.Show(stderr, func() string { return fmt.Sprintf("%d of about %d requests%s", run.Sent(), run.Planned(), &wait) })
	ended := run.Ask(ctx)
	stop()
	switch {
	case ended == nil:
	case errors.Is(ended, context.DeadlineExceeded):
		ended = fmt.Errorf("the check did not end within %s: -timeout gives it more", f.timeout)
	case errors.Is(ended, context.Canceled):
		ended = errors.New("the check was stopped before its end")
	default:
		return false, ended
	}
	if ended != nil && !run.Found() {
		return false, ended
	}
	same, err = f.write(run, older, stdout)
	return same, cmp.Or(ended, err)
}

// write writes the report, and the file.
func (f *flags) write(run *firstcontact.Run, older *shapes.File, stdout io.Writer) (same bool, err error) {
	report, file := run.Report(older)
	if f.json {
		err = report.WriteJSON(stdout)
	} else {
		err = report.WriteText(stdout, f.verbose)
	}
	if err == nil && f.output != "" {
		err = os.WriteFile(f.output, file.Encode(), 0o600) //nolint:gosec // the user names the file
	}
	return report.Same(), err
}

// older reads the file to compare with, before anything is sent.
func (f *flags) older() (*shapes.File, error) {
	if f.compare == "" {
		return nil, nil //nolint:nilnil // there is nothing to compare with
	}
	data, err := os.ReadFile(f.compare) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	older, err := shapes.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.compare, err)
	}
	return older, nil
}

// waiting is until when the check waits for a rate limit.
type waiting struct{ until atomic.Int64 }

func (w *waiting) observe(_ context.Context, e prospectkit.Event) {
	if e.Kind == event.KindWait {
		w.until.Store(time.Now().Add(e.Wait).Unix())
	}
}

// String is empty unless it waits.
func (w *waiting) String() string {
	if left := w.until.Load() - time.Now().Unix(); left > 0 {
		return fmt.Sprintf(", waiting %ds for the rate limit", left)
	}
	return ""
}
