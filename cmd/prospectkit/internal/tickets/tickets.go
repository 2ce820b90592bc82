// Package tickets has the commands that show and settle what a crash left in doubt, over a journal file. See docs/safety.md.
package tickets

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
)

const (
	patience = 10 * time.Second // for the program that has the journal open
	pause    = 100 * time.Millisecond
)

const helpEnd = `
Run it as the user whose program writes the journal: its file then still belongs to that user.
`

// New returns the commands, with options for the client of resolve.
func New(opts ...prospectkit.ClientOption) []cli.Command {
	return []cli.Command{newInDoubt(), newResolve(opts), newSettle()}
}

// file is the journal of a command.
type file struct{ path, workspace string }

func (f *file) flags(flags *flag.FlagSet) {
	flags.StringVar(&f.path, "journal", "", "the journal `file` of the program")
}

// settles are the flags of a command that settles tickets.
func (f *file) settles(flags *flag.FlagSet) {
	f.flags(flags)
	flags.StringVar(&f.workspace, "workspace", "", "the `name` of the workspace to which the journal belongs, as in-doubt shows it")
}

// there reports whether there is a journal: a mistyped path must not make one.
func (f *file) there() error {
	if f.path == "" {
		return cli.Usage("-journal is missing: say which file")
	}
	_, err := os.Stat(f.path)
	return err
}

// entries reads the journal without its lock, and passes each entry on.
func (f *file) entries(ctx context.Context, std cli.Std, each func(journal.Entry)) error {
	if err := f.there(); err != nil {
		return err
	}
	stop := cli.Progress(std.Err, func() string { return "reading the journal" })
	defer stop()
	for e, err := range journal.Read(f.path) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		each(e)
	}
	return nil
}

// open opens the journal, and waits for the program that has it open.
func (f *file) open(ctx context.Context, std cli.Std) (*journal.FileJournal, error) {
	if err := f.there(); err != nil {
		return nil, err
	}
	if f.workspace == "" {
		return nil, cli.Usage("-workspace is missing: say to which one the journal belongs")
	}
	stop := cli.Progress(std.Err, func() string { return "waiting for the program that has the journal open" })
	defer stop()
	for end := time.Now().Add(patience); ; {
		j, err := journal.Open(f.path, f.workspace)
		switch {
		case !errors.Is(err, journal.ErrLocked):
			return j, err
		case time.Now().After(end):
			return nil, fmt.Errorf("a program has %s open, and still had it after %s: stop it, or let it settle its tickets itself", f.path, patience)
		}
		if waits.Sleep(ctx, pause) != nil {
			return nil, errors.New("stopped")
		}
	}
}

// unsettled are the tickets in doubt, or the one with an id.
func unsettled(ctx context.Context, j journal.Journal, ids ...string) (all []journal.Ticket, err error) {
	for t, err := range j.InDoubt(ctx) {
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 || t.ID == ids[0] {
			all = append(all, t)
		}
	}
	return all, nil
}

// notInDoubt says why a ticket cannot be settled.
func (f *file) notInDoubt(ctx context.Context, std cli.Std, id string) (settled string, err error) {
	err = f.entries(ctx, std, func(e journal.Entry) {
		if e.Ticket.ID == id && e.Outcome != journal.Unknown {
			settled = fmt.Sprintf("%s is settled as %s since %s", cli.Printable(id), e.Outcome, at(e.Ended))
			if e.ResultID != "" {
				settled += ", and made " + cli.Printable(e.ResultID)
			}
			if e.By != "" {
				settled += fmt.Sprintf(", by %s: %s", cli.Printable(e.By), cli.Printable(e.Because))
			}
		}
	})
	if err == nil && settled == "" {
		err = fmt.Errorf("%s has no ticket %s", f.path, cli.Printable(id))
	}
	return settled, err
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// subject is what the call was about.
func subject(t journal.Ticket) string {
	var parts, ids []string
	for _, id := range t.IDs {
		ids = append(ids, cli.Delimited(id))
	}
	if len(ids) > 0 {
		parts = append(parts, strings.Join(ids, " "))
	}
	for _, part := range [][2]string{
		{"name ", t.Lookup.Name},
		{"kind ", t.Lookup.Kind},
		{"folder ", t.Lookup.FolderID},
		{"key ", t.Once},
		{"by ", t.Actor},
	} {
		if part[1] != "" {
			parts = append(parts, part[0]+cli.Delimited(part[1]))
		}
	}
	return strings.Join(parts, ", ")
}

// reserved is what to say about the credits of a call that was settled here: its spend guard is not.
func reserved(t journal.Ticket) string {
	if o, ok := op.ByName(t.Op); ok && !o.Spends.Possible() {
		return ""
	}
	return "  If the program has a spend guard, the reservation of this ID still counts: guard.Commit or guard.Release ends it.\n"
}
