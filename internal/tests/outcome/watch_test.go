package outcome_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// A program that seems to hang can be asked why: an observer is told of every pause, also of those in which a call looks for what another has done.
func TestEveryPauseIsAnnounced(t *testing.T) {
	watcher := prospectkit.WebMonitor{ListName: "News", EntityType: prospectkit.MonitorPeople, Prompt: "Who moves in 2026?", MaxCreditSpend: 1000}
	for name, c := range map[string]struct {
		lost    string
		fault   sandbox.FaultOption
		options []sandbox.Option
		run     func(*prospectkit.Client, *journal.MemoryJournal) error
		atLeast time.Duration
	}{
		"a start that is looked for": {lost: "agents.activate", fault: sandbox.DropBefore(), atLeast: time.Minute, run: func(c *prospectkit.Client, _ *journal.MemoryJournal) error {
			return tests.Discard(c.Agents.CreateAndStart(context.Background(), watcher))
		}},
		"a list that shows late": {
			lost: "lists.create", fault: sandbox.DropAfter(), options: []sandbox.Option{sandbox.HideFor(5 * time.Second)}, atLeast: 5 * time.Second,
			run: func(c *prospectkit.Client, _ *journal.MemoryJournal) error {
				return tests.Discard(c.Lists.Ensure(context.Background(), prospectkit.NewList{Name: "Q1"}))
			},
		},
		"a ticket": {lost: "lists.create", fault: sandbox.DropBefore(), atLeast: 40 * time.Second, run: func(c *prospectkit.Client, j *journal.MemoryJournal) error {
			_, err := c.Lists.Create(context.Background(), prospectkit.NewList{Name: "Q1"})
			if prospectkit.OutcomeOf(err) != prospectkit.OutcomeUnknown {
				return err
			}
			_, err = c.Resolve(context.Background(), j.Entries()[0].Ticket)
			return err
		}},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			sb := sandbox.New(t, append(c.options, sandbox.Credits(5000))...)
			sb.Fail(c.lost, sandbox.Nth(1), c.fault)
			var announced time.Duration
			j := new(journal.MemoryJournal)
			client := tests.SandboxClient(t, sb, prospectkit.WithJournal(j), tests.Watch(func(e prospectkit.Event) {
				if e.Kind == prospectkit.EventWait {
					require.NotEmpty(t, e.Reason)
					announced += e.Wait
				}
			}))
			began := time.Now()
			require.NoError(t, c.run(client, j))
			require.GreaterOrEqual(t, time.Since(began), c.atLeast, "nothing was waited for")
			require.Equal(t, time.Since(began), announced)
		})
	}
}
