package prospectkit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/redact"
)

// run makes attempts until one decides the call. Each is one RoundTrip of the call, below. The loop is go-retryablehttp's, a
// client for each call, so that its functions know the call:
//
//   - CheckRetry is the decision, which the attempt has made by the table. The default would retry writes.
//   - Backoff is the pause before the next attempt; the loop waits for it, and ends with the context of the call.
//   - RetryMax counts nothing, because the table does, across the calls of a method.
//   - ErrorHandler makes no error: result does. The default would discard the last response.
//
// If a panic or runtime.Goexit of the caller's code passes, the outcome is noted here, because no result is made.
func (c *call) run() error {
	h := c.conf.httpClient
	c.client = http.Client{Transport: roundTripper{c}, Jar: h.Jar, CheckRedirect: noRedirect}
	c.loop = retryablehttp.Client{
		HTTPClient: &c.client, CheckRetry: c.checkRetry, Backoff: c.backoff, RetryMax: math.MaxInt, ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	c.request = *bareRequest.WithContext(c.ctx)
	req := &c.request
	// send sets the Host: with one, http.Client would copy the URL.
	req.Method, req.URL, req.Header = c.method, &c.url, placeholderHeader
	if h.Jar != nil {
		req.Header = http.Header{}
	}
	c.loopRequest.Request = req
	if c.body != nil {
		_ = c.loopRequest.SetBody(c.body) // which cannot fail
	}
	req.GetBody = nil // with it, net/http could rewind the body and resend a write
	returned := false
	defer func() {
		if !returned {
			c.noteOutcome(c.result(nil))
		}
	}()
	resp, err := c.loop.Do(&c.loopRequest)
	returned = true
	if resp != nil {
		_ = resp.Body.Close()
	}
	return err
}

// checkRetry is the decision of the attempt.
func (c *call) checkRetry(context.Context, *http.Response, error) (bool, error) {
	if c.client.Jar != nil {
		delete(c.request.Header, "Cookie") // it adds its own before each attempt
	}
	return c.next.retries(), nil
}

// backoff is the pause of the attempt.
func (c *call) backoff(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return c.pause }

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

var (
	bareRequest = &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}

	// placeholderHeader keeps http.Client from copying the header for redirects, which are never
	// followed. An attempt sends the header of the call.
	placeholderHeader = http.Header{}
)

// roundTripper makes each attempt of a call. It has no method CloseIdleConnections, with which the retry loop would close every idle
// connection after each failed call.
type roundTripper struct{ call *call }

// RoundTrip makes one attempt and reads its whole response into the call. The response it returns
// has no body left to read. A request that is not sent has nothing to close: its body is in
// memory, and an upload is opened last.
func (t roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	c := t.call
	a := c.nextAttempt()
	if err := c.admit(a); err != nil {
		return nil, err
	}
	var resp *http.Response
	defer func() { // also if a user's transport or UnmarshalJSON panics
		if a.unrecorded && c.unknown == nil && !c.op.FreeRead() {
			c.unknown = c.asOutcomeUnknown()
		}
		c.reportToBudget(a, resp)
	}()
	if err := c.reserveAndJournal(a); err != nil {
		return nil, err
	}
	if err := c.lookForOthers(); err != nil {
		return nil, err
	}
	if err := a.openUpload(); err != nil { // after the journal, which may refuse and would leave it open
		return nil, err
	}
	if err := c.contextEnd(); err != nil { // guard and journal, too
		if a.upload != nil {
			exchange.Close(a.upload)
		}
		return nil, err
	}
	a.unrecorded, c.lastSent = true, time.Now()
	resp, err := a.send(c.conf.httpClient.Transport, req)
	a.ended = time.Now()
	if !a.unrecorded { // an upload could not be opened again
		return nil, err
	}
	c.lastSent = a.trace.Left(a.ended)
	a.dumpResponse()
	c.recordAttempt(a, resp, err)
	a.unrecorded = false
	if a.Body != nil {
		c.length = len(*a.Body)
	}
	exchange.Release(a.Body)
	a.Body = nil
	if err != nil {
		return nil, err
	}
	resp.Body = http.NoBody
	return resp, nil
}

func (c *call) nextAttempt() *attempt {
	a := &c.firstAttempt
	if a.call != nil { // the exchange of an abandoned attempt may go on
		a = new(attempt)
	}
	a.call, a.began, a.delivery = c, time.Now(), deliveryNotSent
	return a
}

// timeLimitError ends an attempt that takes longer than it may.
type timeLimitError struct {
	limit       time.Duration
	unconnected bool   // it had no connection to the service by then
	proxy       string // the host of the one that was to make it
}

// Error says what is missing. It quotes nobody.
func (e timeLimitError) Error() string {
	missing := "complete response"
	if e.unconnected {
		missing = "connection to the service was made"
	}
	if e.proxy != "" {
		missing += " through the proxy " + e.proxy
	}
	return "no " + missing + " within the time limit of one attempt, " + e.limit.String()
}

// Words is the text that may be logged.
func (e timeLimitError) Words() string { return e.Error() }

// Timeout and Temporary make it a [net.Error], as a caller expects of a time limit.
func (e timeLimitError) Timeout() bool   { return true }
func (e timeLimitError) Temporary() bool { return true }

// admit asks for a key if there is none, and queues until the attempt may be sent. It fails if that could only be
// after the deadline, or after WithMaxWait. The attempt begins when it is admitted.
func (c *call) admit(a *attempt) error {
	askKey := c.needKey
	if c.next == stepRekey {
		askKey = c.rekey
	}
	c.next = stepStop // unless the attempt is sent, the loop ends
	c.countPause(a.began)
	if err := c.contextEnd(); err != nil {
		return err
	}
	if err := askKey(); err != nil {
		return err
	}
	want := budget.Request{Begun: c.opts.begun}
	if c.opts.batch {
		want.Priority = budget.Batch
	} else if !c.opts.inWalk {
		c.surface.awaited.Store(a.began.UnixNano())
	}
	if c.surface.limiter.Take(a.began, &want, &a.report.Permit) {
		return nil
	}
	var began time.Time // of a wait
	want.MaxWait = c.opts.maxWait
	want.Told = func(wait time.Duration) {
		began = time.Now()
		c.emit(Event{
			Kind: EventWait, Attempt: len(c.attempts) + 1, Start: began, Wait: wait, Reason: "queued for the rate limit",
		})
	}
	var err error
	a.report.Permit, err = c.surface.limiter.Acquire(c.ctx, want)
	a.began = time.Now()
	if !began.IsZero() {
		c.waited += a.began.Sub(began)
		if n := len(c.attempts); n > 0 {
			c.attempts[n-1].Wait += a.began.Sub(began)
		}
	}
	if full, tooLong := errors.AsType[*budget.WaitTooLongError](err); tooLong {
		c.refuseWait(full)
		return c.waitError
	}
	if err != nil {
		c.cause = withCause(c.cause, contextEnd(c.ctx, "while it waited for the rate limit"))
	}
	return err
}

// contextEnd returns the end of the context, which keeps an attempt from being sent, and notes it as the cause.
func (c *call) contextEnd() error {
	if c.ctx.Err() != nil {
		c.cause = withCause(c.cause, contextEnd(c.ctx, "before it was sent"))
	}
	return c.ctx.Err()
}

// needKey asks for a key, if the client has none that works.
func (c *call) needKey() error {
	keys := c.conf.keys()
	if !keys.Changes() {
		return nil
	}
	if _, err := keys.Get(c.ctx, c.timeout); err != nil {
		return c.refuseAttempt(RuleToken, c.redactError(err))
	}
	return nil
}

var errSameKey error = redact.OwnError("the token source has no other key")

// rekey asks for another key after the service has rejected one.
func (c *call) rekey() error {
	c.rekeyed = true
	key, err := c.conf.keys().Get(c.ctx, c.timeout)
	if err == nil && key == c.key {
		err = errSameKey
	}
	c.cause = c.redactError(err)
	return err
}

// reserveAndJournal reserves the credits of the call and stores its ticket before an attempt. If that takes long, the surface may be
// paused by then. The attempt then queues again, and if it has to wait, the ticket is stored again.
func (c *call) reserveAndJournal(a *attempt) error {
	for {
		if err := c.reserveAndStore(time.Now()); err != nil || time.Since(a.began) < staleTicket {
			return err
		}
		if c.surface.limiter.Holds(&a.report.Permit) {
			a.began = time.Now()
			return nil
		}
		c.reportToBudget(a, nil) // as not sent
		again := time.Now()
		a.report, a.began, a.ended = budget.Report{}, again, time.Time{}
		if err := c.admit(a); err != nil || a.began.Sub(again) < staleTicket {
			return err
		}
	}
}

func (c *call) reserveAndStore(now time.Time) error {
	if err := c.contextEnd(); err != nil { // the token source may have taken until then
		return err
	}
	if c.unknown == nil { // no earlier attempt can have had an effect
		c.firstSent = now
	}
	if err := c.reserve(); err != nil {
		return err
	}
	return c.store()
}

// lookForOthers keeps the attempt back if another call, whose ticket is stored by now, is in its way. If that takes long, the ticket is stored
// again: another worker may have taken it over meanwhile, and then it cannot be.
func (c *call) lookForOthers() error {
	if c.opts.once == "" && c.in.beforeAttempt == nil {
		return nil
	}
	began := time.Now()
	if err := c.onceMeanwhile(); err != nil {
		return err
	}
	if c.in.beforeAttempt != nil {
		if err := c.in.beforeAttempt(c); err != nil {
			return err
		}
	}
	if time.Since(began) < staleTicket {
		return nil
	}
	return c.store()
}

// store stores the ticket of the call, if it needs one.
func (c *call) store() error {
	for try := 1; c.journaled(); try++ {
		c.lastSent = time.Now()
		if err := c.conf.journal.Sending(c.ctx, c.ticket()); err != nil {
			return c.refuseAttempt(RuleJournal, err)
		}
		switch took := time.Since(c.lastSent); {
		case took < staleTicket || c.ctx.Err() != nil:
			return nil //nolint:nilerr // RoundTrip returns the end of the context
		case try == 3 && took < clock.MaxError:
			return nil
		case try == 3:
			return c.refuseAttempt(RuleJournal, errSlowJournal)
		}
	}
	return nil
}

// staleTicket is how long storing a ticket may take. If it takes longer, the ticket is stored again, up to three times in all:
// the wait until a change has had time to show counts from the time of sending in the ticket.
const staleTicket = time.Second / 2

var errSlowJournal error = redact.OwnError("storing the ticket took so long that it says nothing about when the call was sent")

// reserve reserves the credits of the call before its first attempt.
func (c *call) reserve() error {
	if c.conf.guard == nil || c.reserved || !c.spends {
		return nil
	}
	cost := c.in.cost
	cost.Agent = cmp.Or(cost.Agent, c.opts.starts)
	cost.ID, cost.Op, cost.IDs, cost.Body, cost.Repeats = c.ticket().ID, c.op.Name, c.in.ids, c.body, c.op.FreeRead()
	if err := c.conf.guard.Reserve(c.ctx, cost); err != nil {
		return c.refuseAttempt(RuleSpendGuard, err)
	}
	c.reserved = true
	return nil
}

// onceMeanwhile keeps an attempt back if there is another call with the key of [Once] by now. Each stores its ticket before it looks here,
// so of two at the same time at least one sees the other.
func (c *call) onceMeanwhile() error {
	if c.opts.once == "" {
		return nil
	}
	e, err := c.another()
	if err == nil && e == nil {
		return nil
	}
	return c.refuseAttempt(c.ruleAgainst(e, err))
}

// refuseAttempt keeps an attempt from being sent. Before the first attempt, that makes the call a refusal. Later, it is
// added to the cause of the last attempt.
func (c *call) refuseAttempt(rule SafetyRule, cause error) error {
	if len(c.attempts) == 0 {
		c.refused = c.refuse(rule, cause)
	} else {
		c.cause = withCause(c.cause, fmt.Errorf("%s: %w", string(rule), cause))
	}
	return cause
}

// openUpload opens the file to upload. If that fails, nothing is sent.
func (a *attempt) openUpload() (err error) {
	c := a.call
	if c.in.upload == nil {
		return nil
	}
	if a.upload, err = c.in.upload.Open(c.ctx, c.timeout); err != nil {
		c.status, c.errorResponse, c.cause = 0, nil, c.redactError(err)
	}
	return err
}

// send sends the request within the time limit of an attempt, and reads the whole response.
func (a *attempt) send(base http.RoundTripper, req *http.Request) (resp *http.Response, err error) {
	c := a.call
	defer func() { a.delivery = a.delivered(resp, err) }() // after all other defers, also if a user's transport panics
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	timer := a.limit(func() { cancel(timeLimitError{limit: c.timeout}) })
	defer timer.Stop()
	if whole := c.conf.wholeAttempt; whole > 0 {
		defer time.AfterFunc(whole, func() { cancel(timeLimitError{limit: whole}) }).Stop()
	}
	a.prepareRequest(a.traced(ctx, base, cancel), req)
	if c.conf.dump != nil {
		c.conf.dump.Request(a.title(), c.secrets(), &a.request, c.body)
	}
	a.exchangeWith(ctx, base, timer)
	for a.metOldConnections(ctx) { // it goes again on another one, with the same permit
		if err = a.openUpload(); err != nil {
			a.unrecorded = false
			return nil, err
		}
		a.exchange = exchange.Exchange{}
		a.prepareRequest(a.traced(ctx, base, cancel), req)
		if c.body != nil {
			a.request.Body = io.NopCloser(bytes.NewReader(c.body))
		}
		a.exchangeWith(ctx, base, timer)
	}
	a.explain(ctx, base)
	return a.Response, a.Err
}

// limit starts the time limit of the attempt. That of a transport which may have no connections has a timer of its own: tests share such a
// client, but not their virtual time.
func (a *attempt) limit(end func()) exchange.Timer {
	c := a.call
	if c.conf.timeLimits == nil {
		return time.AfterFunc(c.timeout, end)
	}
	a.timeLimit.End = end
	c.conf.timeLimits.Start(&a.timeLimit, c.timeout)
	return &a.timeLimit
}

// traced returns the context with a new trace of the attempt. A free read goes without as long as the client gets responses: however far it
// got, it may be sent again, and an error tells whether it was not connected.
func (a *attempt) traced(ctx context.Context, base http.RoundTripper, cancel context.CancelCauseFunc) context.Context {
	c := a.call
	if c.op.FreeRead() && c.conf.responds.Load() {
		return ctx
	}
	a.trace = &exchange.Trace{Hooked: c.conf.ownTransport != nil, Fresh: c.conf.idle.Fresh()}
	if std, ok := base.(*http.Transport); ok {
		a.trace.Plain, a.trace.H2C = true, std.Protocols != nil && std.Protocols.UnencryptedHTTP2()
	}
	return httptrace.WithClientTrace(ctx, a.trace.Hooks(c.op.FreeRead(), cancel))
}

// metOldConnections reports whether the attempt got only connections that the server might just have been closing: the hooks closed them, so
// that nothing was sent.
func (a *attempt) metOldConnections(ctx context.Context) bool {
	return !a.abandoned && a.Err != nil && a.trace != nil && ctx.Err() == nil && a.trace.Stale(a.Err)
}

// prepareRequest makes the request of the attempt from that of the loop: with the header of the call, the key and the file.
func (a *attempt) prepareRequest(ctx context.Context, of *http.Request) {
	c := a.call
	a.request = *of.WithContext(ctx)
	req := &a.request
	req.Host = req.URL.Host
	req.Header = c.header
	if cookies := of.Header["Cookie"]; cookies != nil {
		req.Header = maps.Clone(c.header)
		req.Header["Cookie"] = cookies
	}
	if keys := c.conf.keys(); keys.Changes() {
		c.key = keys.Current()
		req.Header = maps.Clone(req.Header)
		req.Header["Authorization"] = c.key.Header()
	}
	if req.Method == http.MethodGet && !c.op.FreeRead() {
		// Over HTTP/1, net/http retries a GET unless it has a body; an empty one will do.
		req.Body = io.NopCloser(strings.NewReader(""))
	}
	if a.upload != nil {
		req.Body, req.ContentLength = a.upload, c.in.upload.Length
	}
}

// exchangeWith makes the HTTP exchange, or abandons it if it outlives its context.
func (a *attempt) exchangeWith(ctx context.Context, base http.RoundTripper, timer exchange.Timer) {
	c, x := a.call, &a.exchange
	x.Base, x.Request, x.Upload = base, &a.request, a.upload
	x.MaxBody, x.Timer, x.Silence, x.Began = c.conf.maxBody, timer, c.timeout, c.lastSent
	if c.conf.ownTransport != nil && x.Upload == nil { // it ends with its context; other transports might not
		a.Result = x.Do()
	} else {
		a.Result, a.abandoned = x.DoOrAbandon(ctx)
		c.open = c.open || a.abandoned
	}
}

// explain gives a failed exchange the error that says why it failed: net/http only reports a cancelled context.
func (a *attempt) explain(ctx context.Context, base http.RoundTripper) {
	a.truncated = a.upload != nil && a.upload.Withhold()
	a.Err = redact.WithoutURL(a.Err)
	if a.Err != nil && a.trace == nil {
		a.trace = exchange.Untraced()
	}
	if a.Err != nil && !a.abandoned {
		a.Err = a.trace.Failed(a.Err, base, &a.request)
	}
	if a.expired = ctx.Err() != nil; !a.expired {
		return
	}
	ended := context.Cause(ctx)
	if limit, late := errors.AsType[timeLimitError](ended); late || errors.Is(ended, exchange.ErrReplay) {
		if late && a.Err != nil && a.trace.Unconnected {
			a.Err = timeLimitError{limit.limit, true, exchange.ProxyOf(base, &a.request)}
		} else if a.Err != nil {
			a.Err = ended
		} else if a.BodyErr != nil {
			a.BodyErr = ended
		}
	}
}

func (a *attempt) title() string {
	return fmt.Sprint(a.call.op.Name, ", attempt ", len(a.call.attempts)+1)
}

func (a *attempt) dumpResponse() {
	c := a.call
	if c.conf.dump == nil {
		return
	}
	var body []byte
	if a.Body != nil {
		body = *a.Body
	}
	c.conf.dump.Response(a.title(), c.secrets(), a.Response, body, c.redactError(cmp.Or(a.Err, a.BodyErr)))
}

// delivered returns what is known about the delivery of an attempt after send.
func (a *attempt) delivered(resp *http.Response, err error) string {
	switch {
	case !a.unrecorded: // it met old connections only
		return deliveryNotSent
	case resp != nil && a.BodyErr == nil:
		return deliveryConfirmed
	case resp != nil, a.trace == nil:
		return deliveryUnknown
	case !a.expired && a.trace.Unprocessed(err): // err may be why the context ended, which proves nothing about this attempt
		return deliveryUnprocessed
	case a.trace.Unconnected, a.trace.Unwritten(err) && !a.expired:
		return deliveryNotSent
	case a.truncated:
		return deliveryCutShort
	}
	return deliveryUnknown // it got further, or nothing shows how far
}

// reportToBudget tells the budget the outcome of an attempt.
func (c *call) reportToBudget(a *attempt, resp *http.Response) {
	result := &a.report.Observation
	*result = budget.NoFigures
	result.Replays = a.trace.Replays()
	switch {
	case resp != nil:
		if a.hasRateHeaders {
			result.Limit, result.Remaining, result.Reset, result.HasReset = a.rate.Limit, a.rate.Remaining, a.rate.Reset, a.rate.HasReset
		}
		result.RateLimited = resp.StatusCode == http.StatusTooManyRequests
		if result.RateLimited {
			result.RetryAfter = c.surfaceHold
			result.Jitter = chance.Float64(c.ctx) // calls that were refused together return one after the other
			result.Within = c.patience()
		}
	case a.delivery == deliveryNotSent:
		result.NotSent = true
	default:
		result.Lost = true
	}
	if a.ended.IsZero() { // nothing was recorded
		a.ended = time.Now()
	}
	c.surface.limiter.Done(a.ended, &a.report)
}

// patience is how long a call that is retried after a 429 can wait, or 0 if it is not.
func (c *call) patience() time.Duration {
	if c.next != stepWait {
		return 0
	}
	if at, ok := c.ctx.Deadline(); ok {
		return min(c.opts.maxWait, time.Until(at)-1)
	}
	return c.opts.maxWait
}
