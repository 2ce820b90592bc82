package pagewalk

import (
	"context"
	"slices"
	"sync"
)

// Pages that are read ahead are requested at the same time, so the service may look at page 5
// before it looks at page 4. A record that an insert in front moves from page 4 to page 5 between the two is on neither.
//
// Therefore a page read ahead counts only if nothing has changed since the last page read in order:
// the total is the same, and no record comes twice. A delete may hide an insert from the total. If the deleted record
// was in front of a page, nothing on this page has moved. If it was on the page or behind it, the insert has moved the last
// record of the page before onto this page, so that it comes twice. At any sign of a change all pages read
// ahead are dropped, and the walk goes on with the next page in order. Only a change that replaces
// every record read so far, while a few pages are on their way, goes unnoticed.

// ahead holds the pages read ahead of a walk.
type ahead struct {
	width  int      // how many pages may be ahead now; it grows with each page
	queue  []*early // from the next page of the walk on
	number int      // of the page after the queue
	last   int      // number of the last page known to exist
	cancel context.CancelFunc
	ctx    context.Context //nolint:containedctx // ends with the queue
	tasks  sync.WaitGroup
}

// early is a page on its way.
type early struct {
	page     *Page
	deliver  func()
	err      error
	panicked any
	done     chan struct{}
}

// readAhead begins to read the pages after the current one.
func (w *walk) readAhead(current *Page) {
	a := &w.ahead
	if w.Prefetch == 0 || !current.TotalKnown || !current.allHaveIDs() {
		return
	}
	if a.last = current.TotalPages; len(a.queue) == 0 {
		a.number = w.number + 1
	}
	if a.cancel == nil {
		a.ctx, a.cancel = context.WithCancel(w.ctx) // dropAhead cancels it, when the walk ends at the latest
	}
	w.fillAhead()
}

// fillAhead requests pages until as many are ahead as may be, or as are known to exist.
func (w *walk) fillAhead() {
	a := &w.ahead
	for ; a.number <= min(w.number+a.width, a.last); a.number++ {
		e := &early{done: make(chan struct{})}
		a.queue = append(a.queue, e)
		ctx, number := a.ctx, a.number
		a.tasks.Go(func() {
			defer close(e.done)
			defer func() { e.panicked = recover() }()
			e.page, e.deliver, e.err = w.Source.FetchAhead(ctx, number)
			e.page, e.err = w.accept(number, e.page, e.err)
		})
	}
}

// next is the page after the current one: the one that was read ahead, or one that is read now.
func (w *walk) next() (*Page, error) {
	a := &w.ahead
	w.number++
	if len(a.queue) == 0 {
		a.width = min(a.width+1, w.Prefetch)
		return w.read(w.number)
	}
	w.fillAhead()
	e := a.queue[0]
	a.queue[0], a.queue = nil, a.queue[1:] // the loop alone decides how long the page is held
	<-e.done
	if e.panicked != nil {
		panic(e.panicked)
	}
	if e.err == nil && (e.page == nil || w.changed(e.page)) || e.err != nil && w.Source.TooEarly(e.err) {
		w.dropAhead()
		a.width = a.width/2 - 2 // below zero, a few pages are read on their own first
		return w.read(w.number)
	}
	e.deliver()
	a.width = min(a.width+1, w.Prefetch)
	return e.page, e.err
}

// changed reports whether the collection was touched between the current page and one that was read
// ahead.
func (w *walk) changed(p *Page) bool {
	known := func(r Record) bool { return w.seen.Has(r.ID) }
	return !p.TotalKnown || p.TotalRecords != w.total || slices.ContainsFunc(p.Records, known) || !p.allHaveIDs()
}

// allHaveIDs reports whether each record of a page has an id. Without ids, repeats cannot be found.
func (p *Page) allHaveIDs() bool {
	return !slices.ContainsFunc(p.Records, func(r Record) bool { return r.ID == "" })
}

// dropAhead cancels the pages on their way, and waits until they have ended.
func (w *walk) dropAhead() {
	if w.ahead.cancel != nil {
		w.ahead.cancel()
		w.ahead.tasks.Wait()
		w.ahead.cancel, w.ahead.queue = nil, nil
	}
}
