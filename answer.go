package prospectkit

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// buffers hold answers while they are decoded: mostly pages, which are all of about the same size. They are empty when borrowed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// largestBuffer is what is worth keeping: more than a page of 1,000 rows.
const largestBuffer = 4 << 20

// spare is the buffer that was used last, if it is no larger than most pages of rows. The pool forgets what another processor has used.
var spare atomic.Pointer[[]byte]

const largestSpare = 1 << 20

func borrowBuffer() *[]byte {
	if b := spare.Swap(nil); b != nil {
		return b
	}
	return buffers.Get().(*[]byte)
}

func returnBuffer(b *[]byte) {
	if b == nil || cap(*b) > largestBuffer {
		return
	}
	wipe(*b)
	*b = (*b)[:0] // nobody is to see another answer
	if cap(*b) > largestSpare || !spare.CompareAndSwap(nil, b) {
		buffers.Put(b)
	}
}

// wipe is for tests, which make sure that nothing outlives its buffer.
var wipe = func([]byte) {}

func (a *attempt) release() {
	returnBuffer(a.body)
	a.body = nil
}

// reply is what an exchange brings.
type reply struct {
	resp    *http.Response
	err     error   // why there is no response
	body    *[]byte // from buffers: nothing of it may outlive the attempt
	bodyErr error
}

// exchange sends a request and reads the response. It knows nothing of its call, so that it can be left behind.
type exchange struct {
	errand
	reply
	base    http.RoundTripper
	request *http.Request
	upload  *streamBody
	limit   int64         // of the body
	timer   *time.Timer   // ends the attempt
	silence time.Duration // after which it does
	arrived atomic.Pointer[http.Response]
}

// renew gives the attempt its time again.
func (x *exchange) renew() { x.timer.Reset(x.silence) }

func (x *exchange) do() {
	x.resp, x.err = sound(x.base.RoundTrip(x.request)) //nolint:bodyclose // read does
	if x.err == nil {
		x.renew()
		x.read()
	}
	if x.upload != nil {
		_ = x.upload.Close() // not every transport does
	}
}

// help closes what the exchange may be stuck in.
func (x *exchange) help() {
	if x.upload != nil {
		closeApart(x.upload)
	}
	if resp := x.arrived.Load(); resp != nil { //nolint:bodyclose // closeApart does
		closeApart(resp.Body)
	}
}

func (x *exchange) late() { returnBuffer(x.body) }

// leave tells what is known when the exchange is given up. The response itself may still be written to.
func (x *exchange) leave(cause error) reply {
	resp := x.arrived.Load() //nolint:bodyclose // help has done what can be done
	if resp == nil {
		return reply{err: cause}
	}
	r := reply{resp: &http.Response{StatusCode: resp.StatusCode, Header: resp.Header, Request: x.request}, body: borrowBuffer()}
	if success(resp.StatusCode) {
		r.bodyErr = cause
	}
	return r
}

// read reads the whole answer, of an error page the beginning. Each 64 KiB of progress renews the time limit, so that a large page
// over a slow line gets through and a drip does not hold the call for ever.
func (x *exchange) read() {
	const errorPage = 256 << 10
	resp, limit, ok := x.resp, x.limit, success(x.resp.StatusCode)
	if !ok {
		limit = min(limit, errorPage)
	}
	packed := resp.ContentLength != 0 && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip")
	if packed { // because we have asked for it, or a recording says so
		resp.Header = maps.Clone(resp.Header) // which a recording may use again
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
	}
	x.body = borrowBuffer()
	x.arrived.Store(resp)
	switch size := resp.ContentLength; {
	case resp.StatusCode < http.StatusOK: // net/http hands the connection itself over, which no context ends
	case size > limit && ok:
		x.bodyErr = &tooLargeError{limit}
	default:
		*x.body, x.bodyErr = fill(room(*x.body, min(size, limit)), x, limit, x.renew)
	}
	_ = resp.Body.Close()
	if packed && zipped(*x.body) && (x.bodyErr == nil || !ok) {
		x.unzip(limit)
	}
	if !ok {
		x.bodyErr = nil // the status counts; whether the envelope is whole shows when it is read
	}
}

// Read reads the body, until the exchange is given up.
func (x *exchange) Read(p []byte) (int, error) {
	if x.over.Load() {
		return 0, errStreamOver
	}
	return x.resp.Body.Read(p)
}

// largestAhead is what is made ahead of the text, for a length that was only said.
const largestAhead = largestBuffer

// room returns an empty buffer, or makes one that is large enough for most texts of that size; size is negative if it is not known.
func room(buf []byte, size int64) []byte {
	if size < 0 {
		size = 4 << 10
	}
	if size < int64(cap(buf)) {
		return buf
	}
	size = min(size, largestAhead)
	return make([]byte, 0, size+size/16+1) // the next page may be a little larger
}

// fill reads on to the end, or up to the limit, which is an error.
func fill(buf []byte, from io.Reader, limit int64, progress func()) ([]byte, error) {
	const step = 64 << 10
	for sinceReset := step; ; {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, max(len(buf), 1))
		}
		n, err := from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return buf[:limit], &tooLargeError{limit}
		}
		if sinceReset -= n; sinceReset <= 0 {
			progress()
			sinceReset = step
		}
		switch {
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return buf, withoutURL(err)
		}
	}
}

// zipped reports whether a text is one of gzip's: a recording may say so and hold the plain text.
func zipped(body []byte) bool { return bytes.HasPrefix(body, []byte{0x1f, 0x8b}) }

// unzipper is a decompressor, which has 40 KiB of tables.
type unzipper struct {
	gzip.Reader
	from bytes.Reader
}

var unzippers = sync.Pool{New: func() any { return new(unzipper) }}

// unzip takes a compressed body for what is in it.
func (x *exchange) unzip(limit int64) {
	packed := x.body
	defer returnBuffer(packed)
	z := unzippers.Get().(*unzipper)
	defer unzippers.Put(z)
	z.from.Reset(*packed)
	defer z.from.Reset(nil)
	x.body = borrowBuffer()
	if x.bodyErr = z.Reset(&z.from); x.bodyErr != nil {
		return
	}
	const most = 1032 // times, by which it can have shrunk: the length that it names at its end need not be true
	size := int64(binary.LittleEndian.Uint32((*packed)[len(*packed)-4:]))
	*x.body, x.bodyErr = fill(room(*x.body, min(size, most*int64(len(*packed)), limit)), z, limit, func() {})
}

// tooLargeError says that an answer was longer than this client reads.
type tooLargeError struct{ limit int64 }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("the answer is longer than %d bytes", e.limit)
}
