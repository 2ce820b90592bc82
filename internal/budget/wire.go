package budget

import "encoding/json"

// format changes with the meaning of what a store keeps. A state of another format is discarded.
const format = 6

// stored is what a store keeps, as JSON.
type stored struct {
	Format int
	Last   Instant // when the state decided last
	State  *State
}

// encodeState returns nothing if a number of the state is none, so that the state starts new.
func encodeState(s *State, last Instant) []byte {
	text, _ := json.Marshal(stored{format, last, s})
	return text
}

func decodeState(text []byte) (s State, last Instant, ok bool) {
	in := stored{State: &s}
	err := json.Unmarshal(text, &in)
	return s, in.Last, err == nil && in.Format == format && in.State != nil && s.valid()
}

// valid reports whether what names a place names one that is there.
func (s *State) valid() bool {
	for w := range s.Counts {
		if l := &s.Counts[w]; min(l.Used, l.Past, l.Head) < 0 || max(l.Used, l.Past) > slots || l.Head >= 2*slots {
			return false
		}
	}
	return max(s.HeldIn, s.Figures.Window) <= Day
}
