package pagewalk

import "cmp"

// Where an order is documented, records do not move: any one that the checkpoint names shows the place. Elsewhere a record may move
// behind the place, where it would hide all that stands between. So the first of those that are found counts, and none that stands
// further behind than the place was, by more than the total has grown. As long as one has not moved, that risks repeats, but no loss.
// Unless all are found, and the first of them no further behind than it was (where that is known), the place is unsure.

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
