package prospectkit

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/op"
)

// A wait gets longer by up to a tenth and a second, but never beyond the deadline.
func TestRetry_JitterStaysWithinTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{time.Second, time.Minute} {
			free := &call{plan: plan{ctx: t.Context()}}
			var most time.Duration
			for range 1000 {
				longer := free.jitter(d)
				require.GreaterOrEqual(t, longer, d)
				most = max(most, longer)
			}
			require.Greater(t, most, d, "callers that were paused together do not come back together")
			require.LessOrEqual(t, most, d+min(d/10, time.Second))

			ctx, cancel := context.WithTimeout(t.Context(), d+time.Nanosecond)
			bound := &call{plan: plan{ctx: ctx}}
			for range 1000 {
				require.Equal(t, d, bound.jitter(d))
			}
			cancel()
		}
	})
}

// Calls that were refused together return one after the other: each draws for itself how much later. A simulation draws for all.
func TestRetry_RefusedCallsAreSpread(t *testing.T) {
	untils := map[time.Duration]bool{}
	refused := func(t *testing.T, ctx context.Context) time.Duration {
		t.Helper()
		client, err := New("https://example.test/api/v1", "pk_test_x", WithTransport(refusing{}), WithMaxWait(0))
		require.NoError(t, err)
		_, err = client.Lists.Page(ctx, ListsParams{})
		require.ErrorIs(t, err, ErrRateLimited)
		state, now := client.conf.limits.surface(op.Lists).limiter.State()
		return (state.HeldUntil - now).Duration()
	}
	synctest.Test(t, func(t *testing.T) {
		for range 40 {
			until := refused(t, t.Context())
			require.GreaterOrEqual(t, until, 20*time.Second)
			require.Less(t, until, 21*time.Second)
			untils[until] = true
		}
		require.Greater(t, len(untils), 30)
		clear(untils)
		for range 2 {
			untils[refused(t, chance.With(t.Context(), chance.New(1, 2)))] = true
		}
		require.Len(t, untils, 1)
	})
}

type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	h := http.Header{"Retry-After": {"20"}, "Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusTooManyRequests, Header: h, Body: http.NoBody, Request: r}, nil
}
