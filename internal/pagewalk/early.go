package pagewalk

import (
	"context"
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
	early  map[int]chan early // by number
	alone  int                // so many pages are to be read alone
	cancel context.CancelFunc
	scope  context.Context //nolint:containedctx // ends with the pages
	tasks  sync.WaitGroup
}

// early is a page that was read ahead; nil where it has to be read again.
type early struct {
	page     *Page
	panicked any
}

// rest is how many pages are read alone after a change. So a collection that never stands still is read page by page.
const rest = 2

// following reads the page after the current one, and begins to read those after it.
func (w *walk) following(current *Page) (*Page, error) {
	w.number++
	w.readAhead(current)
	if arrives, asked := w.early[w.number]; asked {
		delete(w.early, w.number)
		got := <-arrives
		if got.panicked != nil {
			panic(got.panicked)
		}
		switch page := got.page; {
		case page == nil:
		case w.changed(page):
			w.dropEarly()
			w.alone = rest
		default:
			if page.Number = w.number; page.Deliver != nil {
				page.Deliver()
			}
			return page, nil
		}
	}
	if !w.ByToken {
		current = nil
	}
	return w.read(w.number, current)
}

// readAhead requests the pages after the one that is needed now, as far as they are known to exist.
func (w *walk) readAhead(current *Page) {
	if w.alone > 0 {
		w.alone--
		return
	}
	if current.Ahead < 1 || !current.TotalKnown || !current.allHaveIDs() {
		return
	}
	for ahead := 1; ahead <= min(current.Ahead, current.TotalPages-w.number); ahead++ {
		if number := w.number + ahead; w.early[number] == nil {
			w.request(number, time.Duration(ahead)*time.Millisecond)
		}
	}
}

// request reads a page early. It leaves a moment after the one before it, so that requests come in the order of their pages.
func (w *walk) request(number int, pause time.Duration) {
	if w.cancel == nil {
		w.early = make(map[int]chan early)
		w.scope, w.cancel = context.WithCancel(w.ctx) // dropEarly cancels it, when the walk ends at the latest
	}
	ctx, arrives := w.scope, make(chan early, 1)
	w.early[number] = arrives
	w.tasks.Go(func() {
		var got early
		defer func() { got.panicked = recover(); arrives <- got }()
		if waits.Sleep(ctx, pause) != nil {
			return
		}
		if got.page = w.Early(ctx, number); got.page != nil {
			w.Progress.Update(func(r *Report) { r.Requests++ })
		}
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
		clear(w.early)
	}
}
