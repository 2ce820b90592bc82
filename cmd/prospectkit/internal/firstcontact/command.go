package firstcontact

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/service"
	"example.com/prospectkit/event"
	"example.com/prospectkit/internal/shapes"
)

const help = `It only reads. It changes nothing, spends no credits and sends no message. It shows
names and types of fields, never the content of your lists, nobody's name or address,
and never your key. You can forward what it prints.

` + service.Variables + `
  prospectkit check                     say what differs from the documentation
  prospectkit check -dry-run            list the requests, and send none; needs no key
  prospectkit check -o shapes.json      also keep what was seen, for your programs
  prospectkit check -compare old.json   say what is different since you kept old.json
`

const helpEnd = `
The exit status is 0 if everything held, 3 if something differs, and 2 if the check
could not run, or was stopped: then it reports what it has found so far. With -compare,
only what is different since then counts.
`

// New returns the command.
func New() cli.Command {
	c := &command{routes: map[string]string{}}
	return cli.Command{
		Name: "check", Summary: "ask the service what it is like, before your programs depend on it", Help: help, HelpEnd: helpEnd,
		Flags: c.flags, Run: c.run,
	}
}

type command struct {
	service.Access

	dryRun, json, verbose bool
	output, compare       string
	routes                map[string]string
}

func (c *command) flags(set *flag.FlagSet) {
	c.Flags(set)
	set.BoolVar(&c.dryRun, "dry-run", false, "list the requests, and send none")
	set.BoolVar(&c.json, "json", false, "write the report as JSON, for programs")
	set.BoolVar(&c.verbose, "v", false, "also name what held, and what cannot be checked")
	set.StringVar(&c.output, "o", "", "keep what was seen in this `file`")
	set.StringVar(&c.compare, "compare", "", "say what is different since this `file` was written by -o")
	set.Func("route", "ask an `OPERATION` at another path, as in -route 'hubs.pages=GET /the/path/{hubId}'", func(text string) error {
		name, route, ok := strings.Cut(text, "=")
		c.routes[name] = route
		if !ok {
			return errors.New("must be OPERATION=GET PATH")
		}
		return nil
	})
}

func (c *command) run(ctx context.Context, std cli.Std, _ []string) (int, error) {
	if c.dryRun {
		return cli.OK, DryRun(std.Out, c.routes)
	}
	var older *shapes.File
	if c.compare != "" { // which is read before anything is sent
		var err error
		if older, err = parse(c.compare); err != nil {
			return 0, fmt.Errorf("-compare: %w", err)
		}
	}
	if err := c.replaceable(); err != nil {
		return 0, err
	}
	baseURL, token, err := c.Credentials(std)
	if err != nil {
		return 0, err
	}
	ctx, cancel := c.Bounded(ctx)
	defer cancel()
	run, err := Start(Config{
		BaseURL: baseURL, Token: token, Transport: NewTransport(), Routes: c.routes,
		Options: []prospectkit.ClientOption{prospectkit.WithObserver(c.Observe)},
		Waits:   func(d time.Duration) { c.Observe(ctx, prospectkit.Event{Kind: event.KindWait, Wait: d}) },
	})
	if err != nil {
		return 0, service.Explain(err)
	}
	stop := cli.Progress(std.Err, func() string { return fmt.Sprintf("%d of about %d requests%s", run.Sent(), run.Planned(), c.Waiting()) })
	ended := run.Ask(ctx)
	stop()
	if ended != nil && (ctx.Err() == nil || !run.Found()) {
		return 0, service.Explain(ended)
	}
	same, err := c.write(run, older, std.Out)
	if err = cmp.Or(service.Explain(ended), err); err != nil || same {
		return cli.OK, err
	}
	return cli.Differs, nil
}

// write writes the report, and the file.
func (c *command) write(run *Run, older *shapes.File, stdout io.Writer) (same bool, err error) {
	report, file := run.Report(older)
	if c.json {
		err = cli.WriteJSON(stdout, report)
	} else {
		err = report.WriteText(stdout, c.verbose)
	}
	if err = cmp.Or(err, c.replaceable()); err == nil && c.output != "" {
		err = os.WriteFile(c.output, file.Encode(), 0o600)
	}
	return report.Same(), err
}

// replaceable returns an error if the file to write has a content that this command has not written.
func (c *command) replaceable() error {
	if info, err := os.Stat(c.output); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil //nolint:nilerr // there is nothing to lose; whether it can be written shows later
	}
	if _, err := parse(c.output); err != nil {
		return fmt.Errorf("%s is no report of this command, so it stays as it is: choose another name, or delete it (%w)", c.output, err)
	}
	return nil
}

func parse(file string) (*shapes.File, error) {
	data, err := os.ReadFile(file) //nolint:gosec // G304: the user names the file
	if err != nil {
		return nil, err
	}
	return shapes.Parse(data)
}
