package call_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

func dialTo(address string) tests.DialFunc {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

// listen accepts connections on a real socket and hands them to f.
func listen(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f(conn)
		}
	}()
	return l.Addr().String()
}

// closedPort is one that refuses connections, and that no server of another process gets meanwhile: that of a client.
func closedPort(t *testing.T) string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", listen(t, func(net.Conn) {}))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn.LocalAddr().String()
}

// quiet is where test servers put what net/http has to say about broken handshakes.
var quiet = log.New(io.Discard, "", 0)

// unsent lists the failures before a request can have been processed. None of them has an unknown
// outcome, and those that a retry may cure are repeated, whatever the call.
var unsent = []struct {
	name     string
	dial     func(t *testing.T) tests.DialFunc
	attempts int32
}{
	{"refused", toClosedPort, 3},
	{"name server out of order", failing(&net.DNSError{Err: "server misbehaving", Name: "api.example.com", IsTemporary: true}), 3},
	{"no such name", failing(&net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}), 1},
	{"unknown authority", toServer((*httptest.Server).StartTLS), 1},
	{"plain HTTP for https", toServer((*httptest.Server).Start), 1},
	{"another TLS version", toServer(func(s *httptest.Server) {
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
		s.StartTLS()
	}), 1},
	{"a protocol that is not TLS", toListener(func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.example.com ESMTP\r\n") }), 1},
	{"closed in the handshake", toListener(func(c net.Conn) { _ = c.Close() }), 3},
}

func toClosedPort(t *testing.T) tests.DialFunc {
	t.Helper()
	return dialTo(closedPort(t))
}

func failing(err error) func(*testing.T) tests.DialFunc {
	return func(*testing.T) tests.DialFunc { return tests.DialError(err) }
}

func toListener(f func(net.Conn)) func(*testing.T) tests.DialFunc {
	return func(t *testing.T) tests.DialFunc {
		t.Helper()
		return dialTo(listen(t, f))
	}
}

// toServer dials a server that must never see a request.
func toServer(start func(*httptest.Server)) func(*testing.T) tests.DialFunc {
	return func(t *testing.T) tests.DialFunc {
		t.Helper()
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a request got through") }))
		s.Config.ErrorLog = quiet
		start(s)
		t.Cleanup(s.Close)
		return dialTo(s.Listener.Addr().String())
	}
}

func TestRetry_AttemptsBeforeARequestIsSent(t *testing.T) {
	wrapped := func(rt http.RoundTripper) http.RoundTripper {
		return tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := rt.RoundTrip(r)
			if err != nil {
				err = fmt.Errorf("instrumented: %w", err)
			}
			return resp, err
		})
	}
	plain := func(rt http.RoundTripper) http.RoundTripper { return rt }
	for _, u := range unsent {
		for through, wrap := range map[string]func(http.RoundTripper) http.RoundTripper{"plain": plain, "instrumented": wrapped} {
			for _, isWrite := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/write=%t", u.name, through, isWrite), func(t *testing.T) {
					d := tests.Dialing(u.dial(t))
					info, err := tests.Call(t.Context(), tests.ClientAt(t, "https://api.example.com", prospectkit.WithTransport(wrap(d))), isWrite)
					requireNotSent(t, err, info, u.attempts)
					require.Equal(t, u.attempts, d.Dials.Load())
				})
			}
		}
	}
}

func requireNotSent(t *testing.T, err error, info prospectkit.Info, attempts int32) {
	t.Helper()
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "%v", err)
	e := tests.AsError(t, err)
	require.Zero(t, e.Status)
	require.Equal(t, tests.NoWait, tests.Waits(err))
	require.Len(t, info.Attempts, int(attempts))
	for _, a := range info.Attempts {
		require.Equal(t, "not sent", a.Delivery, "%v", a.Err)
		require.Error(t, a.Err)
	}
}

// brokenConn takes so many bytes and then fails every write.
type brokenConn struct {
	net.Conn
	left int
	over <-chan struct{}
}

// Read says nothing of the end, which net/http may otherwise hear of before it hears of the write.
func (c *brokenConn) Read([]byte) (int, error) {
	<-c.over
	return 0, net.ErrClosed
}

func (c *brokenConn) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	if n < len(p) {
		return n, &net.OpError{Op: "write", Err: tests.ErrBroken}
	}
	return n, nil
}

// A request whose headers did not get out whole was not processed. Once they may have been, nothing is certain: net/http hands
// small requests to the kernel in one piece, and tells before.
func TestRetry_CutWhileWriting(t *testing.T) {
	long, short := prospectkit.WithUserAgent(strings.Repeat("x", 12<<10)), prospectkit.WithUserAgent("x")
	cases := []struct {
		name     string
		header   prospectkit.ClientOption
		left     int // bytes that get through on each connection
		attempts int32
		delivery string
		outcome  prospectkit.Outcome
	}{
		{"before the first byte", long, 0, 3, "not sent", prospectkit.OutcomeNotApplied},
		{"in the headers", long, 8 << 10, 3, "not sent", prospectkit.OutcomeNotApplied},
		{"after the headers", long, 12<<10 + 500, 1, "unknown", prospectkit.OutcomeUnknown},
		{"a small request", short, 0, 1, "unknown", prospectkit.OutcomeUnknown},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			address := listen(t, func(c net.Conn) { go func() { _, _ = io.Copy(io.Discard, c) }() })
			d := tests.Dialing(func(ctx context.Context, network, _ string) (net.Conn, error) {
				conn, err := dialTo(address)(ctx, network, "")
				return &brokenConn{Conn: conn, left: test.left, over: t.Context().Done()}, err
			})
			var info prospectkit.Info
			body := prospectkit.NewList{Name: strings.Repeat("n", 255)}
			client := tests.ClientAt(t, "http://127.0.0.1", prospectkit.WithTransport(d), test.header)
			_, err := client.Lists.Create(t.Context(), body, prospectkit.WithInfo(&info))
			require.Equal(t, test.outcome, prospectkit.OutcomeOf(err), "%v", err)
			require.Equal(t, test.attempts, d.Dials.Load())
			require.Len(t, info.Attempts, int(test.attempts))
			require.Equal(t, test.delivery, info.Attempts[0].Delivery)
		})
	}
}
