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
)

// The bounds of a program.
const (
	mostRequests = 10_000
	longestStart = 31 * 24 * time.Hour
)

// course is the way of a program through one plan of failures: its starts, and what it leaves.
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
	abandoned bool // a start was stopped or cut off, so its goroutines may be blocked forever
	problems  []error
	returned  error // by the last start

	dir      string // in use
	dirs     []string
	cleanups []func()
	journal  []Entry
}

// run is the body of the bubble.
func (c *course) run() {
	c.sandbox = New(tester{c}, c.sweep.options...)
	c.around = c.newRun()
	defer c.clean()
	if c.sandbox.clock != RealClock() {
		c.fail("WithClock: EveryFailure has its own virtual time")
	}
	if c.sweep.setup != nil {
		c.ask("setup", func(r *Run) error { c.sweep.setup(r); return nil })
	}
	for retries := c.sweep.retries; !c.broken(); {
		stopped := c.start()
		synctest.Wait() // for what the program leaves
		if !stopped && (c.returned == nil || retries == 0) {
			break
		}
		if !stopped {
			retries--
		}
		time.Sleep(c.sweep.pause)
	}
	c.journal = c.sandbox.Journal()
	c.check()
}

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
	err := errLeft
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

var errLeft = errors.New("it left its goroutine, as FailNow does")

// caught turns a panic into a problem.
func (r *Run) caught(p any) {
	if p != nil {
		r.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// clean ends the bubble.
func (c *course) clean() {
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

func (c *course) newRun() *Run {
	// What a client draws is the same in each run of a program, so that a planned failure is reached.
	ctx, cancel := context.WithCancel(chance.With(context.Background(), chance.New(1, uint64(c.starts)))) //nolint:gosec // G115: a count
	return &Run{Sandbox: c.sandbox, course: c, ctx: ctx, cancel: cancel, stopped: make(chan struct{})}
}

// start runs the program until it returns or is stopped.
func (c *course) start() (stopped bool) {
	run := c.newRun()
	run.program = true
	c.mu.Lock()
	c.starts++
	c.current = run
	c.mu.Unlock()
	err, ended := errLeft, make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { run.caught(recover()) }()
		result := c.sweep.program(run)
		c.atEnd(run)
		err = result
	}()
	timer := time.NewTimer(longestStart)
	defer timer.Stop()
	select {
	case <-ended:
	case <-run.stopped:
	case <-timer.C:
		c.fail("the program did not end within 31 days")
	}
	c.mu.Lock()
	stopped = run.dead
	run.dead = true
	c.mu.Unlock()
	if stopped {
		<-run.stopped // the files were copied
	}
	run.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-ended:
		c.returned = err
	default:
		c.abandoned = true
	}
	if stopped {
		c.returned = errStopped
	}
	return stopped
}

var errStopped = errors.New("it was stopped")

// atEnd lets a program be stopped after its last mark. After a last request, StopAfter does the same.
func (c *course) atEnd(run *Run) {
	c.mu.Lock()
	n := len(c.instants)
	marked := n > 0 && c.instants[n-1].Name != ""
	c.mu.Unlock()
	if marked {
		run.MayStop("its end")
	}
}

// owner is the start to which something that a run does belongs. A client of the setup belongs to whatever runs. Call it under the lock.
func (c *course) owner(r *Run) *Run {
	if r.program {
		return r
	}
	return c.current
}

// enter notes a request or mark, and returns the failure that happens there. It does not return to a program that was stopped. The change
// happens under the lock, unless the program is stopped before it.
func (c *course) enter(r *Run, what Failure, change func()) FailureKind {
	c.mu.Lock()
	switch owner := c.owner(r); {
	case owner == nil:
		change()
		c.mu.Unlock()
		return ""
	case owner.dead:
		c.mu.Unlock()
		runtime.Goexit()
	}
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
	endless := len(c.instants) > mostRequests
	stops := endless || what.Kind == StopBefore || what.Kind == StopBetween
	if !stops {
		change()
	}
	c.mu.Unlock()
	if endless {
		c.fail("the program did not end within %d requests and marks", mostRequests)
	}
	if stops {
		r.stop()
	}
	return what.Kind
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
	if kind == StopAfter {
		t.run.stop()
	}
	t.run.live()
	return resp, err
}
