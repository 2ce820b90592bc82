package outcome_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

const spring = "f00000000000000000000001"

// undone are calls whose response is lost, how a teammate undoes them, and what is left to say.
var undone = map[string]struct {
	op   string
	call lostCall
	undo func(tx *sandbox.Tx, sb *sandbox.Sandbox)
	note string
	gone bool // what the ticket names by its id, which proves nothing
}{
	"a list that is renamed": {"lists.create", create, func(tx *sandbox.Tx, sb *sandbox.Sandbox) {
		tx.Put("lists", sandbox.Row{"id": listNamed(sb, "Q1"), "name": "Quarter"})
	}, "undone", false},
	"a list that is deleted": {"lists.create", create, func(tx *sandbox.Tx, sb *sandbox.Sandbox) { tx.Delete("lists", listNamed(sb, "Q1")) }, "undone", false},
	"one of the other kind instead": {"lists.create", create, func(tx *sandbox.Tx, sb *sandbox.Sandbox) {
		tx.Delete("lists", listNamed(sb, "Q1"))
		tx.CreateList(sandbox.List{Name: "Q1", EntityType: sandbox.CompanyList})
	}, "a list of the other kind holds the name", false},
	"a list that is moved on": {"lists.move", moveToSpring, func(tx *sandbox.Tx, _ *sandbox.Sandbox) {
		tx.Put("lists", sandbox.Row{"id": "a00000000000000000000001", "folderId": ""})
	}, "undone", false},
	"a moved list that is deleted":    {"lists.move", moveToSpring, func(tx *sandbox.Tx, _ *sandbox.Sandbox) { tx.Delete("lists", "a00000000000000000000001") }, "deleted", true},
	"a started agent that is deleted": {"agents.activate", activateOne, func(tx *sandbox.Tx, _ *sandbox.Sandbox) { tx.Delete("agents", tests.AgentID) }, "deleted", true},
	"an agent that is deleted":        {"agents.create-web-monitor", createStarted, func(tx *sandbox.Tx, sb *sandbox.Sandbox) { tx.Delete("agents", sb.Agents()[0].ID) }, "undone", false},
	"one that is made again, as a draft": {"agents.create-web-monitor", createStarted, func(tx *sandbox.Tx, sb *sandbox.Sandbox) {
		tx.Delete("agents", sb.Agents()[0].ID)
		tx.CreateAgent(sandbox.Agent{Name: "Funding", Type: sandbox.WebMonitor, Status: "initializing"})
	}, "is a draft", false},
	"one of another kind instead": {"agents.create-web-monitor", createStarted, func(tx *sandbox.Tx, sb *sandbox.Sandbox) {
		tx.Delete("agents", sb.Agents()[0].ID)
		tx.CreateAgent(sandbox.Agent{Name: "Funding", Type: sandbox.PersonDiscovery, Status: "active"})
	}, "an agent of another kind holds the name", false},
}

func moveToSpring(ctx context.Context, c *prospectkit.Client) error {
	return tests.Discard(c.Lists.Move(ctx, "a00000000000000000000001", spring))
}

func listNamed(sb *sandbox.Sandbox, name string) string {
	for _, l := range sb.Lists() {
		if l.Name == name {
			return l.ID
		}
	}
	return ""
}

// What is looked for long after the call may have been undone since: that it is not there proves nothing, in this process and in another one.
// Soon after the call, it counts as at the same moment.
func TestResolve_WhatWasUndoneSince(t *testing.T) {
	for name, test := range undone {
		for _, after := range []time.Duration{5 * time.Minute, time.Hour} {
			t.Run(name+" after "+after.String(), func(t *testing.T) {
				seed := tests.SeededList("People", sandbox.ContactList)
				seed.Credits = 100000
				if test.op == "agents.activate" {
					seed.Agents = []sandbox.Agent{{ID: tests.AgentID, Name: "Another", Type: sandbox.WebMonitor, Status: "initializing"}}
				}
				seed.Folders = []sandbox.Folder{{ID: spring, Name: "Spring", Type: sandbox.ContactList}}
				tests.Ensuring(t, seed, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
					book := new(tests.Notebook)
					client := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
					require.NoError(t, tests.Discard(client.Account.Me(t.Context()))) // it hears the clock
					unknown := outcomeUnknown(t, sb, test.op, sandbox.DropAfter(), func() error { return test.call(t.Context(), client) })
					sb.Do(func(tx *sandbox.Tx) { test.undo(tx, sb) })
					time.Sleep(after)
					want := prospectkit.OutcomeUnknown
					if after < time.Hour && !test.gone {
						want = prospectkit.OutcomeNotApplied
					}
					for _, resolve := range []resolving{unknown.Resolve, ofTicket(tests.SandboxClient(t, sb, prospectkit.WithJournal(book)), tests.Written(t, unknown.Ticket()))} {
						r := resolved(t, resolve)
						require.Equal(t, want, r.Outcome, r.Note)
						require.Zero(t, r.Again)
						if want == prospectkit.OutcomeUnknown {
							require.Contains(t, r.Note, test.note)
							require.Contains(t, r.Note, "a person has to look")
							require.Equal(t, journal.Unknown, book.Noted[unknown.Ticket().ID])
						}
					}
				})
			})
		}
	}
}

// What nobody can have made by undoing the call is proof whenever one looks.
func TestResolve_LongAfterACallThatFailed(t *testing.T) {
	for name, test := range map[string]struct {
		op, note string
		seed     sandbox.Workspace
		call     lostCall
	}{
		"an older list":       {"lists.create", "older than the call", tests.SeededList("Q1", sandbox.ContactList), create},
		"of the other kind":   {"lists.create", "the other kind", tests.SeededList("Q1", sandbox.CompanyList), create},
		"the agent's a draft": {"agents.activate", "still a draft", sandbox.Workspace{Agents: []sandbox.Agent{{ID: tests.AgentID, Name: "Funding", Type: sandbox.WebMonitor, Status: "initializing"}}}, activateOne},
	} {
		tests.Ensuring(t, test.seed, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
			require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
			unknown := outcomeUnknown(t, sb, test.op, sandbox.DropBefore(), func() error { return test.call(t.Context(), client) })
			time.Sleep(100 * time.Hour)
			for _, resolve := range []resolving{unknown.Resolve, ofTicket(tests.SandboxClient(t, sb), tests.Written(t, unknown.Ticket()))} {
				r := resolved(t, resolve)
				require.Equal(t, prospectkit.OutcomeNotApplied, r.Outcome, "%s: %s", name, r)
				require.Contains(t, r.Note, test.note)
			}
		})
	}
}

// A list that is certainly younger than the call is another one: it neither proves that the call happened, nor that it did not.
func TestResolve_AYoungerList(t *testing.T) {
	for after, want := range map[time.Duration]prospectkit.Outcome{
		5 * time.Minute: prospectkit.OutcomeApplied, 24 * time.Hour: prospectkit.OutcomeUnknown,
	} {
		tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
			ticket := outcomeUnknown(t, sb, "lists.create", sandbox.DropBefore(), tests.Create(t, client, tests.Q1)).Ticket()
			time.Sleep(after)
			sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "Q1", EntityType: sandbox.ContactList}) })
			r := resolved(t, ofTicket(client, ticket))
			require.Equal(t, want, r.Outcome, r.Note)
			require.Zero(t, r.Again)
			if want == prospectkit.OutcomeUnknown {
				require.Contains(t, r.Note, "younger than the call")
			}
		})
	}
}

// If the clocks cannot tell how long ago another process made the call, it may have been undone since.
func TestTicket_OfUnknownAge(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		ticket := tests.Written(t, outcomeUnknown(t, sb, "lists.create", sandbox.DropBefore(), tests.Create(t, client, tests.Q1)).Ticket())
		require.Nil(t, ticket.ServiceAhead)
		began := time.Now()
		r := resolved(t, ofTicket(client, ticket))
		require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
		require.Zero(t, r.Again)
		require.Contains(t, r.Note, "only one clock tells how long ago that was; somebody may have undone it since: a person has to look")
		require.Equal(t, 40*time.Second, time.Since(began), "it may yet show")
	})
}

// A guard gives no credits back for an agent that may have been deleted since.
func TestResolve_KeepsTheCreditsOfWhatIsGone(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{Credits: 100000}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		guard := spend.NewGuard(1000, spend.Prices{"agents.create-web-monitor": {Runs: 1}})
		client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard))
		require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
		unknown := outcomeUnknown(t, sb, "agents.create-web-monitor", sandbox.DropAfter(), func() error { return createStarted(t.Context(), client) })
		time.Sleep(30 * time.Minute)
		sb.Do(func(tx *sandbox.Tx) { tx.Delete("agents", sb.Agents()[0].ID) })
		for range 3 {
			require.NoError(t, tests.Discard(client.Resolve(t.Context(), unknown.Ticket())))
			require.Positive(t, tests.Booked(t, guard).InDoubt)
			again := resolved(t, ofTicket(client, unknown.Ticket()))
			require.Contains(t, again.Note, "read at", "it is not read all the time")
			time.Sleep(time.Hour)
		}
	})
}

// The key may change: what counts is the workspace of the journal. A ticket of a call without one names no workspace, so that nothing is
// read that only a name tells.
func TestTicket_OfAWorkspace(t *testing.T) {
	for name, journaled := range map[string]bool{"a journal": true, "none": false} {
		t.Run(name, func(t *testing.T) {
			tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
				client := func(token string) *prospectkit.Client {
					opts := []prospectkit.ClientOption{prospectkit.WithTransport(sb.Transport())}
					if journaled {
						opts = append(opts, prospectkit.WithJournal(journal.NewMemory("acme")))
					}
					client, err := prospectkit.New(sb.BaseURL(), token, opts...)
					require.NoError(t, err)
					return client
				}
				first := client(sb.Token())
				require.NoError(t, tests.Discard(first.Account.Me(t.Context())))
				ticket := outcomeUnknown(t, sb, "lists.create", sandbox.DropBefore(), tests.Create(t, first, tests.Q1)).Ticket()
				require.Equal(t, map[bool]string{true: "acme", false: ""}[journaled], ticket.Workspace)
				for _, token := range []string{sb.Token(), sb.Key()} {
					before := sb.Calls("lists.list")
					r := resolved(t, ofTicket(client(token), tests.Written(t, ticket)))
					require.Zero(t, r.Again)
					if journaled {
						require.Equal(t, prospectkit.OutcomeNotApplied, r.Outcome, r.Note)
						continue
					}
					require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
					require.Contains(t, r.Note, "the call had no journal, which names the workspace")
					require.Equal(t, before, sb.Calls("lists.list"))
				}
			})
		})
	}
}

// An id tells whose it is, whatever the key, and without a journal.
func TestTicket_OfAnId(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := tests.LosesWrites(tests.Sees("active"))
		unknown := tests.AsUnknown(t, activateOne(t.Context(), tests.NewClient(t, answers)))
		other, err := prospectkit.New(tests.BaseURL, "of-globex", prospectkit.WithTransport(answers))
		require.NoError(t, err)
		r := resolved(t, ofTicket(other, tests.Written(t, unknown.Ticket())))
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)
	})
}
