package exchange

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// HTTP/1 of net/http writes to a connection that it was handed without another look at the context.
// So where a write is to be sent a second time, the context has to end and the connection has to be
// of no use.
func TestDelivery_SecondConnectionForAWrite(t *testing.T) {
	for name, test := range map[string]struct {
		fields   []string
		replayed bool
		closed   bool
	}{
		"a write over HTTP/1":              {[]string{"Host"}, false, false}, // nothing was written on the first
		"with an idempotency key":          {[]string{"Host", "Idempotency-Key"}, true, true},
		"with the other one":               {[]string{"x-idempotency-key"}, true, true},
		"a write over HTTP/2":              {[]string{":path", "accept"}, true, false},
		"over HTTP/2, with a key":          {[]string{":path", "idempotency-key"}, true, false},
		"a read that costs credits":        {[]string{":path"}, true, false},
		"a header that only looks like it": {[]string{"X-Idempotency-Key-Of-Mine"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			near, far := net.Pipe()
			defer far.Close()
			var request Trace
			trace := request.Hooks(false, cancel)
			for _, field := range test.fields {
				trace.WroteHeaderField(field, nil)
			}
			trace.GotConn(httptrace.GotConnInfo{Conn: near})
			require.NoError(t, ctx.Err(), "the first one")
			trace.GotConn(httptrace.GotConnInfo{Conn: near})
			require.Equal(t, test.replayed, errors.Is(context.Cause(ctx), ErrReplay))
			require.Equal(t, test.closed, errors.Is(near.SetDeadline(time.Time{}), io.ErrClosedPipe))
		})
	}
	require.Nil(t, new(Trace).Hooks(true, func(error) {}).WroteHeaderField, "a read may be sent again")
}
