package prospectkit

import (
	"errors"
	"net/http"
	"time"

	"example.com/prospectkit/internal/budget"
)

// admit waits in line until an attempt may leave, or refuses if that would be beyond the deadline or the longest wait allowed. The
// attempt begins when it may leave.
func (c *call) admit(a *attempt) error {
	c.next = stop
	c.rested(a.began)
	if c.ctx.Err() != nil {
		c.cause = bothCauses(c.cause, c.stopped("before it was sent"))
		return c.ctx.Err()
	}
	want := budget.Request{NoWait: true, WaitDay: true}
	if c.conf.priority == PriorityBatch {
		want.Priority = budget.Batch
	}
	if c.pool.limiter.Take(a.began, want.Priority, &a.report.Permit) {
		return nil
	}
	err := c.stand(a, want)
	full, ok := errors.AsType[*budget.RefusedError](err)
	if !ok || c.conf.maxWait == 0 {
		return c.refused(err)
	}
	began := a.began
	c.emit(Event{Kind: EventWait, Attempt: len(c.attempts) + 1, Start: began, Wait: full.Wait, Reason: "in line for the rate limit"})
	want.NoWait, want.MaxWait = false, c.conf.maxWait
	err = c.stand(a, want)
	c.waited += a.began.Sub(began)
	if n := len(c.attempts); n > 0 {
		c.attempts[n-1].Wait += a.began.Sub(began)
	}
	return c.refused(err)
}

// rested counts a pause before a repetition, which ends now, whether it was slept through or not.
func (c *call) rested(now time.Time) {
	if !c.pausing.IsZero() {
		c.waited += now.Sub(c.pausing)
		c.pausing = time.Time{}
	}
}

// stand joins the line. The attempt begins when it has left it.
func (c *call) stand(a *attempt, want budget.Request) (err error) {
	a.report.Permit, err = c.pool.limiter.Acquire(c.ctx, want)
	a.began = time.Now()
	return err
}

// refused keeps why an attempt was not let go.
func (c *call) refused(err error) error {
	if err == nil {
		return nil
	}
	full, ok := errors.AsType[*budget.RefusedError](err)
	if !ok {
		if c.ctx.Err() != nil {
			err = c.stopped("while it waited for the rate limit")
		}
		c.cause = bothCauses(c.cause, err)
		return err
	}
	c.waitError = &WaitError{
		Op: c.op.Name, Method: c.method, Route: c.route, Surface: Surface(c.op.Surface), Window: Window(full.Window.String()),
		Wait: full.Wait, FitsAt: full.FitsAt, deadline: full.Deadline || c.beyondDeadline(full.Wait), waited: c.waited,
	}
	return c.waitError
}

// settle tells the budget what became of an attempt.
func (c *call) settle(a *attempt, resp *http.Response, evidence Evidence) {
	seen := &a.report.Observation
	*seen = budget.NoFigures
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
	if a.ended.IsZero() { // there was nothing to record
		a.ended = time.Now()
	}
	c.pool.limiter.Done(a.ended, &a.report)
}
