package prospectkit

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Pages that are read ahead are asked for at the same time, so that the service may look at page 5 before it looks at page 4. A
// record that is pushed back in between, by an insert in front, would be on neither. Therefore a page that was read ahead counts
// only if nothing has changed since the last page that was read on its own: the total is the same, and no record comes twice. An
// insert that goes unnoticed by the total is made up for by a delete: if that was in front of a border, what is after the
// border stays in its place; if it was after it, the last record read comes again. At any sign of a change, all that was read
// ahead is thrown away and the walk goes on with a page read on its own, for which drift.go has the rules. What can slip past is
// a change that replaces every record read so far while a few pages are on their way.

// maxPrefetch is how many idle connections the default transport keeps.
const maxPrefetch = 64

// Prefetch reads up to n pages, 1 to 64, ahead of the one that the loop works on or waits for, so that the service's time is
// divided by nearly n+1. The elements, their order, checkpoints and the rate limit are what they are without it. So many
// pages are held in memory. Where others change the collection at the same time, what was read ahead is read again, and
// fewer pages are ahead for a while. It is for iterators over page numbers: those that follow a token refuse it.
func Prefetch(n int) IterOption {
	return iterOption(func(c *iterConfig, bad *checks) {
		if n < 1 || n > maxPrefetch {
			bad.add("Prefetch", "is %d, must be 1 to %d", n, maxPrefetch)
		}
		c.prefetch = n
	})
}

// ahead holds what is read ahead of a walk.
type ahead[T any] struct {
	width  int         // how many pages, now; it grows with each page
	queue  []*early[T] // from the next page of the walk on
	number int         // of the page after the queue
	last   int         // number of the last page known to exist
	cancel context.CancelFunc
	ctx    context.Context //nolint:containedctx // ends with the queue
	tasks  sync.WaitGroup
}

// early is a page on its way.
type early[T any] struct {
	page     *Page[T]
	err      error
	panicked any
	done     chan struct{}
	info     Info
	capture  *Info // the caller's
}

// readAhead begins to read the pages after the current one.
func (w *walk[T]) readAhead(current *Page[T]) {
	a := &w.ahead
	if w.conf.prefetch == 0 || !current.TotalsKnown || !w.named(current) {
		a.last = 0
		return
	}
	if a.last = current.TotalPages; len(a.queue) == 0 {
		a.number = w.number + 1
	}
	if a.cancel == nil {
		a.ctx, a.cancel = context.WithCancel(w.ctx) //nolint:gosec // dropAhead calls it, when the walk ends at the latest
	}
	w.fillAhead()
}

// fillAhead asks for pages until so many are ahead as may be, or as are known to exist.
func (w *walk[T]) fillAhead() {
	a := &w.ahead
	for ; a.number <= min(w.number+a.width, a.last); a.number++ {
		e := &early[T]{done: make(chan struct{})}
		a.queue = append(a.queue, e)
		ctx, number := a.ctx, a.number
		a.tasks.Go(func() {
			defer close(e.done)
			defer func() { e.panicked = recover() }()
			e.page, e.err = w.read(ctx, number, append(slices.Clip(w.conf.calls), e.keepInfo()))
		})
	}
}

// keepInfo lets [Capture] fill the caller's Info when it is the page's turn.
func (e *early[T]) keepInfo() CallOption {
	return callOption(func(c *callConfig, _ *checks) {
		if c.info != nil {
			e.capture, c.info = c.info, &e.info
		}
	})
}

// next is the page after the current one: the one that was read ahead, or one that is read now.
func (w *walk[T]) next() (*Page[T], error) {
	a := &w.ahead
	w.number++
	if len(a.queue) == 0 {
		a.width = min(a.width+1, w.conf.prefetch)
		return w.get(w.number)
	}
	w.fillAhead()
	e := a.queue[0]
	a.queue[0], a.queue = nil, a.queue[1:] // the page is not to be held any longer than the loop holds it
	<-e.done
	if e.panicked != nil {
		panic(e.panicked)
	}
	if unsent(e.err) || e.err == nil && (e.page == nil || w.changed(e.page)) {
		w.dropAhead()
		a.width = a.width/2 - 2 // below zero, a few pages are read on their own first
		return w.get(w.number)
	}
	if e.capture != nil {
		*e.capture = e.info
	}
	a.width = min(a.width+1, w.conf.prefetch)
	return e.page, e.err
}

// unsent reports a wait for the rate limit that was refused. The wait of a page read ahead is longer than that of a page in its turn.
func unsent(err error) bool {
	_, ok := errors.AsType[*WaitError](err)
	return ok
}

// changed reports whether the collection was touched between the current page and one that was read ahead.
func (w *walk[T]) changed(p *Page[T]) bool {
	if !p.TotalsKnown || p.TotalRecords != w.total {
		return true
	}
	for i := range p.Items {
		if w.seen.has(w.id(&p.Items[i])) {
			return true
		}
	}
	return !w.named(p)
}

// named reports whether all records of a page have an id. Without one, nothing would tell that a record came twice.
func (w *walk[T]) named(p *Page[T]) bool {
	for i := range p.Items {
		if w.id(&p.Items[i]) == "" {
			return false
		}
	}
	return true
}

// dropAhead ends what is on its way, and waits for the end.
func (w *walk[T]) dropAhead() {
	if w.ahead.cancel != nil {
		w.ahead.cancel()
		w.ahead.tasks.Wait()
		w.ahead.cancel, w.ahead.queue = nil, nil
	}
}
