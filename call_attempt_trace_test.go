package prospectkit

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

// HTTP/1 of net/http writes to a connection that it was handed without another look at the context.
// So where a write is to be sent a second time, the context has to end and the connection has to be
// of no use.
func TestDelivery_SecondConnectionForAWrite(t *testing.T) {
	for name, test := range map[string]struct {
		class    op.Class
		fields   []string
		replayed bool
		closed   bool
	}{
		"a write over HTTP/1":              {op.Unsafe, []string{"Host"}, false, false}, // nothing was written on the first
		"with an idempotency key":          {op.Unsafe, []string{"Host", "Idempotency-Key"}, true, true},
		"with the other one":               {op.Idempotent, []string{"x-idempotency-key"}, true, true},
		"a write over HTTP/2":              {op.Unsafe, []string{":path", "accept"}, true, false},
		"over HTTP/2, with a key":          {op.Unsafe, []string{":path", "idempotency-key"}, true, false},
		"a read that costs credits":        {op.MeteredRead, []string{":path"}, true, false},
		"a header that only looks like it": {op.Unsafe, []string{"X-Idempotency-Key-Of-Mine"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			near, far := net.Pipe()
			defer far.Close()
			a := attempt{call: &call{plan: plan{op: &op.Op{Class: test.class}}}}
			trace := a.trace(cancel)
			for _, field := range test.fields {
				trace.WroteHeaderField(field, nil)
			}
			trace.GotConn(httptrace.GotConnInfo{Conn: near})
			require.NoError(t, ctx.Err(), "the first one")
			trace.GotConn(httptrace.GotConnInfo{Conn: near})
			require.Equal(t, test.replayed, errors.Is(context.Cause(ctx), errReplay))
			require.Equal(t, test.closed, errors.Is(near.SetDeadline(time.Time{}), io.ErrClosedPipe))
		})
	}
	a := attempt{call: &call{plan: plan{op: &op.Op{Class: op.Read}}}}
	require.Nil(t, a.trace(func(error) {}).WroteHeaderField, "a read may be retried")
}
