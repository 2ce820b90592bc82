package outcome_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// The name of a list, its kind and its folder travel in the ticket, too. Ids are hexadecimal, in either case.
func TestTicket_ResolvesLists(t *testing.T) {
	const list, folder = "a00000000000000000000001", "f0000000000000000000000a"
	move := func(to string) lostCall {
		return func(ctx context.Context, c *prospectkit.Client) error {
			return tests.Discard(c.Lists.Move(ctx, list, to))
		}
	}
	for name, test := range map[string]struct {
		op   string
		call lostCall
		note string // for a call that no read shows
	}{
		"create": {"lists.create", func(ctx context.Context, c *prospectkit.Client) error {
			return tests.Discard(c.Lists.Create(ctx, tests.Firms))
		}, ""},
		"move": {"lists.move", move(folder), ""}, "move, in another case": {"lists.move", move(strings.ToUpper(folder)), ""},
		"unknowable": {"lists.add-contacts", func(ctx context.Context, c *prospectkit.Client) error {
			return tests.Discard(c.Lists.AddContacts(ctx, list, prospectkit.Fields{"contacts": []any{}}))
		}, "compare the rows"},
	} {
		for outcome, fault := range map[prospectkit.Outcome]sandbox.FaultOption{
			prospectkit.OutcomeApplied: sandbox.DropAfter(), prospectkit.OutcomeNotApplied: sandbox.DropBefore(),
		} {
			t.Run(name+", "+string(outcome), func(t *testing.T) {
				seed := tests.SeededList("People", sandbox.ContactList)
				seed.Folders = []sandbox.Folder{{ID: folder, Name: "Spring", Type: sandbox.ContactList}}
				tests.Ensuring(t, seed, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
					require.NoError(t, tests.Discard(client.Account.Me(t.Context()))) // it hears the clock
					unknown := outcomeUnknown(t, sb, test.op, fault, func() error { return test.call(t.Context(), client) })
					for _, resolve := range []resolving{unknown.Resolve, ofTicket(tests.SandboxClient(t, sb), tests.Written(t, unknown.Ticket()))} {
						r := resolved(t, resolve)
						if test.note != "" {
							require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
							require.Contains(t, r.Note, test.note)
							continue
						}
						require.Equal(t, outcome, r.Outcome, r.Note)
						shown, found := r.Object.(*prospectkit.List)
						require.True(t, found || test.op == "lists.create")
						require.True(t, test.op != "lists.move" || (shown.FolderID == folder) == (outcome == prospectkit.OutcomeApplied))
						require.Equal(t, 1, sb.Calls(test.op), "nothing is sent again")
					}
				})
			})
		}
	}
}

// A ticket names the operation, the ids and what a search needs, and nothing else of the call.
func TestTicket_JSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := tests.NewClient(t, tests.RoundTrip(tests.CutOff), prospectkit.WithJournal(journal.NewMemory("acme")))
		spec := tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Start = true })
		_, err := client.Agents.Create(prospectkit.WithActor(t.Context(), "ada"), spec, prospectkit.WithField("yourField", "private"))
		unknown := tests.AsUnknown(t, err)
		ticket := unknown.Ticket()
		require.NotEmpty(t, ticket.ID)
		require.Equal(t, ticket.ID, unknown.Ticket().ID)
		ticket.ID = "1"
		text, err := json.Marshal(ticket)
		require.NoError(t, err)
		require.JSONEq(t, `{"version":1,"id":"1","op":"agents.create-web-monitor","lookup":{"name":"Funding","kind":"web-monitor","start":true},
			"service":"`+client.BaseURL()+`","workspace":"acme","actor":"ada","firstSent":"2000-01-01T00:00:00Z","lastSent":"2000-01-01T00:00:00Z"}`, string(text))
	})
}

// A ticket stays with its service, however the address is written.
func TestTicket_SameServiceInAnotherSpelling(t *testing.T) {
	const plain = "https://service.example/api/v1"
	spellings := []string{plain, plain + "/", "https://SERVICE.example/api/v1", "https://service.example:443/api/v1", "HTTPS://Service.Example:/api/v1"}
	for _, stored := range []string{plain, "https://service.example:80/api/v1", "http://service.example/api/v1"} {
		old := journal.Ticket{Version: 1, ID: "1", Op: "lists.crm-push", Service: stored, Workspace: "acme", IDs: []string{tests.ListID}}
		j := journal.NewMemory("acme")
		require.NoError(t, j.Sending(t.Context(), old))
		require.NoError(t, j.Ended(t.Context(), old.ID, journal.End{Outcome: journal.Unknown}))
		for _, base := range spellings {
			client, err := prospectkit.New(base, "token", prospectkit.WithTransport(tests.Untouched(t)), prospectkit.WithJournal(j))
			require.NoError(t, err)
			require.Equal(t, plain, client.BaseURL())
			found := 0
			for ticket, err := range client.InDoubt(t.Context()) {
				require.NoError(t, err)
				require.Equal(t, old, ticket, "as it was stored")
				found++
			}
			_, err = client.Resolve(t.Context(), old)
			if strings.Contains(stored, ":80") || strings.HasPrefix(stored, "http:") {
				require.ErrorAs(t, err, new(*prospectkit.RefusedError))
				require.Zero(t, found, stored)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, 1, found, "%s of %s", stored, base)
		}
	}
}

func TestTicket_RefusesWhatIsNotItsOwn(t *testing.T) {
	client := tests.NewClient(t, tests.Untouched(t), prospectkit.WithJournal(journal.NewMemory("acme")))
	good := journal.Ticket{Version: 1, Op: "lists.create", Service: client.BaseURL(), Workspace: "acme", Lookup: journal.Lookup{Name: "Q1"}}
	for problem, bad := range map[string]journal.Ticket{
		"ticket has version 0, which this package does not know": tests.Altered(good, func(j *journal.Ticket) { j.Version = 0 }),
		"ticket has version 9, which this package does not know": tests.Altered(good, func(j *journal.Ticket) { j.Version = 9 }),
		"ticket belongs to another service or workspace":         tests.Altered(good, func(j *journal.Ticket) { j.Workspace = "" }),
		"ticket belongs to another service or workspace ":        tests.Altered(good, func(j *journal.Ticket) { j.Service = "https://other.example/api/v1" }),
	} {
		_, err := client.Resolve(t.Context(), bad)
		require.Contains(t, tests.Refusals(t, err), strings.TrimSpace(problem))
	}
	for note, odd := range map[string]journal.Ticket{
		"the operation is not in the catalogue": tests.Altered(good, func(j *journal.Ticket) { j.Op = "lists.paint" }),
		"the list of that name":                 tests.Altered(good, func(j *journal.Ticket) { j.Lookup.Name = "" }),
		"the status of the campaign":            tests.Altered(good, func(j *journal.Ticket) { j.Op, j.Lookup.Name = "campaigns.approve", "" }),
	} {
		r := resolved(t, ofTicket(client, odd))
		require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
		require.Contains(t, r.Note, note)
	}
}

// The service's clock decides what the call may have made, whatever the local clocks say, if the client had heard it. What is older
// is ruled out for good only if no clock says otherwise.
func TestTicket_UsesTheServicesClock(t *testing.T) {
	for _, off := range []time.Duration{-50 * time.Hour, -time.Hour, 0, time.Hour, 50 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			clock := sandbox.NewManualClock(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC))
			sb := sandbox.New(t, sandbox.WithClock(clock))
			client := tests.SandboxClient(t, sb)
			require.NoError(t, tests.Discard(client.Account.Me(t.Context()))) // it hears the clock
			sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "Q1", EntityType: sandbox.ContactList}) })
			clock.Advance(3 * time.Minute)
			time.Sleep(3 * time.Minute)
			older := outcomeUnknown(t, sb, "lists.create", sandbox.DropBefore(), tests.Create(t, client, tests.Q1))
			r := resolved(t, older.Resolve)
			require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
			require.Contains(t, r.Note, "older")
			sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
			ours := tests.AsUnknown(t, tests.Create(t, client, prospectkit.NewList{Name: "Q2"})())
			require.Equal(t, prospectkit.OutcomeApplied, resolved(t, ours.Resolve).Outcome)

			time.Sleep(100*time.Hour + off) // the local clock of the machine that resolves is off
			clock.Advance(100 * time.Hour)
			began := time.Now()
			r = resolved(t, ofTicket(tests.SandboxClient(t, sb), tests.Written(t, older.Ticket())))
			require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, "this machine's clock says otherwise, by decades")
			require.Zero(t, r.Again)
			require.Contains(t, r.Note, "older")
			r = resolved(t, ofTicket(tests.SandboxClient(t, sb), tests.Written(t, ours.Ticket())))
			require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, r.Note)

			gone := tests.Written(t, ours.Ticket())
			gone.Lookup.Name = "Q3"
			r = resolved(t, ofTicket(tests.SandboxClient(t, sb), gone))
			require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, "it was long ago, by both clocks: it may have been undone since")
			require.Zero(t, r.Again)
			require.Zero(t, time.Since(began), "so nobody has to wait")
		})
	}
}

// Before a write or a paid read leaves, its ticket is stored. Afterwards the outcome is noted.
func TestJournal_KnowsEveryWrite(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{Credits: 1000}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		book := new(tests.Notebook)
		book.OnSending = func() { require.Empty(t, sb.Journal()[len(book.Sent):], "stored before it is sent") }
		client := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		ctx := prospectkit.WithActor(t.Context(), "nightly job")
		require.NoError(t, tests.Create(t, client, tests.Q1)())
		book.OnSending = nil
		require.NoError(t, tests.Discard(client.Lists.Page(ctx, prospectkit.ListsParams{})))
		require.Len(t, book.Sent, 1, "a read needs no ticket")
		require.ErrorIs(t, tests.Create(t, client, tests.Q1)(), prospectkit.CodeListNameTaken)
		require.NoError(t, tests.Discard(client.Search.ProspectsPage(ctx, prospectkit.SearchParams{})))
		sb.Fail("lists.add-contacts", sandbox.Nth(1), sandbox.DropAfter())
		require.ErrorIs(t, tests.Discard(client.Lists.AddContacts(ctx, "a00000000000000000000001", prospectkit.Fields{"x": 1})), prospectkit.ErrOutcomeUnknown)
		require.Equal(t, map[string]journal.Outcome{
			"lists.create": journal.NotApplied, "search.prospects": journal.Applied, "lists.add-contacts": journal.Unknown,
		}, book.Outcomes())
		require.Equal(t, journal.Applied, book.Noted[book.Sent[0].ID])
		require.Equal(t, "nightly job", book.Sent[2].Actor)
		require.Empty(t, book.Sent[0].Actor)
	})
}

// Every attempt is stored, so that the ticket says when the last one was sent.
func TestJournal_KnowsEveryAttempt(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		book := new(tests.Notebook)
		client := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(7))
		require.NoError(t, tests.Create(t, client, tests.Q1)())
		require.Len(t, book.Sent, 2)
		require.Equal(t, book.Sent[0].ID, book.Sent[1].ID)
		require.GreaterOrEqual(t, book.Sent[1].LastSent.Sub(book.Sent[0].LastSent), 7*time.Second)
		require.Equal(t, book.Sent[1].LastSent, book.Sent[1].FirstSent, "the first attempt was refused")

		book.Sent = nil
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropBefore())
		_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q2"}, prospectkit.AllowRetryUnknown())
		require.NoError(t, err)
		require.Len(t, book.Sent, 2)
		require.Equal(t, book.Sent[0].FirstSent, book.Sent[1].FirstSent, "the first attempt may have happened")
		require.True(t, book.Sent[1].LastSent.After(book.Sent[0].LastSent))
	})
}

// A write whose ticket cannot be stored is refused, and uses up nothing.
func TestJournal_RefusesWhatItCannotStore(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		full := errors.New("disk full")
		book := &tests.Notebook{Broken: full}
		client := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		for range 300 { // more than a minute's budget
			err := tests.Create(t, client, tests.Q1)()
			require.ErrorIs(t, err, full)
			refused := tests.AsRefused(t, err)
			require.Equal(t, prospectkit.RuleJournal, refused.Rule)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Equal(t, tests.NoWait, tests.Waits(err))
			require.EqualError(t, err, "prospectkit: lists.create: refused locally: the journal failed: disk full")
		}
		require.Empty(t, sb.Journal())
		book.Broken = nil
		require.NoError(t, tests.Create(t, client, tests.Q1)())
	})
}

// A journal that fails before a retry does not make the call one that was never sent.
func TestJournal_RefusesARetry(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		full := errors.New("disk full")
		book := new(tests.Notebook)
		client := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		book.OnSending = func() {
			if len(book.Sent) == 1 {
				book.Broken = full
			}
		}
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(1))
		err := tests.Create(t, client, tests.Q1)()
		require.ErrorIs(t, err, prospectkit.CodeRateLimited)
		require.NotErrorAs(t, err, new(*prospectkit.RefusedError))
		require.ErrorIs(t, err, full)
		require.ErrorContains(t, err, "the journal failed: disk full")
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		e := tests.AsError(t, err)
		require.Len(t, e.Attempts, 1)
		require.Len(t, sb.Journal(), 1)
	})
}

// After a restart, the calls in doubt are resolved by another client, and leave the journal.
func TestJournal_InDoubt(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		book := new(tests.Notebook)
		first := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		require.NoError(t, tests.Discard(first.Account.Me(t.Context()))) // so that a ticket tells its age
		for i, fault := range []sandbox.FaultOption{sandbox.DropAfter(), sandbox.DropBefore(), sandbox.DropAfter()} {
			sb.Fail("lists.create", sandbox.Nth(1), fault)
			_, err := first.Lists.Create(t.Context(), prospectkit.NewList{Name: string(rune('A' + i))})
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		}
		sb.Fail("lists.add-contacts", sandbox.Nth(1), sandbox.DropAfter())
		require.Error(t, tests.Discard(first.Lists.AddContacts(t.Context(), "a00000000000000000000001", prospectkit.Fields{"x": 1})))

		second := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		outcomes := map[prospectkit.Outcome]int{}
		for ticket, err := range second.InDoubt(t.Context()) {
			require.NoError(t, err)
			r := resolved(t, ofTicket(second, tests.Written(t, ticket)))
			outcomes[r.Outcome]++
		}
		require.Equal(t, map[prospectkit.Outcome]int{prospectkit.OutcomeApplied: 2, prospectkit.OutcomeNotApplied: 1, prospectkit.OutcomeUnknown: 1}, outcomes)
		left, err := prospectkit.Collect(refs(second.InDoubt(t.Context())), 10)
		require.NoError(t, err)
		require.Len(t, left, 1)
		require.Equal(t, "lists.add-contacts", left[0].Op, "nothing shows it: a person has to look")
		require.NoError(t, book.Ended(t.Context(), left[0].ID, journal.End{Outcome: journal.Applied}))
		require.Equal(t, []journal.Outcome{journal.Applied, journal.Applied, journal.Applied, journal.NotApplied}, slices.Sorted(maps.Values(book.Noted)))

		for _, err := range tests.NewClient(t, tests.Untouched(t)).InDoubt(t.Context()) {
			require.ErrorAs(t, err, new(*prospectkit.RefusedError))
			require.ErrorContains(t, err, "WithJournal is required")
		}
	})
}

// refs turns the elements into pointers.
func refs[T any](seq iter.Seq2[T, error]) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for v, err := range seq {
			if !yield(&v, err) {
				return
			}
		}
	}
}

// An outcome that the journal cannot note comes back beside the error.
func TestJournal_ResolutionBesideAnError(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		book := new(tests.Notebook)
		client := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		unknown := outcomeUnknown(t, sb, "lists.create", sandbox.DropAfter(), tests.Create(t, client, tests.Q1))
		book.Broken = errors.New("disk full")
		r, err := unknown.Resolve(t.Context())
		require.ErrorIs(t, err, book.Broken)
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)
	})
}

func TestJournal_OptionsRefuse(t *testing.T) {
	_, err := prospectkit.New("https://x.example/api/v1", "t", prospectkit.WithJournal(nil))
	require.Equal(t, []string{"WithJournal got nil"}, tests.Refusals(t, err))
	for _, name := range []string{"a\nb", "a\u0085b", strings.Repeat("x", 256)} {
		_, err = prospectkit.New("https://x.example/api/v1", "t", prospectkit.WithJournal(journal.NewMemory(name)))
		require.Equal(t, []string{"WithJournal got one without a workspace: the workspace needs a name of at most 255 bytes, in UTF-8 and without control characters"},
			tests.Refusals(t, err))
	}
}

// An error that no call has made has a ticket without an ID.
func TestTicket_OfAnErrorMadeByHand(t *testing.T) {
	at := time.Now()
	made := &prospectkit.OutcomeUnknownError{Op: "lists.create", SentAt: at}
	require.Equal(t, journal.Ticket{Version: journal.Version, Op: "lists.create", FirstSent: at, LastSent: at}, made.Ticket())
}
