package call_test

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// What a transport writes to its request, also after it was abandoned, is not sent by a later attempt.
func TestAttempt_HasItsOwnRequest(t *testing.T) {
	for name, first := range map[string]func(released chan struct{}) (*http.Response, error){
		"abandoned":    func(released chan struct{}) (*http.Response, error) { <-released; return nil, io.EOF },
		"rate limited": func(chan struct{}) (*http.Response, error) { return tests.Respond(429, "", "Retry-After", "1"), nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				released := make(chan struct{})
				defer close(released)
				var earlier atomic.Pointer[http.Request]
				var plain, sent http.Header
				var path string
				change := func(r *http.Request) {
					r.Header["Authorization"][0] += "x"
					r.Header.Add("X-Trace", "x")
					r.URL.Path = "/gateway" + r.URL.Path
				}
				client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
					if earlier.Load() == nil {
						plain = r.Header.Clone()
						change(r)
						earlier.Store(r)
						return first(released)
					}
					change(earlier.Load())
					sent, path = r.Header.Clone(), r.URL.Path
					return tests.Respond(200, tests.OneUser), nil
				}), prospectkit.WithAttemptTimeout(time.Second))
				_, err := client.Account.Me(t.Context())
				require.NoError(t, err)
				require.Equal(t, plain, sent)
				require.Equal(t, "/api/v1/business/me", path)
			})
		})
	}
}

// A transport that was abandoned while it connects may still send.
func TestAttempt_AbandonedMayStillConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		defer close(released)
		info, err := tests.Call(t.Context(), tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			require.Equal(t, r.URL.Host, r.Host)
			httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
			<-released
			return nil, io.EOF
		}), prospectkit.WithAttemptTimeout(time.Second)), true)
		tests.RequireUnknown(t, err)
		require.Equal(t, "unknown", info.Attempts[0].Delivery)
	})
}
