package prospectkit_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// memoryServer serves a handler over in-memory connections. Both ends are net/http's own, so all but the sockets is real, and
// inside a synctest bubble time is virtual.
type memoryServer struct {
	transport *http.Transport
	dials     atomic.Int32 // connections made
	requests  atomic.Int32 // requests that reached the handler
	raw       string       // what rawEnd answers

	server *http.Server
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// inMemory runs a test in a bubble, with a server in it.
func inMemory(t *testing.T, h http.HandlerFunc, test func(t *testing.T, m *memoryServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := serveInMemory(h)
		defer m.close()
		test(t, m)
	})
}

func serveInMemory(h http.HandlerFunc) *memoryServer {
	m := &memoryServer{conns: make(chan net.Conn), closed: make(chan struct{})}
	m.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.requests.Add(1)
		h(w, r)
	})}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		m.dials.Add(1)
		near, far := net.Pipe()
		select {
		case m.conns <- far:
			return near, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m.transport = &http.Transport{DialContext: dial, DialTLSContext: dial, MaxIdleConnsPerHost: 64}
	go func() { _ = m.server.Serve(m) }()
	return m
}

// client talks to the server.
func (m *memoryServer) client(tb testing.TB, opts ...prospectkit.ClientOption) *prospectkit.Client {
	tb.Helper()
	return newClient(tb, m.transport, opts...)
}

func (m *memoryServer) close() {
	m.transport.CloseIdleConnections()
	_ = m.server.Close()
}

// Accept, Close and Addr make it a net.Listener.
func (m *memoryServer) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memoryServer) Close() error   { m.once.Do(func() { close(m.closed) }); return nil }
func (m *memoryServer) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// clientAt talks to a server on a real socket. Its backoff is too short to be noticed.
func clientAt(tb testing.TB, url string, opts ...prospectkit.ClientOption) *prospectkit.Client {
	tb.Helper()
	opts = append([]prospectkit.ClientOption{prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: 1, MaxDelay: 1})}, opts...)
	client, err := prospectkit.New(url+"/api/v1", token, append([]prospectkit.ClientOption{unpaced()}, opts...)...)
	require.NoError(tb, err)
	return client
}

// write answers a request from a handler, with the rate headers if it is a success.
func write(w http.ResponseWriter, status int, body string, header ...string) {
	w.Header().Set("Content-Type", "application/json")
	rateHeaders(w.Header(), status)
	for i := 0; i+1 < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// hijack takes the connection away from net/http, writes raw bytes and closes it.
func hijack(w http.ResponseWriter, raw string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = conn.Write([]byte(raw))
	_ = conn.Close()
}
