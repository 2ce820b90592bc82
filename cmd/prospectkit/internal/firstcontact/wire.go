package firstcontact

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/redact"
)

// MaxRequests bounds the requests of one run, with everything that is sent twice.
func MaxRequests() int { return len(plan()) + 6 }

var (
	errTooMany = errors.New("the run has sent all its requests")
	errWrites  = errors.New("the run sends only GET requests")
)

// exchange is a request and its response, in which the key is hidden: also where it is the name of a field.
type exchange struct {
	path   string
	status int
	header http.Header
	body   []byte
	at     time.Time // by the header Date, or else by the clock here
	dated  bool
}

// recorder is the transport of a run. It lets only GET requests through, and only so many.
type recorder struct {
	next  http.RoundTripper
	key   redact.Secrets
	most  int // requests
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
	e := &exchange{path: req.URL.Path, status: resp.StatusCode, header: r.key.Header(resp.Header, body), body: []byte(r.key.Hide(string(body), false)), at: time.Now()}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		e.at, e.dated = at, true
	}
	r.last = e
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// NewTransport returns the transport of the command: HTTP/1.1 with a connection for each request. net/http repeats a GET if a connection
// that it used before breaks: none is used twice.
func NewTransport() http.RoundTripper {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 256 << 10, Protocols: new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	return t
}
