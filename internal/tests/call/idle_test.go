package call_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

const oneWay = 40 * time.Millisecond

// farServer is a server at a distance that closes connections which are idle. Time is virtual.
type farServer struct {
	transport *http.Transport
	listener  chan net.Conn
	closed    chan struct{}
	requests  atomic.Int32
	dials     atomic.Int32
}

func newFarServer(t *testing.T, idle time.Duration, announced string) *farServer {
	t.Helper()
	s := &farServer{listener: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{ReadHeaderTimeout: time.Hour, IdleTimeout: idle, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		if announced != "" {
			w.Header().Set("Keep-Alive", announced)
		}
		tests.Write(w, 200, `{"list":{"id":"`+tests.ListID+`","name":"Q1"},"campaignId":"`+tests.CampaignID+`","status":"active","profiles":[{}],"user":{"id":"`+tests.ListID+`"}}`)
	})}
	s.transport = &http.Transport{MaxIdleConnsPerHost: 64, DialContext: func(context.Context, string, string) (net.Conn, error) {
		s.dials.Add(1)
		near, relayNear := net.Pipe()
		relayFar, far := net.Pipe()
		go relay(relayNear, relayFar)
		go relay(relayFar, relayNear)
		s.listener <- far
		return near, nil
	}}
	s.transport.DialTLSContext = s.transport.DialContext
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(s) })
	t.Cleanup(func() {
		s.transport.CloseIdleConnections()
		_ = server.Close()
		serving.Wait()
		time.Sleep(time.Second) // of the bubble: for the relays
	})
	return s
}

// relay carries bytes, and the end of them, one way.
func relay(from, to net.Conn) {
	type piece struct {
		at   time.Time
		data []byte
	}
	pieces := make(chan piece, 1000)
	go func() {
		for p := range pieces {
			time.Sleep(time.Until(p.at))
			if _, err := to.Write(p.data); err != nil {
				break
			}
		}
		_ = to.Close()
		for range pieces { // whoever reads may still be at work
		}
	}()
	defer close(pieces)
	for buffer := make([]byte, 4096); ; {
		n, err := from.Read(buffer)
		pieces <- piece{time.Now().Add(oneWay), append([]byte(nil), buffer[:n]...)}
		if err != nil {
			return
		}
	}
}

func (s *farServer) Accept() (net.Conn, error) {
	select {
	case c := <-s.listener:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *farServer) Close() error   { close(s.closed); return nil }
func (s *farServer) Addr() net.Addr { return &net.UnixAddr{Name: "far", Net: "unix"} }

// effects are calls that cannot be repeated once they were sent.
var effects = []func(context.Context, *prospectkit.Client, ...prospectkit.CallOption) error{
	func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return tests.Discard(c.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"}, opts...))
	},
	func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return tests.Discard(c.Campaigns.ApproveUnreviewed(ctx, tests.CampaignID, opts...))
	},
	func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return tests.Discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{}, opts...))
	},
	func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return tests.Discard(c.Imports.Upload(ctx, tests.CSVUpload("name\nAda\n"), opts...))
	},
}

// No write, paid read or upload travels on a connection that the server may just be closing, with whatever transport: each call is one
// attempt with one request, and its outcome is known.
func TestIdleConnections(t *testing.T) {
	for name, c := range map[string]struct {
		idle      time.Duration
		announced string
		wrap      func(http.RoundTripper) http.RoundTripper
	}{
		"plain":              {5 * time.Second, "", func(rt http.RoundTripper) http.RoundTripper { return rt }},
		"wrapped":            {5 * time.Second, "", func(rt http.RoundTripper) http.RoundTripper { return tests.RoundTrip(rt.RoundTrip) }},
		"Node.js":            {6 * time.Second, "timeout=5", func(rt http.RoundTripper) http.RoundTripper { return rt }},
		"three announced":    {3 * time.Second, "timeout=3, max=1000", func(rt http.RoundTripper) http.RoundTripper { return rt }},
		"hardly any":         {300 * time.Millisecond, "timeout=1", func(rt http.RoundTripper) http.RoundTripper { return rt }},
		"hardly any wrapped": {300 * time.Millisecond, "timeout=0", func(rt http.RoundTripper) http.RoundTripper { return tests.RoundTrip(rt.RoundTrip) }},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			server := newFarServer(t, c.idle, c.announced)
			client := tests.NewClient(t, c.wrap(server.transport))
			require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
			for n := range 200 {
				pause := c.idle + time.Duration(rand.Int64N(int64(3*oneWay))) - 2*oneWay
				time.Sleep(pause)
				var info prospectkit.Info
				before := server.requests.Load()
				require.NoError(t, effects[n%len(effects)](t.Context(), client, prospectkit.WithInfo(&info)), "after %s", pause)
				require.Len(t, info.Attempts, 1)
				require.EqualValues(t, 1, server.requests.Load()-before)
			}
		})
	}
}

// However many old connections there are, a write is one attempt, one request and one permit.
func TestIdleConnections_AWholePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFarServer(t, time.Hour, "")
		client := tests.NewClient(t, server.transport)
		for n, effect := range effects {
			var together sync.WaitGroup
			for range 20 {
				together.Go(func() { _, _ = client.Account.Me(t.Context()) })
			}
			together.Wait()
			time.Sleep(5 * time.Second)
			dials, requests := server.dials.Load(), server.requests.Load()
			var info prospectkit.Info
			require.NoError(t, effect(t.Context(), client, prospectkit.WithInfo(&info)), n)
			require.Len(t, info.Attempts, 1)
			require.EqualValues(t, 1, server.requests.Load()-requests)
			require.EqualValues(t, 1, server.dials.Load()-dials)
		}
	})
}

// A young connection serves writes, too.
func TestIdleConnections_YoungOnesServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFarServer(t, 5*time.Second, "timeout=5")
		client := tests.NewClient(t, server.transport)
		for n := range 12 {
			require.NoError(t, effects[n%len(effects)](t.Context(), client))
			time.Sleep(3 * time.Second)
		}
		require.EqualValues(t, 1, server.dials.Load())
	})
}

// A transport that dumps each request, as recorders do, is seen through: what happens on its connection in memory is no second connection,
// and no proof.
func TestADumpingTransport(t *testing.T) {
	dumping := func(rt http.RoundTripper) http.RoundTripper {
		return tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if _, err := httputil.DumpRequestOut(r, r.Body != nil && r.ContentLength < 1<<20); err != nil {
				return nil, err
			}
			return rt.RoundTrip(r)
		})
	}
	synctest.Test(t, func(t *testing.T) { // sent, with an idempotency key from above
		server := newFarServer(t, time.Minute, "")
		keyed := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("Idempotency-Key", "1")
			return dumping(server.transport).RoundTrip(r)
		})
		client := tests.NewClient(t, keyed)
		for n, effect := range effects {
			var info prospectkit.Info
			require.NoError(t, effect(t.Context(), client, prospectkit.WithInfo(&info)), n)
			require.Len(t, info.Attempts, 1)
		}
		require.EqualValues(t, len(effects), server.requests.Load())
	})
	refused := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: io.ErrUnexpectedEOF}
	}}
	refused.DialTLSContext = refused.DialContext
	for n, effect := range effects {
		err := effect(t.Context(), tests.NewClient(t, dumping(refused), tests.OneAttempt))
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "%d: %v", n, err)
	}
}
