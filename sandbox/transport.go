package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"sync/atomic"
	"time"
)

// invalidHost is reserved: no name server knows it, so a client without the transport reaches nobody.
const (
	invalidHost = "sandbox.invalid"
	hostPort    = invalidHost + ":443"
)

// BaseURL is the base URL for a client with the sandbox's transport.
func (sb *Sandbox) BaseURL() string { return "https://" + invalidHost + basePath }

// Transport handles requests in the process, without socket or goroutine. It reaches only the host of [Sandbox.BaseURL].
//
// The hooks of net/http/httptrace are called in order, and are true to what was sent.
func (sb *Sandbox) Transport() http.RoundTripper { return transport{sb} }

// Client is an http.Client with the transport.
func (sb *Sandbox) Client() *http.Client { return &http.Client{Transport: sb.Transport()} }

type transport struct{ sb *Sandbox }

// RoundTrip gives a request to the rules and returns the response.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if u := cmp.Or(req.URL, new(url.URL)); u.Host != invalidHost && u.Host != hostPort || u.Scheme != "https" {
		return nil, fmt.Errorf("sandbox: refused to leave for \"%s://%s\": this transport reaches only %s", u.Scheme, u.Host, invalidHost)
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	trace := traceOf(req)
	trace.GetConn(hostPort)
	body, err := readBody(req)
	if err == nil {
		err = req.Context().Err()
	}
	if err != nil {
		wrote(trace, err)
		return nil, err
	}
	d := t.sb.exchange(arrived(req, body), body)
	if d.fault.drop != dropRefuse {
		wrote(trace, nil)
	}
	err = t.sb.clock.Sleep(req.Context(), d.fault.latency)
	switch {
	case err != nil:
		return nil, err
	case d.fault.drop == dropRefuse: // nobody listens, and nothing was sent
		err = broken("dial", "connect", errRefused)
		trace.ConnectStart("tcp", hostPort)
		trace.ConnectDone("tcp", hostPort, err)
		return nil, err
	case d.lost() && d.fault.reset:
		return nil, broken("read", "read", errReset)
	case d.lost():
		return nil, io.EOF
	}
	trace.GotFirstResponseByte()
	return d.httpResponse(req, t.sb.clock), nil
}

func broken(operation, call string, err error) error {
	return &net.OpError{Op: operation, Net: "tcp", Addr: address(hostPort), Err: os.NewSyscallError(call, err)}
}

// arrived is the request as a server receives it.
func arrived(req *http.Request, body []byte) *http.Request {
	r := new(http.Request).WithContext(req.Context())
	r.Method, r.Header, r.Host = cmp.Or(req.Method, http.MethodGet), req.Header.Clone(), cmp.Or(req.Host, invalidHost)
	if r.Header == nil {
		r.Header = http.Header{}
	}
	u := *req.URL
	r.URL = &url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}
	r.RequestURI = u.RequestURI()
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	if r.ContentLength = int64(len(body)); r.ContentLength > 0 && req.ContentLength <= 0 {
		r.TransferEncoding = []string{"chunked"}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	return r
}

func (d *delivery) httpResponse(req *http.Request, clock Clock) *http.Response {
	resp := &http.Response{
		Status:     strconv.Itoa(d.response.status) + " " + http.StatusText(d.response.status),
		StatusCode: d.response.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  d.response.header,
		Request: req,
		Body:    http.NoBody,
	}
	if !bodyAllowed(d.response.status) {
		return resp
	}
	resp.ContentLength = d.length()
	resp.Header.Set("Content-Length", strconv.FormatInt(d.length(), 10))
	if req.Method != http.MethodHead {
		resp.Body = d.body(req.Context(), clock)
	}
	return resp
}

// traceOf are the hooks of a request. Those that it lacks do nothing.
func traceOf(req *http.Request) *httptrace.ClientTrace {
	all := &httptrace.ClientTrace{
		GetConn: func(string) {}, ConnectStart: func(_, _ string) {}, ConnectDone: func(_, _ string, _ error) {}, GotConn: func(httptrace.GotConnInfo) {},
		WroteHeaders: func() {}, WroteRequest: func(httptrace.WroteRequestInfo) {}, GotFirstResponseByte: func() {},
	}
	if given := httptrace.ContextClientTrace(req.Context()); given != nil {
		for from, to, i := reflect.ValueOf(given).Elem(), reflect.ValueOf(all).Elem(), 0; i < to.NumField(); i++ {
			if !from.Field(i).IsNil() {
				to.Field(i).Set(from.Field(i))
			}
		}
	}
	return all
}

// wrote goes through the hooks of a request that was sent on a new connection.
func wrote(trace *httptrace.ClientTrace, err error) {
	trace.ConnectStart("tcp", hostPort)
	trace.ConnectDone("tcp", hostPort, nil)
	trace.GotConn(httptrace.GotConnInfo{Conn: newTracedConn()})
	trace.WroteHeaders()
	trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
}

// onIdle sends a request on a connection that the server closes at this moment, as Node.js does after six seconds. Nothing arrives.
func onIdle(req *http.Request) error {
	trace, conn := traceOf(req), newTracedConn()
	trace.GetConn(hostPort)
	trace.GotConn(httptrace.GotConnInfo{Conn: conn, Reused: true, WasIdle: true, IdleTime: 6 * time.Second})
	if conn.closed.Load() {
		return broken("write", "write", net.ErrClosed) // by the client, before anything was written
	}
	trace.WroteHeaders()
	trace.WroteRequest(httptrace.WroteRequestInfo{})
	return broken("read", "read", errReset)
}

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// tracedConn is the connection in a trace. It has addresses, and nothing behind it.
type tracedConn struct {
	net.Conn

	closed atomic.Bool
}

func newTracedConn() *tracedConn {
	conn, _ := net.Pipe()
	_ = conn.Close() // a pipe always closes
	return &tracedConn{Conn: conn}
}

func (*tracedConn) LocalAddr() net.Addr  { return address("127.0.0.1:1") }
func (*tracedConn) RemoteAddr() net.Addr { return address(hostPort) }

func (c *tracedConn) Close() error {
	c.closed.Store(true)
	return nil
}

// delivery is a response while it is sent, and what a fault does to it.
type delivery struct {
	response  response
	fault     *Fault
	processed bool // the rules accepted the request
}

// lost reports whether no response is sent.
func (d *delivery) lost() bool { return d.fault.drop != dropNever }

// length is what Content-Length says.
func (d *delivery) length() int64 { return max(int64(len(d.response.body)), d.fault.oversize) }

// body delivers the response as the fault wants it.
func (d *delivery) body(ctx context.Context, clock Clock) *body {
	f := d.fault
	b := &body{ctx: ctx, clock: clock, rest: d.response.body, stall: f.stall, end: io.EOF}
	b.padding = d.length() - int64(len(b.rest))
	if f.truncate != nil {
		if n := f.truncate(d.length()); n < d.length() {
			b.padding = max(0, min(b.padding, n-int64(len(b.rest))))
			b.rest, b.end = b.rest[:min(n, int64(len(b.rest)))], io.ErrUnexpectedEOF
		}
	}
	return b
}

// body is a response body that may be late, long or cut short.
type body struct {
	ctx     context.Context //nolint:containedctx // Read takes none
	clock   Clock
	rest    []byte
	padding int64 // spaces behind the rest
	stall   time.Duration
	end     error
	closed  atomic.Bool // a body may be closed while it is read
}

// Read waits on the clock if the body is late. A client that has given up gets the error of its context.
func (b *body) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.stall > 0 {
		stall := b.stall
		b.stall = 0
		if err := b.clock.Sleep(b.ctx, stall); err != nil {
			return 0, err
		}
	}
	if len(b.rest) == 0 && b.padding == 0 {
		return 0, b.end
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	for ; n < len(p) && b.padding > 0; n++ {
		p[n] = ' '
		b.padding--
	}
	return n, nil
}

// Close ends the body.
func (b *body) Close() error {
	b.closed.Store(true)
	return nil
}

func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// write delivers over a connection.
func (d *delivery) write(w http.ResponseWriter, r *http.Request, clock Clock) {
	if clock.Sleep(r.Context(), d.fault.latency) != nil {
		panic(http.ErrAbortHandler)
	}
	if d.lost() {
		cut(w, d.fault.reset || d.fault.drop == dropRefuse)
		return
	}
	maps.Copy(w.Header(), d.response.header)
	if !bodyAllowed(d.response.status) || r.Method == http.MethodHead {
		w.WriteHeader(d.response.status)
		return
	}
	w.Header().Set("Content-Length", strconv.FormatInt(d.length(), 10))
	w.WriteHeader(d.response.status)
	flush := func() {
		if d.fault != noFault {
			_ = http.NewResponseController(w).Flush() // a recorder cannot
		}
	}
	flush()
	_, err := io.Copy(w, d.body(r.Context(), clock))
	if flush(); err != nil {
		panic(http.ErrAbortHandler) // cut short, on purpose or because the client went away
	}
}

// cut ends a connection without a response.
func cut(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2, or a recorder
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0) // without it, the cut is a plain end
	}
	_ = conn.Close() // there is nobody to tell
}
