package prospectkit

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"
	"time"
)

// task is work in code of the caller's, such as a transport or a file, which need not heed a context.
type task interface {
	do()
	help() // makes it come back, if it can be made to
	late() // tidies up after it has come back too late
}

// errand is a task in a goroutine of its own, so that it can be given up. The goroutine outlives its call only if the caller's code
// heeds neither the context nor Close; and then there is no other way out, because Go cannot end it.
type errand struct {
	done     chan struct{}
	over     atomic.Bool // done, or given up: whichever was first
	returned bool
	panicked any
}

// moment is how long a task may take to notice that its context has ended, and once more to notice that it was closed.
const moment = 100 * time.Millisecond

// run does a task, and reports whether it came back while ctx was alive, or a moment later. If not, what belongs to the task is not
// to be touched again. A task that panics or exits does so in the goroutine of the caller.
func (e *errand) run(ctx context.Context, t task) bool {
	e.done = make(chan struct{})
	go e.do(t)
	select {
	case <-e.done:
	case <-ctx.Done():
		if !e.wait() {
			go quietly(t.help)
			if !e.wait() && e.over.CompareAndSwap(false, true) {
				return false
			}
			<-e.done
		}
	}
	switch {
	case e.panicked != nil:
		panic(e.panicked)
	case !e.returned:
		runtime.Goexit()
	}
	return true
}

func (e *errand) do(t task) {
	defer func() {
		e.panicked = recover()
		if e.over.CompareAndSwap(false, true) {
			close(e.done)
		} else {
			quietly(t.late)
		}
	}()
	t.do()
	e.returned = true
}

// wait gives the task a moment.
func (e *errand) wait() bool {
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-e.done:
		return true
	case <-timer.C:
		return false
	}
}

// quietly swallows a panic where there is nobody to tell.
func quietly(f func()) {
	defer func() { _ = recover() }()
	f()
}

// closeApart closes what may hang even in Close.
func closeApart(c io.Closer) {
	go quietly(func() { _ = c.Close() })
}

// closeSoon closes what may hang even in Close, and waits a moment for it.
func closeSoon(c io.Closer) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e := closing{Closer: c}
	e.run(ctx, &e)
}

type closing struct {
	errand
	io.Closer
}

func (c *closing) do()   { _ = c.Close() }
func (c *closing) help() {}
func (c *closing) late() {}
