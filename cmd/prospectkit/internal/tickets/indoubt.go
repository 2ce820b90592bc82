package tickets

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/journal"
)

const inDoubtHelp = `Lists the calls of a journal whose outcome is unknown: they were sent, and may have happened. It works beside a running program,
and changes nothing. Calls that the program is making right now are among them.
`

type inDoubt struct {
	file

	json bool
}

func newInDoubt() cli.Command {
	c := &inDoubt{}
	return cli.Command{
		Name: "in-doubt", Summary: "list the calls of a journal whose outcome is unknown", Help: inDoubtHelp,
		Flags: func(flags *flag.FlagSet) {
			c.flags(flags)
			flags.BoolVar(&c.json, "json", false, "write one JSON object, for programs")
		},
		Run: c.run,
	}
}

// doubt is a call in doubt.
type doubt struct {
	Ticket journal.Ticket `json:"ticket"`
	Ended  time.Time      `json:"ended,omitzero"`
	Known  string         `json:"known"`
	Tells  string         `json:"tells,omitempty"` // what shows the outcome
	Next   string         `json:"next"`            // resolve or settle
}

func (c *inDoubt) run(ctx context.Context, std cli.Std, _ []string) (int, error) {
	all := []doubt{}
	err := c.entries(ctx, std, func(e journal.Entry) {
		if e.Outcome == journal.Unknown {
			all = append(all, doubtOf(e))
		}
	})
	slices.SortStableFunc(all, func(a, b doubt) int { return a.Ticket.FirstSent.Compare(b.Ticket.FirstSent) })
	var out strings.Builder
	switch {
	case err != nil && len(all) == 0:
		return 0, err
	case c.json:
		err = errors.Join(err, cli.WriteJSON(&out, map[string]any{"inDoubt": all}))
	default:
		c.text(&out, all)
	}
	_, failed := fmt.Fprint(std.Out, out.String())
	if err = errors.Join(err, failed); err != nil || len(all) == 0 {
		return cli.OK, err
	}
	return cli.InDoubt, nil
}

func (c *inDoubt) text(out *strings.Builder, all []doubt) {
	if len(all) == 0 {
		fmt.Fprintln(out, "Nothing is in doubt.")
		return
	}
	fmt.Fprintf(out, "In doubt: %s.\n", redact.Plural(len(all), "call"))
	for _, d := range all {
		id := cli.Quoted(cli.Printable(d.Ticket.ID)) // a word of the commands below
		if strings.HasPrefix(d.Ticket.ID, "-") {
			id = "-- " + id // and no flag of theirs
		}
		fmt.Fprintf(out, "\n%s  %s  %s\n", cli.Delimited(d.Ticket.ID), cli.Delimited(d.Ticket.Op), at(d.Ticket.LastSent))
		if about := subject(d.Ticket); about != "" {
			fmt.Fprintf(out, "  call:  %s\n", about)
		}
		fmt.Fprintf(out, "  known: %s\n", d.Known)
		over := "-journal " + cli.Quoted(c.path) + " -workspace " + cli.Quoted(cli.Printable(d.Ticket.Workspace))
		if d.Next == "resolve" {
			fmt.Fprintf(out, "  next:  prospectkit resolve %s %s\n", id, over)
			continue
		}
		fmt.Fprintf(out, "  look:  %s\n  next:  prospectkit settle %s applied|not-applied -by NAME -because TEXT %s\n", d.Tells, id, over)
	}
}

func doubtOf(e journal.Entry) doubt {
	d := doubt{Ticket: e.Ticket, Ended: e.Ended, Known: "no outcome was noted: the program was killed, or is still making the call", Next: "resolve"}
	if !e.Ended.IsZero() {
		d.Known = "it ended " + at(e.Ended) + ", and no response proved its outcome"
	}
	if d.Tells = unreadable(e.Ticket); d.Tells != "" {
		d.Next = "settle"
	}
	return d
}

// unreadable says why no read shows the outcome of a call. It is empty if one may, and for a version that only resolve refuses.
func unreadable(t journal.Ticket) string {
	switch o, known := op.ByName(t.Op); {
	case t.Version < 1 || t.Version > journal.Version:
		return ""
	case !known:
		return "the operation is not in the catalogue"
	case !o.Resolves:
		return o.Verify
	}
	return ""
}
