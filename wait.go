package prospectkit

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/errtext"
	"example.com/prospectkit/internal/mismatch"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/waits"
)

// WaitTimeoutError is a wait that ended before the state it waits for: the context ended, or the
// polls kept failing. The value seen last is returned beside it. Waiting changes nothing: you can
// wait again, and the service goes on with its work either way.
//
// errors.Is finds the end of the context in it, and errors.As the *[Error] of the last poll, if
// that failed.
type WaitTimeoutError struct {
	Op     string        // the read that polled
	State  string        // seen last; empty if no response contained one
	Polls  int           // failed ones included
	Waited time.Duration // since the wait began

	cause error
}

// Error returns the state seen last, and why the wait ended.
func (e *WaitTimeoutError) Error() string {
	text := "not settled"
	if e.Polls > 0 {
		text += fmt.Sprintf(" after %s and %s", e.Waited.Round(time.Millisecond), errtext.Plural(e.Polls, "poll"))
	}
	switch {
	case e.State != "":
		text += ", last seen as " + redact.OneLine(e.State)
	case e.Polls > 0:
		text += ", no state was seen"
	}
	return errtext.Line(e.Op, text, errtext.Cause(e.cause, e.Op))
}

// Unwrap returns why the wait ended.
func (e *WaitTimeoutError) Unwrap() error { return e.cause }

// Outcome returns [OutcomeNotApplied]: waiting changes nothing.
func (e *WaitTimeoutError) Outcome() Outcome { return OutcomeNotApplied }

// LogValue groups the fields that are safe to log, as that of [Error] does.
func (e *WaitTimeoutError) LogValue() slog.Value {
	return logValue(e.Op, e,
		slog.String("state", Code(e.State).logged()), slog.Int("polls", e.Polls), milliseconds("waited_ms", e.Waited))
}

// The pauses between polls grow from the shortest to the longest; pace may lengthen them.
const (
	shortestPause = 2 * time.Second
	longestPause  = time.Minute
	pollFailures  = 5 // in a row, each with its own retries, end a wait
)

// waitFor reads a value until judge finds it settled. It returns the value seen last, also beside
// an error. A failed poll does not end the wait, unless no retry could succeed
// or it is the fifth in a row.
func waitFor[T any](
	ctx context.Context, conf *config, o *op.Op, read func(context.Context) (*T, error), judge func(*T) waits.Sighting,
) (*T, error) {
	var last *T
	end, began, failed := &WaitTimeoutError{Op: o.Name}, time.Now(), 0
	for pause := shortestPause; ; pause = min(pause*3/2, longestPause) {
		value, err := read(ctx)
		end.Polls++
		reason := "polling: not settled yet"
		switch {
		case err == nil:
			seen := judge(value)
			if seen.Settled || seen.Err != nil {
				return value, seen.Err
			}
			last, failed, end.State = value, 0, conf.secrets().Clean(seen.State, maxName)
			if seen.Strange {
				reason = "polling: the state is undocumented"
			}
		case !isTransient(err):
			return last, err
		default:
			failed++
			reason = "polling: the last poll failed"
		}
		wait, fits := conf.pace(ctx, o.Surface, pause, err)
		if fits && failed < pollFailures {
			conf.emit(ctx, o, Event{Kind: EventWait, Attempt: end.Polls + 1, Start: time.Now(), Wait: wait, Reason: reason})
			if waits.Sleep(ctx, wait) == nil {
				continue
			}
		}
		over := ctx.Err()
		if !fits && over == nil { // the deadline is too near for another poll
			over = errtext.ErrTooLate
		}
		end.Waited, end.cause = time.Since(began), errtext.With(err, over)
		return last, end
	}
}

// isTransient reports whether a poll that failed may succeed later.
func isTransient(err error) bool {
	if _, passes := RetryAfter(err); passes {
		return true
	}
	switch e := deciding(err).(type) { //nolint:errorlint // it has looked through the tree
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
