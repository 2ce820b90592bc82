// Package exchange sends one HTTP request, traces how far it gets, and reads the whole response,
// within bounds of size and time. It abandons what hangs in the caller's code, such as a transport
// or a file.
package exchange

import (
	"cmp"
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
}

// runner runs a task in a goroutine of its own, so that it can be abandoned. The goroutine outlives
// its call only if the caller's code ignores both the context and Close.
type runner struct {
	patience time.Duration // with a task whose context has ended, before it is interrupted; 0 means grace
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
		if !r.await(cmp.Or(r.patience, grace)) {
			go ignorePanic(t.interrupt)
			if !r.await(grace) && r.over.CompareAndSwap(false, true) {
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
		}
	}()
	t.do()
	r.returned = true
}

func (r *runner) await(d time.Duration) bool {
	timer := time.NewTimer(d)
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

// functions is a task made of functions.
type functions struct {
	runner
	f, stop func()
}

func (t *functions) do()        { t.f() }
func (t *functions) interrupt() { t.stop() }

// Close closes something whose Close may hang, and waits for at most two tenths of a second.
func Close(c io.Closer) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	Run(ctx, func() { _ = c.Close() })
}

// Run runs f, which may ignore its context. It reports false if f was abandoned: then do not touch
// what f writes to. A panic or exit of f is moved to the caller's goroutine.
func Run(ctx context.Context, f func()) bool {
	t := functions{f: f, stop: func() {}}
	return t.run(ctx, &t)
}

// longest is after how long Finish takes a context for ended.
const longest = 30 * time.Second

// Finish runs f, which has to be tried even if ctx has ended. It returns at the latest so long after ctx has ended; a ctx
// without an end counts as ended after half a minute. The context of f ends a tenth of a second before. It reports false if
// f was abandoned, as [Run] does.
func Finish(ctx context.Context, within time.Duration, f func(context.Context)) bool {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	t := functions{runner: runner{patience: within - grace}, f: func() { f(inner) }, stop: cancel}
	return t.run(ctx, &t)
}
