// Package pagewalk walks over the pages of a collection that others change between our requests. For each page it does five things: it reads
// it, notes its totals, goes back if they have fallen, drops what came before, and judges whether that was the end. It loses nothing that
// stays where new records come first, as long as the total tells: no record moves forward by more than the total falls. In any other order an
// insert behind the place hides a delete. A page that is empty, although its total says that it is not, is not read again: the report tells. Records
// without an id are all new. Of pages that lead to each other, [Follow] leaves nothing out.
// It does not know the API, the rate or what a record is; it stores nothing but 16 ids and numbers; it remembers the last 32,768 ids or more
// as hashes, in 1 MiB at most, and no page but those that are read ahead.
package pagewalk

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Page is one page of a collection. The walk takes the repeats out of it.
type Page struct {
	Records      []Record
	Number       int // 1-based; 0 if unknown
	TotalPages   int // 0 if unknown
	TotalRecords int
	TotalKnown   bool // whether TotalRecords is known
	Last         bool // the service says that it is, without totals that may be capped
	Recovered    bool // read again because the total had fallen: these records would have been skipped
	Ahead        int  // how many pages after the next one may be read early; 0 where none ever is
	Of           any  // the caller's page that this was made of; the walk only passes it on

	panicked any // while it was read early
}

// Record is one of a page, in its order.
type Record struct {
	ID string // empty where it has none
	Of any    // a pointer to the caller's record. So the walk is compiled once, and not for each type in each package that walks
}

// Walk is one walk over a collection: how to walk, and what is known so far.
type Walk struct {
	Read     func(ctx context.Context, number int) (*Page, error)
	Early    func(ctx context.Context, number int) *Page // reads a page before it is needed; nil is read again, alone, when it is
	Fail     func(what string, missing bool) error       // the error of a walk that cannot go on, or has ended while records are missing
	First    int                                         // number of the first page; 0 is 1
	Limit    int                                         // records on a page; 0 if that is unknown
	Resume   *Checkpoint                                 // where to go on; nil, or one that has ended, for the first page
	Progress *Progress                                   // nil if nobody asked for it

	ctx    context.Context //nolint:containedctx // the walk is the scope of this context
	number int             // of the page being read
	until  int             // the pages before this one are read again
	opened int             // the first page that was handed out
	next   int             // all pages before this one were read
	fallen int             // by how much the total has fallen since
	backs  int             // how often the walk went back without getting further
	report Report
	at     Checkpoint

	// What the pages tell.
	total   int  // by the page read last that has one
	least   int  // of the totals
	largest int  // of the sizes of the pages
	place   int  // of the last record read, by the sizes of the pages
	drifted bool // the total has changed: it does not say what should have come
	came    int  // records before the walk; below 0 if that is unknown
	front   int  // records in front of the place of a checkpoint, with those that came before the walk

	// What came before.
	seen    Recent
	owed    []string // ids of the checkpoint that did not come yet
	shifted int      // records that inserts have shifted back, by the total, and that did not come again yet
	met     bool     // a page that was read again held a known record
	fresh   int      // records that did not come before
	judged  bool     // a page was
	stale   stale

	early  map[int]chan *Page // pages that are read ahead, by number
	alone  int                // so many pages are to be read alone
	cancel context.CancelFunc // ends the pages that are read ahead; nil: none is
	scope  context.Context    //nolint:containedctx // theirs
}

const (
	unknown   = math.MinInt // below every total
	mostBacks = 5           // after which a boundary is given up where records keep vanishing
)

// Each reads page by page and yields each without its repeats, and an error as the last.
func Each(ctx context.Context, w Walk, yield func(*Page, error) bool) { w.each(ctx, yield) }

func (w *Walk) each(ctx context.Context, yield func(*Page, error) bool) {
	if w.Resume != nil && w.Resume.Ended {
		w.Resume = nil
	}
	w.Progress, w.First = cmp.Or(w.Progress, new(Progress)), cmp.Or(w.First, 1)
	w.ctx, w.number, w.total, w.report, w.at = ctx, w.First, unknown, w.Progress.report, w.Progress.place
	defer func() {
		w.dropEarly()
		w.Progress.tell(w.report, nil, 0)
	}()
	page, err := w.open()
	w.next, w.opened = w.number, w.number
	for end := false; err == nil && !end; {
		if w.goBack(w.note(page)) {
			page, err = w.read(w.number)
			continue
		}
		size := len(page.Records)
		if size == 0 && (w.number < page.TotalPages || page.TotalKnown && w.number <= w.across(page.TotalRecords)) {
			w.report.Incomplete = true
		}
		fresh := w.dropRepeats(page)
		if !page.Recovered {
			if end, err = w.judge(page, size, fresh); err != nil {
				break
			}
		}
		w.reached(page, size)
		if !w.handOut(page, yield) {
			return
		}
		if end {
			err = w.finish()
		} else {
			page, err = w.following(page)
		}
	}
	if w.Progress.tell(w.report, nil, 0); err != nil {
		yield(nil, err)
	}
}

// reached tells the page that is about to be handed out, and its size with the repeats that it came with: they count as in front of its
// records. Until its last record is delivered, the place is there.
func (w *Walk) reached(p *Page, size int) {
	w.report.Total, w.report.TotalKnown = p.TotalRecords, p.TotalKnown
	at := &w.at
	at.Page, at.Total, at.Size, at.Index = p.Number, p.TotalRecords, max(at.Size, size), size-len(p.Records)
	if at.Joined, at.Count = w.report.Joined, w.came; w.drifted {
		at.Count = unknown
	}
	w.Progress.tell(w.report, at, size)
}

// unsure notes that records which were delivered may come after the place, and whether they may come in this walk: it remembers what it
// has delivered itself.
func (w *Walk) unsure(now bool) { w.at.Unsure, w.report.Rewound = true, w.report.Rewound || now }

// handOut yields a page. An empty one is of use only if it is the first of a walk from the start.
func (w *Walk) handOut(p *Page, yield func(*Page, error) bool) bool {
	return len(p.Records) == 0 && (p.Recovered || p.Number != w.First || w.Resume != nil) || yield(p, nil)
}

// read reads a page. Past the end, some serve another one again: its records came before.
func (w *Walk) read(number int) (*Page, error) {
	page, err := w.Read(w.ctx, number)
	if err != nil {
		return nil, err
	}
	if w.report.Requests++; number <= w.until {
		w.report.Rereads++
	}
	if past := page.TotalPages > 0 && page.TotalPages < number; page.Number > number || page.Number != 0 && page.Number < number && !past {
		return nil, w.Fail(fmt.Sprintf("asked for page %d, got page %d", number, page.Number), false)
	}
	page.Number = number
	return page, nil
}

// note notes the total of a page, and returns by how much it has fallen.
func (w *Walk) note(p *Page) (fall int) {
	if !p.TotalKnown {
		return 0
	}
	before := w.total
	switch {
	case before != unknown:
		fall = before - p.TotalRecords
		w.shifted += max(0, -fall)
	case w.Resume != nil && w.Resume.Total > 0:
		w.least, before = p.TotalRecords, w.Resume.Total
	default:
		w.least, before = p.TotalRecords, p.TotalRecords
	}
	if w.least, w.total = min(w.least, p.TotalRecords), p.TotalRecords; before != p.TotalRecords {
		w.drifted, w.alone = true, max(w.alone, rest)
		w.report.Joined += max(0, p.TotalRecords-before)
	}
	return fall
}

// goBack makes the first page on which a record can be that did not come the current one, if that is before it, and reports whether it is.
func (w *Walk) goBack(fall int) bool {
	w.fallen += max(0, fall)
	low := max(w.First, w.next-w.across(w.fallen))
	switch {
	case low >= w.number:
	case w.backs == mostBacks:
		w.report.Incomplete = true
	default:
		w.dropEarly()
		w.until, w.number, w.met = max(w.until, w.number), low, false
		w.backs++
		return true
	}
	w.next, w.fallen = w.number+1, 0
	return false
}

// dropRepeats drops the records that came before and remembers the others, whose number it returns. A record in front of a repeat is not
// next in order: it is new, or came so long before that a walk which has resumed, or forgotten some, does not know it. On a page that is read
// again it is left out where new records come first, or where it may have come before the checkpoint.
func (w *Walk) dropRepeats(p *Page) (fresh int) {
	resumed, again := w.Resume != nil, p.Number < w.until
	ordered, grown := w.report.OrderKnown, max(w.total, w.least)-w.least
	joined := grown - (p.Number-1)*w.largest                   // so many are new in front
	inFront := !again && grown > (p.Number-w.opened)*w.largest // or all of them are
	known, paid, size, kept := 0, 0, len(p.Records), p.Records[:0]
	for i, r := range p.Records {
		if w.seen.Add(r.ID) {
			if !again || !ordered || i >= joined {
				kept = append(kept, r)
			}
			continue
		}
		if known++; again && (ordered || known == 1 && resumed) {
			kept = kept[:0]
		}
		if inFront = inFront || len(kept) > 0; !again && w.pay(r.ID) {
			paid++
			inFront = inFront || w.fresh > 0
		}
	}
	fresh = len(kept)
	p.Records, p.Recovered, w.fresh = kept, again, w.fresh+fresh
	if w.met = w.met || known > 0; known > 0 {
		w.dropEarly()
	}
	if paid > 0 && w.judged && w.came >= 0 { // others are in front of the place now
		w.front += paid
		w.came = max(w.came, w.front)
	}
	if forgot := w.seen.forgot; inFront || again && !w.met || forgot && (w.shifted > recentIDs || again && fresh > 0) {
		w.unsure(forgot || resumed && (inFront || fresh > 0))
	}
	switch {
	case again:
		if w.report.Recovered += fresh; known == 0 && fresh > 0 && p.allHaveIDs() { // that was further
			w.backs = 0
		}
	case w.judged || !resumed: // on the first page after a checkpoint, what stands before the place is no repeat
		w.report.Repeats += size - fresh - paid
	}
	return fresh
}

// pay reports whether the checkpoint names a record that had not come yet.
func (w *Walk) pay(id string) bool {
	i := slices.Index(w.owed, id)
	if i >= 0 {
		w.owed = slices.Delete(w.owed, i, i+1)
	}
	return i >= 0
}

// judge says whether a page was the last: the one place where a walk ends. An empty page is the end only where no total says that more
// follow. Pages may be shorter than was asked for: where their count is unknown, their records count. A full page with something new is
// never the last: the totals may be capped. The error is that of a walk that may never end.
func (w *Walk) judge(p *Page, size, fresh int) (last bool, err error) {
	first, repeats := !w.judged, size-len(p.Records)
	full := size > 0 && (w.Limit > 0 && size >= w.Limit || w.largest > 0 && size >= w.largest)
	open := full && (len(p.Records) > 0 || first)
	w.judged, w.largest, w.backs = true, max(w.largest, size), 0
	if w.place == 0 {
		w.place = (w.number - 1) * w.largest
	}
	w.place += size
	switch {
	case p.Last:
		last = true
	case p.TotalPages > 0 || p.TotalKnown && size == 0:
		last = w.number >= w.pageCount(p) && !open
	case p.TotalKnown:
		last = w.place >= p.TotalRecords && !open
	default:
		last = size == 0
	}
	explained := repeats > 0 && repeats <= w.shifted // inserts in front bring records again, but then the total has grown by as many
	if !first {                                      // which may be empty, or cut by a checkpoint
		w.shifted = max(0, w.shifted-repeats)
		w.stale.note(size, fresh > 0 || explained)
	}
	if !last && w.stale.all() >= mostStale {
		err = w.Fail(fmt.Sprintf("pages %d and %d bring nothing new, and more are said to follow", w.number-1, w.number), false)
	}
	return last, err
}

// finish reports the end. At least a page of missing records is an error, unless the total has changed. Pages may be shorter than
// was asked for, so that the largest counts. Repeats are not missing: an insert for each delete leaves the total as it was, and an
// id may not be unique.
func (w *Walk) finish() error {
	missing := 0
	if w.came >= 0 {
		missing = max(0, w.least-w.came-w.fresh)
	}
	w.report.Finished, w.report.Missing = true, missing
	if repeats := w.report.Repeats; missing > repeats && missing-repeats >= w.largest && !w.drifted {
		return w.Fail(fmt.Sprintf("%d of %d records are missing, though the total has not changed", missing, w.report.Total), true)
	}
	return nil
}

// pageCount is the number of pages, as far as it is known.
func (w *Walk) pageCount(p *Page) int {
	switch {
	case p.TotalPages > 0:
		return p.TotalPages
	case p.TotalKnown:
		return w.across(p.TotalRecords)
	}
	return math.MaxInt
}

// across is how many pages so many records fill, or can have moved across. Pages may be shorter than was asked for; of an unknown size, they
// have one record.
func (w *Walk) across(records int) int {
	if records <= 0 {
		return 0
	}
	return (records-1)/max(1, min(cmp.Or(w.Limit, w.largest), cmp.Or(w.largest, w.Limit))) + 1
}

// allHaveIDs reports whether each record of a page has an id. Without ids, repeats cannot be found.
func (p *Page) allHaveIDs() bool {
	return !slices.ContainsFunc(p.Records, func(r Record) bool { return r.ID == "" })
}
