// Package pagewalk walks over the numbered pages of a collection that others change between our
// requests. It is independent of the API: it reads pages by a function, and identifies records by an id.
//
// An insert in front of the place that the walk has reached moves records back, so that they come
// twice: the walk drops these repeats. A delete moves records forward, past the boundary of the
// page that is read next.
//
// Where new records come first, every insert is in front. Then no record moves forward by more than the
// total falls, and as long as the total does not fall, no record is skipped. When it falls, the walk
// reads as many pages before the current one again as the fall can have moved records. In any other
// order, an insert behind the place can hide a delete from the total, so that a record is skipped unnoticed.
//
// The walk ends where the totals say so, and the last page was not full: totals may be capped. Beyond them, a page with nothing new is the end.
//
// Two pages in a row with nothing new end the walk with an error, unless inserts explain them or it was the last page. A page
// read ahead counts only if nothing has changed since the last page that was read in order. A checkpoint names the last 16 ids:
// a walk that resumes looks for them on their page, and around it as far as the total has changed: see place.go. The walk remembers 32,768 to
// 65,536 ids as 64-bit hashes, in two tables of at most 512 KiB.
package pagewalk

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Page is one page of a collection, as the walk sees it: without what it repeats, and perhaps with what it recovers.
type Page struct {
	Records      []Record
	Number       int // 1-based; 0 if unknown
	TotalPages   int // 0 if unknown
	TotalRecords int
	TotalKnown   bool // whether TotalRecords is known
	Last         bool // the service says that it is, without totals that may be capped
	Recovered    bool // made by the walk, of records found on pages read again

	Of any // the caller's page that this was made of; the walk only passes it on
}

// Record is one of a page, in its order.
type Record struct {
	ID string // empty where it has none
	Of any    // a pointer to the caller's record. So the walk is compiled once, and not for each type in each package that walks
}

// total is the total, or unknown, which is below every total.
func (p *Page) total() int {
	if p.TotalKnown {
		return p.TotalRecords
	}
	return unknown
}

const unknown = math.MinInt

// Config says how to walk over a collection. It has no state: each walk is new.
type Config struct {
	Source   Source
	First    int         // number of the first page; 0 is 1
	Limit    int         // records on a page; 0 if that is unknown
	Resume   *Checkpoint // where to go on; nil, or one that has ended, for the first page
	Prefetch int         // pages read ahead
	Progress *Progress   // nil if nobody asked for it
}

// Source reads the pages of a collection.
type Source interface {
	Fetch(ctx context.Context, number int) (*Page, error)

	// FetchAhead reads a page early. deliver is called when the page is needed.
	FetchAhead(ctx context.Context, number int) (page *Page, deliver func(), err error)

	// TooEarly reports whether a page that failed early is read again when it is needed.
	TooEarly(err error) bool

	// Broken makes the error of a walk that cannot continue.
	Broken(what string) error

	// Short makes the error of a walk whose pages held far fewer records than each of them counted.
	Short(Report) error
}

// walk is one walk over a collection.
type walk struct {
	Config
	ctx     context.Context //nolint:containedctx // the walk is the scope of this context
	number  int             // of the page being read
	total   int             // by the page handed out last
	latest  int             // of the totals, in the order in which they came
	least   int             // of the totals
	largest int             // of the sizes of the pages
	place   int             // of the last record read, by the sizes of the pages
	skipped int             // records of the page after a checkpoint that were delivered before it
	fresh   int             // records that did not come before
	repeats int             // records that did
	from    int             // pages before the place of a checkpoint
	within  int             // records before it on its page
	drifted bool            // the total has changed: it does not say what should have come
	shifted int             // records that inserts have shifted back, by the total, and that did not come again yet
	stale   int             // pages in a row that held nothing new; below 0: none was read
	before  []Record        // those of the page before, if they alone identify it
	seen    Recent
	owed    []string // ids of the checkpoint that did not come yet
	ahead   ahead
	count   int  // of pages, by the totals of the page read last
	limited bool // the number of records on a page is known
}

const (
	rereadRounds = 5 // after which a boundary is given up where records keep vanishing
	maxStale     = 2
)

// Walk reads page by page and yields each without its repeats, and an error as the last.
func (c Config) Walk(ctx context.Context, yield func(*Page, error) bool) {
	if c.Resume != nil && c.Resume.Ended {
		c.Resume = nil
	}
	limited := c.Limit > 0
	c.Progress, c.Limit = cmp.Or(c.Progress, new(Progress)), max(1, c.Limit)
	w := &walk{Config: c, limited: limited, ctx: ctx, number: cmp.Or(c.First, 1), total: unknown, latest: unknown, count: math.MaxInt, stale: -1}
	w.First, w.ahead.width = w.number, c.Prefetch
	defer w.dropAhead()
	page, err := w.open()
	for err == nil {
		w.watch(page)
		if page.TotalKnown && page.TotalRecords < w.total {
			var slipped *Page
			if slipped, page, err = w.catchUp(page.TotalRecords); err != nil {
				break
			}
			w.dropRepeats(slipped)
			w.Progress.Update(func(r *Report) { r.Recovered += len(slipped.Records) })
			if !w.handOut(slipped, yield) {
				return
			}
		}
		size := w.skipped + len(page.Records)
		full, skipped := w.isFull(size), w.skipped > 0
		w.skipped, w.largest = 0, max(w.largest, size)
		w.dropRepeats(page)
		again := w.isAgain(page)
		last := w.atEnd(page, size, full && !again && (skipped || len(page.Records) > 0))
		if err = w.stuck(page, size, again); err != nil && !last {
			break
		}
		w.total, w.count = page.total(), max(w.number, w.pageCount(page))
		w.Progress.reached(page, size)
		w.readAhead(page)
		if !w.handOut(page, yield) {
			return
		}
		if last {
			if err = w.finish(); err == nil {
				return
			}
			break
		}
		page, err = w.next()
	}
	yield(nil, err)
}

// handOut yields a page. An empty one is of use only if it is the first of a walk from the start.
func (w *walk) handOut(p *Page, yield func(*Page, error) bool) bool {
	return len(p.Records) == 0 && (p.Recovered || p.Number != w.First || w.Resume != nil) || yield(p, nil)
}

// finish reports the end. At least a page of missing records is an error, unless the total has changed. Pages may be shorter than
// was asked for, so that the largest counts. Repeats are not missing: an insert for each delete leaves the total as it was, and an
// id may not be unique.
func (w *walk) finish() error {
	missing := max(0, w.least-w.fresh-w.earlier())
	w.Progress.Update(func(r *Report) { r.Finished, r.Missing = true, missing })
	if missing > w.repeats && missing-w.repeats >= w.largest && !w.drifted {
		return w.Source.Short(w.Progress.Report())
	}
	return nil
}

// earlier is how many records came before the walk: those before the place of its checkpoint, as far as their pages held any. It
// is no less than the total where that is not known, as for a walk that begins on a later page.
func (w *walk) earlier() int {
	switch size := max(w.Limit, w.largest); {
	case w.Resume == nil && w.First == 1:
		return 0
	case w.Resume == nil || w.Resume.Size == 0 || w.from > w.least:
		return w.least
	default:
		return w.from*size + w.within
	}
}

// isFull reports whether a page has as many records as were asked for, or as the largest page before it.
func (w *walk) isFull(size int) bool {
	return size > 0 && (size >= w.Limit && w.limited || w.largest > 0 && size >= w.largest)
}

// atEnd reports whether a page is the last. An empty page is the end only where no total says that
// more pages follow. Pages may be shorter than was asked for: where their count is unknown, their
// records count. A full page with something new is never the last: the totals may be capped.
func (w *walk) atEnd(p *Page, size int, open bool) bool {
	if w.place == 0 {
		w.place = (w.number - 1) * size
	}
	w.place += size
	switch {
	case p.Last:
		return true
	case p.TotalPages > 0 || p.TotalKnown && size == 0:
		return w.number >= w.pageCount(p) && !open
	case p.TotalKnown:
		return w.place >= p.TotalRecords && !open
	}
	return size == 0
}

// isAgain reports whether a page is the one before again, where its records do not tell and the totals do not end the walk. Past the end by
// the totals, it is left out.
func (w *walk) isAgain(p *Page) bool {
	if p.allHaveIDs() || (p.TotalPages > 0 || p.TotalKnown) && w.number < w.pageCount(p) {
		return false
	}
	again := len(p.Records) > 0 && reflect.DeepEqual(p.Records, w.before)
	if w.before = p.Records; again && w.number > w.pageCount(p) {
		p.Records = nil
	}
	return again
}

// stuck is the error of a walk that may never end, or would leave out what it cannot read: two
// pages in a row held nothing new. Inserts in front bring records again, but then the total has
// grown by as many.
func (w *walk) stuck(p *Page, size int, again bool) error {
	repeats := size - len(p.Records)
	explained := repeats > 0 && repeats <= w.shifted
	first := w.stale < 0 // it may be empty, or cut by a checkpoint
	if !first {
		w.shifted = max(0, w.shifted-repeats)
	}
	if len(p.Records) > 0 && !again || explained {
		w.stale = 0
		return nil
	}
	if w.stale++; w.stale < maxStale {
		return nil
	}
	what, total := "are empty", "no total is given"
	if size > 0 {
		what = "hold nothing but records that came before"
	}
	switch {
	case p.TotalPages > 0:
		total = fmt.Sprintf("the total is %d pages", p.TotalPages)
	case p.TotalKnown:
		total = fmt.Sprintf("the total is %d records", p.TotalRecords)
	}
	return w.Source.Broken(fmt.Sprintf("pages %d and %d %s, and %s", w.number-1, w.number, what, total))
}

// watch notes the totals, in the order in which they come.
func (w *walk) watch(p *Page) {
	if !p.TotalKnown {
		return
	}
	before := w.latest
	if w.latest == unknown {
		w.least, w.latest, before = p.TotalRecords, p.TotalRecords, p.TotalRecords
		if w.Resume != nil && w.Resume.Total > 0 {
			before = w.Resume.Total
		}
	}
	w.Progress.Update(func(r *Report) { r.Joined += max(0, p.TotalRecords-before) })
	if w.latest != p.TotalRecords {
		w.drifted = true
		w.Progress.drift(true)
	}
	w.least = min(w.least, p.TotalRecords)
	w.shifted += max(0, p.TotalRecords-w.latest)
	w.latest = p.TotalRecords
}

// open reads the first page, or the one after the checkpoint.
func (w *walk) open() (*Page, error) {
	if w.Resume == nil {
		w.Progress.begin(w.First)
		return w.read(w.number)
	}
	w.Progress.resume(w.Resume)
	w.largest = w.Resume.Size
	page, err := w.reopen(w.Resume)
	w.from, w.within = w.number-1, w.skipped
	if err == nil && page.TotalRecords == w.Resume.Total && w.number == w.Resume.Page { // otherwise records have moved across what was empty
		w.from -= w.Resume.Holes
	} else {
		w.Progress.drift(false)
	}
	return page, err
}

func (w *walk) read(number int) (*Page, error) {
	page, err := w.Source.Fetch(w.ctx, number)
	return w.accept(number, page, err)
}

func (w *walk) accept(number int, page *Page, err error) (*Page, error) {
	if err != nil {
		return nil, err
	}
	w.Progress.Update(func(r *Report) { r.Requests++ })
	if page.Number != 0 && page.Number < number && number > w.count { // some serve the last page again
		page.Records, page.Number = nil, number
	}
	if page.Number != 0 && page.Number != number {
		return nil, w.Source.Broken(fmt.Sprintf("asked for page %d, got page %d", number, page.Number))
	}
	page.Number = number
	return page, nil
}

// pageCount is the number of pages, as far as it is known.
func (w *walk) pageCount(p *Page) int {
	switch {
	case p.TotalPages > 0:
		return p.TotalPages
	case p.TotalKnown:
		return pages(p.TotalRecords, w.Limit)
	}
	return math.MaxInt
}

// across is how many pages records can have moved across. Pages may be shorter than was asked for.
func (w *walk) across(records int) int {
	return pages(records, min(w.Limit, cmp.Or(w.largest, w.Limit)))
}

// pages is how many pages of a size so many records fill or touch.
func pages(records, size int) int {
	if records <= 0 {
		return 0
	}
	return (records-1)/size + 1
}

// catchUp reads again what a fall to the given total can have moved records across, until the total
// does not fall meanwhile. It returns the records that the walk would have skipped, and the current
// page as it is after that.
func (w *walk) catchUp(total int) (slipped, current *Page, err error) {
	for round := 1; ; round++ {
		low := max(w.First, w.number-w.across(w.total-total))
		items, page, steady, err := w.reread(low, total)
		if err != nil {
			return nil, nil, err
		}
		if total = page.TotalRecords; !steady && round < rereadRounds {
			continue
		}
		w.Progress.Update(func(r *Report) { r.Incomplete = r.Incomplete || !steady })
		recovered := *page
		recovered.Records, recovered.Number, recovered.Recovered = items, low, true
		return &recovered, page, nil
	}
}

// reread reads from page low up to the current one. It returns what the pages before the current
// one hold that is next in order, the current page, and whether the total never fell.
//
// Where the order is documented, that is what comes after the last record seen. Elsewhere that one may have moved: then it is all that
// was not seen, but for what comes before the first one seen if the walk has resumed, as it may have been delivered earlier.
//
// If none of these records was seen, nothing tells which of them are new, and come before what was seen, or came before a checkpoint.
func (w *walk) reread(low, total int) (slipped []Record, page *Page, steady bool, err error) {
	steady = true
	known, ordered := false, w.Progress.Report().OrderKnown
	defer func() {
		if !known || slipped != nil && w.seen.forgot {
			w.Progress.unsure(w.seen.forgot || slipped != nil && w.Resume != nil)
		}
	}()
	for number := low; number <= w.number; number++ {
		if page, err = w.read(number); err != nil {
			return nil, nil, false, err
		}
		w.Progress.Update(func(r *Report) { r.Rereads++ })
		w.watch(page)
		if page.TotalKnown {
			steady = steady && page.TotalRecords >= total
			total = page.TotalRecords
		}
		for _, r := range page.Records {
			switch {
			case w.seen.Has(r.ID):
				if ordered || !known && number < w.number && w.Resume != nil {
					slipped = nil
				}
				if known = true; slipped != nil {
					w.Progress.unsure(w.Resume != nil)
				}
			case number < w.number:
				slipped = append(slipped, r)
			}
		}
	}
	return slipped, page, steady, nil
}

// dropRepeats drops the records that came before and remembers the others. A record in front of a repeat is not next in order: it
// is new, or came so long before that a walk which has resumed, or forgotten some, does not know it.
func (w *walk) dropRepeats(p *Page) {
	size, kept, ordered := len(p.Records), 0, true
	p.Records = slices.DeleteFunc(p.Records, func(r Record) bool {
		if w.seen.Add(r.ID) {
			kept++
			return false
		}
		ordered = ordered && kept == 0
		if w.pay(r.ID) {
			w.within++
			ordered = ordered && w.fresh == 0
		}
		return true
	})
	if !ordered || w.seen.forgot && w.shifted > recentIDs {
		w.Progress.unsure(w.Resume != nil || w.seen.forgot)
	}
	repeats := size - kept
	w.Progress.Update(func(r *Report) { r.Repeats += repeats })
	w.fresh, w.repeats = w.fresh+kept, w.repeats+repeats
}

// reopen finds the place after the last record that was delivered before the checkpoint. Records
// may have come and gone since: it tries the page of the checkpoint first, then those around it, as
// far as the total has moved.
func (w *walk) reopen(cp *Checkpoint) (*Page, error) {
	home, err := w.read(max(cp.Page, w.First))
	if err != nil {
		return nil, err
	}
	for _, id := range cp.Last {
		w.seen.Add(id)
	}
	w.owed = slices.Clone(cp.Last)
	w.shifted = len(cp.Last) // which may all be after the place that is found
	search := search{Checkpoint: cp, ordered: w.Progress.Report().OrderKnown, size: max(cp.Size, len(home.Records)), at: make(map[int]spot)}
	search.look(home)
	moved, known := 0, home.TotalKnown && cp.Total > 0
	if known {
		moved = cp.Total - home.TotalRecords
	}
	last := w.pageCount(home)
	if len(home.Records) > 0 { // the totals may be capped
		last = max(last, home.Number)
	}
	place := max(w.First, min(home.Number, last))
	reach := min(1+w.across(max(moved, -moved)+search.spread()), max(place-w.First, last-place))
	for distance := 0; distance <= reach && len(cp.Last) > 0; distance++ {
		for i, number := range search.sides(place, distance) {
			if search.done() || i > distance || number < w.First || number > last || number == home.Number {
				continue
			}
			page, err := w.read(number)
			if err != nil {
				return nil, err
			}
			search.look(page)
		}
	}
	if found, ok, sure := search.place(); ok {
		w.resumeAt(found, cp)
		if !sure {
			w.Progress.unsure(true)
		}
		return found.page, nil
	}
	// None of the records delivered last was found there: go back as far as the others can have moved, and
	// risk repeats.
	w.Progress.unsure(true)
	w.total = home.total()
	if known {
		w.number = max(w.First, home.Number-w.across(moved))
	}
	return w.read(w.number)
}

// resumeAt makes a page the current one, without its records up to the first one that the checkpoint names, and without the others.
func (w *walk) resumeAt(s spot, cp *Checkpoint) {
	p := s.page
	var after []Record
	for i, r := range p.Records {
		if i > s.first && (i >= s.limit || !cp.names(r.ID)) {
			after = append(after, r)
			continue
		}
		if len(after) > 0 {
			w.Progress.unsure(true)
		}
		w.seen.Add(r.ID)
		w.pay(r.ID)
	}
	w.number, w.skipped = p.Number, len(p.Records)-len(after)
	p.Records = after
}

// pay reports whether the checkpoint names a record that had not come yet.
func (w *walk) pay(id string) bool {
	i := slices.Index(w.owed, id)
	if i >= 0 {
		w.owed = slices.Delete(w.owed, i, i+1)
	}
	return i >= 0
}
