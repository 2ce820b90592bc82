package sandbox

import (
	"context"
	"runtime"
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
	mu       sync.Mutex
	woken    sync.Cond
	now      time.Time
	sleepers []time.Time // when each wakes, earliest first
}

// NewManualClock starts at the given time.
func NewManualClock(start time.Time) *ManualClock {
	c := &ManualClock{now: start}
	c.woken.L = &c.mu
	return c
}

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
	c.forward(c.now.Add(d))
}

func (c *ManualClock) forward(t time.Time) {
	if t.After(c.now) {
		c.now = t
	}
}

// Sleep moves the clock to the end of the sleep and returns at once.
//
// Sleeps that start together do not add up: each one ends at its own time, the earliest first.
func (c *ManualClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	c.mu.Lock()
	wake := c.now.Add(d)
	at, _ := slices.BinarySearchFunc(c.sleepers, wake, time.Time.Compare)
	c.sleepers = slices.Insert(c.sleepers, at, wake)
	c.mu.Unlock()

	runtime.Gosched() // whoever is about to sleep too may say so

	c.mu.Lock()
	defer c.mu.Unlock()
	for wake.After(c.sleepers[0]) {
		c.woken.Wait()
	}
	c.sleepers = c.sleepers[1:]
	c.forward(wake)
	c.woken.Broadcast()
	return ctx.Err()
}
