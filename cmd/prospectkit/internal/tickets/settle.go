package tickets

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/journal"
)

const settleHelp = `Notes the outcome of a call that you have looked up yourself, such as in a CRM, with your name and the reason. The program then knows it
as if a response had said so: what was applied is not sent again, and what was not may be. Look first: this cannot be changed later.
It asks no service. It waits up to ten seconds for a program that has the journal open.
`

type settle struct {
	file

	by, because string
}

func newSettle() cli.Command {
	c := &settle{}
	return cli.Command{
		Name: "settle", Args: "TICKET applied|not-applied", Summary: "note the outcome of a call that you have looked up yourself", Help: settleHelp, HelpEnd: helpEnd,
		Flags: func(flags *flag.FlagSet) {
			c.settles(flags)
			flags.StringVar(&c.by, "by", "", "your `name`")
			flags.StringVar(&c.because, "because", "", "`text` that says how you know it")
		},
		Run: c.run,
	}
}

func (c *settle) run(ctx context.Context, std cli.Std, args []string) (status int, err error) {
	outcome, ok := map[string]journal.Outcome{"applied": journal.Applied, "not-applied": journal.NotApplied}[args[1]]
	by, because := strings.TrimSpace(c.by), strings.TrimSpace(c.because)
	switch {
	case !ok:
		return 0, cli.Usage("%q is neither applied nor not-applied", args[1])
	case by == "":
		return 0, cli.Usage("-by is missing: say who you are")
	case because == "":
		return 0, cli.Usage("-because is missing: say how you know it")
	}
	j, err := c.open(ctx, std)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	id := args[0]
	asked, err := unsettled(ctx, j, id)
	if err != nil {
		return 0, err
	}
	if len(asked) == 0 {
		settled, err := c.notInDoubt(ctx, std, id)
		if err == nil {
			err = errors.New(settled)
		}
		return 0, err
	}
	if err := j.Settle(ctx, id, journal.Settlement{Outcome: outcome, By: by, Because: because}); err != nil {
		return 0, err
	}
	_, err = fmt.Fprintf(std.Out, "%s  %s: %s, by %s: %s\n%s", cli.Printable(id), cli.Printable(asked[0].Op), outcome, cli.Printable(by), cli.Printable(because), reserved(asked[0]))
	return cli.OK, err
}
