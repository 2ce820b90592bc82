package prospectkit

import (
	"errors"
	"net/http"
	"time"

	"example.com/prospectkit/internal/budget"
)

// admit waits in line until an attempt may leave, or refuses if that would be beyond the deadline or the longest wait allowed.
func (c *call) admit() (budget.Permit, error) {
	c.next = stop
	if c.cause = c.ctx.Err(); c.cause != nil {
		return budget.Permit{}, c.cause
	}
	want := budget.Request{NoWait: true, WaitDay: true}
	if c.conf.priority == PriorityBatch {
		want.Priority = budget.Batch
	}
	permit, err := c.pool.limiter.Acquire(c.ctx, want)
	if err == nil {
		return permit, nil
	}
	full, ok := errors.AsType[*budget.RefusedError](err)
	if !ok || c.conf.maxWait == 0 {
		return permit, c.refused(err)
	}
	began := time.Now()
	c.emit(Event{Kind: EventWait, Attempt: len(c.attempts) + 1, Start: began, Wait: full.Wait, Reason: "in line for the rate limit"})
	want.NoWait, want.MaxWait = false, c.conf.maxWait
	permit, err = c.pool.limiter.Acquire(c.ctx, want)
	if n := len(c.attempts); n > 0 {
		c.attempts[n-1].Wait += time.Since(began)
	}
	return permit, c.refused(err)
}

// refused keeps why an attempt was not let go.
func (c *call) refused(err error) error {
	full, ok := errors.AsType[*budget.RefusedError](err)
	if !ok {
		c.cause = err
		return err
	}
	c.refusal = &WaitError{
		Op: c.op.Name, Method: c.op.Method, Route: c.op.Path, Surface: Surface(c.op.Surface), Window: Window(full.Window.String()),
		Wait: full.Wait, FitsAt: full.FitsAt, deadline: full.Deadline || c.beyondDeadline(full.Wait),
	}
	return c.refusal
}

// settle tells the budget what became of an attempt.
func (c *call) settle(a *attempt, resp *http.Response, evidence Evidence) {
	seen := budget.NoFigures
	seen.Replays = max(0, int(a.conns.Load())-1)
	switch {
	case resp != nil:
		if rate := a.rate; a.rated {
			seen.Limit, seen.Remaining, seen.Reset, seen.HasReset = rate.Limit, rate.Remaining, rate.Reset, rate.HasReset
		}
		seen.Refused = resp.StatusCode == http.StatusTooManyRequests
		seen.RetryAfter, seen.HasRetry = c.hold, seen.Refused
	case evidence == EvidenceNotSent:
		seen.NotSent = true
	default:
		seen.Lost = true
	}
	c.pool.limiter.Done(a.permit, seen)
}
