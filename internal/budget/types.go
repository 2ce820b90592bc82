package budget

import "time"

// Instant is a point in time in microseconds, on any clock that does not run backwards.
type Instant int64

const (
	millisecond Instant = 1000
	second              = 1000 * millisecond
	minute              = 60 * second
	day                 = 24 * 60 * minute
)

func instant(d time.Duration) Instant { return Instant(d / time.Microsecond) }

// Duration is the span from the epoch of the clock to the instant.
func (i Instant) Duration() time.Duration { return time.Duration(i) * time.Microsecond }

// Window names one of the two windows of a surface.
type Window uint8

// The windows.
const (
	Unknown Window = iota
	Minute
	Day
)

func (w Window) String() string {
	switch w {
	case Minute:
		return "minute"
	case Day:
		return "day"
	case Unknown:
	}
	return "unknown"
}

func (w Window) length() Instant {
	if w == Day {
		return day
	}
	return minute
}

// Priority orders waiting calls. The zero value is [Interactive].
type Priority uint8

// The priorities. Interactive calls go first, but every fourth request goes to a batch call that waits.
const (
	Interactive Priority = iota
	Batch
)

// Config says what is known about a surface beforehand, and what to keep back.
type Config struct {
	PerMinute int     // documented limit; 0 for none
	PerDay    int     // the same for the day
	Reserve   int     // requests of each window that only interactive calls may use
	Share     float64 // of a fresh minute that is left to others at first; it shrinks to nothing as the minute ends
}

func (c *Config) limits() [3]int64 {
	return [...]int64{Minute: int64(c.PerMinute), Day: int64(c.PerDay)}
}

// DefaultShare is left to others at the beginning of a minute. Without others it costs nothing, because the
// rest of the minute is long enough to use it up.
const DefaultShare = 0.15

// Permit is the permission to send one request. It has to be returned exactly once.
type Permit struct {
	Then  int64 // requests complete when it was granted
	Epoch int64 // refusals seen when it was granted, plus one
	Own   int64 // our part of the minute when it was granted, less all requests admitted before
	At    Instant
	Probe bool // the only one in flight without a cap
	Bare  bool // granted without a cap
}

// Valid reports whether the permit was ever granted.
func (p Permit) Valid() bool { return p.Epoch > 0 }

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

// Delay says when to ask again.
type Delay struct {
	Until Instant // only a response can change the decision before
	News  bool    // the next response will tell
}
