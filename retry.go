package prospectkit

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
)

// RetryPolicy bounds the repetitions of a call. What may be repeated at all is decided by the operation and by the proof of
// what happened, never by the policy: see the table in the README.
//
// The zero value of a field means its default.
type RetryPolicy struct {
	MaxAttempts int           // including the first; 1 to 10, default 3
	BaseDelay   time.Duration // backoff before the first repetition, drawn from half to all of it; default 500 ms
	MaxDelay    time.Duration // to which the backoff doubles; default 8 s

	// NoMeteredRetry never sends a call that may spend credits again after the service's own error 500. By default the first
	// page of a search is: "a failed request never consumes credits" (documented).
	NoMeteredRetry bool
}

// NoRetry makes every call a single attempt.
var NoRetry = RetryPolicy{MaxAttempts: 1}

func (p RetryPolicy) check(c *checks) {
	c.between("RetryPolicy.MaxAttempts", p.MaxAttempts, 1, 10)
	if p.BaseDelay < 0 || p.MaxDelay < 0 {
		c.add("RetryPolicy", "has a negative delay")
	}
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	if p.MaxAttempts == 0 {
		p.MaxAttempts = 3
	}
	if p.BaseDelay == 0 {
		p.BaseDelay = 500 * time.Millisecond
	}
	if p.MaxDelay == 0 {
		p.MaxDelay = 8 * time.Second
	}
	return p
}

// backoff is the wait before repetition n, counted from 1: doubling, with jitter over its upper half.
func (p RetryPolicy) backoff(n int) time.Duration {
	d := p.BaseDelay
	for ; n > 1 && d < p.MaxDelay; n-- {
		d *= 2
	}
	d = min(d, p.MaxDelay)
	return d/2 + rand.N(d/2+1)
}

// refusalFloor is the shortest wait after a 429: no service means an immediate repetition.
const refusalFloor = 500 * time.Millisecond

// failure is what went wrong with one attempt: a row of the decision table.
type failure int

const (
	notSent      failure = iota + 1 // no connection, or nothing written
	unreachable                     // the same, and no repetition will cure it
	refused                         // the peer's protocol layer refused it unprocessed; 421, 425
	limited                         // 429
	rejected                        // the service's own refusal: an enveloped 4xx, see ownEnvelope
	cut                             // sent, no usable answer: reset, end of file, time limit, half a 2xx of nobody knows whom
	serviceFault                    // an enveloped 500: the service says that it failed
	gatewayFault                    // 502, 503, 504, 408, a 500 without the service's envelope: somebody in between says so
	otherFault                      // any other 5xx, 499
	foreign                         // a response that is not the service's: 3xx, a 4xx without its envelope
	strange                         // a 2xx that is not the service's, see vouch
	answerLost                      // a 2xx of the service, but the answer cannot be read
	answerUnfit                     // the same, longer than we read, or not what the caller wants it in
	contextEnded                    // sent, then the caller's context ended
	waitRefused                     // our own limiter: the wait would be too long
	truncated                       // an upload whose end was never handed over
)

// step is what happens next: a cell of the decision table.
type step int

const (
	stop   step = iota + 1 // return the error
	doubt                  // return OutcomeUnknownError
	lost                   // return AnswerLostError
	repeat                 // after a backoff, if attempts and retry tokens are left
	resend                 // the same, without a token: nothing reached the service
	wait                   // after Retry-After
)

// String says what the step means, for observers.
func (s step) String() string {
	return [...]string{
		stop: "return the error", doubt: "return an unknown outcome", lost: "return that the answer was lost",
		repeat: "repeat", resend: "send again", wait: "wait and send again",
	}[s]
}

// again reports whether another attempt is to follow.
func (s step) again() bool { return s >= repeat }

// decisions holds, per failure, the next step for reads, metered reads and writes. Writes of every class share a column:
// one call sends a write at most once after it may have been delivered, and leaves the rest to the caller.
var decisions = map[failure]struct {
	what                 string
	read, metered, write step
}{
	notSent:      {"nothing was sent", resend, resend, resend},
	unreachable:  {"the service cannot be reached", stop, stop, stop},
	refused:      {"refused unprocessed", resend, resend, resend},
	limited:      {"rate limited", wait, wait, wait},
	rejected:     {"refused by the service", stop, stop, stop},
	cut:          {"sent, but no usable answer", repeat, doubt, doubt},
	serviceFault: {"the service failed", repeat, repeat, doubt}, // a failed request never spends credits
	gatewayFault: {"something before the service failed", repeat, doubt, doubt},
	otherFault:   {"an unusual failure", stop, doubt, doubt},
	foreign:      {"an answer that is not the service's", stop, doubt, doubt},
	strange:      {"a success that is not the service's", repeat, doubt, doubt},
	answerLost:   {"a success that cannot be read", repeat, lost, lost},
	answerUnfit:  {"a success that is too long or does not fit", stop, lost, lost},
	contextEnded: {"sent, then the context ended", stop, doubt, doubt},
	waitRefused:  {"the wait would be too long", stop, stop, stop},
	truncated:    {"an upload was cut short", stop, stop, stop},
}

// decide looks a failure up for a class of operation. A later page of a scroll is never repeated after it may have been
// delivered: its token may be spent.
func decide(f failure, class op.Class, laterPage bool) step {
	row := decisions[f]
	switch class {
	case op.Read:
		return row.read
	case op.MeteredRead:
		if laterPage && row.metered == repeat {
			return doubt
		}
		return row.metered
	default:
		return row.write
	}
}

// decideNext looks the failure up in the decision table.
func (c *call) decideNext(a *attempt, resp *http.Response, err error, now time.Time) {
	failure := c.classify(a, resp, err)
	reason := decisions[failure].what
	c.next, c.pause = decide(failure, c.op.Class, c.laterPage), 0
	if c.next == doubt && c.unknown == nil {
		c.unknown = c.doubtful(a.began)
	}
	if c.next == doubt && c.conf.repeatDoubt && decisions[failure].read.again() {
		c.next = repeat
	}
	if c.next == repeat && c.op.Class == op.MeteredRead && c.conf.retry.NoMeteredRetry {
		c.next = stop
	}
	if c.next.again() {
		c.schedule(resp, now)
	}
	e := Event{Kind: EventDecision, Attempt: len(c.attempts), Start: now, Status: c.status, Code: c.failure.Code, Reason: reason, Next: c.next.String()}
	c.emit(e)
	if c.pause > 0 {
		c.attempts[len(c.attempts)-1].Wait, c.pausing = c.pause, now
		e.Kind, e.Attempt, e.Wait, e.Next = EventWait, len(c.attempts)+1, c.pause, ""
		c.emit(e)
	}
}

// schedule reckons the wait before the next attempt, or stops where attempts, tokens or time are not left for it.
func (c *call) schedule(resp *http.Response, now time.Time) {
	asked, told := retryAfter(resp, now)
	floor := max(asked, c.conf.retry.backoff(len(c.attempts)))
	if c.next == wait {
		if told {
			floor = asked
		}
		floor = max(floor, refusalFloor)
		c.hold = min(floor, longestHold)
	}
	switch {
	case c.ctx.Err() != nil, len(c.attempts) >= c.conf.retry.MaxAttempts, asked == ratehdr.Never:
		c.next = stop
	case c.beyondDeadline(floor):
		c.next, c.tooLate = stop, true
	case (told || c.next == wait) && floor > c.conf.maxWait, c.next == repeat && !c.pool.takeToken(now):
		c.next = stop
	case c.next != wait: // after a 429, the line for the rate limit is the place to wait
		c.pause = c.jitter(floor)
	}
}

// beyondDeadline reports whether the context would end before a wait is over.
func (c *call) beyondDeadline(d time.Duration) bool {
	at, ok := c.ctx.Deadline()
	return ok && time.Until(at) <= d
}

// jitter lengthens a wait, so that callers held together do not come back in the same instant; but not beyond the deadline.
func (c *call) jitter(d time.Duration) time.Duration {
	longer := d + rand.N(min(d/10, time.Second)+1)
	if c.beyondDeadline(longer) {
		return d
	}
	return longer
}

// classify names what went wrong with an attempt that has no usable answer or an answer that is not a success.
func (c *call) classify(a *attempt, resp *http.Response, err error) failure {
	if c.waitError != nil {
		return waitRefused
	}
	if resp == nil || a.bodyErr != nil && success(resp.StatusCode) {
		return c.classifyLoss(a, resp, err)
	}
	switch status := resp.StatusCode; {
	case success(status) && misfit(c.cause) && (a.rated || c.op.Class == op.Read):
		return answerUnfit
	case success(status) && a.rated && !errors.Is(c.cause, errEnveloped):
		return answerLost
	case success(status):
		return strange
	case status == http.StatusTooManyRequests:
		return limited
	case status == http.StatusMisdirectedRequest, status == http.StatusTooEarly:
		return refused
	case a.truncated && (status >= 500 || c.failure.Code == ""):
		return truncated
	case status == 499:
		return otherFault
	case status == http.StatusInternalServerError && c.ownEnvelope(a):
		return serviceFault
	case status == 500, status == 502, status == 503, status == 504, status == http.StatusRequestTimeout:
		return gatewayFault
	case status >= 500:
		return otherFault
	case c.failure.Code == CodeUnexpectedError: // with the status of a refusal: somebody in between has changed it
		return otherFault
	case status >= 400 && c.ownEnvelope(a):
		return rejected
	default:
		return foreign
	}
}

// ownEnvelope reports whether an error envelope is surely the service's: its code is documented, or it has what gateways do
// not have, a request id or the rate headers.
func (c *call) ownEnvelope(a *attempt) bool {
	e := &c.failure
	return e.Code != "" && (e.Code.Known() || e.RequestID != "" || a.rated)
}

// classifyLoss sorts attempts without a whole answer.
func (c *call) classifyLoss(a *attempt, resp *http.Response, err error) failure {
	var tooLarge *tooLargeError
	switch evidence := a.evidence(resp, err); {
	case (evidence == EvidenceNotSent || evidence == EvidenceRefused) && permanent(err):
		return unreachable
	case evidence == EvidenceNotSent:
		return notSent
	case evidence == EvidenceRefused:
		return refused
	case evidence == EvidenceCutShort:
		return truncated
	case c.ctx.Err() != nil && !a.timedOut && resp == nil:
		return contextEnded
	case errors.As(a.bodyErr, &tooLarge) && (a.rated || c.op.Class == op.Read):
		return answerUnfit
	case a.rated && c.op.Class != op.Read:
		return answerLost
	case c.ctx.Err() != nil:
		return contextEnded
	}
	return cut
}

func success(status int) bool { return status >= 200 && status < 300 }

// retryAfter reads the wait that an answer asks for, whatever its status.
func retryAfter(resp *http.Response, now time.Time) (time.Duration, bool) {
	if resp == nil {
		return 0, false
	}
	return ratehdr.ParseRetryAfter(resp.Header, now)
}
