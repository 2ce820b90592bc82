package sandbox

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
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
	trace.getConn()
	body, err := readBody(req)
	if err == nil {
		err = req.Context().Err()
	}
	if err != nil {
		trace.connected()
		trace.wrote(err)
		return nil, err
	}
	d := t.sb.exchange(arrived(req, body), body)
	if d.fault.drop != dropRefuse {
		trace.connected()
		trace.wrote(nil)
	}
	err = t.sb.clock.Sleep(req.Context(), d.fault.latency)
	switch {
	case err != nil:
		return nil, err
	case d.fault.drop == dropRefuse: // nobody listens, and nothing was sent
		err = broken("dial", "connect", errRefused)
		trace.connecting(err)
		return nil, err
	case d.lost() && d.fault.reset:
		return nil, broken("read", "read", errReset)
	case d.lost():
		return nil, io.EOF
	}
	trace.firstByte()
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

// tracer fires the hooks of a request. Nil hooks are skipped.
type tracer struct{ *httptrace.ClientTrace }

func traceOf(req *http.Request) tracer {
	if t := httptrace.ContextClientTrace(req.Context()); t != nil {
		return tracer{t}
	}
	return tracer{&httptrace.ClientTrace{}}
}

func (t tracer) getConn() {
	if t.GetConn != nil {
		t.GetConn(hostPort)
	}
}

func (t tracer) connecting(err error) {
	if t.ConnectStart != nil {
		t.ConnectStart("tcp", hostPort)
	}
	if t.ConnectDone != nil {
		t.ConnectDone("tcp", hostPort, err)
	}
}

func (t tracer) connected() {
	t.connecting(nil)
	if t.GotConn != nil {
		t.GotConn(httptrace.GotConnInfo{Conn: noConn{closedConn}})
	}
}

// onIdle sends a request on a connection that the server closes at this moment, as Node.js does after six seconds. Nothing arrives.
func onIdle(req *http.Request) error {
	trace, conn := traceOf(req), &idleConn{Conn: closedConn}
	trace.getConn()
	if trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: conn, Reused: true, WasIdle: true, IdleTime: 6 * time.Second})
	}
	if conn.closed.Load() {
		return broken("write", "write", net.ErrClosed) // by the client, before anything was written
	}
	trace.wrote(nil)
	return broken("read", "read", errReset)
}

// idleConn is an idle connection in a trace.
type idleConn struct {
	net.Conn

	closed atomic.Bool
}

func (c *idleConn) LocalAddr() net.Addr  { return noConn{}.LocalAddr() }
func (c *idleConn) RemoteAddr() net.Addr { return noConn{}.RemoteAddr() }

func (c *idleConn) Close() error {
	c.closed.Store(true)
	return nil
}

func (t tracer) wrote(err error) {
	if t.WroteHeaders != nil {
		t.WroteHeaders()
	}
	if t.WroteRequest != nil {
		t.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
}

func (t tracer) firstByte() {
	if t.GotFirstResponseByte != nil {
		t.GotFirstResponseByte()
	}
}

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// noConn is the connection in a trace. It has addresses, and is closed.
type noConn struct{ net.Conn }

var closedConn = func() net.Conn {
	conn, _ := net.Pipe()
	_ = conn.Close() // a pipe always closes
	return conn
}()

func (noConn) LocalAddr() net.Addr  { return address("127.0.0.1:1") }
func (noConn) RemoteAddr() net.Addr { return address(hostPort) }
