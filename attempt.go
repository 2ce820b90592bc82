package prospectkit

import (
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
	"example.com/prospectkit/internal/ratehdr"
)

// Attempt is one try of a call, as errors, [Info] and observers report it. It holds no key, no id, query or URL of the call, and nothing
// of the response but a Code, which is anything of at most 64 bytes if it is not [Code.Known]. The text of Err leaves out what
// net/http quotes of a response that it cannot read; errors.Is and errors.As look into the original.
type Attempt struct {
	At       time.Time
	Duration time.Duration
	Status   int           // 0 when no answer arrived
	Code     Code          // of an error answer
	Evidence Evidence      // what is known about delivery
	Err      error         // why there was no usable answer
	Wait     time.Duration // before the next attempt
}

// Evidence is what is known about the delivery of one attempt.
type Evidence string

// The evidence. It is read off a connection trace; a transport that hides the trace (a mock, for example) can only ever give
// [EvidenceSent] for a failure, or [EvidenceCutShort], which is read off the upload itself.
const (
	EvidenceNotSent  Evidence = "not sent"  // no connection, or no header written
	EvidenceRefused  Evidence = "refused"   // the peer's protocol layer says that it was not processed
	EvidenceSent     Evidence = "sent"      // it may have been processed
	EvidenceCutShort Evidence = "cut short" // the end of an upload was never handed over, so there is nothing whole to process
	EvidenceAnswered Evidence = "answered"  // a whole answer arrived
)

// transport makes each attempt of a call. It hides the method CloseIdleConnections of the transport below, with which the
// retry loop would empty the whole connection pool after each failed call.
type transport struct{ base http.RoundTripper }

// RoundTrip sends one attempt and reads its whole answer into the call. The response it returns has no body left to read.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := callIn(req.Context())
	if c == nil {
		return nil, errors.New("prospectkit: request made outside of a call")
	}
	a := attempt{call: c, began: time.Now()}
	err := c.admit(&a)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	var resp *http.Response
	defer func() { c.settle(&a, resp, a.evidence(resp, err)) }() // also if code of the caller's panics: a transport, an UnmarshalJSON
	if err = a.open(); err != nil {
		return nil, err
	}
	resp, err = a.send(t.base, req)
	c.record(&a, resp, err)
	a.release()
	if err != nil {
		return nil, err
	}
	resp.Body = http.NoBody
	return resp, nil
}

// attempt watches one try on the wire.
type attempt struct {
	call   *call
	report budget.Report
	began  time.Time
	ended  time.Time // zero as long as it is not

	request http.Request
	tracer  httptrace.ClientTrace

	asked    atomic.Bool  // a connection was asked for, so the transport below shows its trace
	conns    atomic.Int32 // connections handed out: more than one means that net/http replayed the request
	wrote    atomic.Bool  // header bytes may have reached the peer
	http2    atomic.Bool  // pseudo headers were written
	reused   atomic.Bool  // the connection had served before
	keyed    atomic.Bool  // an idempotency key was written, with which net/http would send the write again by itself
	expired  bool         // the attempt's context had ended by the time the try was over
	timedOut bool         // and it was our own time limit

	unconnected bool // it failed before it had a connection

	upload    *streamBody // what is sent, if it is not held in memory
	truncated bool        // the end of the upload was never handed over
	exchange  exchange    // the request on its way
	abandoned bool        // the exchange heeded neither its context nor Close, and may go on
	reply                 // what the exchange has brought

	rate  ratehdr.Rate // what the answer says about the rate limit, if it does
	rated bool
}

var (
	errAttemptTimeout = errors.New("no answer within the time limit of one attempt")
	errReplay         = errors.New("net/http was about to send the request a second time by itself")
)

// open opens what is uploaded. If that fails, nothing is sent.
func (a *attempt) open() (err error) {
	c := a.call
	if c.stream == nil {
		return nil
	}
	if a.upload, err = c.stream.open(c.ctx, c.timeout); err != nil {
		c.status, c.failure, c.cause = 0, Error{}, c.foreign(err)
	}
	return err
}

func (a *attempt) send(base http.RoundTripper, req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	timer := time.AfterFunc(a.call.timeout, func() { cancel(errAttemptTimeout) })
	defer timer.Stop()
	if whole := a.call.client.conf.wholeAttempt; whole > 0 {
		defer time.AfterFunc(whole, func() { cancel(errAttemptTimeout) }).Stop()
	}

	a.request = *req.WithContext(httptrace.WithClientTrace(ctx, a.trace(cancel)))
	req = &a.request
	req.Host = req.URL.Host
	if a.call.client.conf.httpClient.Jar == nil {
		req.Header = a.call.header
	}
	if req.Method == http.MethodGet && !a.call.op.Safe() {
		req.Body = io.NopCloser(strings.NewReader("")) // net/http replays a GET over HTTP/1 unless it has a body, even an empty one
	}
	if a.upload != nil {
		req.Body, req.ContentLength = a.upload, a.call.stream.length
	}
	a.exchanged(ctx, base, timer)
	a.truncated = a.upload != nil && a.upload.cutShort()
	a.err = withoutURL(a.err)
	a.connect(base)
	a.expired = ctx.Err() != nil
	a.timedOut = errors.Is(context.Cause(ctx), errAttemptTimeout)
	if a.timedOut || errors.Is(context.Cause(ctx), errReplay) {
		// net/http reports a cancelled context; the reason is ours.
		if a.err != nil {
			a.err = context.Cause(ctx)
		} else if a.bodyErr != nil {
			a.bodyErr = context.Cause(ctx)
		}
	}
	return a.resp, a.err
}

// exchanged sends the request and reads the response. The client's own transport ends with its context by itself; code of the
// caller's need not.
func (a *attempt) exchanged(ctx context.Context, base http.RoundTripper, timer *time.Timer) {
	conf := a.call.client.conf
	x := &a.exchange
	x.base, x.request, x.upload, x.limit, x.timer, x.silence = base, &a.request, a.upload, conf.maxBody, timer, a.call.timeout
	switch {
	case conf.ownTransport != nil && x.upload == nil:
		x.do()
	case !x.run(ctx, x):
		a.abandoned = true
		a.call.header = a.call.header.Clone() // what is left behind may still write to this one
		a.reply = x.leave(context.Cause(ctx))
		return
	}
	a.reply = x.reply
}

// trace notes how far the request got. Over HTTP/2, net/http resends a body-less request of any method when the peer resets the
// stream, even if it may have been processed; over HTTP/1 it does so if something below has added an idempotency key. For writes the
// attempt is given up before that happens. Otherwise, over HTTP/1 a second connection for a write proves that nothing had been written
// on the first one.
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

// evidence judges delivery once the try is over. While the context is alive, "headers not written" is proof; over HTTP/2 an
// expired context can run ahead of the write, so then only "no connection" is. A transport that was left behind may still connect.
func (a *attempt) evidence(resp *http.Response, err error) Evidence {
	switch {
	case a.request.URL == nil: // nothing was opened to be sent
		return EvidenceNotSent
	case resp != nil && a.bodyErr == nil:
		return EvidenceAnswered
	case resp != nil:
		return EvidenceSent
	case a.abandoned:
		if a.truncated {
			return EvidenceCutShort
		}
		return EvidenceSent
	case a.http2.Load() && refusedByProtocol(err), !a.reused.Load() && refusedByTLS(err):
		return EvidenceRefused
	case a.unconnected:
		return EvidenceNotSent
	case a.asked.Load() && !a.wrote.Load() && !a.expired:
		return EvidenceNotSent
	case a.truncated:
		return EvidenceCutShort
	}
	// It got further, or the transport shows no trace, or it failed before it began one.
	return EvidenceSent
}

// connect finds out whether an attempt failed before it had a connection.
func (a *attempt) connect(base http.RoundTripper) {
	if a.err == nil || a.abandoned || a.conns.Load() > 0 {
		return
	}
	if a.unconnected = a.asked.Load() || a.noProxy(base); a.unconnected {
		a.err = &connectError{a.err}
	}
}

// noProxy reports whether the attempt failed because net/http was not told by which proxy to go.
func (a *attempt) noProxy(base http.RoundTripper) bool {
	std, ok := base.(*http.Transport)
	if !ok || std.Proxy == nil {
		return false
	}
	_, err := std.Proxy(&a.request)
	return err != nil && err.Error() == a.err.Error()
}

// connectError says that there was no connection. Of a proxy's refusal net/http tells the reason phrase only, which would read as if
// the service had said it.
type connectError struct{ error }

func (e *connectError) Error() string { return "no connection to the service: " + e.error.Error() }
func (e *connectError) Unwrap() error { return e.error }

// refusedByProtocol recognises the two HTTP/2 errors that promise that nothing was processed: a refused stream, and a GOAWAY
// that excludes it. net/http keeps their types to itself, so their whole text is matched, because parts of other texts are the peer's;
// tests pin it per Go release.
func refusedByProtocol(err error) bool {
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

// refusedByTLS recognises that the peer has ended the handshake over our certificate, or over one that is missing. In TLS 1.3 that shows
// when the request is written already; on a new connection it was not looked at.
func refusedByTLS(err error) bool {
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

// permanent reports failures to connect that no repetition cures: a name that does not exist, a certificate that does not
// fit, a peer that does not speak TLS or our version of it, a proxy that refuses.
func permanent(err error) bool {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return true
	}
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		host         x509.HostnameError
		invalid      x509.CertificateInvalidError
		record       tls.RecordHeaderError
	)
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) ||
		errors.As(err, &invalid) || errors.As(err, &record) || refusedByProxy(err) ||
		err != nil && (strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "unsupported protocol scheme"))
}

// refusedByProxy recognises the reason phrases of the statuses below 500 that a proxy refuses to connect with.
func refusedByProxy(err error) bool {
	if _, ok := errors.AsType[*connectError](err); !ok {
		return false
	}
	for ; errors.Unwrap(err) != nil; err = errors.Unwrap(err) { // the innermost is net/http's
	}
	for status := http.StatusBadRequest; status < http.StatusInternalServerError; status++ {
		if passing := status == http.StatusRequestTimeout || status == http.StatusTooManyRequests; !passing && err.Error() == http.StatusText(status) {
			return true
		}
	}
	return false
}

// sound mends what only a transport that is not net/http's returns: an answer beside an error, neither, or an answer without
// a body.
func sound(resp *http.Response, err error) (*http.Response, error) {
	switch {
	case err != nil:
		return nil, err
	case resp == nil:
		return nil, errors.New("the transport returned neither an answer nor an error")
	case resp.Body == nil:
		resp.Body = http.NoBody
	}
	return resp, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}
