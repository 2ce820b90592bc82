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

// buffers hold bodies while they are decoded. Most are pages of about the same size. They are empty when borrowed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is what is worth keeping: more than a page of 1,000 rows. It also bounds what is allocated for a length that was only
// announced.
const maxBuffer = 4 << 20

func borrow() *[]byte { return buffers.Get().(*[]byte) }

// Release takes the body of a result back.
func Release(b *[]byte) {
	if b == nil || cap(*b) > maxBuffer {
		return
	}
	Wipe(*b)
	*b = (*b)[:0] // no later response is to show an earlier one
	buffers.Put(b)
}

// Wipe is for tests, which make sure that nothing outlives its buffer.
var Wipe = func([]byte) {}

// sized returns an empty buffer that fits most texts of that size; size is negative if it is not known.
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

// readAll appends everything up to the limit, beyond which it fails.
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

// isGzip tells compressed from plain text: a recording may name gzip and hold the plain text.
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
	const mostRatio = 1032 // of deflate: the length that gzip names at its end need not be true
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
