package call_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// slowly is a service at a distance: each request takes a moment.
func slowly(sb *sandbox.Sandbox, trip time.Duration) prospectkit.ClientOption {
	return prospectkit.WithTransport(tests.RoundTrip(func(req *http.Request) (*http.Response, error) {
		time.Sleep(trip)
		return sb.Transport().RoundTrip(req)
	}))
}

// waits adds up the reported waits of a client, and what they take.
type waits struct {
	mu              sync.Mutex
	told, took, off time.Duration // off is the sum of the differences, call by call
}

type toldKey struct{}

// observe follows each call on its own.
func (w *waits) observe(ctx context.Context, e prospectkit.Event) context.Context {
	told, _ := ctx.Value(toldKey{}).(*time.Duration)
	switch e.Kind {
	case prospectkit.EventStart:
		return context.WithValue(ctx, toldKey{}, new(time.Duration))
	case prospectkit.EventWait:
		*told += e.Wait
	case prospectkit.EventEnd:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told += *told
		w.took += e.Waited
		w.off += max(*told-e.Waited, e.Waited-*told)
	default:
	}
	return nil
}

// The reported waits of a client are what they take: alone and with others in the queue, near and
// far from the service, in windows that are fixed and in such as slide.
func TestRateLimit_ReportedWaitsAreTrue(t *testing.T) {
	sliding := []sandbox.Option{sandbox.SlidingWindows()}
	for _, tc := range []struct {
		name       string
		goroutines int
		trip       time.Duration
		calls      int
		sandbox    []sandbox.Option
		teammate   bool
	}{
		{"alone and near", 1, 0, 119, nil, false},
		{"alone and near, longer", 1, 0, 500, nil, false},
		{"alone", 1, 100 * time.Millisecond, 500, nil, false},
		{"eight and near", 8, 0, 500, nil, false},
		{"eight", 8, 100 * time.Millisecond, 500, nil, false},
		{"fifty and far", 50, 250 * time.Millisecond, 500, nil, false},
		{"two hundred", 200, 50 * time.Millisecond, 900, nil, false},
		{"alone, sliding", 1, 50 * time.Millisecond, 500, sliding, false},
		{"eight, sliding", 8, 50 * time.Millisecond, 500, sliding, false},
		{"fifty, sliding", 50, 50 * time.Millisecond, 500, sliding, false},
		{"two hundred, sliding", 200, 50 * time.Millisecond, 900, sliding, false},
		{"with a teammate", 1, 50 * time.Millisecond, 300, nil, true},
		{"with a teammate, sliding", 1, 50 * time.Millisecond, 300, sliding, true},
	} {
		tests.InTime(t, tc.name, func(t *testing.T) {
			var all waits
			sb := sandbox.New(t, tc.sandbox...)
			client := tests.SandboxClient(t, sb, slowly(sb, tc.trip), prospectkit.WithObserver(all.observe), prospectkit.WithMaxWait(time.Hour),
				prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 10}))
			if tc.teammate {
				teammate(t, sb)
			}
			var group sync.WaitGroup
			for range tc.goroutines {
				group.Go(func() {
					for range tc.calls / tc.goroutines {
						require.NoError(t, tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{})))
					}
				})
			}
			group.Wait()
			require.True(t, tooMany(sb) == 0 || tc.teammate)
			require.Greater(t, all.took, 50*time.Second)
			require.InEpsilon(t, all.took, all.told, 0.1)
			off := all.took / 10
			if tc.goroutines == 8 { // what is left may not count the others that are in flight
				off = all.took / 4
			}
			require.LessOrEqual(t, all.off, off)
		})
	}
}

// What a call waited is what it did not spend on attempts: in the queue and before repetitions,
// until the end of the context, too.
func TestRateLimit_WaitedIsTrue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Fail("lists.list", sandbox.First(2), sandbox.Status(http.StatusBadGateway, ""))
		var ends []prospectkit.Event
		client := tests.SandboxClient(t, sb, slowly(sb, 100*time.Millisecond), tests.Watch(func(e prospectkit.Event) {
			if e.Kind == prospectkit.EventEnd {
				ends = append(ends, e)
			} else {
				require.Zero(t, e.Waited)
			}
		}))
		for range 119 {
			require.NoError(t, tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{})))
		}
		var err error
		for err == nil { // until one does not fit
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			_, err = client.Lists.Page(ctx, prospectkit.ListsParams{})
			cancel()
		}
		require.Equal(t, ends[0].Duration-300*time.Millisecond, ends[0].Waited)
		require.Greater(t, ends[0].Waited, 500*time.Millisecond)
		refused := tests.AsRefused(t, ends[len(ends)-1].Err)
		require.Zero(t, ends[len(ends)-1].Duration, "it is refused at once")
		require.Greater(t, time.Until(refused.FitsAt), 3*time.Second)

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, tests.Discard(client.Lists.Page(ctx, prospectkit.ListsParams{})), context.Canceled)
		last := ends[len(ends)-1]
		require.Equal(t, time.Second, last.Waited)
		require.Equal(t, last.Duration, last.Waited)
		for _, e := range ends[1 : len(ends)-1] {
			if e.Err == nil {
				require.Equal(t, e.Duration-100*time.Millisecond, e.Waited)
			}
		}
	})
}

// After a 429 that nobody here caused, and that the next figures contradict, only its own pause is waited for, and told.
func TestRateLimit_ReportedWaitsAfterARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all waits
		sb := sandbox.New(t)
		sb.Fail("lists.list", sandbox.Nth(2), sandbox.Status(http.StatusTooManyRequests, "RATE_LIMITED"), sandbox.RetryAfter(1))
		client := tests.SandboxClient(t, sb, slowly(sb, 50*time.Millisecond), prospectkit.WithObserver(all.observe))
		for range 10 {
			require.NoError(t, tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{})))
		}
		require.GreaterOrEqual(t, all.took, time.Second)
		require.Less(t, all.took, 2*time.Second)
		require.InEpsilon(t, all.took, all.told, 0.1)
	})
}

// A refusal tells when the call fits: whoever sleeps until then gets through.
func TestRateLimit_ReportedRefusalsAreTrue(t *testing.T) {
	t.Parallel()
	for _, trip := range []time.Duration{0, 100 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			sb := sandbox.New(t)
			client := tests.SandboxClient(t, sb, slowly(sb, trip))
			refused := 0
			for served := 0; served < 300; {
				_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(0))
				if err == nil {
					served++
					continue
				}
				refused++
				wait := tests.Waits(err)
				require.Greater(t, wait, 100*time.Millisecond)
				require.Equal(t, time.Now().Add(wait), tests.FitsAt(t, err))
				require.NotContains(t, err.Error(), "room in 0s")
				time.Sleep(wait)
			}
			require.Less(t, refused, 60, "once for each of those that the pace holds back")
			require.Zero(t, tooMany(sb))
		})
	}
}

// A call whose wait was in vain says how long it took, and what is left of it.
func TestRateLimit_RefusedAfterWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Fail("lists.list", sandbox.First(1), sandbox.Status(http.StatusTooManyRequests, "RATE_LIMITED"), sandbox.RetryAfter(60))
		client := tests.SandboxClient(t, sb, slowly(sb, time.Second))
		var first sync.WaitGroup
		first.Go(func() {
			_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(0))
			require.ErrorIs(t, err, prospectkit.ErrRateLimited)
		})
		synctest.Wait()
		_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(10*time.Second))
		require.InDelta(t, 60, time.Until(tests.FitsAt(t, err)).Seconds(), 1.1)
		require.ErrorContains(t, err, "after a wait of 1s, the rate limit of surface lists (minute) has room in 1m")
		first.Wait()
		_, err = client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(10*time.Second))
		require.ErrorContains(t, err, ": the rate limit of surface lists (minute) has room in 1m")
	})
}

// A first request that takes long holds the others up for a moment only.
func TestRateLimit_SlowFirstRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		client := tests.SandboxClient(t, sb, slowly(sb, 29*time.Second))
		began := time.Now()
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				require.NoError(t, tests.Discard(client.Agents.Page(t.Context())))
			})
		}
		time.Sleep(500 * time.Millisecond)
		_, err := client.Agents.Page(t.Context(), prospectkit.WithMaxWait(0))
		require.True(t, tests.FitsAt(t, err).After(time.Now()))
		group.Wait()
		require.Equal(t, 33*time.Second, time.Since(began), "one more every two seconds")
		require.Zero(t, tooMany(sb))
	})
}
