package prospectkit_test

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
)

// What a transport writes to its header after it was abandoned is not sent by a later attempt.
func TestAttempt_AbandonedHeaderIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		var abandoned atomic.Pointer[http.Header]
		var sent http.Header
		client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			if abandoned.CompareAndSwap(nil, &r.Header) {
				<-released
				return nil, io.EOF
			}
			abandoned.Load().Set("X-Late", "1")
			sent = r.Header.Clone()
			return respond(200, oneUser), nil
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
		info, err := call(t.Context(), newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			require.Equal(t, r.URL.Host, r.Host)
			httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
			<-released
			return nil, io.EOF
		}), prospectkit.WithAttemptTimeout(time.Second)), true)
		requireUnknown(t, err)
		require.Equal(t, event.DeliveryUnknown, info.Attempts[0].Delivery)
	})
}
