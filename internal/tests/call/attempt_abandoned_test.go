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
	"example.com/prospectkit/event"
	"example.com/prospectkit/internal/tests"
)

// What a transport writes to its header after it was abandoned is not sent by a later attempt.
func TestAttempt_AbandonedHeaderIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		var abandoned atomic.Pointer[http.Header]
		var sent http.Header
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if abandoned.CompareAndSwap(nil, &r.Header) {
				<-released
				return nil, io.EOF
			}
			abandoned.Load().Set("X-Late", "1")
			sent = r.Header.Clone()
			return tests.Respond(200, tests.OneUser), nil
		}), prospectkit.WithAttemptTimeout(time.Second))
		_, err := client.Account.Me(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, sent.Get("Authorization"))
		require.Empty(t, sent.Get("X-Late"))
		close(released)
	})
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
		require.Equal(t, event.DeliveryUnknown, info.Attempts[0].Delivery)
	})
}
