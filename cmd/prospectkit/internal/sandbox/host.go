package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"example.com/prospectkit/sandbox"
)

// host keeps the current sandbox. A reset replaces it.
type host struct {
	cfg    config
	seed   sandbox.State
	source string // of the seed, as text
	clock  sandbox.Clock
	stderr io.Writer

	current atomic.Pointer[instance]
	resets  sync.Mutex
}

// instance is one sandbox, from its start to the next reset.
type instance struct {
	*sandbox.Sandbox
	handler http.Handler
	report  *report
	touched atomic.Int64 // requests that may have changed something
	mu      sync.Mutex
	faults  []givenFault
}

func newHost(cfg config, stderr io.Writer) (*host, error) {
	seed, source, err := cfg.load()
	if err != nil {
		return nil, err
	}
	clock, err := cfg.newClock(seed)
	if err != nil {
		return nil, err
	}
	h := &host{cfg: cfg, seed: seed, source: source, clock: clock, stderr: stderr}
	return h, h.reset()
}

// reset makes a new sandbox from the seed and the flags. The clock continues: time never goes back.
func (h *host) reset() error {
	h.resets.Lock()
	defer h.resets.Unlock()
	report := &report{out: h.stderr}
	box := sandbox.New(report, h.options()...)
	next := &instance{Sandbox: box, handler: box.Handler(), report: report}
	for _, spec := range h.cfg.faults {
		if err := next.addFault(spec, h.cfg.options); err != nil {
			return fmt.Errorf("-fault %s: %w", spec, err)
		}
	}
	h.current.Store(next)
	return nil
}

func (h *host) options() []sandbox.Option {
	opts := []sandbox.Option{sandbox.Seed(h.seed), sandbox.WithClock(h.clock)}
	if !h.cfg.limits {
		opts = append(opts, sandbox.NoLimits())
	}
	opts = append(opts, h.cfg.options...)
	if h.cfg.credits >= 0 {
		opts = append(opts, sandbox.Credits(h.cfg.credits))
	}
	if h.cfg.allowRemote {
		opts = append(opts, sandbox.AllowRemote())
	}
	return opts
}

// ServeHTTP serves a call of the API, after the latency of -latency.
func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.clock.Sleep(r.Context(), h.cfg.latency); err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	box := h.current.Load()
	if r.Method != http.MethodGet {
		box.touched.Add(1)       // a fault may hold it after its effect
		defer box.touched.Add(1) // the state may have been saved before its effect
	}
	box.handler.ServeHTTP(w, r)
}

// report receives what a sandbox reports to a test: mistakes in its use, broken invariants, faults that never fired.
type report struct {
	out  io.Writer
	mu   sync.Mutex
	last func()
}

// Helper does nothing.
func (r *report) Helper() {}

// Cleanup keeps what is to be called at the end.
func (r *report) Cleanup(f func()) { r.last = f }

// Errorf prints for the user.
func (r *report) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, format+"\n", args...)
}
