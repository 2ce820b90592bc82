package prospectkit

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"example.com/prospectkit/internal/op"
)

// WaitTimeoutError says that a wait ended before the state that was awaited: the context ended, or the polls kept failing. The
// value seen last is returned beside it. Waiting changes nothing, so wait again whenever you like; what the service is
// working on goes on either way.
//
// errors.Is finds the end of the context in it, and errors.As the *[Error] of a poll that failed last.
type WaitTimeoutError struct {
	Op     string        // the read that polled
	State  string        // what was seen last; empty when nothing was, or when the service did not tell
	Polls  int           // how often it was read, failures included
	Waited time.Duration // since the wait began

	cause error
}

// Error says what was seen last, and why the wait ended.
func (e *WaitTimeoutError) Error() string {
	text := "not settled"
	if e.Polls > 0 {
		text += fmt.Sprintf(" after %s and %s", e.Waited.Round(time.Millisecond), plural(e.Polls, "poll"))
	}
	if e.State != "" {
		text += ", last seen as " + oneLine(e.State)
	} else if e.Polls > 0 {
		text += ", no state was seen"
	}
	return describe(e.Op, text, causeText(e.cause, e.Op))
}

// Unwrap returns why the wait ended.
func (e *WaitTimeoutError) Unwrap() error { return e.cause }

// Outcome returns [OutcomeNotApplied]: waiting changes nothing.
func (e *WaitTimeoutError) Outcome() Outcome { return OutcomeNotApplied }

// Advice returns [ActionMayPass].
func (e *WaitTimeoutError) Advice() Advice {
	return Advice{Action: ActionMayPass, Hint: "wait again: nothing was changed or stopped by the end of the wait"}
}

// LogValue groups the fields that are safe to log.
func (e *WaitTimeoutError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("op", e.Op), slog.String("state", Code(e.State).logged()), slog.Int("polls", e.Polls), slog.Duration("waited", e.Waited))
}

// sighting is what a waiter makes of a value that it has read.
type sighting struct {
	settled bool   // the wait is over
	err     error  // the wait is over, because the state awaited will not come
	state   string // for the error, if it does not come in time
	strange bool   // the state is undocumented: tell the observers and go on
}

// The pace of a waiter: it starts quickly, slows down, and never falls below what the rate limits leave.
const (
	shortestPause = 2 * time.Second
	longestPause  = time.Minute
	scarcePause   = time.Hour // when next to nothing is left of a rate window
	pollFailures  = 5         // in a row, each with its own retries, end a wait
)

// waitFor reads a value by an operation until judge finds it settled, and returns the value seen last, also beside an error. Single
// failed polls are survived unless repeating the read is of no use.
func waitFor[T any](ctx context.Context, client *Client, o *op.Op, read func(context.Context) (*T, error), judge func(*T) sighting) (*T, error) {
	var (
		last   *T
		end    = &WaitTimeoutError{Op: o.Name}
		began  = time.Now()
		failed = 0 // polls in a row
	)
	for pause := shortestPause; ; pause = min(pause*3/2, longestPause) {
		value, err := read(ctx)
		end.Polls++
		reason := "polling: not settled yet"
		switch {
		case err == nil:
			seen := judge(value)
			if seen.settled || seen.err != nil {
				return value, seen.err
			}
			last, failed, end.State = value, 0, client.conf.secrets().Clean(seen.state, maxName)
			if seen.strange {
				reason = "polling: the state is not in the service's document"
			}
		case !passing(err):
			return last, err
		default:
			failed++
			reason = "polling: the last poll failed"
		}
		wait, fits := client.pace(ctx, o.Surface, pause, err)
		if fits && failed < pollFailures {
			client.tell(ctx, o, Event{Kind: EventWait, Attempt: end.Polls + 1, Start: time.Now(), Wait: wait, Reason: reason})
			if sleep(ctx, wait) == nil {
				continue
			}
		}
		over := ctx.Err()
		if over == nil && !fits {
			over = errTooLate
		}
		end.Waited, end.cause = time.Since(began), withCause(err, over)
		return last, end
	}
}

// passing reports whether a failed poll may succeed later.
func passing(err error) bool {
	advice, ours := adviceOf(err)
	switch advice.Action {
	case ActionNever, ActionFixInput, ActionNewKey, ActionBuyCredits:
		return false
	default:
		return ours
	}
}

// pace lengthens the pause between two polls, so that a waiter leaves half of what a rate window has left to everybody else, and
// waiters do not poll in step. It reports false if the last poll found the surface held until after the deadline.
func (c *Client) pace(ctx context.Context, s op.Surface, pause time.Duration, failure error) (time.Duration, bool) {
	if documented := op.Windows[s].PerDay; documented > 0 && pause == longestPause {
		pause = max(pause, 24*time.Hour/time.Duration(documented)) // one waiter alone cannot use the day up
	}
	w := c.conf.budget.pool(s).told()
	if left := time.Until(w.ResetAt); w.Remaining >= 0 && left > 0 {
		pause = max(pause, min(left/time.Duration(max(w.Remaining/2, 1)), scarcePause))
	}
	if failure != nil {
		advice, _ := adviceOf(failure)
		pause = max(pause, min(advice.After, scarcePause))
		if at, ok := ctx.Deadline(); ok && advice.After > 0 && time.Until(at) <= pause {
			return 0, false
		}
	}
	return pause + rand.N(pause/10), ctx.Err() == nil
}

// tell reports an event that belongs to no call.
func (c *Client) tell(ctx context.Context, o *op.Op, e Event) {
	e.Op, e.Method, e.Route, e.Surface = o.Name, o.Method, o.Path, Surface(o.Surface)
	for _, f := range c.conf.observers {
		notify(ctx, f, e)
	}
}
