package prospectkit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/mismatch"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/waits"
)

// The pauses between polls grow from the shortest to the longest; pace may lengthen them.
const (
	shortestPause = 2 * time.Second
	longestPause  = time.Minute
	pollFailures  = 5 // in a row, each with its own retries, end a wait
)

// waitFor reads a value until judge finds it settled. It returns the value seen last, also beside
// an error. A failed poll does not end the wait, unless no retry could succeed
// or it is the fifth in a row. What is not there may be new, and not show yet.
func waitFor[T any](
	ctx context.Context, conf *config, o *op.Op, read func(context.Context) (*T, error), judge func(*T) waits.Sighting,
) (*T, error) {
	var last *T
	began, state, polls, failed := time.Now(), "", 0, 0
	for pause := shortestPause; ; pause = min(pause*3/2, longestPause) {
		from := time.Now()
		value, err := read(ctx)
		polls++
		reason := "polling: not settled yet"
		switch {
		case err == nil:
			seen := judge(value)
			if seen.Settled || seen.Err != nil {
				return value, seen.Err
			}
			last, failed, state = value, 0, seen.State
			if seen.Strange {
				reason = "polling: the state is undocumented"
			}
		case mayBeNew(err, o, began, from):
			failed, reason = 0, "polling: it does not show yet"
		case !isTransient(err):
			return last, err
		default:
			failed++
			reason = "polling: the last poll failed"
		}
		wait, fits := conf.pace(ctx, o.Surface, pause, err)
		if fits && failed < pollFailures {
			conf.emit(ctx, o, Event{Kind: EventWait, Attempt: polls + 1, Start: time.Now(), Wait: wait, Reason: reason})
			if waits.Sleep(ctx, wait) == nil {
				continue
			}
		}
		over := ctx.Err()
		if !fits && over == nil { // the deadline is too near for another poll
			over = errTooLate
		}
		return last, notSettled(o, state, polls, time.Since(began), err, over)
	}
}

// notSettled is the error of a wait that has ended before the state it waits for: that of the last poll, if it failed, with why there was no
// other one.
func notSettled(o *op.Op, state string, polls int, waited time.Duration, failed, over error) *Error {
	var e Error
	if last, ok := errors.AsType[*Error](failed); ok {
		e = *last
	}
	e.Op, e.Method, e.Route, e.Code = o.Name, o.Method, o.Path, CodeOf(failed)
	e.classes, e.outcome, e.cause = []ErrorClass{ErrNotSettled}, OutcomeNotApplied, withCause(failed, over)
	e.text = fmt.Sprintf("not settled after %s and %s, ", waited.Round(time.Millisecond), redact.Plural(polls, "poll"))
	if state == "" {
		e.text += "no state was seen"
	} else {
		e.text += "last seen as " + state
	}
	return &e
}

// mayBeNew reports whether what a poll has not found may be there, and not show yet: for as long as a lookup of a new object waits.
func mayBeNew(err error, o *op.Op, began, polled time.Time) bool {
	shows := op.ListsCreate.VisibleAfter
	if o.Surface == op.Agents {
		shows = op.AgentsCreateDiscovery.VisibleAfter
	}
	return errors.Is(err, ErrNotFound) && polled.Sub(began) < shows
}

// isTransient reports whether a poll that failed may succeed later.
func isTransient(err error) bool {
	if _, passes := RetryAfter(err); passes {
		return true
	}
	switch e := deciding(err).(type) {
	case *RefusedError:
		return e.Rule.forOperators()
	case *Error:
		return e.Code.Outcome() == OutcomeUnknown && !mismatch.Is(e.cause) // no code says that the service has refused it
	}
	return false
}

// scarcePause is the longest pause while a rate window is almost used up, or that an error asks for.
const scarcePause = time.Hour

// pace lengthens a pause between two polls: a waiter leaves half of what is left of a rate window
// to others, and waiters do not poll in step. It reports false if the context has ended, or if the service
// asked for a delay and the next poll would come after the deadline.
func (c *config) pace(ctx context.Context, s op.Surface, pause time.Duration, failure error) (time.Duration, bool) {
	if documented := op.DocumentedLimits[s].PerDay; documented > 0 && pause == longestPause {
		pause = max(pause, 24*time.Hour/time.Duration(documented)) // one waiter alone cannot use the day up
	}
	if left, resetAt := c.limits.surface(s).limiter.Left(); left >= 0 {
		pause = max(pause, min(time.Until(resetAt)/time.Duration(max(left/2, 1)), scarcePause))
	}
	asked, _ := RetryAfter(failure)
	pause = max(pause, min(asked, scarcePause))
	if asked > 0 && waits.EndsWithin(ctx, pause) {
		return 0, false
	}
	return pause + chance.Below(ctx, pause/10), ctx.Err() == nil
}
