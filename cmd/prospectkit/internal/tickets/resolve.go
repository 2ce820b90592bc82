package tickets

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/service"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/journal"
)

const resolveHelp = `Reads from the service whether the calls of a journal that are in doubt have happened, or one of them, and settles those for which
that is certain. It only reads: it sends no call again, changes nothing and spends no credits. It waits up to ten seconds for a
program that has the journal open.

` + service.Variables + `
Use a key of the workspace of the journal: in another one, what the call made is not there. Run it soon after the call: later, somebody may have undone it, so that nothing is certain if it does not show. Each ticket takes up to 40 s, and 140 s
if the call was about an agent.
`

type resolve struct {
	file
	service.Access

	opts []prospectkit.ClientOption
}

func newResolve(opts []prospectkit.ClientOption) cli.Command {
	c := &resolve{opts: opts}
	return cli.Command{
		Name: "resolve", Args: "[TICKET]", Summary: "read whether calls in doubt have happened, and settle what is certain", Help: resolveHelp, HelpEnd: helpEnd,
		Flags: func(flags *flag.FlagSet) {
			c.settles(flags)
			c.Flags(flags)
		},
		Run: c.run,
	}
}

func (c *resolve) run(ctx context.Context, std cli.Std, args []string) (status int, err error) {
	baseURL, token, err := c.Credentials(std)
	if err != nil {
		return 0, err
	}
	j, err := c.open(ctx, std)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	client, err := c.Client(baseURL, token, append([]prospectkit.ClientOption{prospectkit.WithJournal(j)}, c.opts...)...)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	asked, err := unsettled(ctx, j, args...)
	if err != nil {
		return 0, err
	}
	if len(asked) == 0 {
		return cli.OK, c.nothing(ctx, std, args)
	}
	ctx, cancel := c.Bounded(ctx)
	defer cancel()
	return c.each(ctx, std, client, asked)
}

// nothing says that nothing is in doubt. It is an error if there is no such ticket.
func (c *resolve) nothing(ctx context.Context, std cli.Std, args []string) error {
	text := "Nothing is in doubt."
	if len(args) > 0 {
		var err error
		if text, err = c.notInDoubt(ctx, std, args[0]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(std.Out, text)
	return err
}

// each resolves tickets, and goes on after the failure of one unless the next would fail likewise.
func (c *resolve) each(ctx context.Context, std cli.Std, client *prospectkit.Client, tickets []journal.Ticket) (status int, err error) {
	own := map[string]bool{}
	for t, err := range client.InDoubt(ctx) {
		if err != nil {
			return 0, err
		}
		own[t.ID] = true
	}
	for i, t := range tickets {
		id := cli.Printable(t.ID)
		stop := cli.Progress(std.Err, func() string {
			return fmt.Sprintf("%s: %d of %s, %s%s", id, i+1, redact.Plural(len(tickets), "ticket"), c.Requests(), c.Waiting())
		})
		settled, text, failed := c.one(ctx, client, t, own[t.ID])
		stop()
		if !settled && failed == nil {
			failed = ctx.Err() // it was stopped before it was certain
		}
		if failed != nil {
			failed = fmt.Errorf("%s %s: %w", id, cli.Printable(t.Op), service.Explain(failed))
			err = errors.Join(err, failed)
			if !passes(failed) {
				return 0, err
			}
			continue
		}
		if !settled {
			status = cli.InDoubt
		}
		if settled {
			text += strings.TrimSuffix("\n"+reserved(t), "\n")
		}
		if _, failed := fmt.Fprintf(std.Out, "%s  %s  %s\n  %s\n", id, cli.Printable(t.Op), at(t.LastSent), text); failed != nil {
			return 0, errors.Join(err, failed)
		}
	}
	return status, err
}

// one resolves one ticket, if it is the client's own.
func (c *resolve) one(ctx context.Context, client *prospectkit.Client, t journal.Ticket, own bool) (settled bool, text string, err error) {
	if !own {
		return false, "still in doubt: not asked, because it is a call to another service: " + cli.Printable(t.Service), nil
	}
	r, err := client.Resolve(ctx, t)
	switch {
	case err != nil:
		return false, "", err
	case r.Outcome != prospectkit.OutcomeUnknown:
		return true, fmt.Sprintf("%s: %s. Settled.", r.Outcome, r.Note), nil
	case !r.Again.IsZero():
		return false, fmt.Sprintf("%s: %s. Still in doubt: resolve it again after %s.", r.Outcome, r.Note, at(r.Again)), nil
	}
	return false, fmt.Sprintf("%s: %s. Still in doubt: look yourself, and settle it.", r.Outcome, r.Note), nil
}

// passes reports whether another ticket may be resolved although one could not: that cannot be read, being of a later version, or the service
// has rejected the read.
func passes(err error) bool {
	refused, local := errors.AsType[*prospectkit.RefusedError](err)
	e, ok := errors.AsType[*prospectkit.Error](err)
	return local && refused.Rule == "" || ok && e.Status >= 400 && e.Status < 500 && e.Status != http.StatusUnauthorized && e.Status != http.StatusTooManyRequests
}
