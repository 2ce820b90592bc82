package services_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A page that was requested early, and refused because its wait was too long, is requested again when it is needed.
func TestPager_RefusedPageAheadIsReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stocked(60)
		full := tests.RoundTrip(func(r *http.Request) (*http.Response, error) { // each response uses the minute up
			resp, err := s.RoundTrip(r)
			if err == nil {
				resp.Header.Set("RateLimit-Limit", "120")
				resp.Header.Set("RateLimit-Remaining", "0")
				resp.Header.Set("RateLimit-Reset", "40")
			}
			return resp, err
		})
		var refused atomic.Int32
		client, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithTransport(full), prospectkit.WithMaxWait(0),
			tests.Watch(func(e prospectkit.Event) {
				if e.Kind == prospectkit.EventEnd && e.Err != nil {
					refused.Add(1)
				}
			}))
		require.NoError(t, err)
		seen := 0
		for _, err := range client.Lists.Pages(t.Context(), inPagesOf(10)) {
			require.NoError(t, err)
			seen++
			time.Sleep(2 * time.Minute)
		}
		require.Equal(t, 6, seen)
		require.Positive(t, refused.Load())
	})
}

// A page that was read ahead and rejected, because only so many requests may be made at a time, is read again, alone, when it is needed.
func TestPager_RejectedPageAheadIsReadAlone(t *testing.T) {
	for name, header := range map[string][]string{"with what is left": tests.Room, "without a figure": tests.Bare} {
		synctest.Test(t, func(t *testing.T) {
			s := stocked(400)
			var running, rejected atomic.Int32
			limited := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				defer running.Add(-1)
				now := running.Add(1)
				time.Sleep(100 * time.Millisecond)
				if now > 2 {
					rejected.Add(1)
					return tests.Respond(http.StatusTooManyRequests, tests.Envelope("RATE_LIMITED"), header...), nil
				}
				return s.RoundTrip(r)
			})
			client := tests.NewClient(t, limited)
			seen := 0
			for _, err := range client.Lists.Pages(t.Context(), inPagesOf(10)) {
				require.NoError(t, err, "%s: after %d pages", name, seen)
				seen++
			}
			require.Equal(t, 40, seen)
			require.Positive(t, rejected.Load())
		})
	}
}
