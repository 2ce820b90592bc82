package pagewalk

import (
	"context"
	"math"
	"slices"
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

// rest is how many pages are read alone after a change, or after a page that could not be read ahead. So a collection that never stands still
// is read page by page.
const rest = 2

// following reads the page after the current one, and begins to read those after it.
func (w *Walk) following(current *Page) (*Page, error) {
	w.number++
	early, requested := w.early[w.number]
	w.readAhead(current)
	if requested {
		delete(w.early, w.number)
		if page := w.take(<-early); page != nil {
			return page, nil
		}
		w.alone = max(w.alone, rest)
	}
	return w.read(w.number)
}

// take returns a page that was read ahead, unless it has to be read again.
func (w *Walk) take(page *Page) *Page {
	if page == nil {
		return nil
	}
	w.report.Requests++
	switch {
	case page.panicked != nil:
		panic(page.panicked)
	case w.changed(page):
		w.dropEarly()
		return nil
	}
	page.Number = w.number
	return page
}

// readAhead requests the pages after the one that is needed now, as far as they are known to exist. Where a page is not worth it, the rest
// of the walk is not.
func (w *Walk) readAhead(current *Page) {
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
func (w *Walk) request(number int, pause time.Duration) {
	if w.cancel == nil {
		w.early = make(map[int]chan *Page)
		w.scope, w.cancel = context.WithCancel(w.ctx) // dropEarly cancels it, when the walk ends at the latest
	}
	ctx, early := w.scope, make(chan *Page, 1)
	w.early[number] = early
	go func() {
		var page *Page
		defer func() {
			if p := recover(); p != nil {
				page = &Page{panicked: p}
			}
			early <- page
		}()
		if waits.Sleep(ctx, pause) == nil {
			page = w.Early(ctx, number)
		}
	}()
}

// changed reports whether the collection was touched between the current page and one that was read ahead.
func (w *Walk) changed(p *Page) bool {
	known := func(r Record) bool { return w.seen.Has(r.ID) }
	return !p.TotalKnown || p.TotalRecords != w.total || p.Number != 0 && p.Number != w.number || !p.allHaveIDs() || slices.ContainsFunc(p.Records, known)
}

// dropEarly cancels the pages on their way, and waits until they have ended.
func (w *Walk) dropEarly() {
	if w.cancel == nil {
		return
	}
	w.cancel()
	w.cancel, w.alone = nil, max(w.alone, rest)
	for _, early := range w.early {
		if <-early != nil {
			w.report.Requests++
		}
	}
	clear(w.early)
}
