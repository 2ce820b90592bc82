package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/sim"
)

// Run is one start of a program under [EveryFailure]. The starts of one run share a sandbox.
//
// The function of [Setup] and the invariant get a Run as well. What they do is not counted and does not fail.
type Run struct {
	*Sandbox

	course *course
	start  *sim.Start      // nil: the setup, or the invariant
	ctx    context.Context //nolint:containedctx // the start is its scope
}

// Context ends when the program is stopped, and when it has returned.
func (r *Run) Context() context.Context { return r.ctx }

// Starts counts the starts of the program so far, this one included.
func (r *Run) Starts() int { return shared(r.course, func(c *course) int { return c.starts }) }

// Err is what the program returned at last, for the invariant.
func (r *Run) Err() error { return shared(r.course, func(c *course) error { return c.returned }) }

// Failures are what was caused in this run so far: nothing in the first one.
func (r *Run) Failures() []Failure { return r.course.failures() }

// Save stores a value that survives a stop, as a file or a row of a database would. The program can be stopped right before it.
func (r *Run) Save(name, value string) { r.mark(name, func() { r.course.saved[name] = value }) }

// Load returns what [Run.Save] stored last, before or after a stop, and whether there is anything.
func (r *Run) Load(name string) (value string, ok bool) {
	r.live()
	r.course.mu.Lock()
	defer r.course.mu.Unlock()
	value, ok = r.course.saved[name]
	return value, ok
}

// MayStop marks an instant at which the program can be stopped, beside its requests and its calls of [Run.Save]: between two writes of
// files, for example. The name is for the report.
func (r *Run) MayStop(name string) { r.mark(name, func() {}) }

// mark is an instant between two requests. Unless the program is stopped there, it changes something.
func (r *Run) mark(name string, change func()) {
	r.step(marks, cmp.Or(name, "a mark"), func(*mishap) {
		r.course.mu.Lock()
		defer r.course.mu.Unlock()
		change()
	})
}

// Dir is a directory that survives a stop. The program that is run again gets a copy of what was there when the first one was stopped, so
// nothing that the stopped one writes after that counts. It is removed at the end of the run.
func (r *Run) Dir() string {
	r.live()
	r.course.mu.Lock()
	defer r.course.mu.Unlock()
	if r.course.dir == "" {
		r.course.newDir()
	}
	return r.course.dir
}

// Helper makes a Run usable in assertions.
func (r *Run) Helper() {}

// Errorf breaks the run.
func (r *Run) Errorf(format string, args ...any) {
	if r.start == nil || r.start.Alive() {
		r.course.fail(format, args...)
	}
}

// FailNow ends the goroutine, after [Run.Errorf].
func (r *Run) FailNow() { runtime.Goexit() }

// live does not return to a program that was stopped.
func (r *Run) live() {
	if owner := r.owner(); owner != nil && !owner.Alive() {
		runtime.Goexit()
	}
}

// owner is the start to which something that a run does belongs. A client of the setup belongs to whatever runs.
func (r *Run) owner() *sim.Start {
	return shared(r.course, func(c *course) *sim.Start { return cmp.Or(r.start, c.current) })
}

// step takes a step of the program, unless this is the setup or the invariant. It does not return to a program that was stopped.
func (r *Run) step(class, what string, do func(*mishap)) {
	owner := r.owner()
	if owner == nil {
		do(nil)
		return
	}
	dead := owner.Do(r.ctx, class, what, func(t *sim.Turn) string {
		if t.Fault != sim.KillWithin {
			do(mishapOf(t))
		}
		if t.Kills() {
			r.course.keepDir()
		}
		return ""
	})
	if dead != nil {
		runtime.Goexit()
	}
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
func (t counting) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	c, below := t.run.course, t.run.Sandbox.Transport()
	if req.Body != nil {
		defer req.Body.Close()
	}
	t.run.live()
	if req.URL == nil || req.Context().Err() != nil {
		return below.RoundTrip(req) // it goes nowhere
	}
	o := cmp.Or(c.sandbox.route(arrived(req, nil)).op, new(op.Op))
	what := o.Name + " " + req.Method + " " + req.URL.Path
	if req.URL.RawQuery != "" { // it orders what is sent at the same moment
		what += "\n" + req.URL.RawQuery
	}
	t.run.step(classOf(o, req), what, func(m *mishap) {
		f := noFault
		switch {
		case m == nil:
		case m.kind == IdleClosed:
			err = onIdle(req)
			return
		default:
			f = m.fault(o)
		}
		if f.cap != nil { // for the rest of the run
			f.op = o.Name
			c.sandbox.addFault(f)
		} else if f != noFault {
			req = req.WithContext(context.WithValue(req.Context(), plantedKey{}, f))
		}
		c.mu.Lock()
		c.passed += 1 + f.again
		c.mu.Unlock()
		resp, err = below.RoundTrip(req) //nolint:bodyclose // the client closes it
	})
	return resp, err
}

// The bounds of a program.
const (
	mostRequests = 10_000
	longestStart = 31 * 24 * time.Hour
)

// course is the way of a program through one plan of failures: its starts, and what it leaves.
type course struct {
	sweep   *sweep
	sandbox *Sandbox
	world   *sim.World
	plan    []sim.Key
	around  *Run // of the setup and the invariant
	cancel  context.CancelFunc

	mu       sync.Mutex
	passed   int // through the transport of a Run, to the sandbox
	starts   int
	retries  int
	current  *sim.Start // nil during the setup and the invariant
	saved    map[string]string
	problems []error
	returned error // by the last start

	dir      string // in use
	dirs     []string
	cleanups []func()
	journal  []Entry
}

// try runs the program with the failures of a plan.
func (s *sweep) try(plan []sim.Key) *course {
	w := &sim.World{Seed: seed, Plan: sim.Chosen{Keys: plan, Possible: s.possible}, Most: mostRequests, Longest: longestStart}
	c := &course{sweep: s, world: w, plan: plan, retries: s.retries, saved: map[string]string{}}
	switch problem := sim.Bubble(c.run); {
	case problem == nil || c.broken() || slices.ContainsFunc(c.world.Taken(), (*sim.Turn).Kills): // what waits for the dead waits forever
	case c.sandbox == nil:
		c.fail("EveryFailure makes its own bubbles: %w", problem)
	default:
		c.fail("the program leaves goroutines that wait forever: %w", problem)
	}
	return c
}

// run is the body of the bubble.
func (c *course) run() {
	c.sandbox = New(tester{c}, c.sweep.options...)
	c.around = &Run{Sandbox: c.sandbox, course: c}
	c.around.ctx, c.cancel = context.WithCancel(chance.With(context.Background(), chance.New(seed, 0)))
	defer c.clean()
	if c.sandbox.clock != RealClock() {
		c.fail("WithClock: EveryFailure has its own virtual time")
	}
	if c.sweep.setup != nil {
		c.ask("setup", func(r *Run) error { c.sweep.setup(r); return nil })
	}
	p := &sim.Process{Name: "the program", Program: c.start, Starts: mostRequests, Pause: max(c.sweep.pause, 1)}
	if err := c.world.Run(p); err != nil && !c.broken() {
		c.fail("%w", err)
	}
	c.mu.Lock()
	c.current = nil
	c.mu.Unlock()
	c.journal = c.sandbox.Journal()
	c.check()
}

// start runs the program. An error is one to run it again for.
func (c *course) start(s *sim.Start) error {
	run := &Run{Sandbox: c.sandbox, course: c, start: s, ctx: s.Context("")}
	defer func() {
		if !s.Alive() {
			_ = recover() // from a deferred call of a program that was stopped
		}
	}()
	if c.broken() {
		return nil
	}
	c.mu.Lock()
	c.starts++
	c.current, c.returned = s, sim.ErrLeft
	c.mu.Unlock()
	err := c.sweep.program(run)
	if steps := c.world.Taken(); len(steps) > 0 && steps[len(steps)-1].Class == marks {
		run.MayStop("its end") // after a last request, StopAfter does the same
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.returned = err; c.retries == 0 {
		return nil
	}
	c.retries--
	return err
}

// check judges a program that has ended.
func (c *course) check() {
	failures := c.failures()
	switch {
	case c.broken():
	case !slices.ContainsFunc(c.world.Taken(), func(t *sim.Turn) bool { return t.Class != marks }):
		c.fail("the program sent no request through the transport of its Run")
	case c.arrived() > c.passed:
		c.fail("requests that did not go through the transport of their Run, and so cannot fail: %d", c.arrived()-c.passed)
	case len(failures) < len(c.plan) && c.sweep.replays: // this is another program
	case len(failures) < len(c.plan):
		c.fail("request or mark %d was not reached, so the program is not the same in each run", c.plan[len(failures)].Step)
	case len(failures) == 0 && c.returned != nil:
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
	if err := <-c.world.Call(func() error { return f(c.around) }); err != nil && !c.broken() {
		c.fail("%s: %w", what, err)
	}
}

// clean ends the bubble.
func (c *course) clean() {
	c.cancel()
	if len(sim.Faulty(c.world.Taken())) > 0 {
		c.sandbox.Clear() // a fault of the setup need not fire in each run
	}
	for _, f := range slices.Backward(c.cleanups) {
		f()
	}
	for _, dir := range c.dirs {
		_ = os.RemoveAll(dir) // some systems keep a file that is open
	}
}

// newDir makes a directory for the program.
func (c *course) newDir() {
	dir, err := os.MkdirTemp("", "every-failure-")
	if err != nil {
		c.problems = append(c.problems, err)
	}
	c.dir, c.dirs = dir, append(c.dirs, dir)
}

// keepDir copies the directory of a program that is about to be stopped.
func (c *course) keepDir() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if from := c.dir; from != "" {
		c.newDir()
		if err := os.CopyFS(c.dir, os.DirFS(from)); err != nil {
			c.problems = append(c.problems, err)
		}
	}
}

// verdict is nil if nothing is wrong.
func (c *course) verdict() *Break {
	if !c.broken() {
		return nil
	}
	return &Break{Failures: c.failures(), Err: errors.Join(c.problems...), Program: c.returned, Journal: c.journal}
}

// shared reads what the starts of the program share.
func shared[T any](c *course, read func(*course) T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return read(c)
}

func (c *course) broken() bool { return shared(c, func(c *course) bool { return len(c.problems) > 0 }) }

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

// steps are the requests and marks so far, with the failures.
func (c *course) steps() (all []Failure) {
	var f Failure
	for _, step := range c.world.Taken() {
		if f.Name, f.Kind = step.What, ""; step.Class != marks {
			f.Request++
			f.Op, f.Path, _ = strings.Cut(step.What, " ")
			f.Method, f.Path, _ = strings.Cut(f.Path, " ")
			f.Path, _, _ = strings.Cut(f.Path, "\n")
			f.Name = ""
		}
		if m := mishapOf(step); m != nil {
			f.Kind = m.kind
		}
		all = append(all, f)
	}
	return all
}

func (c *course) failures() []Failure {
	return slices.DeleteFunc(c.steps(), func(f Failure) bool { return f.Kind == "" })
}
