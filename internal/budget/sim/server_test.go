package sim

import (
	"math"
	"time"
)

// Model is a way in which services count requests.
type Model string

// The models.
const (
	Aligned Model = "fixed, by the clock"
	First   Model = "fixed, from the first request"
	Sliding Model = "sliding log"
	Bucket  Model = "token bucket"
	Counter Model = "sliding counter"
)

// Models are all of them.
var Models = []Model{Aligned, First, Sliding, Bucket, Counter}

// answer is the response to a request.
type answer struct {
	refused    bool
	bare       bool // no figures
	limit      int
	remaining  int
	reset      time.Duration
	retryAfter time.Duration
	exact      time.Duration // the same before it was rounded
}

// counter is one window of a server.
type counter interface {
	left(now time.Duration) int
	reset(now time.Duration) time.Duration // until it gives back; a bucket: until it is full
	retry(now time.Duration) time.Duration
	take(now time.Duration)
}

// server has a minute and perhaps a day window.
type server struct {
	limits   []int
	windows  []counter
	roundsUp bool
	bare     bool
}

func newServer(c Config, phase float64) *server {
	s := &server{roundsUp: !c.RoundDown, bare: c.Bare}
	add := func(limit int, length time.Duration) {
		if limit > 0 {
			s.limits = append(s.limits, limit)
			s.windows = append(s.windows, newCounter(&c, limit, length, time.Duration(phase*float64(length))))
		}
	}
	add(c.PerMinute, time.Minute)
	add(c.PerDay, 24*time.Hour)
	return s
}

func newCounter(c *Config, limit int, length, phase time.Duration) counter {
	switch c.Model {
	case Counter:
		return &slidingCounter{limit: limit, length: length, end: phase, lenient: c.Lenient, late: c.RetryLate}
	case Sliding:
		return &slidingLog{limit: limit, length: length}
	case Bucket:
		return &tokenBucket{limit: limit, each: length / time.Duration(limit), next: c.NextToken}
	case First:
		return &fixed{limit: limit, length: length, end: -1, floating: true}
	default:
		return &fixed{limit: limit, length: length, end: phase}
	}
}

// arrive counts a request, or refuses it.
func (s *server) arrive(now time.Duration) answer {
	a := answer{bare: s.bare}
	for _, w := range s.windows {
		if w.left(now) <= 0 {
			a.refused = true
			a.exact = max(a.exact, w.retry(now))
			a.retryAfter = ceil(a.exact)
		}
	}
	if !a.refused {
		for _, w := range s.windows {
			w.take(now)
		}
	}
	a.remaining = math.MaxInt
	for i, w := range s.windows {
		left, reset := w.left(now), w.reset(now)
		if left > a.remaining || left == a.remaining && reset < a.reset {
			continue
		}
		a.limit, a.remaining, a.reset = s.limits[i], left, reset
	}
	if s.roundsUp {
		a.reset = ceil(a.reset)
	} else {
		a.reset = a.reset.Truncate(time.Second)
	}
	return a
}

func ceil(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// fixed counts in windows that reset as a whole.
type fixed struct {
	limit, used int
	length      time.Duration
	end         time.Duration
	floating    bool // a window starts at its first request
}

func (f *fixed) left(now time.Duration) int {
	if now >= f.end {
		f.used = 0
		if !f.floating {
			f.end = now + f.length - (now-f.end)%f.length
		}
	}
	return f.limit - f.used
}

func (f *fixed) take(now time.Duration) {
	if f.floating && f.used == 0 {
		f.end = now + f.length
	}
	f.used++
}

func (f *fixed) reset(now time.Duration) time.Duration {
	if f.used == 0 && f.floating {
		return f.length
	}
	return f.end - now
}

func (f *fixed) retry(now time.Duration) time.Duration { return f.reset(now) }

// slidingLog remembers every request for the length of the window.
type slidingLog struct {
	limit  int
	length time.Duration
	taken  []time.Duration
}

func (l *slidingLog) left(now time.Duration) int {
	gone := 0
	for gone < len(l.taken) && l.taken[gone]+l.length <= now {
		gone++
	}
	l.taken = l.taken[gone:]
	return l.limit - len(l.taken)
}

func (l *slidingLog) take(now time.Duration) { l.taken = append(l.taken, now) }

func (l *slidingLog) reset(now time.Duration) time.Duration {
	if len(l.taken) == 0 {
		return l.length
	}
	return l.taken[0] + l.length - now
}

func (l *slidingLog) retry(now time.Duration) time.Duration { return l.reset(now) }

// tokenBucket refills one token at a time.
type tokenBucket struct {
	limit int
	each  time.Duration
	full  time.Duration // when it will be full
	next  bool          // the reset is when the next token is there
}

func (b *tokenBucket) left(now time.Duration) int {
	missing := max(0, b.full-now)
	return b.limit - int((missing+b.each-1)/b.each)
}

func (b *tokenBucket) take(now time.Duration) { b.full = max(b.full, now) + b.each }

func (b *tokenBucket) reset(now time.Duration) time.Duration {
	if missing := max(0, b.full-now); !b.next || missing == 0 {
		return missing
	} else if part := missing % b.each; part > 0 {
		return part
	}
	return b.each
}

func (b *tokenBucket) retry(now time.Duration) time.Duration {
	return max(0, b.full-now) - time.Duration(b.limit-1)*b.each
}

// slidingCounter adds the requests of the last window, weighted by what is left of it in the time of one window, to those of this one.
type slidingCounter struct {
	limit, last, used int
	length, end       time.Duration
	lenient           bool // rounds the weighted ones down
	late              bool // a refusal names the end of the window
}

func (c *slidingCounter) left(now time.Duration) int {
	for now >= c.end {
		c.last, c.used = c.used, 0
		c.end += c.length
	}
	weighted := float64(c.last) * float64(c.end-now) / float64(c.length)
	if c.lenient {
		return c.limit - c.used - int(weighted)
	}
	return c.limit - c.used - int(math.Ceil(weighted))
}

func (c *slidingCounter) take(time.Duration)                    { c.used++ }
func (c *slidingCounter) reset(now time.Duration) time.Duration { return c.end - now }

func (c *slidingCounter) retry(now time.Duration) time.Duration {
	room := func(n, weighted int) time.Duration { // before the end of the window
		return time.Duration(float64(c.length) * float64(c.limit-1-n) / float64(weighted))
	}
	switch {
	case c.late:
		return c.end - now
	case c.used < c.limit:
		return max(0, c.end-now-room(c.used, c.last))
	}
	return c.end - now + c.length - room(0, c.used)
}
