package call_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// counting responds to every request through f and counts them.
func counting(requests *int, f func(n int) (*http.Response, error)) tests.RoundTrip {
	return func(*http.Request) (*http.Response, error) {
		*requests++
		return f(*requests)
	}
}

// fails has room for every call: only the retries are bounded.
func fails(int) (*http.Response, error) { return tests.Respond(503, "", tests.Room...), nil }

// An outage of an hour at the full pace of a surface costs at most 15% more requests than there are calls.
func TestRetry_AmplificationInAnOutage(t *testing.T) {
	for name, hold := range map[string]struct {
		pace        time.Duration
		fails       int // of ten requests
		most, least float64
	}{
		"everything fails": {500 * time.Millisecond, 10, 1.15, 1.01},
		"slow surface":     {3 * time.Second, 10, 1.15, 1.09}, // 20 a minute
		"every other":      {500 * time.Millisecond, 5, 1.15, 1.05},
		"one in ten":       {500 * time.Millisecond, 1, 1.12, 1.05},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			requests, calls := 0, 0
			client := tests.NewClient(t, counting(&requests, func(n int) (*http.Response, error) {
				if n%10 < hold.fails {
					return fails(n)
				}
				return tests.Respond(200, `{"data":[]}`), nil
			}))
			for began := time.Now(); time.Since(began) < time.Hour; {
				next := time.Now().Add(hold.pace)
				_ = page(t, client)
				calls++
				time.Sleep(time.Until(next))
			}
			amplification := float64(requests) / float64(calls)
			require.LessOrEqual(t, amplification, hold.most)
			require.GreaterOrEqual(t, amplification, hold.least, "retries are not given up either")
		})
	}
}

// Ten good calls allow one retry, and the bucket never holds more than ten.
func TestRetry_SuccessEarnsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests, down := 0, true
		client := tests.NewClient(t, counting(&requests, func(n int) (*http.Response, error) {
			if down {
				return fails(n)
			}
			return tests.Respond(200, `{"data":[]}`), nil
		}), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 2, BaseDelay: 1, MaxDelay: 1}))
		retries := func(calls int) int {
			down, requests = true, 0
			for range calls {
				require.Error(t, page(t, client))
			}
			return requests - calls
		}
		succeed := func(calls int) {
			down = false
			for range calls {
				require.NoError(t, page(t, client))
			}
		}
		require.Equal(t, 10, retries(30), "the bucket to begin with")
		require.Zero(t, retries(30))
		succeed(9)
		require.Zero(t, retries(1), "nine tenths of a retry")
		succeed(12)
		require.Equal(t, 2, retries(30))
		succeed(1000)
		require.Equal(t, 10, retries(30), "a full bucket, not a hundred")
		time.Sleep(30 * time.Second)
		require.Equal(t, 1, retries(30), "one in thirty seconds")
	})
}

// What may have been processed needs permission, whatever failed: of 20 reads, a bucketful is retried, after a backoff.
func TestRetry_EveryFailureOfAReadCosts(t *testing.T) {
	for name, transport := range map[string]tests.RoundTrip{
		"failed":            tests.Always(500, tests.Envelope("UNEXPECTED_ERROR")),
		"gateway":           tests.Always(502, ""),
		"cut":               tests.Consumed,
		"somebody else's":   tests.Always(200, tests.HTML, append([]string{tests.ContentType, tests.HTMLType}, tests.Bare...)...),
		"cannot be read":    tests.Always(200, tests.HTML, tests.ContentType, tests.HTMLType),
		"an error in a 2xx": tests.Always(200, tests.Envelope("UNEXPECTED_ERROR")),
	} {
		tests.InTime(t, name, func(t *testing.T) {
			client := tests.NewClient(t, transport, prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: time.Millisecond, MaxDelay: time.Millisecond}))
			retries := 0
			for range 20 {
				var info prospectkit.Info
				require.Error(t, tests.Discard(client.Account.Me(t.Context(), prospectkit.WithInfo(&info))))
				for _, attempt := range info.Attempts[:len(info.Attempts)-1] {
					retries++
					require.Positive(t, attempt.Wait)
				}
			}
			require.Equal(t, 10, retries)
		})
	}
}

// Each surface has a bucket of its own. That what the service did not see, or asked for itself, needs no permission, is tested with each kind
// of call: TestRetry_NotProcessedByEveryKind.
func TestRetry_EachSurfaceHasItsBucket(t *testing.T) {
	requests := 0
	client := tests.NewClient(t, counting(&requests, fails), prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: 1, MaxDelay: 1}))
	for range 20 {
		require.Error(t, page(t, client))
	}
	requests = 0
	require.Error(t, tests.Discard(client.Account.Me(t.Context())))
	require.Equal(t, 3, requests)
}
