package sandbox

import (
	"cmp"
	"context"
	"os"
	"runtime"

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
