// Package clock compares instants of this machine with those of the service, whose clock may be another. The Date header of its responses
// tells, but may be that of a gateway, and createdAt may come from a third clock. What is final rests on all of them, or on a bound that is
// wide enough for any. It corrects no clock and averages nothing: it knows the last Date and the last createdAt that it saw.
package clock

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// How far clocks may differ.
const (
	maxSkew    = 2 * time.Minute  // whatever is known of both
	maxUnknown = 24 * time.Hour   // that of createdAt and any other, before a creation has shown it
	MaxError   = 10 * time.Second // of an age by two clocks, and while a gateway repeats a request
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
	Made        *time.Duration // how far createdAt is ahead of the clock of this machine; nil if no creation has shown it
	Local       bool           // this process made the call
}

// Overdue reports whether a change that shows within a time would have shown in a read that began at an instant, for certain. h
// is the header of its last response, or nil if that may come from a cache. If another process made the call, both clocks have to say so: a
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
	now, dated := dateOf(h)
	if !dated || s.Ahead == nil {
		return 0, 0, false
	}
	local, there := at.Sub(s.Last), now.Add(-Since(at)).Sub(s.Last.Add(*s.Ahead))
	return min(local, there), max(local, there), true
}

// Older reports whether what was made at an instant of the service's clock is older than the call. It
// is certain if no clock says otherwise, so that one wrong clock rules out nothing, and none was set back since the call.
func (s Sent) Older(made time.Time, h http.Header) (older, certain bool) {
	known := time.Until(s.First) <= MaxError // how long ago the call was
	at, all, off := s.byEach(s.First, atMost(s.First), h)
	if len(all) == 1 && s.Made == nil {
		older = made.Before(at.Add(-off))
		return older, older && known
	}
	return made.Before(at.Add(-maxSkew)), known && made.Before(slices.MinFunc(all, time.Time.Compare).Add(-off))
}

// Younger reports whether what was made at an instant of the service's clock was made later than within a time after the call was sent
// last, by every clock. That makes nothing final, so a Date will do.
func (s Sent) Younger(within time.Duration, made time.Time, h http.Header) bool {
	_, all, off := s.byEach(s.Last, atLeast(s.Last), h)
	if len(all) > 1 {
		off = maxSkew
	}
	return made.After(slices.MaxFunc(all, time.Time.Compare).Add(within + off))
}

// byEach returns when the call was sent by each clock, in the time of createdAt as far as that is known, which of them is likely, and how
// far all may be off.
func (s Sent) byEach(sent time.Time, ago time.Duration, h http.Header) (likely time.Time, all []time.Time, off time.Duration) {
	local := time.Now()
	now, dated := dateOf(h)
	if s.Made != nil {
		local = local.Add(*s.Made)
		all = append(all, local.Add(-ago))
		if dated && s.Ahead != nil { // the call was so long ago by the service's clock
			all = append(all, local.Add(sent.Add(*s.Ahead).Sub(now)))
		}
		if off = maxSkew; !s.Local && len(all) == 1 { // the local clock alone tells how long ago the call was
			off = maxUnknown
		}
		return slices.MinFunc(all, time.Time.Compare), all, off
	}
	if s.Ahead != nil {
		all = append(all, sent.Add(*s.Ahead))
	}
	if dated {
		all = append(all, now.Add(-ago))
	}
	here := local.Add(-ago)
	likely = here
	for i, at := range all {
		if i == 0 || at.Sub(here).Abs() <= maxSkew { // two against one
			likely = at
		}
	}
	return likely, append(all, here), maxUnknown
}

// Before returns a time, by the service's clock, that is certainly before an instant of this process,
// if only a gateway can have repeated a request. If the Date and the local clock differ, the earlier counts, unless a creation has shown how
// far createdAt is ahead.
func Before(t time.Time, made *time.Duration, h http.Header) time.Time {
	now, off := time.Now(), maxUnknown
	if date, dated := dateOf(h); made != nil {
		now, off = now.Add(*made), MaxError
	} else if dated {
		off = MaxError
		if date.Before(now) {
			now = date
		}
	}
	return now.Add(-atMost(t) - off)
}

// Older returns how much older what a response shows may be than its request, which left so long ago. An Age that is not longer tells how
// long the service took, as some gateways count it.
func Older(h http.Header, took time.Duration) time.Duration {
	var age time.Duration
	for _, line := range h["Age"] { // each cache may have added its own
		if seconds, err := strconv.ParseUint(line, 10, 32); err == nil {
			age = max(age, time.Duration(seconds)*time.Second)
		} else if line != "" {
			age = maxUnknown
		}
	}
	return max(0, age-took)
}

// Cached reports whether a response comes from a cache: whether it is older than its request by more than what rounding makes.
func Cached(h http.Header, took time.Duration) bool { return Older(h, took) > time.Second }

// DateOf returns the time of the service, or of a gateway, when it sent a response, unless that may come from a cache.
func DateOf(h http.Header, took time.Duration) (now time.Time, dated bool) {
	if Cached(h, took) {
		return now, false
	}
	return dateOf(h)
}

func dateOf(h http.Header) (now time.Time, dated bool) {
	if len(h["Date"]) != 1 {
		return now, false
	}
	now, err := http.ParseTime(h["Date"][0])
	return now, err == nil
}

// Service is what is known about the service's clocks. It is safe for concurrent use.
type Service struct{ date, made seen }

// seen is an instant of the service's, and when it was seen.
type seen struct {
	mu     sync.Mutex
	at, by time.Time
}

// Hear notes the Date of a response of the service that arrived at an instant, so long after its request left. That of a cache is ignored.
func (s *Service) Hear(h http.Header, at time.Time, took time.Duration) {
	if date, dated := DateOf(h, took); dated {
		s.date.note(date, at)
	}
}

// Made notes the createdAt of what the service has made for a request that took so long until an instant.
func (s *Service) Made(created, at time.Time, took time.Duration) {
	if !created.IsZero() && took <= MaxError {
		s.made.note(created, at)
	}
}

// Ahead returns how far the service's clock is ahead, or nil if that is unknown, also because the local clock was set since, or the machine slept.
func (s *Service) Ahead() *time.Duration { return known(s.date.ahead(time.Now())) }

// MadeAhead returns how far createdAt is ahead, or nil, as Ahead does.
func (s *Service) MadeAhead() *time.Duration { return known(s.made.ahead(time.Now())) }

func known(ahead time.Duration, ok bool) *time.Duration {
	if !ok {
		return nil
	}
	return &ahead
}

// At returns the service's time at an instant of this machine: that of this machine if its clock is unknown.
func (s *Service) At(t time.Time) time.Time {
	ahead, _ := s.date.ahead(t)
	return t.Add(ahead)
}

func (s *seen) note(by, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by, s.at = by, at
}

// ahead is how far the instant was ahead, unless the local clock was set between then and now.
func (s *seen) ahead(now time.Time) (ahead time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := now.Sub(s.at) - now.Round(0).Sub(s.at.Round(0))
	if s.by.IsZero() || set.Abs() > MaxError {
		return 0, false
	}
	return s.by.Sub(s.at), true
}
