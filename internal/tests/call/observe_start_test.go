package call_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

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
	_, err := client.Account.Me(t.Context())
	require.NoError(t, err)
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
		prospectkit.WithObserver(func(_ context.Context, e prospectkit.Event) context.Context {
			got = append(got, e)
			return nil
		}))
	_, refused := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
	require.ErrorAs(t, refused, new(*prospectkit.RefusedError))
	_, invalid := client.Lists.Create(t.Context(), prospectkit.NewList{})
	require.ErrorIs(t, invalid, prospectkit.CodeValidationFailed)
	_, noContext := client.Account.Me(nil) //nolint:staticcheck // a nil context is what is tested
	require.ErrorAs(t, noContext, new(*prospectkit.RefusedError))
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
