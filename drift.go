package prospectkit

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"reflect"

	"example.com/prospectkit/internal/op"
)

// Page numbers count from the front of a collection that others change between our requests. An insert in front of us moves
// records back, so that they come twice: a walk removes the repeats. A delete moves them forward, past the border of the page we
// read next. But inserts only push a record back, and each delete that pulls it forward by one place lowers the total by one, too:
// no record moves forward by more than the total falls. So as long as the total does not fall, nothing slips past; and when it
// does, a walk reads again from as many pages before as the fall can have moved records, up to the page it was about to hand out.

// walk is one range over a collection.
type walk[T any] struct {
	pager[T]
	ctx      context.Context //nolint:containedctx // the range is the scope of this context
	conf     iterConfig
	number   int // of the next page
	total    int
	known    bool // total is
	latest   int  // of the totals that were told
	least    int  // of the totals that were told; below 0: none was
	place    int  // of the last record read, by the sizes of the pages
	brought  int  // records that did not come before
	pushed   int  // records that were pushed back, by the total, and did not come again yet
	barren   int  // pages in a row that brought none; below 0: none was read
	before   []T  // of the page before, if nothing else tells it from the next
	seen     seenIDs
	progress *Progress // nil if nobody asked for it
	resume   *checkpoint
	ahead    ahead[T]
}

// rereadRounds bounds how often the pages before a border are read again while records keep vanishing.
const rereadRounds = 5

// pages drives the walk: fetch, catch up, remove repeats, hand out.
func (w *walk[T]) pages(yield func(*Page[T], error) bool) {
	defer w.dropAhead()
	page, err := w.open()
	for err == nil {
		w.watch(page)
		if w.known && page.TotalsKnown && page.TotalRecords < w.total {
			var slipped *Page[T]
			if slipped, page, err = w.catchUp(page.TotalRecords); err != nil {
				break
			}
			w.removeRepeats(slipped)
			if !w.handOut(slipped, yield) {
				return
			}
		}
		w.removeRepeats(page)
		last := w.atEnd(page)
		if err = w.stuck(page); err != nil && !last {
			break
		}
		w.total, w.known = page.TotalRecords, page.TotalsKnown
		w.progress.reached(page.Number, page.TotalRecords, page.TotalsKnown)
		if !last {
			w.readAhead(page)
		}
		if !w.handOut(page, yield) {
			return
		}
		if last {
			w.progress.finished(w.missing())
			return
		}
		page, err = w.next()
	}
	yield(nil, err)
}

// handOut yields a page without its repeats. An empty page is worth telling only if it is the first.
func (w *walk[T]) handOut(p *Page[T], yield func(*Page[T], error) bool) bool {
	return len(p.Items) == 0 && (p.Recovered || p.Number != w.first) || yield(p, nil)
}

// atEnd reports whether a page is the last. An empty page is the end only where no total says that more pages follow. Pages may be
// shorter than was asked for: where their number is not told, their records count.
func (w *walk[T]) atEnd(p *Page[T]) bool {
	if w.place == 0 {
		w.place = (w.number - 1) * p.size
	}
	w.place += p.size
	switch {
	case p.TotalPages > 0 || p.TotalsKnown && p.size == 0:
		return w.number >= w.pageCount(p)
	case p.TotalsKnown:
		return w.place >= p.TotalRecords
	}
	return p.size == 0
}

// stuck reports a walk that would never end, or would leave out what it cannot read: two pages in a row brought nothing new. Inserts
// in front bring records again, but then the total has grown by as many.
func (w *walk[T]) stuck(p *Page[T]) error {
	again := false
	if p.TotalPages == 0 && !p.TotalsKnown && !w.named(p) { // nothing else tells
		again = reflect.DeepEqual(p.Items, w.before)
		w.before = p.Items
	}
	if w.barren < 0 { // a first page may be empty, and one after a checkpoint was cut
		w.barren = 0
		return nil
	}
	repeats := p.size - len(p.Items)
	explained := repeats > 0 && repeats <= w.pushed
	w.pushed = max(0, w.pushed-repeats)
	if len(p.Items) > 0 && !again || explained {
		w.barren = 0
		return nil
	}
	if w.barren++; w.barren < 2 {
		return nil
	}
	what, told := "are empty", "no total is told"
	if p.size > 0 {
		what = "hold nothing but records that came before"
	}
	switch {
	case p.TotalPages > 0:
		told = fmt.Sprintf("%d pages are told", p.TotalPages)
	case p.TotalsKnown:
		told = fmt.Sprintf("%d records are told", p.TotalRecords)
	}
	return unusable(w.op, "pages %d and %d %s, and %s", w.number-1, w.number, what, told)
}

// unusable is a success that the service should not have answered.
func unusable(o *op.Op, format string, args ...any) error {
	return &Error{Op: o.Name, Method: o.Method, Route: o.Path, Status: http.StatusOK, outcome: NotApplied, cause: fmt.Errorf(format, args...)}
}

// watch looks at the totals of every page, in the order in which they come.
func (w *walk[T]) watch(p *Page[T]) {
	if !p.TotalsKnown {
		return
	}
	if w.least < 0 {
		w.least, w.latest = p.TotalRecords, p.TotalRecords
	}
	w.least = min(w.least, p.TotalRecords)
	w.pushed += max(0, p.TotalRecords-w.latest)
	w.latest = p.TotalRecords
}

// missing is by how many the records that came fall short of the least total. It is not known for a walk over a part.
func (w *walk[T]) missing() int {
	if w.first > 1 || w.resume != nil {
		return 0
	}
	return max(0, w.least-w.brought)
}

// open fetches the first page, or the one after the checkpoint.
func (w *walk[T]) open() (*Page[T], error) {
	if w.resume != nil {
		return w.reopen(w.resume)
	}
	return w.get(w.number)
}

func (w *walk[T]) get(number int) (*Page[T], error) { return w.read(w.ctx, number, w.conf.calls) }

func (w *walk[T]) read(ctx context.Context, number int, opts []CallOption) (*Page[T], error) {
	page, err := w.fetch(ctx, number, opts)
	if err != nil {
		return nil, err
	}
	w.progress.request()
	if page.Number != 0 && page.Number != number {
		return nil, unusable(w.op, "asked for page %d, got page %d", number, page.Number)
	}
	page.Number, page.size = number, len(page.Items)
	return page, nil
}

// pageCount is how many pages there are, as far as it was told.
func (w *walk[T]) pageCount(p *Page[T]) int {
	switch {
	case p.TotalPages > 0:
		return p.TotalPages
	case p.TotalsKnown:
		return w.pagesOf(p.TotalRecords)
	}
	return math.MaxInt
}

// pagesOf is how many pages so many records fill or touch.
func (w *walk[T]) pagesOf(records int) int {
	if records <= 0 {
		return 0
	}
	return (records-1)/w.limit + 1
}

// catchUp reads again what a fall to the given total can have moved records across, until the total does not fall meanwhile. It
// returns the records that had slipped past, and the current page as it is after that.
func (w *walk[T]) catchUp(total int) (slipped, current *Page[T], err error) {
	for round := 1; ; round++ {
		low := max(w.first, w.number-w.pagesOf(w.total-total))
		items, page, steady, err := w.reread(low, total)
		if err != nil {
			return nil, nil, err
		}
		if total = page.TotalRecords; !steady && round < rereadRounds {
			continue
		}
		if !steady {
			w.progress.unsettled()
		}
		w.progress.recovered(len(items))
		return &Page[T]{
			Items: items, Number: low, TotalPages: page.TotalPages, TotalRecords: total, TotalsKnown: page.TotalsKnown, Kind: page.Kind,
			Recovered: true,
		}, page, nil
	}
}

// reread reads from page low up to the current one. It returns what the pages before the current one hold after the last record
// seen, the current page, and whether the total never fell.
func (w *walk[T]) reread(low, total int) (slipped []T, page *Page[T], steady bool, err error) {
	steady = true
	for number := low; number <= w.number; number++ {
		if page, err = w.get(number); err != nil {
			return nil, nil, false, err
		}
		w.progress.reread()
		w.watch(page)
		if page.TotalsKnown {
			steady = steady && page.TotalRecords >= total
			total = page.TotalRecords
		}
		for i := range page.Items {
			switch id := w.id(&page.Items[i]); {
			case w.seen.has(id):
				slipped = nil
			case number < w.number:
				slipped = append(slipped, page.Items[i])
			}
		}
	}
	return slipped, page, steady, nil
}

// removeRepeats drops what was delivered already and remembers the rest.
func (w *walk[T]) removeRepeats(p *Page[T]) {
	kept := p.Items[:0]
	for i := range p.Items {
		if !w.seen.add(w.id(&p.Items[i])) {
			continue
		}
		if kept = kept[:len(kept)+1]; len(kept) <= i {
			kept[len(kept)-1] = p.Items[i]
		}
	}
	w.progress.repeats(len(p.Items) - len(kept))
	w.brought += len(kept)
	p.Items = kept
}

func (w *walk[T]) delivered(p *Page[T], index int) {
	if w.progress != nil {
		w.progress.delivered(w.id(&p.Items[index]))
	}
}

// reopen finds the place after the last record that was delivered before the checkpoint. Records may have come and gone
// since: the page it was on is tried first, then those around it, as far as the total has moved.
func (w *walk[T]) reopen(cp *checkpoint) (*Page[T], error) {
	home, err := w.get(max(cp.Page, w.first))
	if err != nil {
		return nil, err
	}
	for _, id := range cp.Last {
		w.seen.add(id)
	}
	w.pushed = len(cp.Last) // which may all be after the place that is found
	if w.skipTo(home, cp) {
		w.number = home.Number
		return home, nil
	}
	told := home.TotalsKnown && cp.Total > 0
	reach, last := 1, w.pageCount(home)
	if told {
		reach += w.pagesOf(max(cp.Total-home.TotalRecords, home.TotalRecords-cp.Total))
	}
	place := max(w.first, min(home.Number, last))
	reach = min(reach, max(place-w.first, last-place))
	for distance := 0; distance <= reach && len(cp.Last) > 0; distance++ {
		for i, number := range [...]int{place + distance, place - distance} {
			if i > distance || number < w.first || number > last || number == home.Number {
				continue
			}
			page, err := w.get(number)
			if err != nil {
				return nil, err
			}
			if w.skipTo(page, cp) {
				w.number = number
				return page, nil
			}
		}
	}
	// None of the records delivered last is left: go back as far as the others can have moved, and risk repeats.
	w.progress.rewound()
	w.number, w.total, w.known = w.first, home.TotalRecords, home.TotalsKnown
	if told {
		w.number = max(w.first, home.Number-w.pagesOf(cp.Total-home.TotalRecords))
	}
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
	return false
}

func (w *walk[T]) remember(items []T) {
	for i := range items {
		w.seen.add(w.id(&items[i]))
	}
}
