package call_test

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
)

// thirdTime fails twice, each time after a second, and then succeeds.
func thirdTime() tests.RoundTrip {
	sent := 0
	return func(*http.Request) (*http.Response, error) {
		time.Sleep(time.Second) // virtual
		if sent++; sent < 3 {
			return tests.Respond(500, tests.Envelope("UNEXPECTED_ERROR")), nil
		}
		return tests.Respond(200, tests.OneUser, "RateLimit-Limit", "120", "RateLimit-Remaining", "7", "RateLimit-Reset", "9"), nil
	}
}

func TestObserve_EventsOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []prospectkit.Event
		began := time.Now()
		require.NoError(t, tests.Discard(tests.NewClient(t, thirdTime(), tests.Events(&got)).Account.Me(t.Context())))

		type row struct {
			kind    prospectkit.EventKind
			attempt int
			status  int
			code    prospectkit.Code
		}
		var rows []row
		for _, e := range got {
			rows = append(rows, row{e.Kind, e.Attempt, e.Status, e.Code})
			require.Equal(t, []any{"account.me", "GET", "/business/me", "account"}, []any{e.Op, e.Method, e.Route, e.Surface})
		}
		require.Equal(t, []row{
			{prospectkit.EventAttempt, 1, 500, "UNEXPECTED_ERROR"},
			{prospectkit.EventWait, 2, 0, ""},
			{prospectkit.EventAttempt, 2, 500, "UNEXPECTED_ERROR"},
			{prospectkit.EventWait, 3, 0, ""},
			{prospectkit.EventAttempt, 3, 200, ""},
			{prospectkit.EventEnd, 3, 200, ""},
		}, rows)

		second, third := got[1].Wait, got[3].Wait
		require.Positive(t, second)
		require.Positive(t, third)
		require.Equal(t, "retry", got[0].Next)
		require.Equal(t, "the service failed", got[0].Reason)
		require.Equal(t, got[0].Reason, got[1].Reason)
		require.Equal(t, began, got[0].Start)
		require.Equal(t, time.Second, got[0].Duration)
		require.Equal(t, began.Add(time.Second), got[1].Start)
		require.Equal(t, began.Add(time.Second+second), got[2].Start)
		require.Empty(t, got[4].Reason+got[4].Next)
		last := got[5]
		require.Equal(t, began, last.Start)
		require.Equal(t, 3*time.Second+second+third, last.Duration)
		require.Equal(t, prospectkit.OutcomeApplied, last.Outcome)
		require.NoError(t, last.Err)
		require.Equal(t, "confirmed", got[4].Delivery)
		for _, e := range got[4:] {
			require.Equal(t, 7, e.Rate.Remaining)
			require.Equal(t, 120, e.Rate.Limit)
			require.Equal(t, "minute", e.Rate.Window)
			require.Equal(t, time.Now().Add(9*time.Second), e.Rate.ResetAt)
		}
		require.Zero(t, got[3].Rate, "no response told it yet")
	})
}

func TestObserve_EventsOfAFailure(t *testing.T) {
	var got []prospectkit.Event
	cut := tests.RoundTrip(tests.CutOff)
	_, err := tests.NewClient(t, cut, tests.Events(&got)).Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
	require.Equal(t, []prospectkit.EventKind{prospectkit.EventAttempt, prospectkit.EventEnd}, eventKinds(got))
	require.ErrorIs(t, got[0].Err, io.ErrUnexpectedEOF)
	require.Equal(t, "unknown", got[0].Delivery)
	require.Equal(t, "return an unknown outcome", got[0].Next)
	require.Equal(t, "sent, but no usable response", got[0].Reason)
	require.Equal(t, err, got[1].Err)
	require.Equal(t, prospectkit.OutcomeUnknown, got[1].Outcome)
}

func eventKinds(all []prospectkit.Event) []prospectkit.EventKind {
	var list []prospectkit.EventKind
	for _, e := range all {
		list = append(list, e.Kind)
	}
	return list
}

func TestObserve_WaitForAPausedSurfaceIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []prospectkit.Event
		limited := tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "20")
		client := tests.NewClient(t, tests.InTurn(limited, tests.Always(200, tests.OneUser)), tests.Events(&got))
		require.ErrorIs(t, tests.Discard(client.Account.Me(t.Context(), tests.OneAttempt)), prospectkit.ErrRateLimited)
		got = nil
		require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
		require.Equal(t, []prospectkit.EventKind{prospectkit.EventWait, prospectkit.EventAttempt, prospectkit.EventEnd}, eventKinds(got))
		require.GreaterOrEqual(t, got[0].Wait, 20*time.Second)
		require.Equal(t, 1, got[0].Attempt)
		require.Contains(t, got[0].Reason, "rate limit")
	})
}

func TestObserve_ObserversCannotBreakACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var order []string
		note := func(name string) prospectkit.ClientOption {
			return prospectkit.WithObserver(func(ctx context.Context, _ prospectkit.Event) context.Context {
				order = append(order, name+ctx.Value(key{}).(string))
				return ctx
			})
		}
		breaks := prospectkit.WithObserver(func(context.Context, prospectkit.Event) context.Context { panic("observer") })
		client := tests.NewClient(t, tests.Always(200, tests.OneUser), note("a"), breaks, note("b"))
		user, err := client.Account.Me(context.WithValue(t.Context(), key{}, "1"))
		require.NoError(t, err)
		require.Equal(t, "Ada", user.Name)
		require.Equal(t, []string{"a1", "b1", "a1", "b1", "a1", "b1"}, order, "each sees each event, in the order of the options")
	})
}

// logged are the fields that a log line may have, by message. Nothing else ever gets out.
var logged = map[string][]string{
	"prospectkit attempt": {"time", "level", "msg", "op", "attempt", "error.type", "reason", "status", "code", "delivery", "failure", "next", "duration_ms"},
	"prospectkit wait":    {"time", "level", "msg", "op", "attempt", "reason", "wait_ms"},
	"prospectkit end":     {"time", "level", "msg", "op", "attempts", "error.type", "reason", "status", "code", "outcome", "duration_ms", "waited_ms"},
}

func TestObserve_LogHoldsListedFieldsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines, text := tests.LogLines(t, slog.LevelDebug, func(logger prospectkit.ClientOption) {
			require.NoError(t, tests.Discard(tests.NewClient(t, thirdTime(), logger).Account.Me(t.Context())))
			refused := tests.NewClient(t, tests.Always(422, `{"error":{"code":"VALIDATION_FAILED","message":"secret-message","param":"secret-param"}}`), logger)
			_, err := refused.Lists.Page(t.Context(), prospectkit.ListsParams{Search: "secret-search"}, prospectkit.WithQuery("k", "secret-query"))
			require.Error(t, err)
			_, err = refused.Lists.Create(t.Context(), prospectkit.NewList{Name: "secret-name"}, prospectkit.WithQuery("own", "secret-query"))
			require.Error(t, err)
			require.Error(t, tests.Discard(refused.Lists.Get(t.Context(), tests.ListID)))
		})
		seen := make(map[string]bool)
		for _, fields := range lines {
			message, _ := fields["msg"].(string)
			require.Contains(t, logged, message)
			for name, value := range fields {
				require.Contains(t, logged[message], name)
				require.NotContains(t, []any{"", 0.0, nil}, value, name)
			}
			seen[message] = true
		}
		require.Len(t, seen, len(logged), "every kind was seen")
		for _, secret := range []string{"secret", tests.ListID, tests.Token, "Authorization"} {
			require.NotContains(t, text, secret)
		}
	})
}

func TestObserve_LogLevels(t *testing.T) {
	for level, want := range map[slog.Level][]string{
		slog.LevelDebug: {
			"INFO attempt", "INFO wait", "INFO attempt", "INFO wait", "DEBUG attempt", "DEBUG end",
			"INFO attempt", "WARN end",
		},
		slog.LevelInfo:  {"INFO attempt", "INFO wait", "INFO attempt", "INFO wait", "INFO attempt", "WARN end"},
		slog.LevelWarn:  {"WARN end"},
		slog.LevelError: nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			lines, _ := tests.LogLines(t, level, func(logger prospectkit.ClientOption) {
				require.NoError(t, tests.Discard(tests.NewClient(t, thirdTime(), logger).Account.Me(t.Context())))
				cut := tests.RoundTrip(tests.CutOff)
				_, err := tests.NewClient(t, cut, logger).Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
				require.Error(t, err)
			})
			var got []string
			for _, fields := range lines {
				got = append(got, fields["level"].(string)+" "+fields["msg"].(string)[len("prospectkit "):])
			}
			require.Equal(t, want, got, level)
		})
	}
}

type markKey struct{}

func markOf(ctx context.Context) string {
	mark, _ := ctx.Value(markKey{}).(string)
	return mark
}

// marking puts a name into the context, for every event.
func marking(name string) prospectkit.ClientOption {
	return prospectkit.WithObserver(func(ctx context.Context, _ prospectkit.Event) context.Context {
		return context.WithValue(ctx, markKey{}, markOf(ctx)+name)
	})
}

func TestObserver_TheContextOfTheStartIsTheCalls(t *testing.T) {
	var sent, asked string
	var seen []string
	transport := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		sent = markOf(r.Context())
		return tests.Respond(200, tests.OneUser), nil
	})
	var start prospectkit.Event
	client := tests.NewClient(t, transport,
		prospectkit.WithObserver(func(ctx context.Context, e prospectkit.Event) context.Context {
			if e.Kind == prospectkit.EventStart {
				start = e
			}
			seen = append(seen, string(e.Kind)+" "+markOf(ctx))
			return nil
		}),
		marking("a"),
		prospectkit.WithObserver(func(context.Context, prospectkit.Event) context.Context { panic("observer") }),
		prospectkit.WithObserver(func(context.Context, prospectkit.Event) context.Context { return nil }),
		marking("b"),
		prospectkit.WithObserver(func(ctx context.Context, e prospectkit.Event) context.Context {
			seen = append(seen, string(e.Kind)+" "+markOf(ctx))
			return ctx
		}),
		prospectkit.WithGate(func(ctx context.Context, _ prospectkit.Intent) error {
			asked = markOf(ctx)
			return nil
		}),
	)
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	require.Equal(t, "ab", sent, "each gets the context of the one before it")
	require.Equal(t, "ab", asked)
	require.Equal(t, []string{"start ", "start ab", "attempt ab", "attempt ab", "end ab", "end ab"}, seen, "what is returned later is ignored")
	require.False(t, start.Start.IsZero())
	start.Start = start.Start.Truncate(0)
	require.Equal(t, prospectkit.Event{
		Kind: prospectkit.EventStart, Op: "account.me", Method: "GET", Route: "/business/me", Host: "api.example.com",
		Surface: "account", Start: start.Start,
	}, start)
}

// The context keeps the calls of a client apart.
func TestObserver_FollowsOneCallAmongMany(t *testing.T) {
	type kindsKey struct{}
	var mu sync.Mutex
	var calls [][]prospectkit.EventKind
	follow := func(ctx context.Context, e prospectkit.Event) context.Context {
		mine, _ := ctx.Value(kindsKey{}).(*[]prospectkit.EventKind)
		switch e.Kind {
		case prospectkit.EventStart:
			return context.WithValue(ctx, kindsKey{}, new([]prospectkit.EventKind))
		case prospectkit.EventWait: // those that find the budget busy queue
		case prospectkit.EventEnd:
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, *mine)
		default:
			*mine = append(*mine, e.Kind)
		}
		return nil
	}
	client := tests.NewClient(t, tests.Always(200, tests.OneUser), prospectkit.WithObserver(follow))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { _, _ = client.Account.Me(t.Context()) })
	}
	all.Wait()
	require.Len(t, calls, 20)
	for _, kinds := range calls {
		require.Equal(t, []prospectkit.EventKind{prospectkit.EventAttempt}, kinds)
	}
}

func TestObserver_SeesARefusedCall(t *testing.T) {
	var got []prospectkit.Event
	client := tests.NewClient(t, tests.Always(200, tests.OneUser), prospectkit.ReadOnly(),
		prospectkit.WithObserver(func(ctx context.Context, e prospectkit.Event) context.Context {
			require.NoError(t, ctx.Err(), "there always is one")
			got = append(got, e)
			return nil
		}))
	_, refused := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
	require.ErrorAs(t, refused, new(*prospectkit.RefusedError))
	_, invalid := client.Lists.Create(t.Context(), prospectkit.NewList{})
	require.ErrorIs(t, invalid, prospectkit.CodeValidationFailed)
	_, noContext := client.Account.Me(nil) //nolint:staticcheck // a nil context is what is tested
	require.Equal(t, []string{"context must not be nil"}, tests.Refusals(t, noContext))
	require.Len(t, got, 6)
	for i, want := range []error{refused, invalid, noContext} {
		start, end := got[2*i], got[2*i+1]
		require.Equal(t, prospectkit.EventStart, start.Kind)
		require.Equal(t, prospectkit.EventEnd, end.Kind)
		require.Equal(t, want, end.Err)
		require.Equal(t, prospectkit.OutcomeNotApplied, end.Outcome)
		require.Zero(t, end.Attempt)
	}
}

// A pause that the context cuts short is part of the time waited.
func TestEventCall_CountsThePauseThatWasCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended prospectkit.Event
		client := tests.NewClient(t, tests.Always(http.StatusServiceUnavailable, "", "Retry-After", "60"), tests.Watch(func(e prospectkit.Event) {
			if e.Kind == prospectkit.EventEnd {
				ended = e
			}
		}))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(7*time.Second, cancel)
		require.Error(t, tests.Discard(client.Account.Me(ctx)))
		require.Equal(t, 7*time.Second, ended.Duration)
		require.Equal(t, 7*time.Second, ended.Waited)
	})
}

// A call that a panic of the caller's transport ends is over for observers, too: who watches for unknown outcomes is told of this one.
func TestObserver_IsToldOfAPanic(t *testing.T) {
	var seen []prospectkit.Event
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) { panic("transport") }), tests.Events(&seen))
	require.PanicsWithValue(t, "transport", func() { _ = tests.Discard(client.Lists.Create(t.Context(), tests.Q1)) })
	require.PanicsWithValue(t, "transport", func() { _ = tests.Discard(client.Account.Me(t.Context())) })
	require.Len(t, seen, 2)
	for i, want := range []prospectkit.Outcome{prospectkit.OutcomeUnknown, prospectkit.OutcomeNotApplied} {
		require.Equal(t, prospectkit.EventEnd, seen[i].Kind)
		require.Equal(t, want, seen[i].Outcome)
		require.Equal(t, want, prospectkit.OutcomeOf(seen[i].Err))
	}
}

// brittleJournal panics when it is asked for earlier calls, or told an outcome.
type brittleJournal struct {
	*journal.MemoryJournal

	inEnded bool
}

func (j brittleJournal) Calls(ctx context.Context, op string) iter.Seq2[journal.Entry, error] {
	if !j.inEnded {
		panic("journal")
	}
	return j.MemoryJournal.Calls(ctx, op)
}

func (brittleJournal) Ended(context.Context, string, journal.End) error { panic("journal") }

// So is one that ends before its first attempt or after its last one, and its outcome is that of the call.
func TestObserver_IsToldOfAPanicAroundTheAttempts(t *testing.T) {
	for inEnded, want := range map[bool]prospectkit.Outcome{false: prospectkit.OutcomeNotApplied, true: prospectkit.OutcomeApplied} {
		var seen []prospectkit.Event
		client := tests.NewClient(t, tests.RoundTrip(tests.Made), tests.Events(&seen),
			prospectkit.WithJournal(brittleJournal{new(journal.MemoryJournal), inEnded}))
		require.PanicsWithValue(t, "journal", func() { _ = tests.Discard(client.Lists.Create(t.Context(), tests.Q1, prospectkit.Once("a"))) })
		require.NotEmpty(t, seen)
		ended := seen[len(seen)-1]
		require.Equal(t, prospectkit.EventEnd, ended.Kind)
		require.Equal(t, want, ended.Outcome)
	}
}
