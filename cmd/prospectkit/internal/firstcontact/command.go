package firstcontact

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/service"
)

const help = `It only reads. It changes nothing, spends no credits and sends no message. It shows
names and types of fields, never the content of your lists, nobody's name or address,
and never your key. You can forward what it prints.

` + service.Variables + `
  prospectkit check            say what differs from the documentation
  prospectkit check -dry-run   list the requests, and send none; needs no key
`

const helpEnd = `
The exit status is 0 if everything held, 3 if something differs, and 2 if the check
could not run, or was stopped: then it reports what it has found so far.
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
	routes                map[string]string
}

func (c *command) flags(set *flag.FlagSet) {
	c.Flags(set)
	set.BoolVar(&c.dryRun, "dry-run", false, "list the requests, and send none")
	set.BoolVar(&c.json, "json", false, "write the report as JSON, for programs")
	set.BoolVar(&c.verbose, "v", false, "also name what held, and what cannot be checked")
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
	baseURL, token, err := c.Credentials(std)
	if err != nil {
		return 0, err
	}
	ctx, cancel := c.Bounded(ctx)
	defer cancel()
	run, err := Start(Config{
		BaseURL: baseURL, Token: token, Transport: NewTransport(), Routes: c.routes,
		Options: []prospectkit.ClientOption{prospectkit.WithObserver(c.Observe)},
		Waits:   func(d time.Duration) { c.Observe(ctx, prospectkit.Event{Kind: prospectkit.EventWait, Wait: d}) },
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
	report := run.Report()
	if c.json {
		err = cli.WriteJSON(std.Out, report)
	} else {
		err = report.WriteText(std.Out, c.verbose)
	}
	if err = cmp.Or(service.Explain(ended), err); err != nil || report.Differ == 0 {
		return cli.OK, err
	}
	return cli.Differs, nil
}
