package ratehdr

import (
	"sync"
	"sync/atomic"
)

// Seen is what is known about whether responses have the headers: something in between may drop
// them. It is safe for concurrent use.
type Seen struct {
	sources sync.Map    // seen sending the headers
	any     atomic.Bool // a source was ever seen sending them
	missed  atomic.Bool
}

// Learn notes that a response of a source has the headers.
func (s *Seen) Learn(source any) {
	if !s.Has(source) {
		s.sources.Store(source, nil)
		s.any.Store(true)
	}
}

// Has reports whether responses of a source have the headers.
func (s *Seen) Has(source any) bool {
	_, ok := s.sources.Load(source)
	return ok
}

// Missed notes that a response lacks the headers although it should have them. Has then reports
// false for every source until it is learned again.
func (s *Seen) Missed() {
	if s.missed.Store(true); s.any.Load() {
		s.sources.Clear()
	}
}

// Nothing reports whether nothing is known: no response had them, and none should have.
func (s *Seen) Nothing() bool { return !s.missed.Load() && !s.any.Load() }

// Dropped reports whether the headers were missed, and no response has ever had them.
func (s *Seen) Dropped() bool { return s.missed.Load() && !s.any.Load() }
