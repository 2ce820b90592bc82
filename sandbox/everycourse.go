package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/sim"
)

// The bounds of a program.
const (
	mostRequests = 10_000
	longestStart = 31 * 24 * time.Hour
)

// course is the way of a program through one plan of failures: its starts, and what it leaves. It is the plan of a simulation with one process.
type course struct {
	sweep   *sweep
	sandbox *Sandbox
	around  *Run // of the setup and the invariant

	mu        sync.Mutex
	plan      []planned // still to come
	instants  []Failure // the requests and marks so far, without a kind
	caused    []Failure
	requests  int
	passed    int     // through the transport of a Run, to the sandbox
	latest    Failure // request
	starts    int
	current   *Run // the last start; nil during the setup and the invariant
	saved     map[string]string
	retries   int
	abandoned bool // a start was stopped or cut off, so its goroutines may be blocked forever
	problems  []error
	returned  error // by the last start

	dir      string // in use
	dirs     []string
	cleanups []func()
	journal  []Entry
}

// try runs the program with the planned failures.
func (s *sweep) try(plan []planned) *course {
	c := &course{sweep: s, plan: plan, saved: map[string]string{}, retries: s.retries}
	w := &sim.World{Plan: c, Unpaced: true}
	switch problem := w.Run(c.prepare); {
	case problem == nil || c.abandoned:
	case c.sandbox == nil:
		c.fail("EveryFailure makes its own bubbles: %w", problem)
	default:
		c.fail("the program leaves goroutines that wait forever: %w", problem)
	}
	return c
}

// prepare makes the sandbox, and the process of the program.
func (c *course) prepare() []*sim.Process {
	c.sandbox = New(tester{c}, c.sweep.options...)
	c.around = c.newRun(context.Background())
	if c.sandbox.clock != RealClock() {
		c.fail("WithClock: EveryFailure has its own virtual time")
	}
	if c.sweep.setup != nil {
		c.ask("setup", func(r *Run) error { c.sweep.setup(r); return nil })
	}
	if c.broken() {
		c.end()
		return nil
	}
	return []*sim.Process{{Program: c.start, Again: c.again, Dying: c.keepDir, Limit: longestStart}}
}

// start runs the program.
func (c *course) start(s *sim.Start) (err error) {
	run := c.newRun(s.Context(""))
	run.start = s
	c.mu.Lock()
	c.starts++
	c.current = run
	c.mu.Unlock()
	err = sim.ErrLeft
	defer func() { run.caught(recover()) }()
	result := c.sweep.program(run)
	if n := len(c.instants); n > 0 && c.instants[n-1].Name != "" { // after a last request, StopAfter does the same
		run.MayStop("its end")
	}
	return result
}

// again reports whether the program is run again, after the end of a start. If not, it judges what the program has left.
func (c *course) again(stopped bool, err error) (pause time.Duration, again bool) {
	c.mu.Lock()
	c.returned = err
	if stopped {
		c.returned, c.abandoned = errStopped, true
	}
	retry := !stopped && err != nil && c.retries > 0
	if retry {
		c.retries--
	}
	c.mu.Unlock()
	if errors.Is(err, sim.ErrEndless) {
		c.abandoned = true
		c.fail("the program did not end within 31 days")
	}
	synctest.Wait() // for what the program leaves
	if (stopped || retry) && !c.broken() {
		return c.sweep.pause, true
	}
	c.journal = c.sandbox.Journal()
	c.check()
	c.end()
	return 0, false
}

var errStopped = errors.New("it was stopped")

// check judges a program that has ended.
func (c *course) check() {
	c.mu.Lock()
	c.current = nil
	c.mu.Unlock()
	switch {
	case c.broken():
	case c.requests == 0:
		c.fail("the program sent no request through the transport of its Run")
	case c.arrived() > c.passed:
		c.fail("requests that did not go through the transport of their Run, and so cannot fail: %d", c.arrived()-c.passed)
	case len(c.plan) > 0:
		c.fail("request or mark %d was not reached, so the program is not the same in each run", c.plan[0].at)
	case len(c.caused) == 0 && c.returned != nil:
		c.fail("the program fails without any failure: %w", c.returned)
	case c.sweep.retries > 0 && c.returned != nil:
		c.fail("the program still returns an error after %d starts: %w", c.starts, c.returned)
	default:
		c.ask("invariant", c.sweep.invariant)
	}
}

// arrived counts the requests that the sandbox got, on whatever way.
func (c *course) arrived() int {
	c.sandbox.mu.Lock()
	defer c.sandbox.mu.Unlock()
	return c.sandbox.journal.requests
}

// ask calls the setup or the invariant. It may leave its goroutine, as FailNow does.
func (c *course) ask(what string, f func(*Run) error) {
	err := sim.ErrLeft
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { c.around.caught(recover()) }()
		err = f(c.around)
	}()
	<-done
	if err != nil && !c.broken() {
		c.fail("%s: %w", what, err)
	}
}

// caught turns a panic into a problem.
func (r *Run) caught(p any) {
	if p != nil {
		r.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// end leaves nothing behind.
func (c *course) end() {
	c.around.cancel()
	if len(c.caused) > 0 {
		c.sandbox.Clear() // a fault of the setup need not fire in each run
	}
	for _, f := range slices.Backward(c.cleanups) {
		f()
	}
	for _, dir := range c.dirs {
		_ = os.RemoveAll(dir) // some systems keep a file that is open
	}
}

// verdict is nil if nothing is wrong.
func (c *course) verdict() *Break {
	if !c.broken() {
		return nil
	}
	return &Break{Failures: c.caused, Err: errors.Join(c.problems...), Program: c.returned, Journal: c.journal}
}

func (c *course) broken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.problems) > 0
}

func (c *course) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Errorf(format, args...))
}

// tester is what the sandbox takes for its test.
type tester struct{ *course }

func (t tester) Helper()                           {}
func (t tester) Cleanup(f func())                  { t.cleanups = append(t.cleanups, f) }
func (t tester) Errorf(format string, args ...any) { t.fail(format, args...) }

// newRun makes a Run, whose context ends with that of its start. What a client draws is the same in each run of a program, so that a planned failure
// is reached.
func (c *course) newRun(ctx context.Context) *Run {
	ctx, cancel := context.WithCancel(chance.With(ctx, chance.New(1, uint64(c.starts)))) //nolint:gosec // G115: a count
	return &Run{Sandbox: c.sandbox, course: c, ctx: ctx, cancel: cancel}
}

// owner is the start to which something that a run does belongs. A client of the setup belongs to whatever runs.
func (c *course) owner(r *Run) *Run {
	if r.start != nil {
		return r
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// enter notes a request or mark, and returns the failure that happens there. It does not return to a program that was stopped. Unless the
// program is stopped before it, the change happens.
func (c *course) enter(r *Run, what Failure, change func()) FailureKind {
	locked := func(*sim.Turn) string {
		c.mu.Lock()
		defer c.mu.Unlock()
		change()
		return ""
	}
	owner := c.owner(r)
	if owner == nil {
		locked(nil)
		return ""
	}
	turn := &sim.Turn{About: what}
	if owner.start.Take(owner.ctx, turn, locked) != nil {
		runtime.Goexit()
	}
	return FailureKind(turn.Fault)
}

// At counts a request or mark, and tells the failure that is planned for it.
func (c *course) At(t *sim.Turn) sim.Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	what, _ := t.About.(Failure)
	if what.Name == "" {
		c.requests++
		c.latest = what
	}
	what.Request, what.Op, what.Method, what.Path = c.requests, c.latest.Op, c.latest.Method, c.latest.Path
	c.instants = append(c.instants, what)
	if len(c.plan) > 0 && c.plan[0].at == len(c.instants) {
		what.Kind = c.plan[0].kind
		c.plan, c.caused = c.plan[1:], append(c.caused, what)
	}
	if len(c.instants) > mostRequests {
		c.problems = append(c.problems, fmt.Errorf("the program did not end within %d requests and marks", mostRequests))
		return sim.KillBefore
	}
	if what.Kind == StopBefore || what.Kind == StopBetween {
		return sim.KillBefore
	}
	return sim.Fault(what.Kind)
}

// Transport is how the program reaches the sandbox. Its requests are counted, and one of them fails.
func (r *Run) Transport() http.RoundTripper { return counting{r} }

// Client is an http.Client with the transport.
func (r *Run) Client() *http.Client { return &http.Client{Transport: r.Transport()} }

// counting is a transport that counts requests and causes the failures.
type counting struct{ run *Run }

// plantedKey is that of a fault in the context of a request.
type plantedKey struct{}

// RoundTrip ends the goroutine if the program was stopped, or is stopped now.
func (t counting) RoundTrip(req *http.Request) (*http.Response, error) {
	below := t.run.Sandbox.Transport()
	if req.Body != nil {
		defer req.Body.Close()
	}
	t.run.live()
	if req.URL == nil || req.Context().Err() != nil {
		return below.RoundTrip(req) // it goes nowhere
	}
	what := Failure{Method: req.Method, Path: req.URL.Path}
	o := t.run.Sandbox.route(arrived(req, nil)).op
	if o != nil {
		what.Op = o.Name
	}
	kind := t.run.course.enter(t.run, what, func() { t.run.course.passed++ })
	if f := kind.fault(o); f != nil {
		req = req.WithContext(context.WithValue(req.Context(), plantedKey{}, f))
	}
	resp, err := below.RoundTrip(req)
	if owner := t.run.course.owner(t.run); kind == StopAfter && owner != nil {
		owner.start.Kill()
	}
	t.run.live()
	return resp, err
}
