package call_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

const oneWay = 40 * time.Millisecond

// farServer runs a test with a server at a distance that closes connections which are idle. Time is virtual.
func farServer(t *testing.T, idle time.Duration, announced string, test func(t *testing.T, m *tests.MemoryServer)) {
	t.Helper()
	tests.InMemoryIdle(t, idle, tests.Drained(func(w http.ResponseWriter, _ *http.Request) {
		if announced != "" {
			w.Header().Set("Keep-Alive", announced)
		}
		tests.Write(w, 200, `{"list":{"id":"`+tests.ListID+`","name":"Q1"},"campaignId":"`+tests.CampaignID+`","status":"active","profiles":[{}],"user":{"id":"`+tests.ListID+`"}}`)
	}), func(t *testing.T, m *tests.MemoryServer) {
		dial := m.Transport.DialContext
		m.Transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			relayFar, err := dial(ctx, network, address)
			near, relayNear := net.Pipe()
			go relay(relayNear, relayFar)
			go relay(relayFar, relayNear)
			return near, err
		}
		m.Transport.DialTLSContext = m.Transport.DialContext
		test(t, m)
		m.Stop()
		time.Sleep(time.Second) // of the bubble: for the relays
	})
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

// effects are calls that cannot be repeated once they were sent.
var effects = []tests.AnyCall{
	tests.EveryCall["lists.create"], tests.EveryCall["campaigns.approve"], tests.EveryCall["search.prospects"],
	func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
		return c.Imports.Upload(ctx, tests.CSVUpload("name\nAda\n"), opts...)
	},
}

// No write, paid read or upload travels on a connection that the server may just be closing, with whatever transport: each call is one
// attempt with one request, and its outcome is known.
func TestIdleConnections(t *testing.T) {
	for name, c := range map[string]struct {
		idle      time.Duration
		announced string
		wrapped   bool
	}{
		"plain": {5 * time.Second, "", false}, "wrapped": {5 * time.Second, "", true}, "Node.js": {6 * time.Second, "timeout=5", false},
		"three announced":    {3 * time.Second, "timeout=3, max=1000", false},
		"hardly any":         {300 * time.Millisecond, "timeout=1", false},
		"hardly any wrapped": {300 * time.Millisecond, "timeout=0", true},
	} {
		t.Run(name, func(t *testing.T) {
			farServer(t, c.idle, c.announced, func(t *testing.T, m *tests.MemoryServer) {
				client := m.Client(t)
				if c.wrapped {
					client = tests.NewClient(t, tests.RoundTrip(m.Transport.RoundTrip))
				}
				require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
				for n := range 200 {
					pause := c.idle + time.Duration(rand.Int64N(int64(3*oneWay))) - 2*oneWay
					time.Sleep(pause)
					var info prospectkit.Info
					before := m.Requests.Load()
					_, err := effects[n%len(effects)](t.Context(), client, prospectkit.WithInfo(&info))
					require.NoError(t, err, "after %s", pause)
					require.Len(t, info.Attempts, 1)
					require.EqualValues(t, 1, m.Requests.Load()-before)
				}
			})
		})
	}
}

// However many old connections there are, a write is one attempt, one request and one permit.
func TestIdleConnections_AWholePool(t *testing.T) {
	farServer(t, time.Hour, "", func(t *testing.T, m *tests.MemoryServer) {
		client := m.Client(t)
		for n, effect := range effects {
			var together sync.WaitGroup
			for range 20 {
				together.Go(func() { _, _ = client.Account.Me(t.Context()) })
			}
			together.Wait()
			time.Sleep(5 * time.Second)
			dials, requests := m.Dials.Load(), m.Requests.Load()
			var info prospectkit.Info
			require.NoError(t, tests.Discard(effect(t.Context(), client, prospectkit.WithInfo(&info))), n)
			require.Len(t, info.Attempts, 1)
			require.EqualValues(t, 1, m.Requests.Load()-requests)
			require.EqualValues(t, 1, m.Dials.Load()-dials)
		}
	})
}

// A young connection serves writes, too.
func TestIdleConnections_YoungOnesServe(t *testing.T) {
	farServer(t, 5*time.Second, "timeout=5", func(t *testing.T, m *tests.MemoryServer) {
		client := m.Client(t)
		for n := range 12 {
			require.NoError(t, tests.Discard(effects[n%len(effects)](t.Context(), client)))
			time.Sleep(3 * time.Second)
		}
		require.EqualValues(t, 1, m.Dials.Load())
	})
}

// A file that cannot be opened for another connection ends the call, as one that cannot be opened at all: nothing was sent.
func TestIdleConnections_AFileThatCannotBeOpenedAgain(t *testing.T) {
	farServer(t, time.Hour, "", func(t *testing.T, m *tests.MemoryServer) {
		for _, rt := range []http.RoundTripper{m.Transport, tests.RoundTrip(m.Transport.RoundTrip)} {
			client, in, opened, gone := tests.NewClient(t, rt, tests.Journaled()), tests.CSVUpload("name\nAda\n"), 0, errors.New("the file is gone")
			open := in.Open
			in.Open = func() (io.ReadCloser, error) {
				if opened++; opened > 1 {
					return nil, gone
				}
				return open()
			}
			require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
			time.Sleep(5 * time.Second)
			before := m.Requests.Load()
			_, err := client.Imports.Upload(t.Context(), in)
			require.ErrorIs(t, err, gone)
			//			require.NotContains(t, err.Error(), "no connection")
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Equal(t, 2, opened)
			require.Equal(t, before, m.Requests.Load())
			tests.NothingInFlight(t, client)
		}
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
	farServer(t, time.Minute, "", func(t *testing.T, m *tests.MemoryServer) { // sent, with an idempotency key from above
		keyed := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("Idempotency-Key", "1")
			return dumping(m.Transport).RoundTrip(r)
		})
		client := tests.NewClient(t, keyed)
		for n, effect := range effects {
			var info prospectkit.Info
			require.NoError(t, tests.Discard(effect(t.Context(), client, prospectkit.WithInfo(&info))), n)
			require.Len(t, info.Attempts, 1)
		}
		require.EqualValues(t, len(effects), m.Requests.Load())
	})
	refused := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: io.ErrUnexpectedEOF}
	}}
	refused.DialTLSContext = refused.DialContext
	for n, effect := range effects {
		_, err := effect(t.Context(), tests.NewClient(t, dumping(refused), tests.OneAttempt))
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "%d: %v", n, err)
	}
}
