package prospectkit_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
)

// aMoment is how much longer than its context a call may take.
const aMoment = 250 * time.Millisecond

// stuck is a body, or a file, that misbehaves in one way.
type stuck struct {
	read  func() error // before a byte is read
	close func()
}

func (s *stuck) Read(p []byte) (int, error) {
	if err := s.read(); err != nil {
		return 0, err
	}
	p[0] = ' '
	return 1, nil
}

func (s *stuck) Close() error { s.close(); return nil }

func noClose() {}

// stuckBodies are made anew for each attempt. What holds their goroutine for ever is given back when released is closed.
var stuckBodies = map[string]func(ctx context.Context, released <-chan struct{}) *stuck{
	"silence, ended by the context": func(ctx context.Context, _ <-chan struct{}) *stuck {
		return &stuck{func() error { <-ctx.Done(); return ctx.Err() }, noClose}
	},
	"silence, ended by Close": func(context.Context, <-chan struct{}) *stuck {
		closed := make(chan struct{})
		return &stuck{func() error { <-closed; return io.ErrClosedPipe }, sync.OnceFunc(func() { close(closed) })}
	},
	"silence, ended by nothing": func(_ context.Context, released <-chan struct{}) *stuck {
		return &stuck{func() error { <-released; return io.ErrUnexpectedEOF }, noClose}
	},
	"a drip without end": func(context.Context, <-chan struct{}) *stuck {
		return &stuck{func() error { time.Sleep(50 * time.Millisecond); return nil }, noClose}
	},
	"an end, a Close that is ended by nothing": func(_ context.Context, released <-chan struct{}) *stuck {
		return &stuck{func() error { return io.EOF }, func() { <-released }}
	},
	"silence, a panic in Close, ended by nothing": func(_ context.Context, released <-chan struct{}) *stuck {
		return &stuck{func() error { <-released; return io.EOF }, func() { panic("in Close") }}
	},
}

var stuckStatuses = []int{101, 200, 201, 204, 302, 404, 429, 500, 503}

// stuckService is a transport whose responses have stuck bodies.
type stuckService struct {
	status   int
	body     func(ctx context.Context, released <-chan struct{}) *stuck
	released chan struct{}
}

func (h *stuckService) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	resp := answer(h.status, "")
	resp.Body, resp.ContentLength, resp.Request = h.body(r.Context(), h.released), -1, r
	return resp, nil
}

// requireNothingLeft demands that no permit is held, and that calls have left so many goroutines behind.
func requireNothingLeft(t *testing.T, client *prospectkit.Client, goroutines int) {
	t.Helper()
	for _, surface := range client.Budget().Snapshot() {
		require.Zero(t, surface.UnderWay, surface.Surface)
	}
	time.Sleep(time.Second) // for a read that is under way
	synctest.Wait()
	stacks := make([]byte, 1<<20)
	require.Equal(t, goroutines, strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "prospectkit.(*errand).do("))
}

// Whatever the body of a response does, under every status and in every operation: the call ends with its context, its permit is free,
// and no goroutine stays, unless the body heeds neither the context nor Close.
func TestNoBodyOutlivesTheContext(t *testing.T) {
	for name, body := range stuckBodies {
		t.Run(name, func(t *testing.T) {
			for _, status := range stuckStatuses {
				synctest.Test(t, func(t *testing.T) {
					h := &stuckService{status: status, body: body, released: make(chan struct{})}
					client := newClient(t, h)
					held := 0
					for _, row := range op.All() {
						began := time.Now()
						callUntil(t.Context(), 3*time.Second, func(ctx context.Context) { _, _ = everyCall[row.Name](ctx, client) })
						took := time.Since(began)
						require.LessOrEqual(t, took, 3*time.Second+aMoment, "%s, status %d", row.Name, status)
						if took > 3*time.Second && strings.HasSuffix(name, "nothing") {
							held++
						}
					}
					requireNothingLeft(t, client, held)
					close(h.released)
					requireNothingLeft(t, client, 0)
				})
			}
		})
	}
}

// callUntil ends a call after some time. What it panics with is the body's.
func callUntil(ctx context.Context, d time.Duration, f func(context.Context)) {
	defer func() { _ = recover() }()
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	f(ctx)
}
