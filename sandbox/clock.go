package sandbox

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.com/prospectkit/internal/waits"
)

// Clock is the time of a sandbox. Each sandbox has its own.
type Clock interface {
	Now() time.Time
	// Sleep returns after d, or earlier with the error of the context.
	Sleep(ctx context.Context, d time.Duration) error
}

// RealClock is the time of the machine, and the default. Inside a synctest bubble it is the bubble's time.
func RealClock() Clock { return realClock{} }

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Sleep(ctx context.Context, d time.Duration) error {
	return waits.Sleep(ctx, max(0, d))
}

// NewScaledClock runs n times faster than the machine: at 60, a minute window lasts a second. It starts at the present, and panics unless n is positive.
func NewScaledClock(n float64) Clock {
	if !(n > 0) {
		panic("sandbox: a clock cannot run at this scale")
	}
	return &scaledClock{scale: n, start: time.Now()}
}

type scaledClock struct {
	scale float64
	start time.Time
}

func (c *scaledClock) Now() time.Time {
	return c.start.Add(time.Duration(float64(time.Since(c.start)) * c.scale))
}

func (c *scaledClock) Sleep(ctx context.Context, d time.Duration) error {
	return realClock{}.Sleep(ctx, time.Duration(float64(d)/c.scale))
}

// ManualClock moves only when it is advanced, or when somebody sleeps on it. Make one with [NewManualClock].
type ManualClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewManualClock starts at the given time.
func NewManualClock(start time.Time) *ManualClock { return &ManualClock{now: start} }

// Now returns the time of the clock.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward. It never goes back: a negative duration does nothing.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(max(0, d))
}

// Sleep moves the clock to the end of the sleep and returns at once.
func (c *ManualClock) Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() == nil {
		c.Advance(d)
	}
	return ctx.Err()
}

// Event is something that happened by the clock.
type Event struct {
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`    // such as "agent expired" or "list visible"
	Subject string    `json:"subject"` // an id or a name, never a token
}

type pending struct {
	Event
	apply func() bool // false: it did not happen after all
}

// agenda has the later events, earliest first. Nothing runs in the background: every request and every inspection first applies
// those that are due.
type agenda []pending

// add puts an event behind those of the same instant.
func (a *agenda) add(at time.Time, kind, subject string, apply func() bool) {
	i, _ := slices.BinarySearchFunc(*a, at, func(p pending, at time.Time) int {
		if p.Time.After(at) {
			return 1
		}
		return -1
	})
	*a = slices.Insert(*a, i, pending{Event{at, kind, subject}, apply})
}

// later adds an event of a workspace, unless its time is zero. It does not happen if its time has changed until then. Prepared responses
// are not used after it.
func (ws *workspace) later(when *time.Time, kind, subject string, apply func() bool) {
	at := *when
	if at.IsZero() {
		return
	}
	ws.sb.agenda.add(at, kind, subject, func() bool {
		ws.version++
		return when.Equal(at) && apply()
	})
}

func (a *agenda) due(now time.Time) (happened []Event) {
	for len(*a) > 0 && !(*a)[0].Time.After(now) {
		next := (*a)[0]
		*a = (*a)[1:]
		if next.apply() {
			happened = append(happened, next.Event)
		}
	}
	return happened
}
