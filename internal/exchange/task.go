// Package exchange sends one HTTP request, traces how far it gets, and reads the whole response,
// within bounds of size and time. It abandons what hangs in the caller's code, such as a transport
// or a file.
package exchange

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"
	"time"
)

// task is work in the caller's code, which may ignore a context.
type task interface {
	do()
	interrupt() // makes it return, if possible
	discard()   // cleans up if it returns too late
}

// runner runs a task in a goroutine of its own, so that it can be abandoned. The goroutine outlives
// its call only if the caller's code ignores both the context and Close.
type runner struct {
	done     chan struct{}
	over     atomic.Bool // done or abandoned, whichever was first
	returned bool
	panicked any
}

// grace is how long a task may take to return after its context has ended, and again after it was
// closed.
const grace = 100 * time.Millisecond

// run runs a task. It reports false if the task was abandoned: then do not touch the task. A panic
// or exit of the task is moved to the caller's goroutine.
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

// ignorePanic runs f and ignores its panic.
func ignorePanic(f func()) {
	defer func() { _ = recover() }()
	f()
}

// closeAsync closes something whose Close may hang.
func closeAsync(c io.Closer) {
	go ignorePanic(func() { _ = c.Close() })
}

// Close closes something whose Close may hang, and waits for at most two tenths of a second.
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

// Run runs f, which may ignore its context. It reports false if f was abandoned: then do not touch
// what f writes to. A panic or exit of f is moved to the caller's goroutine.
func Run(ctx context.Context, f func()) bool {
	t := calling{f: f}
	return t.run(ctx, &t)
}

type calling struct {
	runner
	f func()
}

func (c *calling) do()        { c.f() }
func (c *calling) interrupt() {}
func (c *calling) discard()   {}
