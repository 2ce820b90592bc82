package exchange

import (
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

// TooLargeError says that a body was longer than the limit, in bytes.
type TooLargeError struct{ Limit int64 }

// Error names the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the response is longer than %d bytes", e.Limit)
}
