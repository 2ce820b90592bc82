package exchange

import (
	"sync"
	"time"
)

// Limits end attempts that take longer than they may. They share a timer: one for each attempt would wake an idle thread each time, which
// costs a small call a tenth. The timer stays when the last attempt has ended, and ends with its next tick. The zero value is ready for use.
type Limits struct {
	mu    sync.Mutex
	first *Limit    // of those that run
	due   time.Time // when the timer ticks; zero: there is none
}

// Limit is the time limit of one attempt. Set its End, then start it.
type Limit struct {
	End func() // in a goroutine of the timer

	all            *Limits
	at             time.Time
	before, behind *Limit
	running        bool
}

// Start lets a limit run. It ends after that time, unless it is reset or stopped before.
func (all *Limits) Start(l *Limit, after time.Duration) {
	all.mu.Lock()
	defer all.mu.Unlock()
	l.all, l.running, l.behind = all, true, all.first
	if all.first != nil {
		all.first.before = l
	}
	all.first = l
	all.set(l, after)
}

// Reset lets a limit that runs end after that time. It reports false if it has ended.
func (l *Limit) Reset(after time.Duration) bool {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	if l.running {
		l.all.set(l, after)
	}
	return l.running
}

// Stop stops a limit. It reports false if it has ended.
func (l *Limit) Stop() bool {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	return l.all.remove(l)
}

func (all *Limits) set(l *Limit, after time.Duration) {
	now := time.Now()
	l.at = now.Add(after)
	all.tick(l.at, now)
}

// tick makes the timer tick at that time at the latest.
func (all *Limits) tick(at, now time.Time) {
	if all.due.IsZero() || at.Before(all.due) || now.After(all.due) { // a due that is over is that of a clock which has ended, or ticks now
		all.due = at
		time.AfterFunc(at.Sub(now), all.check)
	}
}

func (all *Limits) remove(l *Limit) bool {
	if !l.running {
		return false
	}
	l.running = false
	if l.before == nil {
		all.first = l.behind
	} else {
		l.before.behind = l.behind
	}
	if l.behind != nil {
		l.behind.before = l.before
	}
	l.before, l.behind = nil, nil
	return true
}

// check ends the limits that are over.
func (all *Limits) check() {
	for _, l := range all.over() {
		l.End()
	}
}

func (all *Limits) over() (ended []*Limit) {
	all.mu.Lock()
	defer all.mu.Unlock()
	now := time.Now()
	if now.Before(all.due) { // a timer that was set for later, before that one
		return nil
	}
	var earliest *Limit // of those that still run
	for l := all.first; l != nil; l = l.behind {
		if !l.at.After(now) {
			ended = append(ended, l)
		} else if earliest == nil || l.at.Before(earliest.at) {
			earliest = l
		}
	}
	for _, l := range ended {
		all.remove(l)
	}
	if all.due = (time.Time{}); earliest != nil {
		all.tick(earliest.at, now)
	}
	return ended
}
