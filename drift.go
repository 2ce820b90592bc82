package prospectkit

import (
	"context"
	"fmt"
	"net/http"
)

// Page numbers count from the front of a collection that others change between our requests. An insert in front of us moves
// records back, so that they come twice; a delete moves them forward, past the border of the page we read next. A walk removes
// the repeats, and whenever the total has fallen it reads the border again and delivers what had slipped past it.

// walk is one range over a collection.
type walk[T any] struct {
	pager[T]
	ctx      context.Context //nolint:containedctx // the range is the scope of this context
	conf     iterConfig
	number   int // of the next page
	total    int
	known    bool // total is
	seen     seenIDs
	progress *Progress
	resume   *checkpoint
}

// rereadRounds bounds how often a border is read again while records keep vanishing.
const rereadRounds = 5

// pages drives the walk: fetch, mend the border, remove repeats, hand out.
func (w *walk[T]) pages(yield func(*Page[T], error) bool) {
	page, err := w.open()
	for {
		if err != nil {
			yield(nil, err)
			return
		}
		if w.known && page.TotalsKnown && page.TotalRecords < w.total {
			if !w.mend(page, yield) {
				return
			}
		}
		w.total, w.known = page.TotalRecords, page.TotalsKnown
		w.progress.total(page.TotalRecords, page.TotalsKnown)
		last := page.size == 0 || page.TotalsKnown && w.number >= w.pageCount(page)
		w.removeRepeats(page)
		if (len(page.Items) > 0 || w.number == w.first) && !yield(page, nil) {
			return
		}
		if last {
			w.progress.finished()
			return
		}
		w.number++
		page, err = w.get(w.number)
	}
}

// open fetches the first page, or the one behind the checkpoint.
func (w *walk[T]) open() (*Page[T], error) {
	if w.resume != nil {
		return w.reopen(w.resume)
	}
	return w.get(w.number)
}

func (w *walk[T]) get(number int) (*Page[T], error) {
	page, err := w.fetch(w.ctx, number, w.conf.calls)
	if err != nil {
		return nil, err
	}
	w.progress.request()
	if page.Number != 0 && page.Number != number {
		return nil, &Error{
			Op: w.op.Name, Method: w.op.Method, Route: w.op.Path, Status: http.StatusOK, outcome: NotApplied,
			cause: fmt.Errorf("asked for page %d, got page %d", number, page.Number),
		}
	}
	page.Number, page.size = number, len(page.Items)
	return page, nil
}

func (w *walk[T]) pageCount(p *Page[T]) int {
	if p.TotalPages > 0 || p.TotalRecords == 0 {
		return p.TotalPages
	}
	return (p.TotalRecords + w.limit - 1) / w.limit
}

// mend reads the pages before the current one again, as far back as the fall of the total can have moved records, and hands
// out what comes after the last record delivered. It reports false if the consumer or an error ended the range.
func (w *walk[T]) mend(current *Page[T], yield func(*Page[T], error) bool) bool {
	total := current.TotalRecords
	for range rereadRounds {
		back := (w.total - total + w.limit - 1) / w.limit
		slipped, lowest, err := w.reread(max(w.first, w.number-back), total)
		if err != nil {
			yield(nil, err)
			return false
		}
		if len(slipped) > 0 {
			page := &Page[T]{
				Items: slipped, Number: w.number - 1, TotalPages: current.TotalPages, TotalRecords: lowest, TotalsKnown: true,
				Kind: current.Kind, Recovered: true,
			}
			w.remember(page.Items)
			w.progress.recovered(len(slipped))
			if !yield(page, nil) {
				return false
			}
		}
		if lowest >= total {
			return true
		}
		total = lowest
	}
	w.progress.unsettled()
	return true
}

// reread returns what the pages from number on, up to the current one, hold behind the last record seen.
func (w *walk[T]) reread(number, total int) (slipped []T, lowest int, err error) {
	lowest = total
	for ; number < w.number; number++ {
		page, err := w.get(number)
		if err != nil {
			return nil, 0, err
		}
		w.progress.reread()
		if page.TotalsKnown {
			lowest = min(lowest, page.TotalRecords)
		}
		for i := range page.Items {
			if w.seen.has(w.id(&page.Items[i])) {
				slipped = slipped[:0]
			} else {
				slipped = append(slipped, page.Items[i])
			}
		}
	}
	return slipped, lowest, nil
}

// removeRepeats drops what was delivered already and remembers the rest.
func (w *walk[T]) removeRepeats(p *Page[T]) {
	kept := p.Items[:0]
	for i := range p.Items {
		if w.seen.add(w.id(&p.Items[i])) {
			kept = append(kept, p.Items[i])
		}
	}
	w.progress.repeats(len(p.Items) - len(kept))
	p.Items = kept
}

func (w *walk[T]) remember(items []T) {
	for i := range items {
		w.seen.add(w.id(&items[i]))
	}
}

func (w *walk[T]) delivered(p *Page[T], index int) {
	w.progress.delivered(p.Number, w.id(&p.Items[index]))
}

// reopen finds the place behind the last record that was delivered before the checkpoint. Records may have come and gone
// since: the page it was on is tried first, then those around it, as far as the total has moved.
func (w *walk[T]) reopen(cp *checkpoint) (*Page[T], error) {
	home, err := w.get(max(cp.Page, w.first))
	if err != nil {
		return nil, err
	}
	for _, id := range cp.Last {
		w.seen.add(id)
	}
	reach := 1
	if home.TotalsKnown && cp.Total > 0 {
		reach += (abs(home.TotalRecords-cp.Total) + w.limit - 1) / w.limit
	}
	for distance := 0; distance <= reach; distance++ {
		for _, number := range [...]int{home.Number + distance, home.Number - distance} {
			if number < w.first || home.TotalsKnown && number > home.Number && number > w.pageCount(home) {
				continue
			}
			page := home
			if number != home.Number {
				if page, err = w.get(number); err != nil {
					return nil, err
				}
			}
			if w.skipTo(page, cp) {
				w.number = number
				return page, nil
			}
		}
	}
	// None of the records delivered last is left: go back one page and deliver what may have been delivered before.
	w.progress.rewound()
	w.number = max(w.first, home.Number-1)
	return w.get(w.number)
}

// skipTo drops the records of a page up to the last one that the checkpoint names, if it is there.
func (w *walk[T]) skipTo(p *Page[T], cp *checkpoint) bool {
	for i := len(p.Items) - 1; i >= 0; i-- {
		if cp.names(w.id(&p.Items[i])) {
			w.remember(p.Items[:i+1])
			p.Items = p.Items[i+1:]
			return true
		}
	}
	return len(cp.Last) == 0
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
