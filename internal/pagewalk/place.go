package pagewalk

import (
	"cmp"
	"slices"
)

// Where an order is documented, records do not move: any one that the checkpoint names shows the place. Elsewhere a record may move
// behind the place, where it would hide all that stands between. So the first of those that are found counts, and none that stands
// further behind than the place was, by more than the total has grown. As long as one has not moved, that risks repeats, but no loss.
// Unless all are found, and the first of them no further behind than it was (where that is known), the place is unsure.

// open reads the first page, or the one after the checkpoint: the page of the checkpoint first, then those around it, as far as the total has
// moved. If none of the records delivered last is there, the walk goes back as far as the others can have moved, and risks repeats.
func (w *walk) open() (*Page, error) {
	cp := w.Resume
	switch {
	case cp == nil && w.First > 1:
		w.at.First, w.came = w.First, unknown
		fallthrough
	case cp == nil:
		return w.read(w.number, nil)
	}
	w.came, w.repeats, w.at = unknown, cp.Repeats, *cp
	w.report.Rewound, w.report.Joined, w.report.Incomplete = cp.Unsure, cp.Joined, cp.Incomplete
	w.Progress.tell(w.report, cp, 0)
	w.largest, w.number = cp.Size, max(cp.Page, w.First)
	home, err := w.read(w.number, nil)
	if err != nil {
		return nil, err
	}
	for _, id := range cp.Last {
		w.seen.Add(id)
	}
	w.owed = slices.Clone(cp.Last)
	w.shifted = len(cp.Last) // which may all be after the place that is found
	s := search{Checkpoint: cp, ordered: w.report.OrderKnown, size: max(cp.Size, len(home.Records)), at: make(map[int]spot)}
	if err := w.lookAround(&s, home); err != nil {
		return nil, err
	}
	if found, ok, sure := s.place(); ok {
		w.resumeAt(found, cp)
		if !sure {
			w.unsure(true)
		} else if cp.Count > 0 && found.page.TotalRecords == cp.Total {
			if w.came = cp.Count; w.number != cp.Page || w.skipped != cp.Index { // others are in front now that did not come
				w.came = max(w.came, (w.number-1)*s.size+w.skipped)
			}
		}
		return found.page, nil
	}
	w.unsure(true)
	w.number = w.First
	if w.note(home); home.TotalKnown && cp.Total > 0 {
		w.number = max(w.First, home.Number-w.across(cp.Total-home.TotalRecords))
	}
	return w.read(w.number, nil)
}

// lookAround looks for the records of a checkpoint on its page, and on those around it until they are found.
func (w *walk) lookAround(s *search, home *Page) error {
	s.look(home)
	moved, last := 0, w.pageCount(home)
	if home.TotalKnown && s.Total > 0 {
		moved = s.Total - home.TotalRecords
	}
	if len(home.Records) > 0 { // the totals may be capped
		last = max(last, home.Number)
	}
	place := max(w.First, min(home.Number, last))
	reach := min(1+w.across(max(moved, -moved)+s.spread()), max(place-w.First, last-place))
	for distance := 0; distance <= reach && len(s.Last) > 0; distance++ {
		for i, number := range s.sides(place, distance) {
			if s.done() || i > distance || number < w.First || number > last || number == home.Number {
				continue
			}
			page, err := w.read(number, nil)
			if err != nil {
				return err
			}
			s.look(page)
		}
	}
	return nil
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
			w.unsure(true)
		}
		w.seen.Add(r.ID)
		w.pay(r.ID)
	}
	w.number, w.skipped = p.Number, len(p.Records)-len(after)
	p.Records = after
}

// search looks for the place of a checkpoint, page by page.
type search struct {
	*Checkpoint
	ordered bool // the order is documented
	size    int  // of a page
	named   int  // records found
	at      map[int]spot
}

// spot is where a page holds records that a checkpoint names.
type spot struct {
	page  *Page
	first int  // of them
	limit int  // behind which they do not count
	full  bool // with them, from the first one to the end of the page
}

// look finds the records that a page holds.
func (s *search) look(p *Page) {
	here, named := spot{page: p, limit: len(p.Records)}, 0
	if !s.ordered {
		here.limit = min(here.limit, s.was(p)+max(0, s.grown(p)))
	}
	for i := here.limit - 1; i >= 0; i-- {
		if s.names(p.Records[i].ID) {
			here.first = i
			named++
		}
	}
	if here.full = here.first+named == len(p.Records); named > 0 {
		s.at[p.Number], s.named = here, s.named+named
	}
}

// was is the index of the place, seen from a page. A checkpoint of an earlier version has none: it may be the end of its page.
func (s *search) was(p *Page) int { return (s.Page-p.Number)*s.size + cmp.Or(s.Index, s.size) }

// grown is how many records the total has grown by. Without totals, that is a page.
func (s *search) grown(p *Page) int {
	if p.TotalKnown && s.Total > 0 {
		return p.TotalRecords - s.Total
	}
	return s.size
}

// done reports whether enough records were found.
func (s *search) done() bool { return s.named >= len(s.Last) || s.ordered && s.named > 0 }

// sides are the pages at a distance. Where new records come first, they move the place back; elsewhere, what is in front counts more.
func (s *search) sides(place, distance int) [2]int {
	if s.ordered {
		return [...]int{place + distance, place - distance}
	}
	return [...]int{place - distance, place + distance}
}

// spread is how far the records can stand in front of the place, if any of them is to be found first.
func (s *search) spread() int {
	if s.ordered {
		return 0
	}
	return len(s.Last)
}

// place is the first spot, or the one on the page after it, if nothing stands between the records of both. If some records are gone, and
// the total has fallen, one that stands where no record before the place can stand any more shows nothing.
func (s *search) place() (found spot, ok, sure bool) {
	for number, here := range s.at {
		if found.page == nil || number < found.page.Number {
			found = here
		}
	}
	if found.page == nil {
		return found, false, false
	}
	was := s.was(found.page)
	ok = s.done() || found.first < was+s.grown(found.page)
	sure = s.done() && (s.ordered || s.Index > 0 && found.first <= was-len(s.Last))
	for found.full {
		next, more := s.at[found.page.Number+1]
		if !more {
			break
		}
		next.full = next.full && next.first == 0
		next.first = -1
		found = next
	}
	return found, ok, sure
}
