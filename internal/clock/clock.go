// Package clock compares instants of this machine with those of the service, whose clock may be
// another. The Date header of its responses tells.
package clock

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// How far clocks may differ.
const (
	maxSkew            = 2 * time.Minute  // that of the Date header and that of createdAt
	maxSkewWithoutDate = 24 * time.Hour   // the local one and the service's, without a Date header
	MaxError           = 10 * time.Second // of an age by two clocks, and while a gateway repeats a request
)

// Since is the time since an instant, by the monotonic clock if the instant is of this process, so
// clock changes do not affect it. It is never negative: an instant from elsewhere may lie ahead.
func Since(t time.Time) time.Duration { return max(0, time.Since(t)) }

// atMost and atLeast bound the time since an instant: the monotonic clock may stand still while the machine sleeps, and the other one
// may have been set.
func atMost(t time.Time) time.Duration { return max(Since(t), time.Since(t.Round(0))) }

func atLeast(t time.Time) time.Duration { return max(0, min(time.Since(t), time.Since(t.Round(0)))) }

// Sent is when a call was sent, by the clock of the machine that made it.
type Sent struct {
	First, Last time.Time
	Ahead       *time.Duration // how far the service's clock was ahead; nil if unknown
	Local       bool           // this process made the call
}

// Overdue reports whether a change that shows within a time would have shown in a read that began at an instant, for certain. h
// is the header of its last response. If another process made the call, both clocks have to say so: a
// Date may be that of a cache, and the local clock may have been set.
func (s Sent) Overdue(within time.Duration, read time.Time, h http.Header) bool {
	if s.Local {
		return read.Sub(s.Last) >= within
	}
	least, _, known := s.ages(read, h)
	return known && least >= within+MaxError
}

// Recent reports whether an instant is within a time after the call was sent last, for certain: by both clocks, as in [Sent.Overdue].
func (s Sent) Recent(within time.Duration, at time.Time, h http.Header) bool {
	if s.Local { // the monotonic clock may stand still while the machine sleeps
		return max(at.Sub(s.Last), at.Round(0).Sub(s.Last.Round(0))) <= within
	}
	least, most, known := s.ages(at, h)
	return known && least >= -MaxError && most <= within // a clock by which it lies ahead tells nothing
}

// ages are what the clocks say of how long after the call an instant is, if both are known.
func (s Sent) ages(at time.Time, h http.Header) (least, most time.Duration, known bool) {
	now, dated := DateOf(h)
	if !dated || s.Ahead == nil {
		return 0, 0, false
	}
	local, there := at.Sub(s.Last), now.Add(-Since(at)).Sub(s.Last.Add(*s.Ahead))
	return min(local, there), max(local, there), true
}

// Older reports whether what was made at an instant of the service's clock is older than the call. It
// is certain if no clock says otherwise, so that one wrong clock rules out nothing, and none was set back since the call.
func (s Sent) Older(made time.Time, h http.Header) (older, certain bool) {
	local := time.Now().Add(-atMost(s.First))
	known := time.Until(s.First) <= MaxError // how long ago the call was
	var sent []time.Time                     // when the call was sent, by each Date
	if s.Ahead != nil {
		sent = append(sent, s.First.Add(*s.Ahead))
	}
	if now, dated := DateOf(h); dated {
		sent = append(sent, now.Add(-atMost(s.First)))
	}
	if len(sent) == 0 {
		older = made.Before(local.Add(-maxSkewWithoutDate))
		return older, older && known
	}
	likely, early := sent[0], slices.MinFunc(append(sent, local), time.Time.Compare)
	for _, at := range sent {
		if at.Sub(local).Abs() <= maxSkew { // two against one
			likely = at
		}
	}
	off := maxSkew
	if !s.Local && s.Ahead == nil { // the local clock alone tells how long ago the call was
		off = maxSkewWithoutDate
	}
	return made.Before(likely.Add(-maxSkew)), known && made.Before(early.Add(-off))
}

// Younger reports whether what was made at an instant of the service's clock was made later than within a time after the call was sent
// last, by every clock.
func (s Sent) Younger(within time.Duration, made time.Time, h http.Header) bool {
	sent := []time.Time{time.Now().Add(-atLeast(s.Last))} // by each clock
	if now, known := DateOf(h); known {
		sent = append(sent, now.Add(-atLeast(s.Last)))
	}
	if s.Ahead != nil {
		sent = append(sent, s.Last.Add(*s.Ahead))
	}
	if len(sent) == 1 {
		within += maxSkewWithoutDate
	}
	return made.After(slices.MaxFunc(sent, time.Time.Compare).Add(within + maxSkew))
}

// Before returns a time, by the service's clock, that is certainly before an instant of this process,
// if only a gateway can have repeated a request. If the Date and the local clock differ, the earlier counts.
func Before(t time.Time, h http.Header) time.Time {
	now, off := time.Now(), maxSkewWithoutDate
	if date, dated := DateOf(h); dated {
		off = MaxError
		if date.Before(now) {
			now = date
		}
	}
	return now.Add(-atMost(t) - off)
}

// Cached reports whether a response comes from a cache that read it some time ago.
func Cached(h http.Header) bool {
	return slices.ContainsFunc(h["Age"], func(age string) bool { return age != "" && age != "0" }) // each cache may have added its own
}

// DateOf returns the service's time when it sent a response, unless that may come from a cache.
func DateOf(h http.Header) (now time.Time, dated bool) {
	if len(h["Date"]) != 1 || len(h["Age"]) > 0 {
		return now, false
	}
	now, err := http.ParseTime(h["Date"][0])
	return now, err == nil
}

// Service is what is known about the service's clock. It is safe for concurrent use.
type Service struct {
	mu   sync.Mutex
	date time.Time // the last Date; zero if there was none
	at   time.Time
}

// Hear notes the Date of a response of the service that arrived at an instant. That of a cache is ignored.
func (s *Service) Hear(h http.Header, at time.Time) {
	if date, dated := DateOf(h); dated {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.date, s.at = date, at
	}
}

// Ahead returns how far the service's clock is ahead, or nil if that is unknown, also because the local clock was set since, or the machine slept.
func (s *Service) Ahead() *time.Duration {
	if ahead, known := s.ahead(); known {
		return &ahead
	}
	return nil
}

func (s *Service) ahead() (d time.Duration, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := time.Since(s.at) - time.Since(s.at.Round(0))
	return s.date.Sub(s.at), !s.date.IsZero() && set.Abs() <= MaxError
}

// At returns the service's time at an instant of this machine: that of this machine if its clock is unknown.
func (s *Service) At(t time.Time) time.Time {
	if ahead, known := s.ahead(); known {
		return t.Add(ahead)
	}
	return t
}
