package outcome_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"path/filepath"
	"sync"
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

// recovering is a sandbox, and a journal with what a first client has left in doubt.
func recovering(t *testing.T, leave func(t *testing.T, sb *sandbox.Sandbox, first *prospectkit.Client), test func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook)) {
	t.Helper()
	seed := tests.SeededList("People", sandbox.ContactList)
	seed.Credits = 1000
	tests.Ensuring(t, seed, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		book := new(tests.Notebook)
		first := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		require.NoError(t, tests.Discard(first.Account.Me(t.Context()))) // it hears the clock
		sb.Do(func(tx *sandbox.Tx) {
			tx.ConnectAccount("email")
			spring := sandbox.ReadyCampaign("Spring", "a00000000000000000000001")
			spring.ID = tests.CampaignID
			tx.CreateCampaign(spring)
		})
		leave(t, sb, first)
		test(t, sb, book)
	})
}

// lists loses the creations of as many lists: every third one happens.
func lists(n int) func(t *testing.T, sb *sandbox.Sandbox, first *prospectkit.Client) {
	return func(t *testing.T, sb *sandbox.Sandbox, first *prospectkit.Client) {
		t.Helper()
		for i := range n {
			fault := sandbox.DropBefore()
			if i%3 == 0 {
				fault = sandbox.DropAfter()
			}
			sb.Fail("lists.create", sandbox.Nth(1), fault)
			require.ErrorIs(t, tests.Discard(first.Lists.Create(t.Context(), prospectkit.NewList{Name: fmt.Sprint("List ", i)})), prospectkit.ErrOutcomeUnknown)
		}
	}
}

// mixed leaves one call of each kind.
func mixed(t *testing.T, sb *sandbox.Sandbox, first *prospectkit.Client) {
	t.Helper()
	for _, op := range []string{"lists.crm-push", "campaigns.approve", "lists.add-contacts"} {
		sb.Fail(op, sandbox.Nth(1), sandbox.DropBefore())
	}
	require.Error(t, tests.Discard(first.Lists.PushToCRM(t.Context(), "a00000000000000000000001", prospectkit.CRMPush{CRM: "crm-a", All: true})))
	require.Error(t, tests.Discard(first.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)))
	require.Error(t, tests.Discard(first.Lists.AddContacts(t.Context(), "a00000000000000000000001", prospectkit.Fields{"x": 1})))
	lists(2)(t, sb, first)
}

// names are the operations of a group.
func names(group []prospectkit.Recovered) (all []string) {
	for _, d := range group {
		all = append(all, d.Ticket.Op)
	}
	return all
}

// requireHonest demands what the groups say of themselves.
func requireHonest(t *testing.T, r *prospectkit.Recovery) {
	t.Helper()
	for _, d := range r.Settled {
		require.NotEqual(t, prospectkit.OutcomeUnknown, d.Resolution.Outcome)
		require.NoError(t, d.Err)
		require.Zero(t, d.Resolution.Again)
	}
	for _, d := range r.Later {
		require.True(t, d.Resolution.Again.After(time.Now()), "%s", d.Resolution)
	}
	for _, d := range r.Person {
		require.Equal(t, prospectkit.OutcomeUnknown, d.Resolution.Outcome)
		require.NoError(t, d.Err)
		require.Zero(t, d.Resolution.Again)
		require.NotEmpty(t, d.Resolution.Note)
	}
}

// recovered is what Recover says of itself, honestly.
func recovered(t *testing.T, c *prospectkit.Client) *prospectkit.Recovery {
	t.Helper()
	r, err := c.Recover(t.Context())
	require.NoError(t, err)
	requireHonest(t, r)
	return r
}

// onlyReads demands that nothing but free reads was sent since a request.
func onlyReads(t *testing.T, sb *sandbox.Sandbox, since int) {
	t.Helper()
	for _, e := range sb.Journal()[since:] {
		require.Equal(t, http.MethodGet, e.Method, e.Op)
		require.NotEqual(t, http.StatusTooManyRequests, e.Status, e.Op)
	}
}

// One call after a crash: what a read can tell is settled, and the rest is for later or for a person, oldest first.
func TestRecover(t *testing.T) {
	recovering(t, mixed, func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		second := tests.SandboxClient(t, sb, prospectkit.WithJournal(book), prospectkit.NoSpend(), prospectkit.NoSend(), prospectkit.ReadOnly())
		before, balance, began := len(sb.Journal()), sb.Balance(), time.Now()
		r := recovered(t, second)
		require.Equal(t, []string{"lists.create", "lists.create"}, names(r.Settled))
		require.Equal(t, []string{"campaigns.approve"}, names(r.Later), "its activation runs in the background")
		require.Equal(t, []string{"lists.crm-push", "lists.add-contacts"}, names(r.Person))
		require.Equal(t, prospectkit.OutcomeApplied, r.Settled[0].Resolution.Outcome)
		require.IsType(t, new(prospectkit.List), r.Settled[0].Resolution.Object)
		require.Equal(t, prospectkit.OutcomeNotApplied, r.Settled[1].Resolution.Outcome)
		require.Contains(t, r.Person[0].Resolution.Note, "look in the CRM")
		require.Equal(t, map[string]journal.Outcome{
			"lists.create": journal.NotApplied, "campaigns.approve": journal.Unknown, "lists.crm-push": journal.Unknown, "lists.add-contacts": journal.Unknown,
		}, book.Outcomes())
		require.LessOrEqual(t, time.Since(began), 51*time.Second)
		require.Equal(t, balance, sb.Balance())
		onlyReads(t, sb, before)

		require.NoError(t, book.Settle(t.Context(), r.Person[0].Ticket.ID, journal.Settlement{Outcome: journal.Applied, By: "Ada", Because: "it is in the CRM"}))
		require.NoError(t, tests.Discard(tests.SandboxClient(t, sb).Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)))
		time.Sleep(time.Until(r.Later[0].Resolution.Again))
		r = recovered(t, second)
		require.Equal(t, []string{"campaigns.approve"}, names(r.Settled))
		require.Empty(t, r.Later)
		require.Equal(t, []string{"lists.add-contacts"}, names(r.Person))
	})
}

// Without anything in doubt, or with a call to another service, only the time of the service is read. New never looks. Without a journal,
// it is refused.
func TestRecover_Nothing(t *testing.T) {
	recovering(t, lists(1), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		r, err := tests.NewClient(t, tests.Untouched(t)).Recover(t.Context())
		require.Equal(t, []string{"WithJournal is required"}, tests.Refusals(t, err))
		require.Nil(t, r)

		for _, j := range []journal.Journal{new(tests.Notebook), book} { // of another service
			var read []string
			other := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				read = append(read, r.Method+" "+r.URL.Path)
				return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")} // which is no error of Recover
			}), prospectkit.WithJournal(j), tests.OneAttempt)
			r = recovered(t, other)
			require.Equal(t, new(prospectkit.Recovery), r)
			require.Equal(t, []string{"GET /api/v1/business/me"}, read)
		}
		require.NotContains(t, book.Noted, journal.NotApplied)
		before := len(sb.Journal())
		second := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		time.Sleep(time.Hour)
		require.Len(t, sb.Journal(), before, "New never runs it")
		r = recovered(t, second)
		require.Len(t, r.Settled, 1)
	})
}

// A program that begins with Recover needs no other read: its tickets know the time of the service.
func TestRecover_TellsTheTime(t *testing.T) {
	recovering(t, func(*testing.T, *sandbox.Sandbox, *prospectkit.Client) {}, func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		client := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		for range 2 { // and the second one reads nothing
			require.NoError(t, tests.Discard(client.Recover(t.Context())))
			require.Equal(t, 2, sb.Calls("account.me"))
		}
		require.NoError(t, tests.Create(t, client, tests.Q1)())
		require.NotNil(t, book.Sent[len(book.Sent)-1].ServiceAhead)
	})
}

// A context that ends hides nothing: what was not read is in Later, and the error says so.
func TestRecover_CutShort(t *testing.T) {
	for name, limit := range map[string]time.Duration{
		"before it begins": 0, "within the first reads": 1500 * time.Millisecond, "while it watches": 5 * time.Second,
		"within its last reads": 40500 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			recovering(t, lists(9), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
				slow := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
					time.Sleep(time.Second)
					return sb.Transport().RoundTrip(r)
				})
				second := tests.SandboxClient(t, sb, prospectkit.WithJournal(book), prospectkit.WithTransport(slow))
				ctx := tests.Within(t, limit)
				r, err := second.Recover(ctx)
				requireHonest(t, r)
				require.Len(t, append(append(r.Settled, r.Later...), r.Person...), 9)
				require.Empty(t, r.Person)
				unread := 0
				for _, d := range r.Later {
					if d.Err != nil {
						unread++
						require.ErrorIs(t, d.Err, context.DeadlineExceeded)
					}
				}
				if limit >= 5*time.Second {
					require.NoError(t, err, "all were read")
					require.Zero(t, unread)
					require.Len(t, r.Settled, 3, "those that show")
				} else {
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.ErrorContains(t, err, fmt.Sprint("(", unread, " of 9 calls in doubt could not be read or noted)"))
					require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "it may be repeated")
					require.Len(t, r.Later, 9-len(r.Settled))
				}
				r = recovered(t, second)
				require.Len(t, book.Noted, 9)
				require.Empty(t, r.Later)
				require.Empty(t, r.Person)
			})
		})
	}
}

// A read that fails hides neither the others, nor itself.
func TestRecover_AReadFails(t *testing.T) {
	recovering(t, mixed, func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		second := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		sb.Fail("campaigns.list", sandbox.Always(), sandbox.Status(403, "INSUFFICIENT_SCOPE"))
		r, err := second.Recover(t.Context())
		require.ErrorIs(t, err, prospectkit.CodeInsufficientScope)
		require.ErrorContains(t, err, "(1 of 5 calls in doubt could not be read or noted)")
		requireHonest(t, r)
		require.Len(t, r.Settled, 2)
		require.Equal(t, []string{"campaigns.approve"}, names(r.Later))
		require.ErrorIs(t, r.Later[0].Err, prospectkit.CodeInsufficientScope)
		require.Equal(t, prospectkit.OutcomeUnknown, r.Later[0].Resolution.Outcome)
		require.True(t, r.Later[0].Resolution.Again.After(time.Now()))
		require.Len(t, r.Person, 2)
	})
}

// A call in progress is nobody's doubt yet: not in the groups, and not read for.
func TestRecover_LeavesCallsInProgress(t *testing.T) {
	recovering(t, func(*testing.T, *sandbox.Sandbox, *prospectkit.Client) {}, func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		hold := make(chan struct{})
		colleague := tests.SandboxClient(t, sb, prospectkit.WithJournal(book), prospectkit.WithTransport(tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			<-hold
			return sb.Transport().RoundTrip(r)
		})))
		made := make(chan error)
		go func() { made <- tests.Create(t, colleague, tests.Q1)() }()
		synctest.Wait()
		require.Len(t, book.Sent, 1)
		second := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		before := len(sb.Journal())
		r := recovered(t, second)
		require.Equal(t, new(prospectkit.Recovery), r)
		require.Len(t, sb.Journal(), before+1)
		require.Equal(t, 2, sb.Calls("account.me"), "the first client, and this one, for the time of the service")
		close(hold)
		require.NoError(t, <-made)
	})
}

// A program that recovers again and again reads for what no read settles ever more rarely, and comes to an end of what it can wait for.
func TestRecover_Again(t *testing.T) {
	recovering(t, mixed, func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		second := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		r := recovered(t, second)
		before := len(sb.Journal())
		again := recovered(t, second)
		require.Len(t, sb.Journal(), before, "it is remembered")
		require.Empty(t, again.Settled)
		require.Equal(t, names(r.Later), names(again.Later))
		require.Equal(t, r.Later[0].Resolution.Again, again.Later[0].Resolution.Again)
		require.Equal(t, names(r.Person), names(again.Person))

		sent, runs := r.Later[0].Ticket.LastSent, 0
		for ; len(again.Later) > 0; runs++ {
			time.Sleep(time.Until(again.Later[0].Resolution.Again))
			again = recovered(t, second)
		}
		require.Less(t, runs, 10)
		require.Equal(t, 15*time.Minute, time.Since(sent).Round(time.Minute))
		require.ElementsMatch(t, []string{"lists.crm-push", "campaigns.approve", "lists.add-contacts"}, names(again.Person))
		onlyReads(t, sb, before)
	})
}

// Fifty calls are watched at the same time, within the rate limit, and few are read for at once.
func TestRecover_Fifty(t *testing.T) {
	recovering(t, lists(50), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		var mu sync.Mutex
		now, most := 0, 0
		second := tests.SandboxClient(t, sb, prospectkit.WithJournal(book), prospectkit.WithTransport(tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			defer func() { mu.Lock(); now--; mu.Unlock() }()
			time.Sleep(200 * time.Millisecond)
			return sb.Transport().RoundTrip(r)
		})))
		before, began := len(sb.Journal()), time.Now()
		r := recovered(t, second)
		require.Len(t, r.Settled, 50)
		require.Len(t, book.Noted, 50)
		require.Equal(t, 4, most)
		require.Less(t, time.Since(began), 5*time.Minute, "and not 40 s for each")
		for i, d := range r.Settled {
			require.Equal(t, fmt.Sprint("List ", i), d.Ticket.Lookup.Name, "oldest first")
			want := prospectkit.OutcomeNotApplied
			if i%3 == 0 {
				want = prospectkit.OutcomeApplied
			}
			require.Equal(t, want, d.Resolution.Outcome)
		}
		onlyReads(t, sb, before)
	})
}

// What has had time to show needs one read each.
func TestRecover_LongAgo(t *testing.T) {
	recovering(t, lists(12), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		time.Sleep(10 * time.Minute)
		before, began := len(sb.Journal()), time.Now()
		r := recovered(t, tests.SandboxClient(t, sb, prospectkit.WithJournal(book)))
		require.Len(t, r.Settled, 12)
		require.Len(t, sb.Journal(), before+12)
		require.Zero(t, time.Since(began))
	})
}

// An hour later, somebody may have undone what does not show: a person has to look.
func TestRecover_TooLate(t *testing.T) {
	recovering(t, lists(3), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		time.Sleep(time.Hour)
		r := recovered(t, tests.SandboxClient(t, sb, prospectkit.WithJournal(book)))
		require.Len(t, r.Settled, 1)
		require.Len(t, r.Person, 2)
		require.Contains(t, r.Person[0].Resolution.Note, "somebody may have undone it since")
	})
}

// partial is a journal that breaks after some of its tickets, and may not note.
type partial struct {
	*tests.Notebook

	tickets int
	notes   error
}

func (p partial) Ended(ctx context.Context, id string, e journal.End) error {
	if p.notes != nil {
		return p.notes
	}
	return p.Notebook.Ended(ctx, id, e)
}

func (p partial) InDoubt(ctx context.Context) iter.Seq2[journal.Ticket, error] {
	return func(yield func(journal.Ticket, error) bool) {
		n := 0
		for t, err := range p.Notebook.InDoubt(ctx) {
			if n++; n > p.tickets {
				yield(journal.Ticket{}, tests.ErrBroken)
				return
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// A journal that fails is an error, beside what could be settled nevertheless.
func TestRecover_TheJournalFails(t *testing.T) {
	recovering(t, lists(6), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		time.Sleep(time.Minute)
		r, err := tests.SandboxClient(t, sb, prospectkit.WithJournal(partial{book, 4, nil})).Recover(t.Context())
		require.ErrorIs(t, err, tests.ErrBroken)
		require.Len(t, r.Settled, 4)
		require.Empty(t, r.Later)

		r, err = tests.SandboxClient(t, sb, prospectkit.WithJournal(partial{book, 9, tests.ErrBroken})).Recover(t.Context())
		require.ErrorIs(t, err, tests.ErrBroken)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		requireHonest(t, r)
		require.Len(t, r.Later, 2)
		require.ErrorIs(t, r.Later[0].Err, tests.ErrBroken)
		require.NotEqual(t, prospectkit.OutcomeUnknown, r.Later[0].Resolution.Outcome, "it is known, and not noted")

		r = recovered(t, tests.SandboxClient(t, sb, prospectkit.WithJournal(book)))
		require.Len(t, r.Settled, 2)
	})
}

// A guard gets back what a call that had no effect had reserved, and keeps the rest.
func TestRecover_SettlesTheGuard(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{Credits: 100000}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		guard := spend.NewGuard(5000, spend.Prices{"agents.create-web-monitor": {PerCall: 1000}, "search.prospects": {PerCall: 10}})
		client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard))
		require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
		sb.Fail("agents.create-web-monitor", sandbox.Nth(1), sandbox.DropBefore())
		require.ErrorIs(t, createStarted(t.Context(), client), prospectkit.ErrOutcomeUnknown)
		sb.Fail("search.prospects", sandbox.Nth(1), sandbox.DropAfter())
		require.ErrorIs(t, tests.Discard(client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{})), prospectkit.ErrOutcomeUnknown)
		require.Equal(t, spend.Book{InDoubt: 1010}, tests.Booked(t, guard))
		before := sb.Balance()
		r := recovered(t, client)
		require.Equal(t, []string{"agents.create-web-monitor"}, names(r.Settled))
		require.Equal(t, []string{"search.prospects"}, names(r.Person))
		require.Equal(t, spend.Book{InDoubt: 10, Released: 1000}, tests.Booked(t, guard))
		require.Equal(t, before, sb.Balance())
		require.Equal(t, 1, sb.Calls("search.prospects"))
	})
}

// Several at once, of one journal, settle each call once, and say the same.
func TestRecover_AtOnce(t *testing.T) {
	recovering(t, lists(9), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		var all sync.WaitGroup
		for range 3 {
			client := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
			all.Go(func() {
				r := recovered(t, client)
				require.Empty(t, r.Person)
				for _, d := range r.Later {
					require.Contains(t, d.Resolution.Note, "another worker")
					require.NoError(t, d.Err)
				}
			})
		}
		all.Wait()
		outcomes := map[journal.Outcome]int{}
		for _, o := range book.Noted {
			outcomes[o]++
		}
		require.Equal(t, map[journal.Outcome]int{journal.Applied: 3, journal.NotApplied: 6}, outcomes)
	})
}

// A panic of a transport is the caller's, as in a call.
func TestRecover_Panics(t *testing.T) {
	recovering(t, lists(9), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		second := tests.SandboxClient(t, sb, prospectkit.WithJournal(book), prospectkit.WithTransport(tests.RoundTrip(func(*http.Request) (*http.Response, error) {
			panic(tests.ErrBroken)
		})))
		require.PanicsWithValue(t, tests.ErrBroken, func() { _, _ = second.Recover(t.Context()) })
	})
}

// What a later version has written is for a person, with a later version.
func TestRecover_OfALaterVersion(t *testing.T) {
	recovering(t, lists(1), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		later := book.Sent[0]
		later.ID, later.Version = "later", journal.Version+1
		require.NoError(t, book.Sending(t.Context(), later))
		require.NoError(t, book.Ended(t.Context(), later.ID, journal.End{Outcome: journal.Unknown}))
		r := recovered(t, tests.SandboxClient(t, sb, prospectkit.WithJournal(book)))
		require.Len(t, r.Settled, 1)
		require.Len(t, r.Person, 1)
		require.Equal(t, "a later version of this package has written its ticket", r.Person[0].Resolution.Note)
	})
}

// A journal in a file has what a process left that was killed in the middle of a call.
func TestRecover_AfterAKill(t *testing.T) {
	recovering(t, lists(1), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		path := filepath.Join(t.TempDir(), "writes.journal")
		j, err := journal.Open(path, book.Workspace())
		require.NoError(t, err)
		require.NoError(t, j.Sending(t.Context(), book.Sent[0]), "and no end")
		r := recovered(t, tests.SandboxClient(t, sb, prospectkit.WithJournal(j)))
		require.Equal(t, new(prospectkit.Recovery), r, "in this process, it is in progress")
		require.NoError(t, j.Close())
		j, err = journal.Open(path, book.Workspace())
		require.NoError(t, err)
		client := tests.SandboxClient(t, sb, prospectkit.WithJournal(j))
		r = recovered(t, client)
		require.Len(t, r.Settled, 1)
		require.NoError(t, j.Close())
		r, err = client.Recover(t.Context())
		require.ErrorIs(t, err, journal.ErrClosed)
		require.NotNil(t, r)
	})
}

// Reads have the options that they were given, and info of the caller's is left alone: reads side by side would share it.
func TestRecover_Options(t *testing.T) {
	recovering(t, lists(6), func(t *testing.T, sb *sandbox.Sandbox, book *tests.Notebook) {
		second := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
		sb.Fail("lists.list", sandbox.First(2), sandbox.Status(500, "UNEXPECTED_ERROR"))
		var info prospectkit.Info
		r, err := second.Recover(t.Context(), tests.OneAttempt, prospectkit.WithInfo(&info))
		e := tests.AsError(t, err)
		require.Equal(t, 500, e.Status)
		require.Zero(t, info)
		require.Len(t, r.Later, 2)
		require.Len(t, r.Settled, 4)
		require.NotErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	})
}
