package prospectkit_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/catalogue"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// Only a final verdict ends a ticket: what is not seen so far, and what nobody can know, stays in doubt.
func TestTicket_OnlyAFinalVerdictSettles(t *testing.T) {
	listing := func(status string) roundTrip { return always(200, `[{"id":"`+campaignID+`","status":"`+status+`"}]`) }
	for name, c := range map[string]struct {
		look     roundTrip
		patience time.Duration
		verdict  prospectkit.Verdict
		outcome  journal.Outcome
	}{
		"not seen so far":       {listing("draft"), time.Second, prospectkit.VerdictNotSeen, journal.Unknown},
		"not seen, but it may":  {listing("draft"), time.Hour, prospectkit.VerdictNotSeen, journal.Unknown}, // activation runs in the background
		"seen":                  {listing("active"), time.Hour, prospectkit.VerdictHappened, journal.Applied},
		"unknowable":            {listing(""), time.Hour, prospectkit.VerdictUnknowable, journal.Unknown},
		"stopped, so far":       {listing("stopped"), time.Second, prospectkit.VerdictNotSeen, journal.Unknown},
		"stopped, and for good": {listing("stopped"), time.Hour, prospectkit.VerdictUnknowable, journal.Unknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			book := new(notebook)
			client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return cutOff(r)
				}
				return c.look(r)
			}), prospectkit.WithJournal(book))
			_, err := client.Campaigns.Approve(t.Context(), campaignID)
			unknown, _ := errors.AsType[*prospectkit.OutcomeUnknownError](err)
			ctx, cancel := context.WithTimeout(t.Context(), c.patience)
			defer cancel()
			r, err := unknown.Resolve(ctx)
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Verdict, name)
			require.Equal(t, c.outcome, book.ended[unknown.Ticket().ID], name)
			require.Equal(t, c.verdict == prospectkit.VerdictNotSeen, strings.Contains(r.Note, "looked"), name)
			require.False(t, r.Final, name)
		})
	}
}

// Resolve looks until 10 s after the call, whenever it begins.
func TestResolve_LooksUntilSoLongAfterTheCall(t *testing.T) {
	ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		unknown := outcomeUnknown(t, sb, "lists.create", sandbox.DropBefore(), create(t, client, q1))
		time.Sleep(4 * time.Second)
		began := time.Now()
		r, err := unknown.Resolve(t.Context())
		require.NoError(t, err)
		require.True(t, r.Final)
		require.LessOrEqual(t, time.Since(began), 6*time.Second)
	})
}

// A call that was never sent leaves nothing in a journal, and a ticket without an ID ends nothing.
func TestJournal_HoldsOnlyWhatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := new(notebook)
		client := newClient(t, always(429, "", "Retry-After", "60"), prospectkit.WithJournal(book), prospectkit.WithMaxWait(0))
		for range 3 {
			require.ErrorIs(t, move(t.Context(), client), prospectkit.ErrRateLimited)
		}
		require.Len(t, book.sent, 1)
		require.Len(t, book.ended, 1)
		seeing := newClient(t, sees("active"), prospectkit.WithJournal(book))
		made := journal.Ticket{Version: 1, Op: "agents.activate", IDs: []string{agentID}, Service: seeing.BaseURL()}
		r, err := seeing.Resolve(t.Context(), made)
		require.NoError(t, err)
		require.Equal(t, prospectkit.VerdictHappened, r.Verdict)
		require.Len(t, book.ended, 1)
	})
}

// A guard that cannot settle keeps the ticket in doubt: it is told first.
func TestTicket_GuardIsSettledFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, book := new(creditStore), new(notebook)
		client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return cutOff(r)
			}
			return sees("active")(r)
		}), prospectkit.WithJournal(book), prospectkit.WithSpendGuard(spend.NewSharedGuard(1000, spend.Prices{"agents.activate": {PerCall: 5}}, store)))
		_, err := client.Agents.Activate(t.Context(), agentID)
		unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
		require.True(t, ok, "%v", err)
		store.err = errBroken
		r, err := unknown.Resolve(t.Context())
		require.ErrorIs(t, err, errBroken)
		require.Equal(t, prospectkit.VerdictHappened, r.Verdict)
		require.Equal(t, journal.Unknown, book.ended[unknown.Ticket().ID])
	})
}

// brokenBook is a journal that cannot list.
type brokenBook struct{ *notebook }

func (brokenBook) InDoubt(context.Context) iter.Seq2[journal.Ticket, error] {
	return func(yield func(journal.Ticket, error) bool) { yield(journal.Ticket{}, errBroken) }
}

func TestJournal_InDoubtTellsWhatFails(t *testing.T) {
	for want, opts := range map[error][]prospectkit.ClientOption{
		prospectkit.ErrRefusedLocally: nil, errBroken: {prospectkit.WithJournal(brokenBook{new(notebook)})},
	} {
		told := 0
		for _, err := range newClient(t, untouched(t), opts...).InDoubt(t.Context()) {
			told++
			require.ErrorIs(t, err, want)
		}
		require.Equal(t, 1, told)
	}
	book := new(notebook)
	client := newClient(t, roundTrip(cutOff), prospectkit.WithJournal(book))
	for range 2 {
		requireUnknown(t, move(t.Context(), client))
	}
	for _, err := range client.InDoubt(t.Context()) {
		require.NoError(t, err)
		break
	}
	_, err := prospectkit.New(baseURL, token, prospectkit.WithWorkspace("a\nb"))
	require.Equal(t, []string{"WithWorkspace must not be empty or hold control characters"}, refusals(t, err))
}

// fits is a type of the caller's whose method ends the program, or a test.
type fits struct{}

var unfit func()

func (*fits) UnmarshalJSON([]byte) error { unfit(); return nil }

// A panic that passes through a call, and the end of its goroutine, leave the outcome of the call in the journal and in the guard:
// unknown once it may have been sent, not applied before.
func TestJournal_PanicsAndExits(t *testing.T) {
	for how, end := range map[string]func(){"panic": func() { panic(errBroken) }, "exit": runtime.Goexit} {
		for where, test := range map[string]struct {
			outcome journal.Outcome
			set     func(book *notebook, store *creditStore)
			rt      roundTrip
		}{
			"transport": {journal.Unknown, nil, func(*http.Request) (*http.Response, error) { end(); return nil, errBroken }},
			"decoder":   {journal.Unknown, nil, always(200, `{"profiles":[{}]}`)},
			"journal":   {journal.NotApplied, func(b *notebook, _ *creditStore) { b.sending = func() { defer end(); b.sending = nil } }, nil},
			"guard":     {journal.NotApplied, func(_ *notebook, s *creditStore) { s.before = func() { s.before = nil; end() } }, nil},
		} {
			t.Run(how+" in the "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					unfit = end
					book, store := new(notebook), new(creditStore)
					guard := spend.NewSharedGuard(100, spend.Prices{"custom": {PerCall: 7}}, store)
					if test.set != nil {
						test.set(book, store)
					}
					client := newClient(t, test.rt, prospectkit.WithJournal(book), prospectkit.WithSpendGuard(guard))
					paid := catalogue.Operation{
						Name: "custom", Method: "POST", Path: "/business/custom", Surface: ratelimit.SurfaceSearch,
						Class: catalogue.ClassUnsafe, Spends: catalogue.EffectYes,
					}
					ended := make(chan any)
					go func() {
						defer func() { ended <- recover() }()
						_ = client.Call(t.Context(), paid, nil, new(fits))
						panic("it returned")
					}()
					if got := <-ended; how == "panic" {
						require.Equal(t, errBroken, got, "it goes on")
					} else {
						require.Nil(t, got)
					}
					var noted journal.Outcome
					for _, noted = range book.ended {
					}
					require.Equal(t, test.outcome, noted)
					if test.outcome == journal.Unknown {
						require.Equal(t, spend.Book{InDoubt: 7}, booked(t, guard))
					} else {
						require.Zero(t, booked(t, guard).InDoubt)
					}
				})
			})
		}
	}
}

// A guard whose store panics at the end of a call leaves the ticket in doubt.
func TestJournal_GuardPanicsAtTheEnd(t *testing.T) {
	book, store := new(notebook), new(creditStore)
	guard := spend.NewSharedGuard(100, perProfile, store)
	client := newClient(t, roundTrip(func(*http.Request) (*http.Response, error) {
		store.before = func() { panic(errBroken) }
		return respond(200, `{"profiles":[]}`), nil
	}), prospectkit.WithJournal(book), prospectkit.WithSpendGuard(guard))
	require.PanicsWithValue(t, errBroken, func() { _, _ = client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 30}) })
	require.Equal(t, map[string]journal.Outcome{"search.prospects": journal.Unknown}, book.outcomes())
	require.Len(t, book.ended, 1)
}
