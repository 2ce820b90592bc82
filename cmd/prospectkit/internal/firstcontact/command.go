package firstcontact

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/service"
	network "example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

const help = `It only reads. It changes nothing, spends no credits and sends no message. It shows
names and types of fields, never the content of your lists, nobody's name or address,
and never your key. You can forward what it prints.

` + service.Variables + `
  prospectkit check         say what differs from the documentation
  prospectkit check -write  also make up to six empty lists, which stay, and measure
                            what the client takes for granted about writes
`

const helpEnd = `
The exit status is 0 if nothing differs, 3 if something does, and 2 if the check
could not run, or was stopped: then it reports what it has found so far.
`

// New returns the command.
func New() cli.Command {
	c := &command{}
	return cli.Command{
		Name: "check", Summary: "ask the service what it is like, before your programs depend on it", Help: help, HelpEnd: helpEnd,
		Flags: c.flags, Run: c.run,
	}
}

type command struct {
	service.Access

	json, write bool
}

func (c *command) flags(set *flag.FlagSet) {
	c.Flags(set)
	set.BoolVar(&c.json, "json", false, "write the report as JSON: the same for two runs that meet the same")
	set.BoolVar(&c.write, "write", false, "also make up to six lists, and measure")
}

func (c *command) run(ctx context.Context, std cli.Std, _ []string) (int, error) {
	baseURL, token, err := c.Credentials(std)
	if err != nil {
		return 0, err
	}
	ctx, cancel := c.Bounded(ctx)
	defer cancel()
	run, err := Start(baseURL, token, NewTransport())
	if err != nil {
		return 0, err
	}
	stop := cli.Progress(std.Err, func() string { return fmt.Sprintf("%d of about %d requests", run.Sent(), len(plan)) })
	ended := run.Ask(ctx)
	var made []string
	if c.write && ended == nil {
		keeps := network.NewTransport()
		keeps.IdleConnTimeout = 0 // a server may close it, this program does not
		defer keeps.CloseIdleConnections()
		made, ended = run.Write(ctx, keeps)
	}
	stop()
	if !run.found {
		return 0, service.Explain(ended)
	}
	report := run.Report()
	if c.json {
		fmt.Fprint(std.Err, left(made))
		err = cli.WriteJSON(std.Out, report)
	} else {
		err = report.WriteText(std.Out, run.Sent(), made)
	}
	if err = cmp.Or(service.Explain(ended), err); err != nil || len(report.Differs) == 0 {
		return cli.OK, err
	}
	return cli.Differs, nil
}

// left says which lists stay.
func left(made []string) string {
	if len(made) == 0 {
		return ""
	}
	return fmt.Sprintf("Left behind, and only to be deleted in the app: up to %s, %q.\n", redact.Plural(len(made), "list"), made)
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer, sent int, made []string) error {
	var b strings.Builder
	what := cmp.Or(left(made), "All were GET: nothing was changed and nothing was spent.\n")
	fmt.Fprintf(&b, "%d requests were sent. %s\nDiffers from what is documented or assumed: %d\n", sent, what, len(r.Differs))
	for _, d := range r.Differs {
		basis := "documented"
		if o, ok := op.ByName(d.Operation); ok && o.Shape != op.Typed { // what differs from the rest was assumed
			basis = choose(o.Shape == op.Raw, "assumed", "in part")
		}
		fmt.Fprintf(&b, "  %-26s %-10s  %-6s  %s\n", d.Operation, basis, d.What, d.Detail)
	}
	fmt.Fprintf(&b, "\nCould not tell: %d\n", len(r.Untold))
	for _, u := range r.Untold {
		fmt.Fprintf(&b, "  %-26s %s%s\n", u.Operation, u.Why, u.Looked)
	}
	for i, l := range r.Learnt {
		if i == 0 {
			b.WriteString("\nWhat the client takes for granted about writes\n")
		}
		fmt.Fprintf(&b, "  %-42s %s%s\n  %42s   %s: %s\n", l.About, l.Found, l.Measured, "", choose(l.Fits, "fits", "DOES NOT FIT"), l.Code)
	}
	b.WriteString("\nNot checked: what spends credits or sends messages, whether a window is shorter than documented, and what needs several keys or\na full rate limit.\n")
	_, err := io.WriteString(w, b.String())
	return err
}
