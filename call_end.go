package prospectkit

import (
	"cmp"
	"context"
	"slices"
	"time"

	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/journal"
)

// result makes the error of the call, or nil. The order of the cases is their precedence: what is known
// about the effect of the call comes first, then why nothing was sent, then the last attempt with what
// kept the call from another one.
func (c *call) result(loopErr error) error {
	switch {
	case c.done: // whatever came before
		return nil
	case c.next == stepLost: // applied, so that no earlier outcome is unknown any more
		if c.acceptWithoutBody() {
			return nil
		}
		e := c.asError()
		e.outcome = OutcomeApplied
		return e
	case c.unknown != nil: // no later refusal and no end of a wait makes it known
		t := c.ticket()
		c.unknown.Attempts, c.unknown.gaveUp, c.unknown.ticket = slices.Clone(c.attempts), c.gaveUp, func() journal.Ticket { return t }
		return c.unknown
	case c.refused != nil:
		return c.refused
	case c.waitError != nil && len(c.attempts) == 0: // the rate limit kept the first attempt back
		refused := c.refuse(RuleRateLimit, c.waitError)
		refused.FitsAt = c.waitError.FitsAt
		return refused
	}
	e := c.asError()
	if w := c.waitError; w != nil {
		e.cause = withCause(e.cause, w)
		e.RetryAfter = max(e.RetryAfter, w.Wait)
		if w.FitsAt.After(e.ResetAt) {
			e.ResetAt = w.FitsAt
		}
	}
	if c.status == 0 && e.cause == nil {
		e.cause = c.redactError(loopErr)
	}
	if c.status == 0 && c.met() && c.ctx.Err() == nil && c.urlIsLong() {
		e.hint = "its URL is so long that a server may have closed the connection: use fewer or shorter values in filters"
	}
	e.cause = c.withContextErr(e.cause)
	if c.tooLate {
		e.cause = withCause(e.cause, errTooLate)
	}
	return e
}

// met reports whether an attempt of the call reached a server, or may have.
func (c *call) met() bool {
	return slices.ContainsFunc(c.attempts, func(a Attempt) bool { return a.Delivery != deliveryNotSent })
}

func (c *call) asError() *Error {
	last := c.errorResponse
	if c.status == 0 && c.ctx.Err() != nil && c.earlier != nil {
		last = c.earlier
	}
	var memory struct { // one allocation
		Error
		first [1]Attempt
	}
	if last != nil {
		memory.Error = *last
	}
	e := &memory.Error
	e.Op, e.Method, e.Route, e.outcome = c.op.Name, c.method, c.route, OutcomeNotApplied
	e.Attempts = append(memory.first[:0], c.attempts...)
	e.Status = cmp.Or(e.Status, c.status)
	e.cause = c.cause
	return e
}

func (c *call) asOutcomeUnknown() *OutcomeUnknownError {
	cause := c.cause
	if c.status != 0 {
		e := c.asError()
		e.outcome = OutcomeUnknown
		cause = e
	}
	conf := c.conf
	return &OutcomeUnknownError{
		Op: c.op.Name, Method: c.method, Route: c.route, SentAt: c.firstSent,
		op: c.op, cause: cause, look: c.in.look, conf: func() *config { return conf },
	}
}

// noteOutcome notes the outcome of the call, for the guard and the journal. One that fails to do so keeps it in doubt. The
// guard is first: a crash in between leaves the ticket.
func (c *call) noteOutcome(err error) {
	outcome := journal.Unknown
	defer func() { c.noteInJournal(outcome) }() // also if the guard's store panics
	known := OutcomeOf(err)
	if alreadyDone(err) { // by another call
		known = journal.NotApplied
	}
	spent := known
	if c.in.refusalMaySpend != nil && c.in.refusalMaySpend(err) {
		spent = journal.Applied
	}
	if !c.reserved || c.conf.guard.Settle(c.ctx, c.ticketID, string(spent), c.results()) == nil {
		outcome = known
	}
}

// noteInJournal ends the ticket of the call, if it has one.
func (c *call) noteInJournal(outcome journal.Outcome) {
	if c.ticketID == "" || !c.journaled() {
		return
	}
	book, id, e := c.conf.journal, c.ticketID, journal.End{Outcome: outcome}
	if outcome == journal.Applied {
		e.ResultID = c.resultID()
	}
	var open *journal.Ticket
	if c.open && outcome == journal.Unknown {
		t := c.ticket()
		open = &t
	}
	// Half a second after the context of the call is what the guard took before, too.
	exchange.Finish(c.ctx, time.Second/2, func(ctx context.Context) {
		if open != nil { // for whoever resolves it
			_ = book.Sending(ctx, *open)
		}
		_ = book.Ended(ctx, id, e)
	})
}

// fillInfo fills what WithInfo has given with the results, beside what prepare and noteResponse have.
func (c *call) fillInfo() {
	if info := c.opts.info; info != nil {
		info.Status, info.RequestID, info.Rate = c.status, c.requestID, c.rate
		info.Attempts, info.Duration = slices.Clone(c.attempts), time.Since(c.began)
	}
}

// deliver tells observers the end of the call, and returns its error. It is none if an earlier call has done what was asked for.
func (c *call) deliver(err error) error {
	if c.owesNothing(err) {
		err = nil
		if c.opts.info != nil {
			c.opts.info.Already = true
		}
	}
	if len(c.conf.observers) == 0 {
		return err
	}
	now := time.Now()
	c.countPause(now)
	c.emit(Event{
		Kind: EventEnd, Attempt: len(c.attempts), Start: c.began, Duration: now.Sub(c.began), Waited: c.waited,
		Status: c.status, Code: c.errorCode(), Outcome: OutcomeOf(err), Err: err, ErrorType: errorTypeOf(err),
	})
	return err
}

// countPause adds the pause before a retry to the time waited: it ends now, complete or not.
func (c *call) countPause(now time.Time) {
	if !c.pausing.IsZero() {
		c.waited += now.Sub(c.pausing)
		c.pausing = time.Time{}
	}
}

// emit tells the observers, and returns the context that they make of it at the start.
func (c *call) emit(e Event) context.Context {
	e.Method, e.Route, e.Rate = c.method, c.route, c.rate
	return c.conf.emit(c.ctx, c.op, e)
}
