package waits

import (
	"context"
	"time"
)

// The pauses between polls grow from the shortest to the longest. Pace may lengthen them.
const (
	shortestPause = 2 * time.Second
	LongestPause  = time.Minute
	pollFailures  = 5 // in a row, each with its own retries, end a wait
)

// Sighting is what a poll shows about the awaited state.
type Sighting struct {
	Settled bool   // the wait is over
	Err     error  // the wait is over, because the state will not come
	State   string // in words
	Strange bool   // the state is undocumented: tell the observers, and go on
}

// Polling says how to wait for a state by polls.
type Polling[T any] struct {
	Read      func(context.Context) (*T, error)
	Judge     func(*T) Sighting
	Transient func(failure error) bool // whether a poll that failed may succeed later

	// Pace lengthens a pause. It reports false if there is no use in another poll: it would come too late.
	Pace func(pause time.Duration, failure error) (wait time.Duration, fits bool)

	// Pausing is told of each pause, before the poll with that number.
	Pausing func(poll int, wait time.Duration, reason string)
}

// TimeoutError is why a wait has ended before the state came.
type TimeoutError struct {
	Polls int
	State string // seen last
	Late  bool   // the deadline was too near for another poll
	Last  error  // of the last poll, if it failed
}

// Error names the end.
func (*TimeoutError) Error() string { return "the state did not come" }

// Wait polls until the state is settled. It returns the value seen last, also beside an error: a *[TimeoutError], or
// that of a poll, if no later one could succeed.
func (p Polling[T]) Wait(ctx context.Context) (*T, error) {
	var last *T
	end := new(TimeoutError)
	failed := 0 // polls in a row
	for pause := shortestPause; ; pause = min(pause*3/2, LongestPause) {
		value, err := p.Read(ctx)
		end.Polls++
		reason := "polling: not settled yet"
		switch {
		case err == nil:
			seen := p.Judge(value)
			if seen.Settled || seen.Err != nil {
				return value, seen.Err
			}
			last, failed, end.State = value, 0, seen.State
			if seen.Strange {
				reason = "polling: the state is undocumented"
			}
		case !p.Transient(err):
			return last, err
		default:
			failed++
			reason = "polling: the last poll failed"
		}
		wait, fits := p.Pace(pause, err)
		if fits && failed < pollFailures {
			p.Pausing(end.Polls+1, wait, reason)
			if Sleep(ctx, wait) == nil {
				continue
			}
		}
		end.Late, end.Last = !fits && ctx.Err() == nil, err
		return last, end
	}
}
