package limits_test

import (
	"math"
	"math/rand/v2"
	"time"
)

// model is a way in which services count requests.
type model string

// The models.
const (
	aligned  model = "fixed, by the clock"
	first    model = "fixed, from the first request"
	sliding  model = "sliding log"
	bucket   model = "token bucket"
	weighing model = "sliding counter"
)

// answer is the response to a request.
type answer struct {
	refused    bool
	bare       bool // no figures
	limit      int
	remaining  int
	reset      time.Duration
	retryAfter time.Duration
}

// counter is one window of a server.
type counter interface {
	look(now time.Duration) sight
	take(now time.Duration)
}

// sight is what a window shows: what is left, the time until it gives back, or until a bucket is full, and the time until a refused
// request has room.
type sight struct {
	left         int
	reset, retry time.Duration
}

// server has a minute and perhaps a day window.
type server struct {
	limits   []int
	windows  []counter
	roundsUp bool
	bare     bool
}

func newServer(c run) *server {
	phase := rand.New(rand.NewPCG(c.seed, 1)).Float64()
	s := &server{roundsUp: !c.roundDown, bare: c.bare}
	add := func(limit int, length time.Duration) {
		if limit > 0 {
			s.limits = append(s.limits, limit)
			s.windows = append(s.windows, newCounter(&c, limit, length, time.Duration(phase*float64(length))))
		}
	}
	add(c.perMinute, time.Minute)
	add(c.perDay, 24*time.Hour)
	return s
}

func newCounter(c *run, limit int, length, phase time.Duration) counter {
	switch c.model {
	case weighing:
		return &slidingCounter{limit: limit, length: length, end: phase}
	case sliding:
		return &slidingLog{limit: limit, length: length}
	case bucket:
		return &tokenBucket{limit: limit, each: length / time.Duration(limit), next: c.nextToken}
	case first:
		return &fixed{limit: limit, length: length, end: -1, floating: true}
	default:
		return &fixed{limit: limit, length: length, end: phase}
	}
}

// arrive counts a request, or refuses it.
func (s *server) arrive(now time.Duration) answer {
	a := answer{bare: s.bare, remaining: math.MaxInt}
	for _, w := range s.windows {
		if at := w.look(now); at.left <= 0 {
			a.refused = true
			a.retryAfter = max(a.retryAfter, ceil(at.retry))
		}
	}
	for i, w := range s.windows {
		if !a.refused {
			w.take(now)
		}
		if at := w.look(now); at.left < a.remaining || at.left == a.remaining && at.reset >= a.reset {
			a.limit, a.remaining, a.reset = s.limits[i], at.left, at.reset
		}
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

func (f *fixed) look(now time.Duration) sight {
	if now >= f.end {
		f.used = 0
		if !f.floating {
			f.end = now + f.length - (now-f.end)%f.length
		}
	}
	reset := f.end - now
	if f.used == 0 && f.floating {
		reset = f.length
	}
	return sight{f.limit - f.used, reset, reset}
}

func (f *fixed) take(now time.Duration) {
	if f.floating && f.used == 0 {
		f.end = now + f.length
	}
	f.used++
}

// slidingLog remembers every request for the length of the window.
type slidingLog struct {
	limit  int
	length time.Duration
	taken  []time.Duration
}

func (l *slidingLog) look(now time.Duration) sight {
	for len(l.taken) > 0 && l.taken[0]+l.length <= now {
		l.taken = l.taken[1:]
	}
	reset := l.length
	if len(l.taken) > 0 {
		reset += l.taken[0] - now
	}
	return sight{l.limit - len(l.taken), reset, reset}
}

func (l *slidingLog) take(now time.Duration) { l.taken = append(l.taken, now) }

// tokenBucket refills one token at a time.
type tokenBucket struct {
	limit int
	each  time.Duration
	full  time.Duration // when it will be full
	next  bool          // the reset is when the next token is there
}

func (b *tokenBucket) look(now time.Duration) sight {
	missing := max(0, b.full-now)
	at := sight{b.limit - int((missing+b.each-1)/b.each), missing, missing - time.Duration(b.limit-1)*b.each}
	if b.next && missing > 0 {
		at.reset = (missing-1)%b.each + 1
	}
	return at
}

func (b *tokenBucket) take(now time.Duration) { b.full = max(b.full, now) + b.each }

// slidingCounter adds the requests of the last window, weighted by what is left of it in the time of one window, to those of this one.
type slidingCounter struct {
	limit, last, used int
	length, end       time.Duration
}

func (c *slidingCounter) look(now time.Duration) sight {
	for now >= c.end {
		c.last, c.used = c.used, 0
		c.end += c.length
	}
	rest := c.end - now
	weighted := math.Ceil(float64(c.last) * float64(rest) / float64(c.length))
	room := func(n, weighted int) time.Duration { // before the end of the window
		return time.Duration(float64(c.length) * float64(c.limit-1-n) / float64(weighted))
	}
	at := sight{c.limit - c.used - int(weighted), rest, rest}
	if c.used < c.limit {
		at.retry = max(0, rest-room(c.used, c.last))
	} else {
		at.retry += c.length - room(0, c.used)
	}
	return at
}

func (c *slidingCounter) take(time.Duration) { c.used++ }
