package exchange

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/redact"
)

// Trace is how far a request got. The zero value is ready for one request.
type Trace struct {
	Hooked bool // the transport is known to call the hooks
	Plain  bool // it is net/http's: any other may have sent the request on another way, or one of its own
	H2C    bool // it may speak HTTP/2 without TLS

	// Fresh is how long a connection may have been idle that a request which is not safe travels on; zero: it needs a new one. The
	// server may just be closing a connection that was idle for longer.
	Fresh time.Duration

	Unconnected bool // set by Failed: the request failed before it had a connection

	hooks     httptrace.ClientTrace
	asked     atomic.Bool  // for a connection, so the transport calls the hooks
	late      atomic.Bool  // it was asked for so late that another way may have been taken before
	conns     atomic.Int32 // handed out: more than one means that net/http sent the request again, or was about to
	wrote     atomic.Bool  // header bytes may have reached the peer
	began     time.Time
	connected atomic.Int64 // how long after that the last connection was handed out
	http2     atomic.Bool  // pseudo headers were written
	reused    atomic.Bool  // the connection had served before
	keyed     atomic.Bool  // an idempotency key was written, with which net/http would retry a write
	stale     atomic.Bool  // the connection was idle for too long, and closed before anything was written on it
	dumped    atomic.Bool  // the connection is one in memory, for a dump of the request: what happens there does not count

	mu       sync.Mutex
	failures []error // of looking for the name, connecting, and TLS
}

// ErrReplay means that net/http was about to send a request again.
var ErrReplay error = redact.OwnError("net/http was about to send the request a second time")

// Hooks returns the hooks that fill the trace. They end a request that is not safe before net/http
// sends it again, which it does over a second connection:
//
//   - over HTTP/2, a request without a body, of any method, when the peer resets the stream, even if
//     the peer may have processed it;
//   - over HTTP/1, a request with an idempotency key, which something below may have added.
//
// Any other second HTTP/1 connection for a write proves that nothing was written on the first.
//
// Over HTTP/1, they also close a connection that was idle for too long before such a request is written on it: see [Trace.Stale].
func (t *Trace) Hooks(safe bool, cancel context.CancelCauseFunc) *httptrace.ClientTrace {
	if !safe { // of a read, nobody asks when it left
		t.began = time.Now()
	}
	t.hooks = httptrace.ClientTrace{
		GetConn: func(string) {
			t.dumped.Store(false)
			if !t.asked.Swap(true) && !safe {
				t.late.Store(time.Since(t.began) > promptly)
			}
		},
		GotConn: func(info httptrace.GotConnInfo) {
			if isDump(info.Conn) {
				t.dumped.Store(true)
				t.asked.Store(t.conns.Load() > 0 || t.stale.Load())
				return
			}
			t.reused.Store(info.Reused)
			if !safe {
				t.connected.Store(int64(time.Since(t.began)))
			}
			old := !safe && info.Conn != nil && info.Reused && (info.IdleTime > t.Fresh || t.Fresh <= 0) && !t.speaksHTTP2(info.Conn)
			if t.stale.Swap(old) {
				t.wrote.Store(false) // into the buffer of a closed connection
			}
			if old {
				_ = info.Conn.Close() // a cancelled context would not keep net/http from writing
				return
			}
			if second := t.conns.Add(1) > 1; !second || !t.http2.Load() && !t.keyed.Load() {
				return
			}
			cancel(ErrReplay)
			if !t.http2.Load() && info.Conn != nil {
				_ = info.Conn.Close() // HTTP/1 writes without a look at the context
			}
		},
		WroteHeaders: func() {
			if !t.dumped.Load() {
				t.wrote.Store(true)
			}
		},
	}
	if safe {
		t.Plain = true // whether it was sent does not count
		return &t.hooks
	}
	if !t.Plain {
		t.hooks.DNSDone = func(info httptrace.DNSDoneInfo) { t.fails(info.Err) }
		t.hooks.ConnectDone = func(_, _ string, err error) { t.fails(err) }
		t.hooks.TLSHandshakeDone = func(_ tls.ConnectionState, err error) { t.fails(err) }
	}
	t.hooks.WroteHeaderField = t.wroteField
	return &t.hooks
}

// Untraced is the trace of a request that failed without one: an error about connecting, of package net or of a proxy, proves that nothing
// was sent, and nothing else does.
func Untraced() *Trace {
	t := new(Trace)
	t.asked.Store(true)
	t.late.Store(true)
	return t
}

func (t *Trace) wroteField(key string, _ []string) {
	switch {
	case t.dumped.Load() || t.stale.Load():
	case strings.HasPrefix(key, ":"):
		t.http2.Store(true)
	case strings.EqualFold(key, "Idempotency-Key"), strings.EqualFold(key, "X-Idempotency-Key"):
		t.keyed.Store(true)
	}
}

// speaksHTTP2 reports whether a connection that was handed out may have other requests on it.
func (t *Trace) speaksHTTP2(conn net.Conn) bool {
	if secure, ok := conn.(interface{ ConnectionState() tls.ConnectionState }); ok {
		return secure.ConnectionState().NegotiatedProtocol == "h2"
	}
	return t.H2C
}

// isDump reports whether a connection is the one of [httputil.DumpRequestOut], which a logging or recording transport uses: its hooks are
// called as if the request were sent.
func isDump(conn net.Conn) bool {
	return conn != nil && reflect.TypeOf(conn).String() == "*httputil.dumpConn"
}

// Stale reports whether a request that failed got only connections that were closed before anything was written: it may be sent again.
func (t *Trace) Stale(err error) bool {
	return t.stale.Load() && t.conns.Load() == 0 && (!t.wrote.Load() || isUnwritten(err) || isClosed(err))
}

// isClosed recognizes the error of a write on a connection that this side has closed. net/http shows it as that of a body that cannot be read.
func isClosed(err error) bool {
	return (errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)) && !several(err)
}

// Left returns when the request left at the latest, which may be long after it was handed over: the name, the connection, a proxy and
// TLS come first. Without hooks, or of a read, that is when it ended.
func (t *Trace) Left(ended time.Time) time.Time {
	if t == nil || t.conns.Load() == 0 || t.began.IsZero() {
		return ended
	}
	return t.began.Add(time.Duration(t.connected.Load()))
}

// Replays returns how often net/http sent the request again, or was about to.
func (t *Trace) Replays() int {
	if t == nil {
		return 0
	}
	return max(0, int(t.conns.Load())-1)
}

// Unwritten reports whether nothing was written by a request that failed; see [Trace.Failed]. Over HTTP/2, the end of a context can
// run ahead of the write, so this is no proof once the context has ended.
func (t *Trace) Unwritten(err error) bool {
	return t.asked.Load() && !t.wrote.Load() && (t.Plain || (t.conns.Load() > 0 || t.stale.Load()) && isUnwritten(err))
}

func (t *Trace) fails(err error) {
	if err != nil {
		t.mu.Lock()
		t.failures = append(t.failures, err)
		t.mu.Unlock()
	}
}

// Unprocessed reports whether the peer promises that it did not process a request that failed.
func (t *Trace) Unprocessed(err error) bool {
	return t.http2.Load() && isProtocolRefusal(err) || t.conns.Load() > 0 && !t.reused.Load() && isTLSRefusal(err)
}

// Failed returns the error of a request that failed: one that says so if there was no connection. The hooks prove how far it got if
// the transport is net/http's. The error of any other has to say the same.
func (t *Trace) Failed(err error, base http.RoundTripper, req *http.Request) error {
	if t.conns.Load() > 0 {
		return err
	}
	asked := t.asked.Load() && (t.Plain || t.isUnconnected(req.Context(), err) || refusedBy(base, err) == http.StatusProxyAuthRequired)
	if t.Unconnected = asked || t.Hooked || isProxyError(err, base, req); !t.Unconnected {
		return err
	}
	if status := refusedBy(base, err); status != 0 {
		err = status
	}
	return &connectError{err}
}

// promptly is how long a transport may take until it asks for a connection. One that takes longer may have failed to send on another way.
const promptly = 50 * time.Millisecond

// isUnconnected reports whether an error is a failure to connect that the hooks have seen, or one of package net, or the end of the
// context before anything failed, while it waited for the connection that it asked for at once.
func (t *Trace) isUnconnected(ctx context.Context, err error) bool {
	if several(err) {
		return false
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && (dial.Op == "dial" || dial.Op == "proxyconnect") {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.failures) == 0 && !t.late.Load() && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return true
	}
	return slices.ContainsFunc(t.failures, func(f error) bool { return errors.Is(err, f) })
}

// several reports whether an error is more than one, such as those of two ways of a transport: what one of them proves, another may refute.
func several(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if _, ok := err.(interface{ Unwrap() []error }); ok {
			return true
		}
	}
	return false
}

// isUnwritten recognizes the errors of net/http about a connection that could not be written to. It does not export them. Tests pin them
// for each Go release.
func isUnwritten(err error) bool {
	for ; err != nil && !several(err); err = errors.Unwrap(err) {
		text := err.Error()
		if text == "http: server closed idle connection" || fmt.Sprintf("%T", err) == "http.nothingWrittenError" {
			return true
		}
		if strings.HasPrefix(text, "net/http: HTTP/1.x transport connection broken: ") { // which may also be a response that cannot be read
			write, ok := errors.AsType[*net.OpError](err)
			return ok && write.Op == "write"
		}
	}
	return false
}

// isProxyError reports whether the function that names the proxy failed.
func isProxyError(err error, base http.RoundTripper, req *http.Request) bool {
	std, ok := base.(*http.Transport)
	if !ok || std.Proxy == nil {
		return false
	}
	_, failed := std.Proxy(req)
	return failed != nil && failed.Error() == err.Error()
}

// Words returns the text of an error of net or crypto/tls, or of net/http about a connection: it names hosts, addresses
// and certificates only. Of any other error it returns nothing.
func Words(err error) string {
	text := err.Error()
	switch err.(type) { //nolint:errorlint // what is inside is another error
	case *net.OpError, *net.DNSError, *tls.CertificateVerificationError, tls.RecordHeaderError,
		x509.UnknownAuthorityError, x509.HostnameError, x509.CertificateInvalidError, proxyError, *TooLargeError:
		return text
	}
	if strings.HasPrefix(text, "tls: ") || slices.Contains(handshakes, text) {
		return text
	}
	return ""
}

// handshakes are the texts of net/http about a handshake. It does not export their types.
var handshakes = []string{"http: server gave HTTP response to HTTPS client", "net/http: TLS handshake timeout"}

// isProtocolRefusal recognizes the HTTP/2 error that promises that nothing was processed: a GOAWAY that excludes the stream. A refused stream
// should be another (RFC 9113), but HAProxy sends that after the work, too, where the connection to the service then ended without a response.
// net/http does not export their types, so the whole text is matched, because parts of other texts are the peer's. Tests pin it for each Go release.
func isProtocolRefusal(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if err.Error() == excluded {
			return true
		}
	}
	return false
}

const excluded = "http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] " +
	"after Request.Body was written; define Request.GetBody to avoid this error"

// isTLSRefusal recognizes a peer that ended the handshake over the client's certificate, or over a
// missing one. In TLS 1.3 that shows after the request was written; on a new connection the request
// was not read.
func isTLSRefusal(err error) bool {
	alert, ok := errors.AsType[*net.OpError](err)
	if !ok || alert.Op != "remote error" || alert.Err == nil || several(err) {
		return false
	}
	switch alert.Err.Error() {
	case "tls: certificate required", "tls: bad certificate", "tls: unsupported certificate",
		"tls: revoked certificate", "tls: expired certificate", "tls: unknown certificate",
		"tls: unknown certificate authority", "tls: access denied":
		return true
	}
	return false
}

// IsPermanent reports failures to connect that no retry cures: a name that does not exist, a
// certificate that does not fit, a peer that does not speak TLS or our version of it, a proxy of the default transport that
// refuses.
func IsPermanent(err error) bool {
	if several(err) {
		return false
	}
	var (
		dns          *net.DNSError
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		host         x509.HostnameError
		invalid      x509.CertificateInvalidError
		record       tls.RecordHeaderError
		proxy        proxyError
	)
	return errors.As(err, &dns) && dns.IsNotFound || errors.As(err, &verification) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) ||
		errors.As(err, &record) || errors.As(err, &proxy) && proxy.permanent() || err != nil &&
		(strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "unsupported protocol scheme"))
}
