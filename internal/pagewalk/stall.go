package pagewalk

// StallDetector notices that the pages of a walk by token bring nothing new. The zero value is ready to
// use.
type StallDetector struct {
	shown Recent // what was on the pages
	empty int    // pages without records since the last that held something new
	same  int    // pages with nothing but known records, likewise
}

// So many pages in a row are a stall. Each may have been paid for.
const (
	mostEmpty = 10
	mostSame  = 2
)

// Page notes a page of n records, and reports how many pages in a row held nothing new, and
// whether these are too many.
func (s *StallDetector) Page(n int, id func(int) string) (stale int, stalled bool) {
	fresh := false
	for i := range n {
		fresh = s.shown.Add(id(i)) || fresh
	}
	switch {
	case fresh:
		s.empty, s.same = 0, 0
	case n == 0:
		s.empty++
	default:
		s.same++
	}
	return s.empty + s.same, s.empty == mostEmpty || s.same == mostSame
}

// Forget makes all records new again.
func (s *StallDetector) Forget() { s.shown = Recent{} }
