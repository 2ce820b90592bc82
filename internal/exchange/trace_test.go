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
// So where a write is written a second time, the context has to end and the connection has to be of no use.
func TestDelivery_SecondTimeForAWrite(t *testing.T) {
	for name, test := range map[string]struct {
		plain         bool
		first, second []string
		replayed      bool
		closed        bool
	}{
		"over HTTP/1":                            {false, []string{"Host", "Authorization"}, []string{"Host", "Authorization"}, true, true},
		"nothing was written on the first":       {false, nil, []string{"Host", "Authorization"}, false, false},
		"net/http's own":                         {true, []string{"Host", "Authorization"}, []string{"Host", "Authorization"}, false, false},
		"after a request of the transport's own": {false, []string{"Host", "Basic"}, []string{"Host", "Authorization"}, false, false},
		"before another one":                     {false, []string{"Host", "Authorization"}, []string{"Host", "Basic"}, false, false},
		"over HTTP/2":                            {true, []string{":path", "authorization"}, nil, true, false},
		"over HTTP/2, and a transport":           {false, []string{":path", "authorization"}, nil, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			request := Trace{Plain: test.plain, Authorization: []string{"Bearer key"}}
			trace := request.Hooks(false, cancel)
			var last net.Conn
			writes := func(fields []string) {
				near, far := net.Pipe()
				t.Cleanup(func() { _ = far.Close() })
				last = near
				trace.GotConn(httptrace.GotConnInfo{Conn: near})
				for _, field := range fields {
					if field == "Basic" {
						trace.WroteHeaderField("Authorization", []string{"Basic of a token"})
					} else {
						trace.WroteHeaderField(field, []string{"Bearer key"})
					}
				}
			}
			writes(test.first)
			require.NoError(t, ctx.Err(), "the first one")
			writes(test.second)
			require.Equal(t, test.replayed, errors.Is(context.Cause(ctx), ErrReplay))
			require.Equal(t, test.closed, errors.Is(last.SetDeadline(time.Time{}), io.ErrClosedPipe))
		})
	}
	require.Nil(t, new(Trace).Hooks(true, func(error) {}).WroteHeaderField, "a read may be sent again")
}
