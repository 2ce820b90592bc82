package call_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/event"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/ratelimit"
)

type hookKey struct{}

// marking is a hook that puts a name into the context and hands out an observer.
func marking(name string, observer prospectkit.Observer) prospectkit.CallHook {
	return func(ctx context.Context, _ prospectkit.Event) (context.Context, prospectkit.Observer) {
		before, _ := ctx.Value(hookKey{}).(string)
		return context.WithValue(ctx, hookKey{}, before+name), observer
	}
}

func TestHook_ContextIsTheCalls(t *testing.T) {
	var sent, seen string
	transport := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		sent, _ = r.Context().Value(hookKey{}).(string)
		return tests.Respond(200, tests.OneUser), nil
	})
	var start prospectkit.Event
	client := tests.NewClient(t, transport,
		prospectkit.WithObserver(func(ctx context.Context, _ prospectkit.Event) { seen, _ = ctx.Value(hookKey{}).(string) }),
		prospectkit.WithCallHook(func(ctx context.Context, e prospectkit.Event) (context.Context, prospectkit.Observer) {
			start = e
			return marking("a", nil)(ctx, e)
		}),
		prospectkit.WithCallHook(func(context.Context, prospectkit.Event) (context.Context, prospectkit.Observer) { panic("hook") }),
		prospectkit.WithCallHook(func(context.Context, prospectkit.Event) (context.Context, prospectkit.Observer) { return nil, nil }),
		prospectkit.WithCallHook(marking("b", func(context.Context, prospectkit.Event) { panic("observer") })),
	)
	_, err := client.Account.Me(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ab", sent, "one hook runs in the context of the other")
	require.Equal(t, "ab", seen)
	require.False(t, start.Start.IsZero())
	start.Start = start.Start.Truncate(0)
	require.Equal(t, prospectkit.Event{
		Kind: event.KindStart, Op: "account.me", Method: "GET", Route: "/business/me", Host: "api.example.com",
		Surface: ratelimit.SurfaceAccount, Start: start.Start,
	}, start)
}

func TestHook_FollowsOneCallAmongMany(t *testing.T) {
	var mu sync.Mutex
	var calls [][]event.Kind
	hook := func(ctx context.Context, _ prospectkit.Event) (context.Context, prospectkit.Observer) {
		var mine []event.Kind
		return ctx, func(_ context.Context, e prospectkit.Event) {
			if e.Kind == event.KindWait {
				return // those that find the budget busy queue
			}
			if mine = append(mine, e.Kind); e.Kind == event.KindCall {
				mu.Lock()
				defer mu.Unlock()
				calls = append(calls, mine)
			}
		}
	}
	client := tests.NewClient(t, tests.Always(200, tests.OneUser), prospectkit.WithCallHook(hook))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { _, _ = client.Account.Me(t.Context()) })
	}
	all.Wait()
	require.Len(t, calls, 20)
	for _, kinds := range calls {
		require.Equal(t, []event.Kind{event.KindAttempt, event.KindCall}, kinds)
	}
}

func TestHook_RefusedCallIsObserved(t *testing.T) {
	var got []prospectkit.Event
	hooked := 0
	client := tests.NewClient(t, tests.Always(200, tests.OneUser), tests.Events(&got), prospectkit.ReadOnly(),
		prospectkit.WithCallHook(func(ctx context.Context, _ prospectkit.Event) (context.Context, prospectkit.Observer) {
			hooked++
			return ctx, nil
		}))
	_, refused := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
	require.ErrorIs(t, refused, prospectkit.ErrRefusedLocally)
	_, invalid := client.Lists.Create(t.Context(), prospectkit.NewList{})
	require.ErrorIs(t, invalid, prospectkit.CodeValidationFailed)
	_, noContext := client.Account.Me(nil) //nolint:staticcheck // a nil context is what is tested
	require.ErrorIs(t, noContext, prospectkit.ErrRefusedLocally)
	require.Equal(t, 3, hooked)
	require.Len(t, got, 3)
	for i, want := range []error{refused, invalid, noContext} {
		require.Equal(t, event.KindCall, got[i].Kind)
		require.Equal(t, want, got[i].Err)
		require.Equal(t, prospectkit.OutcomeNotApplied, got[i].Outcome)
		require.Zero(t, got[i].Attempt)
	}
}

func TestHook_NilIsRefused(t *testing.T) {
	_, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithCallHook(nil))
	require.ErrorContains(t, err, "WithCallHook")
}
