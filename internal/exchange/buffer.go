package exchange

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"example.com/prospectkit/internal/redact"
)

// buffers hold bodies while they are decoded. Most are pages of about the same size. They are empty
// when borrowed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the largest buffer that is kept: more than a page of 1,000 rows. It also bounds what
// is allocated for an announced length.
const maxBuffer = 4 << 20

func borrow() *[]byte { return buffers.Get().(*[]byte) }

// Release returns the body of a result to the pool.
func Release(b *[]byte) {
	if b == nil || cap(*b) > maxBuffer {
		return
	}
	Wipe(*b)
	*b = (*b)[:0] // no later response may show an earlier one
	buffers.Put(b)
}

// Wipe is a hook for tests that nothing outlives its buffer.
var Wipe = func([]byte) {}

// sized returns an empty buffer for a text of about that size, or of unknown size if it is
// negative.
func sized(buf []byte, size int64) []byte {
	if size < 0 {
		size = 4 << 10
	}
	if size < int64(cap(buf)) {
		return buf
	}
	size = min(size, maxBuffer)
	return make([]byte, 0, size+size/16+1) // the next page may be a little larger
}

// readAll appends everything that is read. It fails beyond the limit.
func readAll(buf []byte, from io.Reader, limit int64, progress func()) ([]byte, error) {
	const step = 64 << 10
	for untilProgress := step; ; {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, max(len(buf), 1))
		}
		n, err := from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return buf[:limit], &TooLargeError{limit}
		}
		if untilProgress -= n; untilProgress <= 0 {
			progress()
			untilProgress = step
		}
		switch {
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return buf, redact.WithoutURL(err)
		}
	}
}

// isGzip reports whether a body is compressed. That of a recording may be plain despite its header.
func isGzip(body []byte) bool { return bytes.HasPrefix(body, []byte{0x1f, 0x8b}) }

// gunzipper is a decompressor, which has 40 KiB of tables.
type gunzipper struct {
	gzip.Reader
	from bytes.Reader
}

var gunzippers = sync.Pool{New: func() any { return new(gunzipper) }}

// gunzip releases a compressed body and returns its text.
func gunzip(packed *[]byte, limit int64) (*[]byte, error) {
	defer Release(packed)
	z := gunzippers.Get().(*gunzipper)
	defer gunzippers.Put(z)
	z.from.Reset(*packed)
	defer z.from.Reset(nil)
	body := borrow()
	err := z.Reset(&z.from)
	if err != nil {
		return body, err
	}
	const mostRatio = 1032 // of deflate: the length at the end of gzip may be false
	size := int64(binary.LittleEndian.Uint32((*packed)[len(*packed)-4:]))
	*body, err = readAll(sized(*body, min(size, mostRatio*int64(len(*packed)), limit)), z, limit, func() {})
	return body, err
}

// TooLargeError says that a body was longer than the limit, in bytes.
type TooLargeError struct{ Limit int64 }

// Error names the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the response is longer than %d bytes", e.Limit)
}
