package pagewalk

import "slices"

// Where an order is documented, records do not move: any one that the checkpoint names shows the place. Elsewhere a record may move
// behind the place, where it would hide all that stands between. So the first of those that are found counts, and none that stands
// further behind than the place was, by more than the total has grown. As long as one has not moved, that risks repeats, but no loss.
// Unless all are found, and the first of them no further behind than it was (where that is known), the place is unsure.

// open reads the first page, or the one after the checkpoint: the page of the checkpoint first, then those around it, as far as the total has
// moved. If none of the records delivered last is there, the walk goes back as far as the others can have moved, and risks repeats.
func (w *Walk) open() (*Page, error) {
	cp := w.Resume
	if cp == nil {
		if w.First > 1 {
			w.at.First, w.came = w.First, unknown
		}
		return w.read(w.number)
	}
	w.at, w.largest, w.number, w.came = *cp, cp.Size, max(cp.Page, w.First), unknown
	w.report.Rewound, w.report.Joined, w.report.Incomplete = cp.Unsure, cp.Joined, cp.Incomplete
	w.Progress.tell(w.report, cp, 0)
	home, err := w.read(w.number)
	if err != nil {
		return nil, err
	}
	for _, id := range cp.Last {
		w.seen.Add(id)
	}
	w.owed, w.shifted = slices.Clone(cp.Last), len(cp.Last) // which may all be after the place that is found
	s := search{Checkpoint: cp, ordered: w.report.OrderKnown, size: max(cp.Size, len(home.Records)), at: make(map[int]spot)}
	if err := w.lookAround(&s, home); err != nil {
		return nil, err
	}
	place, found, sure := s.verdict()
	if !sure {
		w.unsure(true)
	}
	if !found {
		w.number = w.First
		if w.note(home); home.TotalKnown && cp.Total > 0 {
			w.number = max(w.First, home.Number-w.across(cp.Total-home.TotalRecords))
		}
		return w.read(w.number)
	}
	if w.number = place.page.Number; w.number != home.Number {
		w.largest = max(w.largest, len(home.Records))
	}
	if sure && cp.Count > 0 && place.page.TotalRecords == cp.Total {
		before := max(0, place.first) + place.named
		w.came, w.front = cp.Count, (w.number-1)*s.size+before
		if w.number != cp.Page || before != cp.Index { // others are in front now that did not come
			w.came = max(w.came, w.front)
		}
	}
	for _, r := range place.page.Records[:place.first+1] {
		w.seen.Add(r.ID)
		w.pay(r.ID)
	}
	return place.page, nil
}

// lookAround looks for the records of a checkpoint on its page, and on those around it until they are found: behind it first where new records
// come first, because they move the place back, and in front of it elsewhere, because the first record counts.
func (w *Walk) lookAround(s *search, home *Page) error {
	s.look(home)
	moved, spread, sign, last := 0, 0, 1, w.pageCount(home)
	if home.TotalKnown && s.Total > 0 {
		moved = s.Total - home.TotalRecords
	}
	if len(home.Records) > 0 { // the totals may be capped
		last = max(last, home.Number)
	}
	if !s.ordered {
		spread, sign = len(s.Last), -1
	}
	place := max(w.First, min(home.Number, last))
	reach := min(1+w.across(max(moved, -moved)+spread), max(place-w.First, last-place))
	for distance := 0; distance <= reach && !s.done(); distance++ {
		for _, number := range []int{place + sign*distance, place - sign*distance}[:min(distance+1, 2)] {
			if s.done() || number < w.First || number > last || number == home.Number {
				continue
			}
			page, err := w.read(number)
			if err != nil {
				return err
			}
			s.look(page)
		}
	}
	return nil
}

// search looks for the place of a checkpoint, page by page.
type search struct {
	*Checkpoint
	ordered bool // the order is documented
	size    int  // of a page
	named   int  // records found
	at      map[int]spot
}

// spot is where a page holds records that the checkpoint names.
type spot struct {
	page  *Page
	first int // of them
	named int // how many
}

// look finds the records that a page holds.
func (s *search) look(p *Page) {
	limit, here := len(p.Records), spot{page: p}
	if !s.ordered {
		limit = max(0, min(limit, s.was(p)+max(0, s.grown(p))))
	}
	for i := limit - 1; i >= 0; i-- {
		if s.names(p.Records[i].ID) {
			here.first = i
			here.named++
		}
	}
	if here.named > 0 {
		s.at[p.Number], s.named = here, s.named+here.named
	}
}

// was is the index of the place, seen from a page.
func (s *search) was(p *Page) int { return (s.Page-p.Number)*s.size + s.Index }

// grown is how many records the total has grown by. Without totals, that is a page.
func (s *search) grown(p *Page) int {
	if p.TotalKnown && s.Total > 0 {
		return p.TotalRecords - s.Total
	}
	return s.size
}

// done reports whether enough records were found, or none are named.
func (s *search) done() bool { return s.named >= len(s.Last) || s.ordered && s.named > 0 }

// verdict is the first spot, or the one on the page after it, if nothing stands between the records of both, and whether that is the place,
// and for sure. If some records are gone, and the total has fallen, one that stands where no record before the place can stand any more shows
// nothing.
func (s *search) verdict() (place spot, found, sure bool) {
	for number, here := range s.at {
		if place.page == nil || number < place.page.Number {
			place = here
		}
	}
	if place.page == nil {
		return place, false, false
	}
	was := s.was(place.page)
	found, sure = s.done() || place.first < was+s.grown(place.page), s.done() && (s.ordered || place.first <= was-len(s.Last))
	for place.named == len(place.page.Records)-max(0, place.first) { // to the end of its page
		next, more := s.at[place.page.Number+1]
		if !more {
			break
		}
		place, place.first = next, -1
	}
	return place, found, sure
}
