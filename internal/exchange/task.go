// Package exchange sends one HTTP request and reads the whole response, within bounds of size and time. What hangs in code of the
// caller's, such as a transport or a file, is abandoned.
package exchange

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"
	"time"
)

// task is work in code of the caller's, which need not heed a context.
type task interface {
	do()
	interrupt() // makes it return, if it can be made to
	discard()   // tidies up after it has returned too late
}

// runner runs a task in its own goroutine, so that it can be abandoned. The goroutine outlives its call only if the caller's
// code heeds neither the context nor Close; Go offers no other way out.
type runner struct {
	done     chan struct{}
	over     atomic.Bool // done or abandoned, whichever was first
	returned bool
	panicked any
}

// grace is how long a task may take to notice that its context has ended, and once more to notice that it was closed.
const grace = 100 * time.Millisecond

// run runs a task. It reports false if the task was abandoned: then nothing of the task may be touched. A task that panics or exits
// does so in the goroutine of the caller.
func (r *runner) run(ctx context.Context, t task) bool {
	r.done = make(chan struct{})
	go r.do(t)
	select {
	case <-r.done:
	case <-ctx.Done():
		if !r.awaitGrace() {
			go ignorePanic(t.interrupt)
			if !r.awaitGrace() && r.over.CompareAndSwap(false, true) {
				return false
			}
			<-r.done
		}
	}
	switch {
	case r.panicked != nil:
		panic(r.panicked)
	case !r.returned:
		runtime.Goexit()
	}
	return true
}

func (r *runner) do(t task) {
	defer func() {
		r.panicked = recover()
		if r.over.CompareAndSwap(false, true) {
			close(r.done)
		} else {
			ignorePanic(t.discard)
		}
	}()
	t.do()
	r.returned = true
}

func (r *runner) awaitGrace() bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-r.done:
		return true
	case <-timer.C:
		return false
	}
}

// ignorePanic is for where there is nobody to tell.
func ignorePanic(f func()) {
	defer func() { _ = recover() }()
	f()
}

// closeAsync closes what may hang even in Close.
func closeAsync(c io.Closer) {
	go ignorePanic(func() { _ = c.Close() })
}

// Close closes what may hang even in Close, and waits for at most two tenths of a second.
func Close(c io.Closer) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	t := closing{Closer: c}
	t.run(ctx, &t)
}

type closing struct {
	runner
	io.Closer
}

func (c *closing) do()        { _ = c.Close() }
func (c *closing) interrupt() {}
func (c *closing) discard()   {}
