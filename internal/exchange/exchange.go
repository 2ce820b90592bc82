package exchange

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/redact"
)

// Result is the result of an exchange.
type Result struct {
	Response *http.Response
	Err      error   // why there is no response
	Body     *[]byte // for Release: keep nothing of it
	BodyErr  error   // why the body of a success is incomplete
}

// Timer is a [time.Timer] or a [TimeLimit].
type Timer interface {
	Reset(after time.Duration) bool
	Stop() bool
}

// Exchange sends a request and reads the response. It knows nothing of its call, so that it can be
// abandoned.
type Exchange struct {
	runner
	Result

	Base    http.RoundTripper
	Request *http.Request
	Upload  *Upload
	MaxBody int64
	Timer   Timer         // ends the attempt; what arrives restarts it
	Silence time.Duration // that ends it
	Began   time.Time     // when it was set

	arrived atomic.Pointer[http.Response]
	body    io.Closer // of what has arrived: the caller may replace that in the response
}

// Do runs the exchange in this goroutine.
func (x *Exchange) Do() Result {
	x.do()
	return x.Result
}

// DoOrAbandon runs the exchange in a goroutine of its own. If it returns neither when ctx ends nor
// when it is closed, it is abandoned after two tenths of a second, and may go on. So the request gets a header and a URL of
// its own first: a transport may write to them, and at any time.
func (x *Exchange) DoOrAbandon(ctx context.Context) (r Result, abandoned bool) {
	x.Request.Header, x.Request.URL = x.Request.Header.Clone(), new(*x.Request.URL)
	if !x.run(ctx, x) {
		return x.known(context.Cause(ctx)), true
	}
	return x.Result, false
}

func (x *Exchange) do() {
	if x.Upload != nil {
		defer x.Upload.Close() // not every transport closes it, nor does one that panics
	}
	if InBrowser() {
		x.withoutRedirects()
	}
	x.Response, x.Err = normalize(x.Base.RoundTrip(x.Request)) //nolint:bodyclose // read does
	if x.Err == nil {
		if x.Response.StatusCode == http.StatusTooManyRequests {
			x.Silence = min(x.Silence, refusalLimit)
		}
		x.renew()
		x.read()
	}
}

// refusalLimit is how long the body of a 429 may take. Its header says all, and others may be sent into the pause that it asks for.
const refusalLimit = time.Second

// normalize corrects what only a transport outside of net/http returns.
func normalize(resp *http.Response, err error) (*http.Response, error) {
	switch {
	case err != nil:
		return nil, err
	case resp == nil:
		return nil, redact.OwnError("the transport returned neither a response nor an error")
	case resp.Body == nil:
		resp.Body = http.NoBody
	}
	return resp, nil
}

// renew restarts the time limit of the attempt, unless the attempt has taken as long as 64 of them.
func (x *Exchange) renew() {
	if time.Since(x.Began)/64 < x.Silence {
		x.Timer.Reset(x.Silence)
	}
}

func (x *Exchange) interrupt() {
	if x.Upload != nil {
		closeAsync(x.Upload)
	}
	if x.arrived.Load() != nil { //nolint:bodyclose // closeAsync does
		closeAsync(x.body)
	}
}

// known is the result of an abandoned exchange so far. It shares no request and no response with it.
func (x *Exchange) known(cause error) Result {
	resp := x.arrived.Load() //nolint:bodyclose // interrupt has done what can be done
	if resp == nil {
		return Result{Err: cause}
	}
	r := Result{Response: &http.Response{StatusCode: resp.StatusCode, Header: resp.Header}, Body: borrow()}
	if successful(resp) {
		r.BodyErr = cause
	}
	return r
}

func successful(resp *http.Response) bool { return resp.StatusCode >= 200 && resp.StatusCode < 300 }

// read reads the whole response, or the beginning of an unsuccessful one. Each 64 KiB restarts the
// time limit, so that a large page gets through a slow connection, but a drip does not hold the
// call for hours.
func (x *Exchange) read() {
	const errorPage = 256 << 10
	resp, limit, ok := x.Response, x.MaxBody, successful(x.Response)
	if !ok {
		limit = min(limit, errorPage)
	}
	encoding := strings.ToLower(resp.Header.Get("Content-Encoding"))
	gzipped := resp.ContentLength != 0 && (encoding == "gzip" || encoding == "x-gzip") // which RFC 9110 wants taken for gzip
	if gzipped {                                                                       // because the client has asked for it, or a recording says so
		resp.Header = maps.Clone(resp.Header) // which a recording may reuse
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
	}
	x.Body = borrow()
	x.body = resp.Body
	x.arrived.Store(resp)
	switch size := resp.ContentLength; {
	case resp.StatusCode < http.StatusOK: // the body is the connection itself, which no context ends
	case size > limit && ok:
		x.BodyErr = &TooLargeError{limit}
	default:
		*x.Body, x.BodyErr = readAll(sized(*x.Body, min(size, limit)), x, limit, x.renew)
	}
	_ = resp.Body.Close()
	if gzipped && isGzip(*x.Body) {
		var err error
		x.Body, err = gunzip(x.Body, limit)
		x.BodyErr = cmp.Or(x.BodyErr, err)
	}
	if !ok {
		x.BodyErr = nil // the status counts, whatever is left of the envelope
	}
}

// Read reads the body, unless the exchange was abandoned.
func (x *Exchange) Read(p []byte) (int, error) {
	if x.over.Load() {
		return 0, errOver
	}
	return x.Response.Body.Read(p)
}
