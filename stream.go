package prospectkit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// stream is a request body that is read while it is sent. It is opened once for each attempt, and its length is known before.
type stream struct {
	contentType string
	length      int64
	open        func() (*streamBody, error)
}

// streamBody is a source between two pieces of text. The second piece says that the body is whole, and it is handed over only
// if the attempt is not over by then: so whether the peer can have got the end is known for certain, whatever the transport.
type streamBody struct {
	head, tail *bytes.Reader
	source     io.Reader
	left       int64 // of the source
	close      func() error
	progress   func(n int64) // bytes of the source handed over
	end        atomic.Int32
}

// What became of the end of a body.
const (
	endHandedOver int32 = iota + 1
	endKept
)

var errStreamOver = errors.New("the attempt is over")

// newStreamBody frames a source of exactly size bytes.
func newStreamBody(head, tail []byte, source io.ReadCloser, size int64, progress func(int64)) *streamBody {
	return &streamBody{
		head: bytes.NewReader(head), tail: bytes.NewReader(tail), source: source, left: size,
		close: sync.OnceValue(source.Close), progress: progress,
	}
}

// Read reads the head, the source and, unless the attempt is over, the tail.
func (b *streamBody) Read(p []byte) (int, error) {
	switch {
	case b.end.Load() == endKept:
		return 0, errStreamOver
	case b.head.Len() > 0:
		return b.head.Read(p)
	case b.left > 0:
		return b.readSource(p)
	case b.end.Load() == 0:
		if err := b.finish(); err != nil {
			return 0, err
		}
	}
	return b.tail.Read(p)
}

func (b *streamBody) readSource(p []byte) (int, error) {
	n, err := b.source.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if n > 0 {
		b.progress(int64(n))
	}
	switch {
	case err == io.EOF && b.left > 0:
		return n, fmt.Errorf("the file ended %d bytes before the size that was given", b.left)
	case err == io.EOF:
		return n, nil
	}
	return n, err
}

// finish looks that the source holds no more than was said, which would be lost, and commits to the end.
func (b *streamBody) finish() error {
	var more [1]byte
	switch n, err := io.ReadFull(b.source, more[:]); {
	case n > 0:
		return errors.New("the file is longer than the size that was given")
	case err != io.EOF:
		return err
	}
	_ = b.close() // not every transport closes what it has read
	if !b.end.CompareAndSwap(0, endHandedOver) {
		return errStreamOver
	}
	return nil
}

// Close closes the source.
func (b *streamBody) Close() error { return b.close() }

// cutShort ends the attempt for the body, and reports whether its end was never handed over.
func (b *streamBody) cutShort() bool {
	b.end.CompareAndSwap(0, endKept)
	return b.end.Load() == endKept
}
