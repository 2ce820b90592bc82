package call_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/tests"
)

// A write that net/http was about to send a second time is ended, and its error says why: nobody cancelled it.
func TestDelivery_ReplayIsNamed(t *testing.T) {
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		trace := httptrace.ContextClientTrace(r.Context())
		for range 2 {
			near, far := net.Pipe()
			defer near.Close()
			defer far.Close()
			trace.GetConn("host:443")
			trace.GotConn(httptrace.GotConnInfo{Conn: near})
			if r.Context().Err() != nil {
				return nil, r.Context().Err()
			}
			trace.WroteHeaderField("Idempotency-Key", nil)
			trace.WroteHeaders()
		}
		return tests.Respond(201, ""), nil
	}))
	info, err := tests.Call(t.Context(), client, true)
	tests.RequireUnknown(t, err)
	require.ErrorContains(t, err, "net/http was about to send the request a second time")
	require.NotErrorIs(t, err, context.Canceled)
	require.Len(t, info.Attempts, 1)
}
