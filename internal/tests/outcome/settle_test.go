package outcome_test

import (
	"context"
	"iter"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// Only a known outcome ends a ticket: what is not seen so far, and what nobody can know, stays in doubt.
func TestTicket_OnlyAKnownOutcomeSettles(t *testing.T) {
	listing := func(status string) tests.RoundTrip {
		return tests.Always(200, `[{"id":"`+tests.CampaignID+`","status":"`+status+`"}]`)
	}
	for name, c := range map[string]struct {
		look     tests.RoundTrip
		patience time.Duration
		outcome  journal.Outcome
		looked   bool
	}{
		"not seen so far":        {listing("draft"), time.Second, journal.Unknown, true},
		"not seen, but it may":   {listing("draft"), time.Hour, journal.Unknown, true}, // activation runs in the background
		"seen":                   {listing("active"), time.Hour, journal.Applied, false},
		"without a status":       {listing(""), time.Hour, journal.Unknown, false},
		"stopped, so far":        {listing("stopped"), time.Second, journal.Unknown, true},
		"stopped, for some time": {listing("stopped"), time.Hour, journal.Unknown, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			book := new(tests.Notebook)
			client := tests.NewClient(t, tests.LosesWrites(c.look), prospectkit.WithJournal(book))
			_, err := client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
			unknown := tests.AsUnknown(t, err)
			ctx := tests.Within(t, c.patience)
			r, err := unknown.Resolve(ctx)
			require.NoError(t, err)
			require.Equal(t, c.outcome, r.Outcome, name)
			require.Equal(t, c.outcome, book.Noted[unknown.Ticket().ID], name)
			require.Equal(t, c.looked, strings.Contains(r.Note, "looked"), name)
			require.Equal(t, c.looked, r.Again.After(time.Now()), name)
		})
	}
}

// A call that was never sent leaves nothing in a journal, and a ticket without an ID ends nothing.
func TestJournal_HoldsOnlyWhatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := new(tests.Notebook)
		client := tests.NewClient(t, tests.Always(429, "", "Retry-After", "60"), prospectkit.WithJournal(book), prospectkit.WithMaxWait(0))
		for range 3 {
			require.ErrorIs(t, tests.Move(t.Context(), client), prospectkit.ErrRateLimited)
		}
		require.Len(t, book.Sent, 1)
		require.Len(t, book.Noted, 1)
		seeing := tests.NewClient(t, tests.Sees("active"), prospectkit.WithJournal(book))
		made := journal.Ticket{Version: 1, Op: "agents.activate", IDs: []string{tests.AgentID}, Service: seeing.BaseURL(), Workspace: book.Workspace()}
		r := resolved(t, ofTicket(seeing, made))
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)
		require.Len(t, book.Noted, 1)
	})
}

// A guard that cannot settle keeps the ticket in doubt: it is told first.
func TestTicket_GuardIsSettledFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, book := new(tests.CreditStore), new(tests.Notebook)
		client := tests.NewClient(t, tests.LosesWrites(tests.Sees("active")), prospectkit.WithJournal(book), prospectkit.WithSpendGuard(spend.NewSharedGuard(1000, spend.Prices{"agents.activate": {PerCall: 5}}, store)))
		_, err := client.Agents.Activate(t.Context(), tests.AgentID)
		unknown := tests.AsUnknown(t, err)
		store.Err = tests.ErrBroken
		r, err := unknown.Resolve(t.Context())
		require.ErrorIs(t, err, tests.ErrBroken)
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)
		require.Equal(t, journal.Unknown, book.Noted[unknown.Ticket().ID])
	})
}

// brokenBook is a journal that cannot list.
type brokenBook struct{ *tests.Notebook }

func (brokenBook) InDoubt(context.Context) iter.Seq2[journal.Ticket, error] {
	return func(yield func(journal.Ticket, error) bool) { yield(journal.Ticket{}, tests.ErrBroken) }
}

func TestJournal_InDoubtTellsWhatFails(t *testing.T) {
	for want, opts := range map[error][]prospectkit.ClientOption{
		prospectkit.ErrInvalid: nil, tests.ErrBroken: {prospectkit.WithJournal(brokenBook{new(tests.Notebook)})},
	} {
		told := 0
		for _, err := range tests.NewClient(t, tests.Untouched(t), opts...).InDoubt(t.Context()) {
			told++
			require.ErrorIs(t, err, want)
		}
		require.Equal(t, 1, told)
	}
	book := new(tests.Notebook)
	client := tests.NewClient(t, tests.RoundTrip(tests.CutOff), prospectkit.WithJournal(book))
	for range 2 {
		tests.RequireUnknown(t, tests.Move(t.Context(), client))
	}
	for _, err := range client.InDoubt(t.Context()) {
		require.NoError(t, err)
		break
	}
}

// fits is a type of the caller's whose method ends the program, or a test.
type fits struct{}

var unfit func()

func (*fits) UnmarshalJSON([]byte) error { unfit(); return nil }

// A panic that passes through a call, and the end of its goroutine, leave the outcome of the call in the journal and in the guard:
// unknown once it may have been sent, not applied before.
func TestJournal_PanicsAndExits(t *testing.T) {
	for how, end := range map[string]func(){"panic": func() { panic(tests.ErrBroken) }, "exit": runtime.Goexit} {
		for where, test := range map[string]struct {
			outcome journal.Outcome
			set     func(book *tests.Notebook, store *tests.CreditStore)
			rt      tests.RoundTrip
		}{
			"transport": {journal.Unknown, nil, func(*http.Request) (*http.Response, error) { end(); return nil, tests.ErrBroken }},
			"decoder":   {journal.Unknown, nil, tests.Always(200, `{"profiles":[{}]}`)},
			"journal":   {journal.NotApplied, func(b *tests.Notebook, _ *tests.CreditStore) { b.OnSending = func() { defer end(); b.OnSending = nil } }, tests.Always(200, `{}`)},
			"guard":     {journal.NotApplied, func(_ *tests.Notebook, s *tests.CreditStore) { s.Before = func() { s.Before = nil; end() } }, tests.Always(200, `{}`)},
		} {
			tests.InTime(t, how+" in the "+where, func(t *testing.T) {
				unfit = end
				book, store := new(tests.Notebook), new(tests.CreditStore)
				guard := spend.NewSharedGuard(100, spend.Prices{"custom": {PerCall: 7}}, store)
				if test.set != nil {
					test.set(book, store)
				}
				client := tests.NewClient(t, test.rt, prospectkit.WithJournal(book), prospectkit.WithSpendGuard(guard))
				paid := prospectkit.Operation{
					Name: "custom", Method: "POST", Path: "/business/custom", Surface: "search",
				}
				ended := make(chan any)
				go func() {
					defer func() { ended <- recover() }()
					_ = client.Call(t.Context(), paid, nil, new(fits))
					panic("it returned")
				}()
				if got := <-ended; how == "panic" {
					require.Equal(t, tests.ErrBroken, got, "it goes on")
				} else {
					require.Nil(t, got)
				}
				var noted journal.Outcome
				for _, noted = range book.Noted {
				}
				require.Equal(t, test.outcome, noted)
				if test.outcome == journal.Unknown {
					require.Equal(t, spend.Book{InDoubt: 7}, tests.Booked(t, guard))
				} else {
					require.Zero(t, tests.Booked(t, guard).InDoubt)
				}
			})
		}
	}
}

// A guard whose store panics at the end of a call leaves the ticket in doubt.
func TestJournal_GuardPanicsAtTheEnd(t *testing.T) {
	book, store := new(tests.Notebook), new(tests.CreditStore)
	guard := spend.NewSharedGuard(100, tests.PerProfile, store)
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		store.Before = func() { panic(tests.ErrBroken) }
		return tests.Respond(200, `{"profiles":[]}`), nil
	}), prospectkit.WithJournal(book), prospectkit.WithSpendGuard(guard))
	require.PanicsWithValue(t, tests.ErrBroken, func() { _, _ = client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 30}) })
	require.Equal(t, map[string]journal.Outcome{"search.prospects": journal.Unknown}, book.Outcomes())
	require.Len(t, book.Noted, 1)
}

// bare responds without rate headers.
func bare(status int, body string) tests.RoundTrip {
	return func(*http.Request) (*http.Response, error) {
		resp := tests.Respond(status, body)
		resp.Header = http.Header{"Content-Type": resp.Header["Content-Type"]}
		return resp, nil
	}
}

// resolveInDoubt resolves the only ticket that is in doubt, if there is one, as another process does.
func resolveInDoubt(t *testing.T, client *prospectkit.Client) (r *prospectkit.Resolution, err error) {
	t.Helper()
	for ticket, broken := range client.InDoubt(t.Context()) {
		require.NoError(t, broken)
		r, err = client.Resolve(t.Context(), tests.Written(t, ticket))
	}
	return r, err
}

// A success that is not taken for that of the call may have been: whoever rewrites a name on the way makes its effect look like that of
// another call. So not seeing it proves nothing, in this process and in another one, and the credits stay reserved.
func TestResolve_AfterASuccessThatWasNotBelieved(t *testing.T) {
	const escaped = `{"id":"` + tests.AgentID + `","type":"web-monitor","name":"R&amp;D","status":"processing"}`
	const noLists = `{"data":[],"pagination":{"pageNum":1,"totalPages":0,"totalRecords":0}}`
	begin := func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Discard(c.Agents.Create(ctx, tests.MonitorOf{ListName: "R&D", EntityType: "person", Prompt: "x", MaxCreditSpend: 1000, Start: true}))
	}
	for name, test := range map[string]struct {
		call  lostCall
		write tests.RoundTrip
		state string
		final bool
	}{
		"another name":                       {begin, tests.Always(201, `{"agent":`+escaped+`}`), "[" + escaped + "]", false},
		"another name, without rate headers": {begin, bare(201, `{"agent":`+escaped+`}`), "[" + escaped + "]", false},
		"out of a cache":                     {create, tests.Always(201, `{"list":{"id":"`+tests.ListID+`","name":"Q1"}}`, "Age", "9"), noLists, false},
		"nothing that proves it":             {activateOne, bare(200, `{}`), tests.AgentJSON("initializing"), false},
		"a login page":                       {create, bare(200, `<html>log in</html>`), noLists, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			book, guard := new(tests.Notebook), spend.NewGuard(5000, spend.Prices{"agents.activate": {PerCall: 1000}, "agents.create-web-monitor": {PerCall: 1000}})
			client := func() *prospectkit.Client {
				c := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPost {
						return test.write(r)
					}
					state := test.state
					if strings.HasSuffix(r.URL.Path, "/me") {
						state = tests.OneUser
					}
					return tests.Respond(200, state, "Date", time.Now().UTC().Format(http.TimeFormat)), nil
				}), prospectkit.WithJournal(book), prospectkit.WithSpendGuard(guard))
				require.NoError(t, tests.Discard(c.Account.Me(t.Context()))) // it hears the clock
				return c
			}
			err := test.call(t.Context(), client())
			require.Error(t, err, name)
			unknown := tests.AsUnknown(t, err)
			before := tests.Booked(t, guard).InDoubt
			want := journal.Unknown
			if test.final {
				want = journal.NotApplied
			}
			for _, resolve := range []func() (*prospectkit.Resolution, error){
				func() (*prospectkit.Resolution, error) { return unknown.Resolve(t.Context()) },
				func() (*prospectkit.Resolution, error) { return resolveInDoubt(t, client()) },
			} {
				r, err := resolve()
				require.NoError(t, err, name)
				require.Equal(t, want, book.Noted[unknown.Ticket().ID], name)
				require.Equal(t, before, tests.Booked(t, guard).InDoubt, name)
				if !test.final {
					require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, name)
					require.Contains(t, r.Note, "a person has to look", name)
				}
			}
		})
	}
}
