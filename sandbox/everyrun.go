package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"

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
	cancel context.CancelFunc
}

// Context ends when the program is stopped, and when it has returned.
func (r *Run) Context() context.Context { return r.ctx }

// Starts counts the starts of the program so far, this one included.
func (r *Run) Starts() int {
	r.course.mu.Lock()
	defer r.course.mu.Unlock()
	return r.course.starts
}

// Err is what the program returned at last, for the invariant.
func (r *Run) Err() error {
	r.course.mu.Lock()
	defer r.course.mu.Unlock()
	return r.course.returned
}

// Failures are what was caused in this run so far: nothing in the first one.
func (r *Run) Failures() []Failure {
	r.course.mu.Lock()
	defer r.course.mu.Unlock()
	return slices.Clone(r.course.caused)
}

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
	if name == "" {
		name = "a mark"
	}
	r.course.enter(r, Failure{Name: name}, change)
}

// Dir is a directory that survives a stop. The program that is run again gets a copy of what was there when the first one was stopped, so
// nothing that the stopped one writes after that counts. It is removed at the end of the run.
func (r *Run) Dir() string {
	r.live()
	c := r.course
	if dir := c.useDir(""); dir != "" {
		return dir
	}
	return c.useDir(c.newDir())
}

// Helper makes a Run usable in assertions.
func (r *Run) Helper() {}

// Errorf breaks the run.
func (r *Run) Errorf(format string, args ...any) {
	c, live := r.course, r.start == nil || r.start.Alive()
	c.mu.Lock()
	defer c.mu.Unlock()
	if live {
		c.problems = append(c.problems, fmt.Errorf(format, args...))
	}
}

// FailNow ends the goroutine, after [Run.Errorf].
func (r *Run) FailNow() { runtime.Goexit() }

// live does not return to a program that was stopped.
func (r *Run) live() {
	if owner := r.course.owner(r); owner != nil && !owner.start.Alive() {
		runtime.Goexit()
	}
}

// useDir returns the directory in use: the proposed one, unless there is one.
func (c *course) useDir(proposed string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		c.dir = proposed
	}
	return c.dir
}

// newDir makes a directory for the program.
func (c *course) newDir() string {
	dir, err := os.MkdirTemp("", "every-failure-")
	if err != nil {
		c.fail("%w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirs = append(c.dirs, dir)
	return dir
}

// keepDir copies the directory of a program that was stopped.
func (c *course) keepDir() {
	from := c.useDir("")
	if from == "" {
		return
	}
	to := c.newDir()
	if err := copyTree(to, from); err != nil {
		c.fail("%w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dir = to
}

// copyTree copies directories and files, with their modes.
func copyTree(to, from string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	source := os.DirFS(from)
	return fs.WalkDir(source, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return unlessGone(err)
		}
		info, err := entry.Info()
		switch {
		case err != nil:
			return unlessGone(err)
		case entry.IsDir():
			return root.Mkdir(path, info.Mode().Perm())
		case !info.Mode().IsRegular():
			return nil
		}
		content, err := fs.ReadFile(source, path)
		if err != nil {
			return unlessGone(err)
		}
		return root.WriteFile(path, content, info.Mode().Perm())
	})
}

// unlessGone ignores that a file was removed meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
