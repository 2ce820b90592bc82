// Package chaos holds tests that put real trouble between the client and the sandbox: a proxy that cuts, slows and resets
// connections, and a server that speaks HTTP/2 frames by hand. It is in a module of its own, because the trouble comes from libraries
// that the client must not depend on.
package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// trouble is one way to harm a connection. The attributes are those of the proxy.
var trouble = []struct {
	name       string
	kind       string
	stream     string
	toxicity   float64 // share of the connections that it harms
	attributes map[string]any
	cuts       bool // it loses responses
}{
	{"latency", "latency", "downstream", 1, map[string]any{"latency": 2, "jitter": 5}, false},
	{"bandwidth", "bandwidth", "downstream", 1, map[string]any{"rate": 200}, false},
	{"slow close", "slow_close", "downstream", 1, map[string]any{"delay": 5}, false},
	{"sliced responses", "slicer", "downstream", 1, map[string]any{"average_size": 40, "size_variation": 20, "delay": 100}, false},
	{"reset while the request is written", "reset_peer", "upstream", 0.3, map[string]any{"timeout": 1}, true},
	{"reset during the response", "reset_peer", "downstream", 0.3, map[string]any{"timeout": 1}, true},
	{"request cut after some bytes", "limit_data", "upstream", 0.3, map[string]any{"bytes": 150}, true},
	{"response cut after some bytes", "limit_data", "downstream", 0.3, map[string]any{"bytes": 150}, true},
	{"request swallowed, then cut", "timeout", "upstream", 0.2, map[string]any{"timeout": 5}, true},
	{"response swallowed, then cut", "timeout", "downstream", 0.2, map[string]any{"timeout": 5}, true},
}

const (
	callsEach = 1000
	workers   = 16
)

// TestToxics makes a thousand creations, and reads in between, through each trouble. Whatever the client claims about a creation
// has to agree with the journal of the service, and nothing may be left behind.
func TestToxics(t *testing.T) {
	before := leftBehind() // net/http's own, of the test of its deadlock
	for _, tc := range trouble {
		t.Run(tc.name, func(t *testing.T) {
			func() {
				stage := setUp(t)
				defer stage.tearDown(t)
				stage.poison(t, tc.kind, tc.stream, tc.toxicity, tc.attributes)
				stage.run(t, tc.cuts)
				unknown := stage.judge(t)
				require.Equal(t, tc.cuts, unknown > callsEach/20, "%d creations with an unknown outcome", unknown)
			}()
			require.Eventually(t, func() bool { return leftBehind() <= before }, 10*time.Second, 20*time.Millisecond,
				"goroutines of the client or its connections are left behind")
		})
	}
}

// leftBehind counts the goroutines of the client and of its connections. Those of the proxy are its own affair.
func leftBehind() (n int) {
	buf := make([]byte, 8<<20)
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "net/http.(*persistConn)") || strings.Contains(stack, "example.com/prospectkit.") {
			n++
		}
	}
	return n
}

// wide limits keep the client from pacing itself, which is not what is tested here.
var wide = map[string]sandbox.Limit{
	"lists": {PerMinute: 1_000_000, PerDay: 10_000_000}, "account": {PerMinute: 1_000_000, PerDay: 10_000_000},
}

// stage is a client, a proxy and a sandbox, connected over real sockets.
type stage struct {
	sb     *sandbox.Sandbox
	server *http.Server
	open   atomic.Int64 // connections at the server
	proxy  *toxiproxy.Proxy
	client *prospectkit.Client

	mu     sync.Mutex
	claims map[string]prospectkit.Outcome // by name
	reads  atomic.Int64                   // that succeeded
}

func setUp(t *testing.T) *stage {
	t.Helper()
	s := &stage{sb: sandbox.New(nil, sandbox.Limits(wide)), claims: map[string]prospectkit.Outcome{}}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.server = &http.Server{Handler: s.sb.Handler(), ReadHeaderTimeout: 5 * time.Second, ConnState: s.count}
	go func() { _ = s.server.Serve(listener) }()

	log := zerolog.Nop()
	s.proxy = toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), log), "service", "127.0.0.1:0", listener.Addr().String())
	require.NoError(t, s.proxy.Start())
	// A connection for each attempt, so that each has to throw the dice.
	s.client, err = prospectkit.New("http://"+s.proxy.Listen+"/api/v1", s.sb.Token(),
		prospectkit.WithTransport(&http.Transport{DisableKeepAlives: true}),
		prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: time.Millisecond, MaxDelay: 5 * time.Millisecond}),
		prospectkit.WithAttemptTimeout(2*time.Second))
	require.NoError(t, err)
	return s
}

func (s *stage) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.open.Add(-1)
	case http.StateActive, http.StateIdle:
	}
}

func (s *stage) tearDown(t *testing.T) {
	t.Helper()
	require.NoError(t, s.client.Close())
	s.proxy.Stop()
	require.Eventually(t, func() bool { return s.open.Load() == 0 }, 10*time.Second, 10*time.Millisecond, "connections are left open")
	require.NoError(t, s.server.Close())
}

func (s *stage) poison(t *testing.T, kind, stream string, toxicity float64, attributes map[string]any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"name": kind, "type": kind, "stream": stream, "toxicity": toxicity, "attributes": attributes})
	require.NoError(t, err)
	_, err = s.proxy.Toxics.AddToxicJson(strings.NewReader(string(text)))
	require.NoError(t, err)
}

func (s *stage) run(t *testing.T, hurried bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1); i <= callsEach; i = next.Add(1) {
				name := fmt.Sprintf("List %04d", i)
				ctx, cancel := ctx, func() {}
				if hurried && i%8 == 0 { // its context ends before, while or after it is written
					ctx, cancel = context.WithTimeout(ctx, rand.N(4*time.Millisecond))
				}
				_, err := s.client.Lists.Create(ctx, prospectkit.NewList{Name: name})
				cancel()
				s.mu.Lock()
				s.claims[name] = prospectkit.OutcomeOf(err)
				s.mu.Unlock()
				if _, err := s.client.Account.Me(ctx); err == nil {
					s.reads.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, ctx.Err(), "the calls take too long")
}

// judge holds every claim against what the service did.
func (s *stage) judge(t *testing.T) (doubts int) {
	t.Helper()
	exists := map[string]int{}
	for _, l := range s.sb.Lists() {
		exists[l.Name]++
	}
	counts := map[prospectkit.Outcome]int{}
	for name, claim := range s.claims {
		counts[claim]++
		switch claim {
		case prospectkit.OutcomeApplied:
			require.Equal(t, 1, exists[name], name)
		case prospectkit.OutcomeNotApplied:
			require.Zero(t, exists[name], name)
		case prospectkit.OutcomeUnknown:
			require.LessOrEqual(t, exists[name], 1, name)
		}
	}
	require.Len(t, s.claims, callsEach)
	for _, e := range s.sb.Journal() {
		require.NotEqual(t, http.StatusConflict, e.Status, "a name was taken: a creation arrived twice")
	}
	require.Positive(t, s.reads.Load())
	t.Logf("applied %d, not applied %d, unknown %d; %d of %d reads came through",
		counts[prospectkit.OutcomeApplied], counts[prospectkit.OutcomeNotApplied], counts[prospectkit.OutcomeUnknown], s.reads.Load(), callsEach)
	return counts[prospectkit.OutcomeUnknown]
}
