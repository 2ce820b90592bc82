package firstcontact

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// MaxRequests bounds the requests of one run, with everything that is sent twice.
func MaxRequests() int { return len(plan()) + 6 }

var (
	errTooMany = errors.New("the run has sent all its requests")
	errWrites  = errors.New("the run sends only GET requests")
)

// exchange is a request and its response.
type exchange struct {
	path   string
	status int
	header http.Header
	names  []string // of the headers as they came; empty if that cannot be told
	body   []byte
	at     time.Time // by the header Date, or else by the clock here
	dated  bool
}

// recorder is the transport of a run. It lets only GET requests through, and only so many.
type recorder struct {
	next  http.RoundTripper
	most  int   // requests
	wire  *wire // nil: the names of headers are those of the map
	sent  atomic.Int32
	noKey bool
	last  *exchange
}

const longestBody = 32 << 20

// RoundTrip sends a request and keeps its response.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.Method != http.MethodGet || req.Body != nil && req.Body != http.NoBody:
		return nil, errWrites
	case int(r.sent.Load()) >= r.most:
		return nil, errTooMany
	}
	r.sent.Add(1)
	if r.noKey {
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestBody))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	e := &exchange{path: req.URL.Path, status: resp.StatusCode, header: resp.Header.Clone(), body: body, at: time.Now()}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		e.at, e.dated = at, true
	}
	if r.wire != nil {
		if resp.ProtoMajor == 1 {
			e.names = r.wire.names()
		}
	} else {
		for name := range resp.Header {
			if name != http.CanonicalHeaderKey(name) { // only then nothing has rewritten it
				e.names = append(e.names, name)
			}
		}
	}
	r.last = e
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// wire remembers the header of the last response as it came over the connection. net/http rewrites the names of headers.
type wire struct {
	mu   sync.Mutex
	head []byte
	done bool
}

const longestHead = 64 << 10

// NewTransport returns the transport of the command: a connection for each request, HTTP/1.1, the header of each response kept.
func NewTransport() http.RoundTripper {
	w := new(wire)
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, // net/http repeats a GET if a connection that it used before breaks: none is used twice
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 256 << 10, Protocols: new(http.Protocols),
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return w.tap(dialer.DialContext(ctx, network, address))
		},
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			d := tls.Dialer{NetDialer: dialer, Config: &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}}
			return w.tap(d.DialContext(ctx, network, address))
		},
	}
	t.Protocols.SetHTTP1(true)
	return &tapped{t, w}
}

// tapped is a transport with its wire.
type tapped struct {
	*http.Transport
	wire *wire
}

// wiretap is a connection that keeps the header of a response.
type wiretap struct {
	net.Conn
	wire *wire
}

func (w *wire) tap(conn net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return &wiretap{conn, w}, nil
}

// Write begins another exchange.
func (t *wiretap) Write(p []byte) (int, error) {
	t.wire.mu.Lock()
	t.wire.head, t.wire.done = t.wire.head[:0], false
	t.wire.mu.Unlock()
	return t.Conn.Write(p)
}

// Read keeps what arrives, up to the end of the header.
func (t *wiretap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	if !t.wire.done {
		t.wire.head = append(t.wire.head, p[:n]...)
		if i := bytes.Index(t.wire.head, []byte("\r\n\r\n")); i >= 0 {
			t.wire.head, t.wire.done = t.wire.head[:i], true
		} else if len(t.wire.head) > longestHead {
			t.wire.head, t.wire.done = nil, true
		}
	}
	return n, err
}

// names returns the names of the headers of the last response.
func (w *wire) names() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done || !bytes.HasPrefix(w.head, []byte("HTTP/")) {
		return nil
	}
	var all []string
	_, fields, _ := strings.Cut(string(w.head), "\r\n")
	for line := range strings.SplitSeq(fields, "\r\n") {
		if name, _, ok := strings.Cut(line, ":"); ok {
			all = append(all, name)
		}
	}
	return all
}
