package prospectkit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// stream is a request body that is read while it is sent. It is opened once for each attempt, and its length is known before.
type stream struct {
	contentType string
	length      int64
	check       func(ctx context.Context, limit time.Duration, bad *checks)
	open        func(ctx context.Context, limit time.Duration) (*streamBody, error)
}

// opening opens a source and looks at its beginning, each of which may hang.
type opening struct {
	errand
	source func() (io.ReadCloser, error)
	ahead  int // bytes to look at
	opened atomic.Pointer[io.ReadCloser]
	buffer *bufio.Reader
	head   []byte
	err    error
}

// openSource opens a source and looks at its first bytes, which it will give again.
func openSource(ctx context.Context, limit time.Duration, source func() (io.ReadCloser, error), ahead int) (io.ReadCloser, []byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSourceTimeout)
	defer cancel()
	o := &opening{source: source, ahead: ahead}
	switch back := o.run(ctx, o); {
	case ctx.Err() != nil:
		if back {
			o.help()
		}
		return nil, nil, fmt.Errorf("cannot be read: %w", context.Cause(ctx))
	case o.err != nil:
		return nil, nil, o.err
	}
	return struct {
		io.Reader
		io.Closer
	}{o.buffer, *o.opened.Load()}, o.head, nil
}

func (o *opening) do() {
	file, err := o.source()
	if err == nil && file == nil {
		err = errors.New("Open returned nothing") //nolint:staticcheck // it is the name of a field
	}
	if err != nil {
		o.err = fmt.Errorf("cannot be opened: %w", withoutURL(err))
		return
	}
	o.opened.Store(&file)
	o.buffer = bufio.NewReaderSize(file, o.ahead)
	if o.head, err = o.buffer.Peek(o.ahead); err != nil && !errors.Is(err, io.EOF) {
		o.err = fmt.Errorf("cannot be read: %w", withoutURL(err))
		_ = file.Close()
	}
}

func (o *opening) help() {
	if file := o.opened.Load(); file != nil {
		closeApart(*file)
	}
}

func (o *opening) late() { o.help() }

// streamBody is a source between two pieces of text. The second piece says that the body is whole, and it is handed over only
// if the attempt is not over by then: so whether the peer can have got the end is known for certain, whatever the transport.
type streamBody struct {
	head, tail *bytes.Reader
	source     io.ReadCloser
	left       int64 // of the source
	closed     atomic.Bool
	progress   func(n int64) // bytes of the source handed over
	end        atomic.Int32
}

// What became of the end of a body.
const (
	endHandedOver int32 = iota + 1
	endKept
)

var (
	errStreamOver    = errors.New("the attempt is over")
	errSourceTimeout = errors.New("nothing came within the time limit of one attempt")
)

// newStreamBody frames a source of exactly size bytes.
func newStreamBody(head, tail []byte, source io.ReadCloser, size int64, progress func(int64)) *streamBody {
	return &streamBody{
		head: bytes.NewReader(head), tail: bytes.NewReader(tail), source: source, left: size,
		progress: progress,
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
	_ = b.Close() // not every transport closes what it has read
	if !b.end.CompareAndSwap(0, endHandedOver) {
		return errStreamOver
	}
	return nil
}

// Close closes the source, once. Whoever comes second does not wait for the first.
func (b *streamBody) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	return b.source.Close()
}

// cutShort ends the attempt for the body, and reports whether its end was never handed over.
func (b *streamBody) cutShort() bool {
	b.end.CompareAndSwap(0, endKept)
	return b.end.Load() == endKept
}
