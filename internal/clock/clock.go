// Package clock compares instants of this machine with those of the service, whose clock may be
// another. The Date header of its responses tells.
package clock

import (
	"net/http"
	"sync"
	"time"
)

// How far clocks may differ.
const (
	maxSkew            = 2 * time.Minute  // that of the Date header and that of createdAt
	maxSkewWithoutDate = 24 * time.Hour   // the local one and the service's, without a Date header
	maxRepeat          = 10 * time.Second // while a gateway repeats a request
)

// Since is the time since an instant, by the monotonic clock if the instant is of this process, so
// clock changes do not affect it. It is never negative: an instant from elsewhere may lie ahead.
func Since(t time.Time) time.Duration { return max(0, time.Since(t)) }

// Sent is when a call was sent, by the clock of the machine that made it.
type Sent struct {
	First, Last time.Time
	Ahead       *time.Duration // how far the service's clock was ahead; nil if unknown
	Local       bool           // this process made the call
}

// Overdue reports whether a change that shows within a time would have shown by now, for certain. h
// is the header of the last response.
func (s Sent) Overdue(within time.Duration, h http.Header) bool {
	age, margin := Since(s.Last), time.Duration(0)
	if !s.Local {
		margin = maxSkewWithoutDate
		if now, off := service(h); s.Ahead != nil && off == maxSkew {
			age, margin = now.Sub(s.Last.Add(*s.Ahead)), maxRepeat
		}
	}
	return age >= within+margin
}

// Earliest returns the earliest time, by the service's clock, at which the call can have had its
// effect.
func (s Sent) Earliest(h http.Header) time.Time {
	if s.Ahead != nil && !s.Local {
		return s.First.Add(*s.Ahead - maxSkew)
	}
	now, off := service(h)
	return now.Add(-Since(s.First) - off)
}

// Before returns a time, by the service's clock, that is certainly before an instant of this process,
// if only a gateway can have repeated a request.
func Before(t time.Time, h http.Header) time.Time {
	now, off := service(h)
	if off == maxSkew {
		off = maxRepeat
	}
	return now.Add(-Since(t) - off)
}

// service returns the service's time and how far it may be off.
func service(h http.Header) (now time.Time, off time.Duration) {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Now(), maxSkewWithoutDate
	}
	return date, maxSkew
}

// Service is what is known about the service's clock. It is safe for concurrent use.
type Service struct {
	mu   sync.Mutex
	date string // the last Date
	at   time.Time
}

// Hear notes the Date of a response that arrived at an instant.
func (s *Service) Hear(h http.Header, at time.Time) {
	if date := h["Date"]; len(date) == 1 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.date, s.at = date[0], at
	}
}

// Ahead returns how far the service's clock is ahead, or nil if that is unknown.
func (s *Service) Ahead() *time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	date, err := http.ParseTime(s.date)
	if err != nil {
		return nil
	}
	return new(date.Sub(s.at))
}
