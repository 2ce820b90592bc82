package tests

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// MemoryServer serves a handler over in-memory connections. Both ends are net/http's own, so all but the sockets is real, and
// inside a synctest bubble time is virtual.
type MemoryServer struct {
	Transport *http.Transport
	Dials     atomic.Int32 // connections made
	Requests  atomic.Int32 // requests that reached the handler
	Raw       string       // for the handler of a test

	server *http.Server
	conns  chan net.Conn
	closed chan struct{}
}

// InBubble runs a subtest in virtual time, or without a name the test itself.
func InBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	if name == "" {
		synctest.Test(t, test)
		return
	}
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// InMemory runs a test in a bubble, with a server in it.
func InMemory(t *testing.T, h http.HandlerFunc, test func(t *testing.T, m *MemoryServer)) {
	t.Helper()
	InMemoryIdle(t, 0, h, test)
}

// InMemoryIdle is InMemory with a server that closes connections which are idle for so long.
func InMemoryIdle(t *testing.T, idle time.Duration, h http.HandlerFunc, test func(t *testing.T, m *MemoryServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := serveInMemory(idle, h)
		defer m.Stop()
		test(t, m)
	})
}

func serveInMemory(idle time.Duration, h http.HandlerFunc) *MemoryServer {
	m := &MemoryServer{conns: make(chan net.Conn), closed: make(chan struct{})}
	m.server = &http.Server{ReadHeaderTimeout: time.Hour, IdleTimeout: idle, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.Requests.Add(1)
		h(w, r)
	})}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		m.Dials.Add(1)
		near, far := net.Pipe()
		select {
		case m.conns <- far:
			return near, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m.Transport = &http.Transport{DialContext: dial, DialTLSContext: dial, MaxIdleConnsPerHost: 64}
	go func() { _ = m.server.Serve(m) }()
	return m
}

// Client talks to the server.
func (m *MemoryServer) Client(tb testing.TB, opts ...prospectkit.ClientOption) *prospectkit.Client {
	tb.Helper()
	return NewClient(tb, m.Transport, opts...)
}

// Stop closes the server and its connections.
func (m *MemoryServer) Stop() {
	m.Transport.CloseIdleConnections()
	_ = m.server.Close()
}

// Accept waits for a connection. With Close and Addr it makes a net.Listener.
func (m *MemoryServer) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (m *MemoryServer) Close() error { close(m.closed); return nil } // once: net/http sees to that

// Addr is a name for logs.
func (m *MemoryServer) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// ClientAt talks to a server on a real socket. Its backoff is too short to be noticed.
func ClientAt(tb testing.TB, url string, opts ...prospectkit.ClientOption) *prospectkit.Client {
	tb.Helper()
	opts = append([]prospectkit.ClientOption{prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: 1, MaxDelay: 1})}, opts...)
	client, err := prospectkit.New(url+"/api/v1", Token, append([]prospectkit.ClientOption{Routes()}, opts...)...)
	require.NoError(tb, err)
	return client
}

// Write responds to a request from a handler, with the rate headers if it is a success.
func Write(w http.ResponseWriter, status int, body string, header ...string) {
	w.Header().Set("Content-Type", "application/json")
	RateHeaders(w.Header(), status)
	for i := 0; i+1 < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// Hijack takes the connection away from net/http, writes raw bytes and closes it.
func Hijack(w http.ResponseWriter, raw string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = conn.Write([]byte(raw))
	_ = conn.Close()
}
