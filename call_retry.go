package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/mismatch"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/internal/waits"
)

// failure is what went wrong with one attempt: a row of the decision table.
type failure int

const (
	failNotSent     failure = iota + 1 // no connection, or nothing written
	failUnprocessed                    // the peer's protocol layer says that it was not processed; 421, 425
	failRateLimited                    // 429
	failKeyRejected                    // by the service, and the client can ask for another key

	failUnreachable // not processed, and retrying cannot fix it
	failUnread      // refused for its form, its length or a proxy's password, by whoever sends that: 407, 411, 414, 431, and 413 of a long body
	failRejected    // by the service: a 4xx with its envelope, see isServiceEnvelope
	failUpload      // the end of an upload was not sent

	failService    // a 500 with the service's envelope: "a failed request never consumes credits"
	failGateway    // 502, 503, 504, 520 to 524, 408, a 500 without the service's envelope
	failCut        // sent, no usable response: reset, end of file, time limit, incomplete 2xx of a free read or without rate headers
	failUnproved   // a 2xx that may not be the service's, see readResponse
	failOther      // any other 5xx, 499, UNEXPECTED_ERROR with another status
	failRepeated   // an error that the request may have caused itself, or a 429 after it was processed, because a gateway has repeated it
	failNotService // a response that is not the service's: 3xx, a 4xx without its envelope
	failCanceled   // sent, then the context of the call ended

	failLost     // a 2xx of the service, but the response cannot be read
	failUnusable // a 2xx of the service that is too long, or does not fit the user's type
)

// decisions is the table of the retry rules: for each failure, the step that follows for reads, paid
// reads and writes. decide and decideNext add the few exceptions. Writes of every class share a column:
// none is retried after it may have been processed. AllowRetryUnknown replaces stepUnknown, and only
// that, by a retry where the column of reads retries.
var decisions = [...]struct {
	reason            string
	read, paid, write step
}{
	// Not processed: every call may be retried.
	failNotSent:     {"nothing was sent", stepResend, stepResend, stepResend},
	failUnprocessed: {"rejected unprocessed", stepResend, stepResend, stepResend},
	failRateLimited: {"rate limited", stepWait, stepWait, stepWait},
	failKeyRejected: {"the key was rejected", stepRekey, stepRekey, stepRekey},

	// Not processed, and retrying cannot fix it.
	failUnreachable: {"the service cannot be reached", stepStop, stepStop, stepStop},
	failUnread:      {"refused before any work", stepStop, stepStop, stepStop},
	failRejected:    {"rejected by the service", stepStop, stepStop, stepStop},
	failUpload:      {"an upload was cut short", stepStop, stepStop, stepStop},

	// May have been processed.
	failService:    {"the service failed", stepRetry, stepRetry, stepUnknown},
	failGateway:    {"a gateway failed", stepRetry, stepUnknown, stepUnknown},
	failCut:        {"sent, but no usable response", stepRetry, stepUnknown, stepUnknown},
	failUnproved:   {"a success that may not be the service's", stepRetry, stepUnknown, stepUnknown},
	failOther:      {"an unusual failure", stepStop, stepUnknown, stepUnknown},
	failRepeated:   {"perhaps refused for its own effect", stepStop, stepUnknown, stepUnknown},
	failNotService: {"a response that is not the service's", stepStop, stepUnknown, stepUnknown},
	failCanceled:   {"sent, then the context ended", stepStop, stepUnknown, stepUnknown},

	// Processed.
	failLost:     {"a success that cannot be read", stepRetry, stepLost, stepLost},
	failUnusable: {"a success that is too long or does not fit", stepStop, stepLost, stepLost},
}

// decide looks up the step after a failure. A later page of a paid scroll is not retried after it
// may have been processed: its token may be used up.
func decide(f failure, class op.Class, laterPage bool) step {
	row := decisions[f]
	switch class {
	case op.Read:
		return row.read
	case op.PaidRead:
		if laterPage && row.paid == stepRetry {
			return stepUnknown
		}
		return row.paid
	default:
		return row.write
	}
}

// recordAttempt records the result of an attempt, and decides what comes next.
func (c *call) recordAttempt(a *attempt, resp *http.Response, err error) {
	now := a.ended
	if c.status != 0 {
		c.earlier = c.errorResponse
	}
	c.status, c.errorResponse, c.cause = 0, nil, nil
	if c.conf.responds.Load() != (resp != nil) {
		c.conf.responds.Store(resp != nil)
	}
	if resp != nil {
		c.noteResponse(a, resp, now)
	}
	c.gaveUp = resp == nil && (a.expired || errors.Is(err, context.DeadlineExceeded))
	c.cause = c.readResult(a, resp, err, now)
	ours := c.isServiceEnvelope(a)
	if c.errorResponse != nil {
		c.errorResponse.foreign = !ours
		c.requestID = cmp.Or(c.errorResponse.RequestID, c.requestID)
	}
	if a.hasRateHeaders || c.done || ours { // a Date of another server tells nothing
		c.conf.clock.Hear(c.respHeader, now, now.Sub(a.began))
	}
	if c.done && c.want.made != nil {
		c.conf.clock.Made(c.want.made(), now, now.Sub(a.began))
	}
	try := Attempt{
		At: a.began, Duration: now.Sub(a.began), Status: c.status, Code: c.errorCode(), Delivery: a.delivery, Err: c.cause,
	}
	c.attempts = append(c.attempts, try)
	reason := ""
	if !c.done {
		reason = c.decideNext(a, resp, err, now)
	}
	c.emitAttempt(try, reason)
}

// emitAttempt tells the observers the result of the last attempt, and of a pause before the next one.
func (c *call) emitAttempt(try Attempt, reason string) {
	if len(c.conf.observers) == 0 {
		return
	}
	e := Event{
		Kind: EventAttempt, Attempt: len(c.attempts), Start: try.At, Duration: try.Duration,
		Status: try.Status, Code: try.Code, Delivery: try.Delivery, Err: try.Err,
		ErrorType: errorType(try.Err, try.Status, try.Code, try.Delivery), Reason: reason,
	}
	if !c.done {
		e.Next = c.next.String()
	}
	c.emit(e)
	if !c.pausing.IsZero() {
		c.emit(Event{Kind: EventWait, Attempt: len(c.attempts) + 1, Start: c.pausing, Wait: c.pause, Reason: reason})
	}
}

// decideNext decides what follows an unsuccessful attempt. No later failure makes an unknown outcome
// known, except one that proves success: see stepLost. It returns what happened, in the words of the table.
func (c *call) decideNext(a *attempt, resp *http.Response, err error, now time.Time) string {
	f := c.classify(a, resp, err)
	if f == failKeyRejected || f == failRepeated && c.mayRekey() { // where this call stops, the next one has another
		c.conf.keys().Reject(c.key)
	}
	c.next, c.pause = decide(f, c.op.Class, c.in.pageToken != ""), 0
	if c.next == stepUnknown && c.unknown == nil {
		c.unknown = c.asOutcomeUnknown()
	}
	if c.next == stepUnknown && c.opts.allowRetryUnknown && decisions[f].read.retries() {
		c.next = stepRetry
	}
	if c.next == stepRetry && c.op.Class == op.PaidRead && c.opts.retry.NoPaidRetry {
		c.next = stepStop
	}
	if c.next.retries() {
		c.schedule(resp, now)
	} else if asked, _ := c.retryAfter(resp, now); c.status == http.StatusTooManyRequests {
		c.surfaceHold = min(asked, budget.LongestHold)
	}
	if c.pause > 0 {
		c.attempts[len(c.attempts)-1].Wait, c.pausing = c.pause, now
	}
	return decisions[f].reason
}

// schedule sets the pause before the next attempt, or stops if no attempt, time or allowance is left.
func (c *call) schedule(resp *http.Response, now time.Time) {
	asked, given := c.retryAfter(resp, now)
	pause := c.pauseOf(asked, given)
	if c.next == stepWait {
		c.surfaceHold = min(pause, budget.LongestHold)
	}
	switch tooLong := pause > c.opts.maxWait; {
	case c.ctx.Err() != nil:
	case c.next == stepWait && (tooLong || waits.EndsWithin(c.ctx, pause)): // before MaxAttempts, because this error names the time at which the call fits
		c.refuseWait(budget.TooLong(now, c.surfaceHold, waits.EndsWithin(c.ctx, pause)))
	case asked == ratehdr.Never, c.in.before+len(c.attempts) >= c.opts.retry.MaxAttempts && !c.mayQueueAgain(asked):
	case waits.EndsWithin(c.ctx, pause):
		c.tooLate = true
	case tooLong && given: // a mere backoff may exceed it: RetryPolicy.MaxDelay bounds that
	case c.next == stepRetry && !c.surface.allowance.Take(now): // last, because it uses the allowance up
	case c.next == stepWait: // no pause of the call: reportToBudget holds the surface, and admit waits for that
		return
	default:
		c.pause = c.jitter(pause)
		return
	}
	c.next = stepStop
}

// mayQueueAgain reports whether a free read may wait beyond MaxAttempts because the service has refused it for a time: others took the room,
// and it has not been done. All its waits together are then within WithMaxWait.
func (c *call) mayQueueAgain(asked time.Duration) bool {
	return c.next == stepWait && asked > 0 && c.op.FreeRead() && c.opts.retry.MaxAttempts > 1 && c.waited+asked <= c.opts.maxWait
}

// pauseOf is the pause that the next step needs, of what the service asked for and a backoff.
func (c *call) pauseOf(asked time.Duration, given bool) time.Duration {
	backoff := waits.Backoff(c.ctx, c.opts.retry.BaseDelay, c.opts.retry.MaxDelay, len(c.attempts))
	switch {
	case c.next == stepRekey:
		return asked
	case c.next == stepWait && given:
		return max(asked, budget.MinHold)
	case c.next == stepWait:
		pause := max(backoff, budget.MinHold)
		if longer := min(c.untoldWait(), c.opts.maxWait); longer > pause && !waits.EndsWithin(c.ctx, longer) {
			pause = longer
		}
		return pause
	}
	return max(asked, backoff)
}

// untoldWait is the pause after a 429 without a figure: it grows to the documented minute, before the last attempt. If the headers say
// that something is left, the 429 is about something else, such as requests at the same moment, and there is none.
func (c *call) untoldWait() time.Duration {
	if rate, _ := ratehdr.ParseRate(c.respHeader, time.Now(), c.conf.clock); rate.Remaining > 0 {
		return 0
	}
	left := max(0, c.opts.retry.MaxAttempts-1-c.in.before-len(c.attempts))
	return time.Minute >> min(4*left, 62)
}

// refuseWait records that a wait for the rate limit does not fit.
func (c *call) refuseWait(full *budget.WaitTooLongError) {
	full.Deadline = full.Deadline || waits.EndsWithin(c.ctx, full.Wait)
	c.waitError = &waitError{*full, string(c.op.Surface), c.waited}
}

// jitter lengthens a wait, but not beyond the deadline, so that calls do not retry in step.
func (c *call) jitter(d time.Duration) time.Duration {
	longer := d + chance.Below(c.ctx, min(d/10, time.Second)+1)
	if waits.EndsWithin(c.ctx, longer) {
		return d
	}
	return longer
}

func (c *call) classify(a *attempt, resp *http.Response, err error) failure {
	if resp == nil || a.BodyErr != nil { // only a success has a BodyErr
		return c.classifyIncomplete(a, err)
	}
	switch status := resp.StatusCode; {
	case mismatch.Is(c.cause) && (a.hasRateHeaders || c.op.FreeRead()): // the same rows would not fit the user's type the next time
		return failUnusable
	case isSuccess(status) && a.hasRateHeaders && !errors.Is(c.cause, errEnveloped): // whatever is wrong with its JSON
		return failLost
	case isSuccess(status): // a login page, a cache or the page of a gateway may look like that
		return failUnproved
	case status == http.StatusTooManyRequests && c.mayArriveTwice():
		return failRepeated
	case status == http.StatusTooManyRequests: // refused before any work, whoever counts
		return failRateLimited
	case status == http.StatusMisdirectedRequest, status == http.StatusTooEarly: // HTTP says that these were not processed
		return failUnprocessed
	case c.refusedUnread(a, status):
		return failUnread
	case a.truncated && (status >= 500 || c.errorCode() == ""): // who got half a file has not processed it
		return failUpload
	case status == 499: // a proxy's: its client went away, and the service may have gone on; no envelope makes it a rejection
		return failOther
	case status == http.StatusInternalServerError && c.isServiceEnvelope(a) && !c.mayArriveTwice(): // the only 500 that says that nothing was billed
		return failService
	case status == 500, status == 502, status == 503, status == 504, status >= 520 && status <= 524, // these of a content delivery network
		status == http.StatusRequestTimeout: // what is behind the gateway may have worked
		return failGateway
	case status >= 500: // such as 501 and 505: no retry mends them, and nobody says what was done
		return failOther
	case c.errorCode() == CodeUnexpectedError: // with another status: an intermediary has changed it
		return failOther
	case status >= 400 && c.mayRekey() && c.mayArriveTwice(): // the key was revoked between the two, perhaps
		return failRepeated
	case status >= 400 && c.mayRekey(): // before any work, and another key may do
		return failKeyRejected
	case c.explainsItself(classOf(c.errorCode(), status)):
		return failRepeated
	case status >= 400 && c.isServiceEnvelope(a): // the service has looked at the request and refused it
		return failRejected
	default: // a redirect, or a 4xx of a proxy or a login page
		return failNotService
	}
}

// explainsItself reports whether an error of a class may be the effect of the request: the first of two was applied, used up the credits, or
// deleted what it names. A conflict of an approval needs no sign of a gateway, because the review showed a campaign that was not active.
func (c *call) explainsItself(class ErrorClass) bool {
	effect := class == ErrConflict || class == ErrInsufficientCredits || class == ErrNotFound && c.method == http.MethodDelete
	return class == ErrConflict && c.in.lookup.Digest != "" || effect && c.mayArriveTwice()
}

// mayArriveTwice reports whether a gateway may have sent what is not a free read twice: some repeat what has no body, and tell of themselves.
func (c *call) mayArriveTwice() bool {
	return !c.op.FreeRead() && c.body == nil && c.in.upload == nil && c.conf.relayed.Seen()
}

// longBody is the least length of a body that a server can find too long. Below, a 413 is one for its response, which some platforms send
// after the work.
const longBody = 8 << 10

// refusedUnread reports whether the status says, by its meaning and whoever sends it, that the content was not looked at.
func (c *call) refusedUnread(a *attempt, status int) bool {
	switch status {
	case http.StatusProxyAuthRequired, http.StatusLengthRequired, http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge:
		return true
	case http.StatusRequestEntityTooLarge:
		return !c.isServiceEnvelope(a) && a.request.ContentLength >= longBody
	}
	return false
}

// mayRekey reports whether the service has rejected the key, and the call may ask for another one.
// "A missing, malformed, expired or revoked token answers 401" (documented), before any work.
func (c *call) mayRekey() bool {
	return c.errorCode() == CodeUnauthorized && !c.rekeyed && c.conf.keys().Changes()
}

// isServiceEnvelope reports whether an error envelope is the service's: its code is documented, or
// it has a request id or the rate headers: few gateways send these, and hardly one in this envelope.
func (c *call) isServiceEnvelope(a *attempt) bool {
	e := c.errorResponse
	if e == nil {
		return false
	}
	return e.Code != "" && (e.Code.Known() || e.RequestID != "" || a.hasRateHeaders)
}

func (c *call) classifyIncomplete(a *attempt, err error) failure {
	var tooLarge *exchange.TooLargeError
	switch delivery := a.delivery; {
	case (delivery == deliveryNotSent || delivery == deliveryUnprocessed) && exchange.IsPermanent(err):
		return failUnreachable // such as a wrong certificate, which the next attempt would meet, too
	case delivery == deliveryNotSent:
		return failNotSent // the trace proves it
	case delivery == deliveryUnprocessed:
		return failUnprocessed // the peer says it
	case delivery == deliveryCutShort:
		return failUpload // who got half a file has not processed it
	case errors.As(a.BodyErr, &tooLarge) && (a.hasRateHeaders || c.op.FreeRead()):
		return failUnusable // the same response would be as long the next time
	case a.hasRateHeaders && !c.op.FreeRead():
		return failLost // a success of the service, and its body broke off
	case c.ctx.Err() != nil:
		return failCanceled // nobody waits for another attempt
	}
	return failCut
}
