package prospectkit

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
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

// read reads the whole answer, of an error page the beginning. Each 64 KiB of progress renews the time limit, so that a large page
// over a slow line gets through and a drip does not hold the call for ever.
func (a *attempt) read(resp *http.Response, progress func()) {
	const errorPage = 256 << 10
	limit := a.call.client.conf.maxBody
	if !success(resp.StatusCode) {
		limit = min(limit, errorPage)
	}
	packed := resp.ContentLength != 0 && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip")
	if packed { // because we have asked for it, or a recording says so
		resp.Header = maps.Clone(resp.Header) // which a recording may use again
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
	}
	a.body = borrowBuffer()
	if size := resp.ContentLength; size > limit && success(resp.StatusCode) {
		a.bodyErr = &tooLargeError{limit}
	} else {
		*a.body, a.bodyErr = fill(room(*a.body, min(size, limit)), resp.Body, limit, progress)
	}
	_ = resp.Body.Close()
	if packed && zipped(*a.body) && (a.bodyErr == nil || !success(resp.StatusCode)) {
		a.unzip(limit)
	}
	if !success(resp.StatusCode) {
		a.bodyErr = nil // the status counts; whether the envelope is whole shows when it is read
	}
}

// room returns an empty buffer, or makes one that is large enough; size is negative if it is not known.
func room(buf []byte, size int64) []byte {
	if size < 0 {
		size = 4 << 10
	}
	if size < int64(cap(buf)) {
		return buf
	}
	return make([]byte, 0, size+size/16+1) // the next page may be a little larger
}

// fill reads on to the end, or up to the limit, which is an error.
func fill(buf []byte, from io.Reader, limit int64, progress func()) ([]byte, error) {
	const step = 64 << 10
	for sinceReset := step; ; {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
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
func (a *attempt) unzip(limit int64) {
	packed := a.body
	defer returnBuffer(packed)
	z := unzippers.Get().(*unzipper)
	defer unzippers.Put(z)
	z.from.Reset(*packed)
	defer z.from.Reset(nil)
	a.body = borrowBuffer()
	if a.bodyErr = z.Reset(&z.from); a.bodyErr != nil {
		return
	}
	const most = 1032 // times, by which it can have shrunk: the length that it names at its end need not be true
	size := int64(binary.LittleEndian.Uint32((*packed)[len(*packed)-4:]))
	*a.body, a.bodyErr = fill(room(*a.body, min(size, most*int64(len(*packed)), limit)), z, limit, func() {})
}

// tooLargeError says that an answer was longer than this client reads.
type tooLargeError struct{ limit int64 }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("the answer is longer than %d bytes", e.limit)
}
