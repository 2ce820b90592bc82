package exchange

import (
	"sync"
	"time"
)

// TimeLimits end attempts that take longer than they may. They share a timer: one for each attempt would wake an idle thread each time, which
// costs a small call a tenth. The timer stays when the last attempt has ended, and ends with its next tick. The zero value is ready for use.
type TimeLimits struct {
	mu      sync.Mutex
	running map[*TimeLimit]time.Time // when each ends
	due     time.Time                // when the timer ticks; zero: there is none
}

// TimeLimit is the time limit of one attempt. Set its End, then start it.
type TimeLimit struct {
	End func() // in a goroutine of the timer

	all *TimeLimits
}

// Start lets a limit run. It ends after that time, unless it is reset or stopped before.
func (all *TimeLimits) Start(l *TimeLimit, after time.Duration) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.running == nil {
		all.running = make(map[*TimeLimit]time.Time)
	}
	l.all = all
	all.set(l, after)
}

// Reset lets a limit that runs end after that time. It reports false if it has ended.
func (l *TimeLimit) Reset(after time.Duration) bool {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	_, running := l.all.running[l]
	if running {
		l.all.set(l, after)
	}
	return running
}

// Stop stops a limit. It reports false if it has ended.
func (l *TimeLimit) Stop() bool {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	_, running := l.all.running[l]
	delete(l.all.running, l)
	return running
}

func (all *TimeLimits) set(l *TimeLimit, after time.Duration) {
	now := time.Now()
	all.running[l] = now.Add(after)
	all.tick(now.Add(after), now)
}

// tick makes the timer tick at that time at the latest.
func (all *TimeLimits) tick(at, now time.Time) {
	if all.due.IsZero() || at.Before(all.due) || now.After(all.due) { // a due that is over is that of a clock which has ended, or ticks now
		all.due = at
		time.AfterFunc(at.Sub(now), all.check)
	}
}

// check ends the limits that are over.
func (all *TimeLimits) check() {
	for _, l := range all.over() {
		l.End()
	}
}

func (all *TimeLimits) over() (ended []*TimeLimit) {
	all.mu.Lock()
	defer all.mu.Unlock()
	now := time.Now()
	if now.Before(all.due) { // a timer that was set for later, before that one
		return nil
	}
	var earliest time.Time // of those that still run; zero: none does
	for l, at := range all.running {
		if !at.After(now) {
			ended = append(ended, l)
			delete(all.running, l)
		} else if earliest.IsZero() || at.Before(earliest) {
			earliest = at
		}
	}
	if all.due = (time.Time{}); !earliest.IsZero() {
		all.tick(earliest, now)
	}
	return ended
}
