package budget

import (
	"fmt"
	"time"
)

// Window names one of the two windows of a surface.
type Window uint8

// The windows.
const (
	Unknown Window = iota
	Minute
	Day
)

func (w Window) String() string { return [...]string{"unknown", "minute", "day"}[w] }

func (w Window) length() time.Duration {
	if w == Day {
		return 24 * time.Hour
	}
	return time.Minute
}

// maxMinuteReset is the longest reset of a minute window, rounding included. A longer one is the day's.
const maxMinuteReset = 62 * time.Second

// WindowOf is the window that the headers of a response describe, which do not name it: by the distance of its reset, zero if there
// is none, else by its limit.
func WindowOf(limit int, reset time.Duration, perMinute, perDay int) Window {
	switch {
	case reset > maxMinuteReset:
		return Day
	case limit > 0 && limit == perMinute:
		return Minute
	case limit > 0 && limit == perDay:
		return Day
	}
	return Unknown
}

// Priority orders waiting calls. The zero value is [Interactive].
type Priority uint8

// The priorities. Interactive calls go first, but every fourth request goes to a batch call that waits.
const (
	Interactive Priority = iota
	Batch
)

// Permit is the permission to send one request. It has to be returned exactly once.
type Permit struct {
	epoch int64         // refusals seen when it was granted, plus one
	at    time.Duration // when it was
	over  int64         // requests of ours that were complete
	gone  int64         // requests of ours that no minute of the service had by then
}

// Report is the result of a request.
type Report struct {
	Permit      Permit
	Observation Observation
}

// Observation is what is known of the result of a request. A zero Limit or Remaining means that the response said so. Set them to -1 if a header is
// missing.
type Observation struct {
	Limit       int // of the window that the response describes; -1 when missing
	Remaining   int // -1 when missing
	Reset       time.Duration
	HasReset    bool
	RateLimited bool          // a 429
	RetryAfter  time.Duration // that its call will wait, by the service's word or a backoff
	NotSent     bool          // it provably never reached the service: the permit is unused
	Lost        bool          // no response: it may be counted, now or later
	Replays     int           // times that the transport resent it
	Jitter      float64       // from 0 up to 1: spreads calls that were refused together
	Within      time.Duration // how long the refused call can wait: it is spread no further; 0: no bound
}

// NoFigures is the observation of a response without any rate-limit header.
var NoFigures = Observation{Limit: -1, Remaining: -1}

// WaitTooLongError says that a call was not admitted, because it would have had to wait longer than it may. Nothing was sent.
type WaitTooLongError struct {
	Window   Window        // that it would wait for
	Wait     time.Duration // at least
	FitsAt   time.Time     // not before
	Deadline bool          // the context's deadline was too near
}

// TooLong is the refusal of a call that may not wait as long as a 429 pauses its surface.
func TooLong(now time.Time, hold time.Duration, deadline bool) *WaitTooLongError {
	return &WaitTooLongError{Window: heldIn(hold), Wait: hold, FitsAt: now.Add(hold), Deadline: deadline}
}

func (r *WaitTooLongError) Error() string {
	return fmt.Sprintf("budget: %s window: the request fits in %s", r.Window, r.Wait.Round(time.Millisecond))
}
