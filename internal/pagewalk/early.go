package pagewalk

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"example.com/prospectkit/internal/waits"
)

// Pages that are read ahead are requested at the same time, so the service may look at page 5 before it looks at page 4. A record that
// an insert in front moves from page 4 to page 5 between the two is on neither.
//
// Therefore a page read ahead counts only if nothing has changed since the page before it: the total is the same, and no record comes twice.
// A delete may hide an insert from the total. If the deleted record was in front of a page, nothing on this page has moved. If it was on the
// page or behind it, the insert has moved the last record of the page before onto this page, so that it comes twice. At any sign of a change
// all pages read ahead are dropped, and the walk goes on alone for a while. Only a change that replaces every record read so far, while a
// few pages are on their way, goes unnoticed.

// earlyPages holds the pages read ahead of a walk.
type earlyPages struct {
	early  map[int]*early // by number
	alone  int            // so many pages are to be read alone
	cancel context.CancelFunc
	scope  context.Context //nolint:containedctx // ends with the pages
	tasks  sync.WaitGroup
}

// early is a page that is read ahead.
type early struct {
	page     *Page // nil if it has to be read again
	panicked any
	done     chan struct{}
}

// failed reports whether it is known that the page has to be read again.
func (e *early) failed() bool {
	select {
	case <-e.done:
		return e.page == nil && e.panicked == nil
	default:
		return false
	}
}

// rest is how many pages are read alone after a change. So a collection that never stands still is read page by page.
const rest = 2

// following reads the page after the current one, and begins to read those after it, unless it is known by now that this was too early.
func (w *walk) following(current *Page) (*Page, error) {
	w.number++
	e := w.early[w.number]
	if e == nil || !e.failed() {
		w.readAhead(current)
	}
	if page := w.take(e); page != nil {
		return page, nil
	}
	if !w.ByToken {
		current = nil
	}
	return w.read(w.number, current)
}

// take is the page that was read ahead; nil if that has to be read again.
func (w *walk) take(e *early) *Page {
	if e == nil {
		return nil
	}
	delete(w.early, w.number)
	<-e.done
	w.arrived(e)
	switch {
	case e.panicked != nil:
		panic(e.panicked)
	case e.page == nil:
		return nil
	case w.changed(e.page):
		w.dropEarly()
		w.alone = max(w.alone, rest)
		return nil
	}
	if e.page.Number = w.number; e.page.Deliver != nil {
		e.page.Deliver()
	}
	return e.page
}

// arrived counts the request of a page that was read ahead.
func (w *walk) arrived(e *early) {
	if e.page != nil {
		w.report.Requests++
	}
}

// readAhead requests the pages after the one that is needed now, as far as they are known to exist. Where a page is not worth it, the rest
// of the walk is not.
func (w *walk) readAhead(current *Page) {
	switch {
	case current.Ahead < 1:
		w.alone = math.MaxInt
	case w.alone > 0:
		w.alone--
	case current.TotalKnown && current.allHaveIDs():
		pause := time.Duration(0)
		for number := w.number + 1; number <= min(w.number+current.Ahead, current.TotalPages); number++ {
			if w.early[number] == nil {
				pause += time.Millisecond
				w.request(number, pause)
			}
		}
	}
}

// request reads a page early. It leaves a moment after the one before it, so that requests come in the order of their pages.
func (w *walk) request(number int, pause time.Duration) {
	if w.cancel == nil {
		w.early = make(map[int]*early)
		w.scope, w.cancel = context.WithCancel(w.ctx) // dropEarly cancels it, when the walk ends at the latest
	}
	ctx, e := w.scope, &early{done: make(chan struct{})}
	w.early[number] = e
	w.tasks.Go(func() {
		defer func() { e.panicked = recover(); close(e.done) }()
		if waits.Sleep(ctx, pause) != nil {
			return
		}
		e.page = w.Early(ctx, number)
	})
}

// changed reports whether the collection was touched between the current page and one that was read ahead.
func (w *walk) changed(p *Page) bool {
	known := func(r Record) bool { return w.seen.Has(r.ID) }
	return !p.TotalKnown || p.TotalRecords != w.total || p.Number != 0 && p.Number != w.number || !p.allHaveIDs() || slices.ContainsFunc(p.Records, known)
}

// dropEarly cancels the pages on their way, and waits until they have ended.
func (w *walk) dropEarly() {
	if w.cancel != nil {
		w.cancel()
		w.tasks.Wait()
		w.cancel = nil
		for _, e := range w.early {
			w.arrived(e)
		}
		clear(w.early)
	}
}
