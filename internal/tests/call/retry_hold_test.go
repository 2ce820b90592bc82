package call_test

import (
	"math"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// door is a service that refuses everybody until an instant, and says when that is.
type door struct {
	opens time.Time

	mu       sync.Mutex
	refusals int
	passed   []time.Time
}

func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if now.Before(d.opens) {
		d.refusals++
		seconds := int(math.Ceil(d.opens.Sub(now).Seconds()))
		return tests.Respond(429, tests.Envelope("RATE_LIMITED"), "Retry-After", strconv.Itoa(seconds),
			"RateLimit-Limit", "120", "RateLimit-Remaining", "0", "RateLimit-Reset", strconv.Itoa(min(seconds, 60))), nil
	}
	d.passed = append(d.passed, now)
	if r.Method == http.MethodPost {
		return tests.Respond(201, `{"list":`+tests.OneList+`}`), nil
	}
	return tests.Respond(200, `{"data":[]}`), nil
}

// One refusal pauses the surface foreverybody, reads and writes, of every client that shares the limiter. They come back within
// a tenth of the wait, at most a second, and never early.
func TestRetry_OneRefusalPausesTheSurface(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &door{opens: time.Now().Add(30 * time.Second)}
		client := tests.NewClient(t, d)
		other := tests.Derived(t, client)
		var group sync.WaitGroup
		group.Go(func() { require.NoError(t, page(t, client)) })
		synctest.Wait()
		for i := range 50 {
			group.Go(func() {
				if i%2 == 0 {
					require.NoError(t, page(t, client))
					return
				}
				require.NoError(t, tests.Discard(tests.Call(t.Context(), other, true)))
			})
		}
		group.Wait()
		require.Equal(t, 1, d.refusals)
		require.Len(t, d.passed, 51)
		for _, at := range d.passed {
			require.False(t, at.Before(d.opens))
			require.LessOrEqual(t, at.Sub(d.opens), time.Second)
		}
	})
}

func page(t *testing.T, client *prospectkit.Client) error {
	t.Helper()
	return tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{}))
}

func TestRetry_OtherSurfacesAndBudgetsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusals := 0
		rt := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/api/v1/business/lists" {
				refusals++
				return tests.Respond(429, "", "Retry-After", "60"), nil
			}
			return tests.Respond(200, tests.OneUser), nil
		})
		client := tests.NewClient(t, rt, tests.OneAttempt)
		require.ErrorIs(t, page(t, client), prospectkit.ErrRateLimited)
		began := time.Now()
		require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
		require.NoError(t, tests.Discard(client.Search.FilterOptions(t.Context())))
		require.Error(t, page(t, tests.NewClient(t, rt, tests.OneAttempt)))
		require.Equal(t, 2, refusals, "a budget of its own")
		require.Zero(t, time.Since(began))
	})
}

// A refusal pauses its surface as long as it says, although its body does not end: not only once the attempt has run out of time.
func TestRetry_RefusalWithoutTheEndOfItsBody(t *testing.T) {
	for name, body := range stuckBodies {
		tests.InTime(t, name, func(t *testing.T) {
			released := make(chan struct{})
			var sent []time.Duration
			began := time.Now()
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if sent = append(sent, time.Since(began)); len(sent) != 2 {
					return tests.Respond(200, `{"data":[]}`), nil
				}
				resp := tests.Respond(429, "", "Retry-After", "50")
				resp.Body, resp.ContentLength = body(r.Context(), released), -1
				return resp, nil
			}))
			require.NoError(t, page(t, client)) // so that more than one may be sent
			var group sync.WaitGroup
			group.Go(func() { require.NoError(t, page(t, client)) })
			time.Sleep(5 * time.Second)
			group.Go(func() { require.NoError(t, page(t, client)) })
			group.Wait()
			close(released)
			require.Len(t, sent, 4)
			for _, at := range sent[2:] {
				require.InDelta(t, 50, at.Seconds(), 3)
			}
		})
	}
}

// A refusal that arrives after a later request was served pauses its surface as long as it says, too.
func TestRetry_LateRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const other = "65f0c0ffee65f0c0ffee65f1"
		var slow []time.Time
		early := 0
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/lists") {
				return tests.Respond(200, `{"data":[]}`), nil
			} else if strings.HasSuffix(r.URL.Path, other) {
				if early++; early == 1 {
					return tests.Respond(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "1"), nil
				}
			} else if slow = append(slow, time.Now()); len(slow) == 1 {
				time.Sleep(4 * time.Second)
				return tests.Respond(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "30"), nil
			}
			return tests.Respond(200, `{"list":{"id":"`+path.Base(r.URL.Path)+`"}}`), nil
		}))
		get := func(id string) error { return tests.Discard(client.Lists.Get(t.Context(), id)) }
		_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}) // so that more than one may be sent
		require.NoError(t, err)
		done := make(chan error)
		go func() { done <- get(tests.ListID) }()
		synctest.Wait()
		require.NoError(t, get(other))
		require.NoError(t, <-done)
		require.GreaterOrEqual(t, slow[1].Sub(slow[0]), 34*time.Second)
	})
}

// A wait that is just as long as a call may wait fits, whatever others add to it at random.
func TestRetry_WaitThatJustFits(t *testing.T) {
	for seconds, bound := range map[string]time.Duration{"120": time.Hour, "5": 5100 * time.Millisecond} {
		for range 20 {
			synctest.Test(t, func(t *testing.T) {
				client := tests.NewClient(t, tests.Stage(t, tests.Always(429, "", "Retry-After", seconds), tests.Always(200, tests.OneUser)))
				ctx := tests.Within(t, bound)
				require.NoError(t, tests.Discard(client.Account.Me(ctx)), seconds)
			})
		}
	}
}

// A second refusal that arrives late does not shorten the pause, and no response pauses a surface longer than a day.
func TestRetry_PausesNeitherShrinkNorLastForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := []string{"100", "1", "99999999999999999999"}
		gate := make(chan struct{})
		good := 3 // to begin with, so that two requests may be in flight
		rt := tests.RoundTrip(func(*http.Request) (*http.Response, error) {
			if good--; good >= 0 {
				return tests.Respond(200, `{"data":[]}`), nil
			}
			asked := waits[0]
			waits = waits[1:]
			if asked == "1" {
				<-gate
			}
			return tests.Respond(429, "", "Retry-After", asked), nil
		})
		client := tests.NewClient(t, rt, tests.OneAttempt, prospectkit.WithMaxWait(0))
		for range good {
			require.NoError(t, page(t, client))
		}
		var group sync.WaitGroup
		waits[0], waits[1] = waits[1], waits[0] // the slow one is sent first
		group.Go(func() { require.ErrorIs(t, page(t, client), prospectkit.ErrRateLimited) })
		synctest.Wait()
		require.ErrorIs(t, page(t, client), prospectkit.ErrRateLimited)
		close(gate)
		group.Wait()
		require.InDelta(t, 100.5, pausedFor(t, page(t, client)).Seconds(), 0.6, "up to a second of jitter, and a moment")
		time.Sleep(102 * time.Second)
		require.Error(t, page(t, client))
		require.InDelta(t, 24, pausedFor(t, page(t, client)).Hours(), 0.1)
		require.Empty(t, waits)
	})
}

func pausedFor(t *testing.T, err error) time.Duration {
	t.Helper()
	return time.Until(tests.FitsAt(t, err))
}
