package prospectkit

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/internal/redact"
)

// Attempt is one attempt of a call, as errors, [Info] and observers report it. It holds no key, id, query or URL of the call, and
// nothing of the response but a Code, which is anything of at most 64 bytes if it is not [Code.Known]. The text of Err leaves out what
// net/http quotes of a response that it cannot read; errors.Is and errors.As examine the original.
type Attempt struct {
	At       time.Time
	Duration time.Duration
	Status   int           // 0 when no response arrived
	Code     Code          // of an error response
	Delivery Delivery      // what is known about delivery
	Err      error         `json:"-"` // why there was no usable response
	Wait     time.Duration // before the next attempt
}

// Delivery is what is known about the delivery of one attempt.
type Delivery string

// It comes from a connection trace. A transport that hides the trace, such as a mock, can only give [DeliveryUnknown] for a
// failure, or [DeliveryCutShort], which comes from the upload itself.
const (
	DeliveryNotSent   Delivery = "not sent"  // no connection, or no header written
	DeliveryRefused   Delivery = "refused"   // the peer's protocol layer says that it was not processed
	DeliveryUnknown   Delivery = "unknown"   // it may have been processed
	DeliveryCutShort  Delivery = "cut short" // the end of an upload was never handed over, so there is nothing complete to process
	DeliveryConfirmed Delivery = "confirmed" // a complete response arrived
)

// transport makes each attempt of a call. It hides the method CloseIdleConnections of the transport below, with which the retry loop
// would close every idle connection after each failed call.
type transport struct{ base http.RoundTripper }

// RoundTrip makes one attempt and reads its whole response into the call. The response it returns has no body left to read.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := callFrom(req.Context())
	if c == nil {
		return nil, errors.New("prospectkit: request made outside of a call")
	}
	a := attempt{call: c, began: time.Now()}
	err := c.admit(&a)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	var resp *http.Response
	defer func() { c.report(&a, resp, a.delivery(resp, err)) }() // also if code of the caller's panics: a transport, an UnmarshalJSON
	if err = a.openUpload(); err != nil {
		return nil, err
	}
	resp, err = a.send(t.base, req)
	c.record(&a, resp, err)
	exchange.Release(a.Body)
	a.Body = nil
	if err != nil {
		return nil, err
	}
	resp.Body = http.NoBody
	return resp, nil
}

// attempt is one attempt on the wire.
type attempt struct {
	call      *call
	budget    budget.Report
	began     time.Time
	ended     time.Time // zero until it has
	truncated bool      // the end of the upload was never handed over
	timedOut  bool      // our own time limit ended it
	expired   bool      // its context had ended by the time it was over
	abandoned bool      // the exchange heeded neither its context nor Close, and may go on
	noConn    bool      // it failed before it had a connection
	rated     bool      // the response has rate headers:
	rate      ratehdr.Rate

	request  http.Request
	upload   *exchange.Upload
	exchange exchange.Exchange
	exchange.Result

	tracer httptrace.ClientTrace
	asked  atomic.Bool  // for a connection, so the transport below shows its trace
	conns  atomic.Int32 // handed out: more than one means that net/http sent the request again
	wrote  atomic.Bool  // header bytes may have reached the peer
	http2  atomic.Bool  // pseudo headers were written
	reused atomic.Bool  // the connection had served before
	keyed  atomic.Bool  // an idempotency key was written, with which net/http would send a write again
}

var (
	errAttemptTimeout = errors.New("no response within the time limit of one attempt")
	errReplay         = errors.New("net/http was about to send the request a second time")
)

// admit waits in the queue until the attempt may be sent, or refuses if that would be after the deadline or longer than the longest
// wait allowed. The attempt begins when it is admitted.
func (c *call) admit(a *attempt) error {
	c.next = stepStop
	c.endPause(a.began)
	if c.ctx.Err() != nil {
		c.cause = withCause(c.cause, c.contextErr("before it was sent"))
		return c.ctx.Err()
	}
	want := budget.Request{NoWait: true, WaitDay: true}
	if c.conf.priority == PriorityBatch {
		want.Priority = budget.Batch
	}
	if c.pool.limiter.Take(a.began, want.Priority, &a.budget.Permit) {
		return nil
	}
	err := c.enqueue(a, want)
	full, ok := errors.AsType[*budget.RefusedError](err)
	if !ok || c.conf.maxWait == 0 {
		return c.admission(err)
	}
	began := a.began
	c.emit(Event{Kind: EventWait, Attempt: len(c.attempts) + 1, Start: began, Wait: full.Wait, Reason: "queued for the rate limit"})
	want.NoWait, want.MaxWait = false, c.conf.maxWait
	err = c.enqueue(a, want)
	c.waited += a.began.Sub(began)
	if n := len(c.attempts); n > 0 {
		c.attempts[n-1].Wait += a.began.Sub(began)
	}
	return c.admission(err)
}

// endPause counts a pause before a retry, which ends now, whether it was slept through or not.
func (c *call) endPause(now time.Time) {
	if !c.pausing.IsZero() {
		c.waited += now.Sub(c.pausing)
		c.pausing = time.Time{}
	}
}

// enqueue joins the queue. The attempt begins when it leaves it.
func (c *call) enqueue(a *attempt, want budget.Request) (err error) {
	a.budget.Permit, err = c.pool.limiter.Acquire(c.ctx, want)
	a.began = time.Now()
	return err
}

// admission keeps why an attempt was not admitted.
func (c *call) admission(err error) error {
	if err == nil {
		return nil
	}
	full, ok := errors.AsType[*budget.RefusedError](err)
	if !ok {
		if c.ctx.Err() != nil {
			err = c.contextErr("while it waited for the rate limit")
		}
		c.cause = withCause(c.cause, err)
		return err
	}
	c.waitError = &WaitError{
		Op: c.op.Name, Method: c.method, Route: c.route, Surface: Surface(c.op.Surface), Window: Window(full.Window.String()),
		Wait: full.Wait, FitsAt: full.FitsAt, deadline: full.Deadline || c.afterDeadline(full.Wait), waited: c.waited,
	}
	return c.waitError
}

// openUpload opens what is uploaded. If that fails, nothing is sent.
func (a *attempt) openUpload() (err error) {
	c := a.call
	if c.in.upload == nil {
		return nil
	}
	if a.upload, err = c.in.upload.open(c.ctx, c.timeout); err != nil {
		c.status, c.failure, c.cause = 0, Error{}, c.redactError(err)
	}
	return err
}

func (a *attempt) send(base http.RoundTripper, req *http.Request) (*http.Response, error) {
	c, conf := a.call, a.call.client.conf
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	timer := time.AfterFunc(c.timeout, func() { cancel(errAttemptTimeout) })
	defer timer.Stop()
	if whole := conf.wholeAttempt; whole > 0 {
		defer time.AfterFunc(whole, func() { cancel(errAttemptTimeout) }).Stop()
	}

	a.request = *req.WithContext(httptrace.WithClientTrace(ctx, a.trace(cancel)))
	req = &a.request
	req.Host = req.URL.Host
	if conf.httpClient.Jar == nil {
		req.Header = c.header
	}
	if req.Method == http.MethodGet && !c.op.Safe() {
		req.Body = io.NopCloser(strings.NewReader("")) // net/http sends a GET again over HTTP/1 unless it has a body, even an empty one
	}
	if a.upload != nil {
		req.Body, req.ContentLength = a.upload, c.in.upload.length
	}

	x := &a.exchange
	x.Base, x.Request, x.Upload, x.Limit, x.Timer, x.Silence = base, req, a.upload, conf.maxBody, timer, c.timeout
	if conf.ownTransport != nil && x.Upload == nil { // it ends with its context; code of the caller's need not
		a.Result = x.Do()
	} else if a.Result, a.abandoned = x.DoOrAbandon(ctx); a.abandoned {
		c.header = c.header.Clone() // the abandoned exchange may still write to this one
	}

	a.truncated = a.upload != nil && a.upload.Withhold()
	a.Err = redact.WithoutURL(a.Err)
	a.checkConnected(base)
	a.expired = ctx.Err() != nil
	ended := context.Cause(ctx)
	a.timedOut = errors.Is(ended, errAttemptTimeout)
	if a.timedOut || errors.Is(ended, errReplay) { // net/http reports a cancelled context; the reason is ours
		if a.Err != nil {
			a.Err = ended
		} else if a.BodyErr != nil {
			a.BodyErr = ended
		}
	}
	return a.Response, a.Err
}

// trace notes how far the request got. net/http sends a request again over a second connection: over HTTP/2 one without a body, of any
// method, when the peer resets the stream, even if it may have been processed; over HTTP/1 one with an idempotency key, which
// something below may have added. A write is given up before that. Otherwise a second HTTP/1 connection for a write proves that nothing
// was written on the first.
func (a *attempt) trace(cancel context.CancelCauseFunc) *httptrace.ClientTrace {
	t := &a.tracer
	*t = httptrace.ClientTrace{
		GetConn: func(string) { a.asked.Store(true) },
		GotConn: func(info httptrace.GotConnInfo) {
			a.reused.Store(info.Reused)
			if again := a.conns.Add(1) > 1; !again || !a.http2.Load() && !a.keyed.Load() {
				return
			}
			cancel(errReplay)
			if !a.http2.Load() {
				_ = info.Conn.Close() // HTTP/1 writes without a look at the context
			}
		},
		WroteHeaders: func() { a.wrote.Store(true) },
	}
	if !a.call.op.Safe() {
		t.WroteHeaderField = func(key string, _ []string) {
			switch {
			case strings.HasPrefix(key, ":"):
				a.http2.Store(true)
			case strings.EqualFold(key, "Idempotency-Key"), strings.EqualFold(key, "X-Idempotency-Key"):
				a.keyed.Store(true)
			}
		}
	}
	return t
}

// delivery judges an attempt that is over. While the context is alive, "headers not written" is proof. Over HTTP/2 an expired context
// can run ahead of the write, so then only "no connection" is. An abandoned transport may still connect.
func (a *attempt) delivery(resp *http.Response, err error) Delivery {
	switch {
	case a.request.URL == nil: // the upload could not be opened
		return DeliveryNotSent
	case resp != nil && a.BodyErr == nil:
		return DeliveryConfirmed
	case resp != nil:
		return DeliveryUnknown
	case a.abandoned:
		if a.truncated {
			return DeliveryCutShort
		}
		return DeliveryUnknown
	case a.http2.Load() && isProtocolRefusal(err), !a.reused.Load() && isTLSRefusal(err):
		return DeliveryRefused
	case a.noConn:
		return DeliveryNotSent
	case a.asked.Load() && !a.wrote.Load() && !a.expired:
		return DeliveryNotSent
	case a.truncated:
		return DeliveryCutShort
	}
	// It got further, or the transport shows no trace, or it failed before it began one.
	return DeliveryUnknown
}

// checkConnected finds out whether an attempt failed before it had a connection.
func (a *attempt) checkConnected(base http.RoundTripper) {
	if a.Err == nil || a.abandoned || a.conns.Load() > 0 {
		return
	}
	if a.noConn = a.asked.Load() || a.isProxyError(base); a.noConn {
		a.Err = &connectError{a.Err}
	}
}

// isProxyError reports whether the attempt failed because the function that names the proxy failed.
func (a *attempt) isProxyError(base http.RoundTripper) bool {
	std, ok := base.(*http.Transport)
	if !ok || std.Proxy == nil {
		return false
	}
	_, err := std.Proxy(&a.request)
	return err != nil && err.Error() == a.Err.Error()
}

// connectError says that there was no connection. Of a proxy's refusal, net/http shows only the reason phrase, which would read as if
// the service had said it.
type connectError struct{ error }

func (e *connectError) Error() string { return "no connection to the service: " + e.error.Error() }
func (e *connectError) Unwrap() error { return e.error }

// isProtocolRefusal recognises the two HTTP/2 errors that promise that nothing was processed: a refused stream, and a GOAWAY that
// excludes it. net/http does not export their types, so the whole text is matched, because parts of other texts are the peer's. Tests
// pin it for each Go release.
func isProtocolRefusal(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if refusedStream.MatchString(err.Error()) {
			return true
		}
	}
	return false
}

var refusedStream = regexp.MustCompile(`^http2: Transport: cannot retry err \[(` +
	`stream error: stream ID \d+; REFUSED_STREAM(; received from peer)?|http2: Transport received Server's graceful shutdown GOAWAY` +
	`)\] after Request\.Body was written; define Request\.GetBody to avoid this error$`)

// isTLSRefusal recognises that the peer has ended the handshake over the client's certificate, or over a missing one. In TLS 1.3 that
// shows after the request was written; on a new connection the request was not read.
func isTLSRefusal(err error) bool {
	alert, ok := errors.AsType[*net.OpError](err)
	if !ok || alert.Op != "remote error" || alert.Err == nil {
		return false
	}
	switch alert.Err.Error() {
	case "tls: certificate required", "tls: bad certificate", "tls: unsupported certificate", "tls: revoked certificate",
		"tls: expired certificate", "tls: unknown certificate", "tls: unknown certificate authority", "tls: access denied":
		return true
	}
	return false
}

// isPermanent reports failures to connect that no retry cures: a name that does not exist, a certificate that does not fit, a peer that
// does not speak TLS or our version of it, a proxy that refuses.
func isPermanent(err error) bool {
	var (
		dns          *net.DNSError
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		host         x509.HostnameError
		invalid      x509.CertificateInvalidError
		record       tls.RecordHeaderError
	)
	return errors.As(err, &dns) && dns.IsNotFound || errors.As(err, &verification) || errors.As(err, &authority) ||
		errors.As(err, &host) || errors.As(err, &invalid) || errors.As(err, &record) || isProxyRefusal(err) ||
		err != nil && (strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "unsupported protocol scheme"))
}

// isProxyRefusal recognises the reason phrases of the statuses below 500 with which a proxy refuses to connect.
func isProxyRefusal(err error) bool {
	if _, ok := errors.AsType[*connectError](err); !ok {
		return false
	}
	for ; errors.Unwrap(err) != nil; err = errors.Unwrap(err) { // the innermost is net/http's
	}
	for status := http.StatusBadRequest; status < http.StatusInternalServerError; status++ {
		transient := status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
		if !transient && err.Error() == http.StatusText(status) {
			return true
		}
	}
	return false
}

// record takes the result of an attempt and decides what comes next.
func (c *call) record(a *attempt, resp *http.Response, err error) {
	now := time.Now()
	a.ended = now
	try := Attempt{At: a.began, Duration: now.Sub(a.began), Delivery: a.delivery(resp, err)}
	if c.status != 0 {
		earlier := c.failure
		c.earlier = &earlier
	}
	c.status, c.failure = 0, Error{}
	if resp != nil {
		c.status, c.headers = resp.StatusCode, resp.Header
		if a.rate, a.rated = ratehdr.ParseRate(resp.Header, now); a.rated {
			c.rate = c.pool.observe(a.rate, now)
		}
		try.Status = resp.StatusCode
	}
	if c.cause = c.redactError(cmp.Or(err, a.BodyErr)); c.cause != nil {
		c.cause = c.withContextErr(c.cause)
	}
	if end := c.ctx.Err(); end != nil && (errors.Is(err, end) || errors.Is(err, context.Cause(c.ctx))) {
		c.cause = c.contextErr("while it waited for the response")
	}
	switch {
	case resp == nil:
	case !isSuccess(resp.StatusCode):
		c.readErrorResponse(resp, *a.Body, now)
	case a.BodyErr == nil:
		if c.cause = c.readResponse(a, resp, now); c.cause == nil {
			c.done, c.next = true, stepStop
			c.pool.succeeded()
		}
	}
	try.Code, try.Err = c.failure.Code, c.cause
	c.attempts = append(c.attempts, try)
	c.emit(Event{
		Kind: EventAttempt, Attempt: len(c.attempts), Start: a.began, Duration: try.Duration, Status: try.Status, Code: try.Code,
		Delivery: try.Delivery, Rate: c.rate, Err: try.Err,
	})
	c.emitUndocumented(a, resp)
	if !c.done {
		c.decideNext(a, resp, err, now)
	}
}

// report tells the budget what became of an attempt.
func (c *call) report(a *attempt, resp *http.Response, delivery Delivery) {
	seen := &a.budget.Observation
	*seen = budget.NoFigures
	seen.Replays = max(0, int(a.conns.Load())-1)
	switch {
	case resp != nil:
		if rate := a.rate; a.rated {
			seen.Limit, seen.Remaining, seen.Reset, seen.HasReset = rate.Limit, rate.Remaining, rate.Reset, rate.HasReset
		}
		seen.Refused = resp.StatusCode == http.StatusTooManyRequests
		seen.RetryAfter, seen.HasRetry = c.hold, seen.Refused
	case delivery == DeliveryNotSent:
		seen.NotSent = true
	default:
		seen.Lost = true
	}
	if a.ended.IsZero() { // there was nothing to record
		a.ended = time.Now()
	}
	c.pool.limiter.Done(a.ended, &a.budget)
}
