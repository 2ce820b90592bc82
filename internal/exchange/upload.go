package exchange

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/redact"
)

const aheadBytes = 512 // of a source are read when it is opened

// Source is an open source.
type Source struct {
	io.Reader
	io.Closer
	Head []byte // its first bytes, until it is read
}

// Open opens a source within a time limit, and reads ahead in it, so that one that cannot be read is found before anything is sent.
func Open(ctx context.Context, limit time.Duration, source func() (io.ReadCloser, error)) (*Source, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSourceTimeout)
	defer cancel()
	var file *Source
	var err error
	back := Run(ctx, func() { file, err = open(ctx, source) })
	if ctx.Err() == nil {
		return file, err
	}
	if back && file != nil {
		closeAsync(file)
	}
	return nil, fmt.Errorf("cannot be read: %w", context.Cause(ctx))
}

// open closes what it opens if the context ends first, also to end a read that hangs.
func open(ctx context.Context, source func() (io.ReadCloser, error)) (*Source, error) {
	file, err := source()
	if err == nil && file == nil {
		err = redact.OwnError("Open returned nothing")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot be opened: %w", redact.WithoutURL(err))
	}
	file = guarded{file}
	keep := context.AfterFunc(ctx, func() { closeAsync(file) })
	buffer := bufio.NewReaderSize(file, aheadBytes)
	head, err := buffer.Peek(aheadBytes)
	switch {
	case !keep():
		return nil, context.Cause(ctx)
	case err != nil && !errors.Is(err, io.EOF):
		_ = file.Close()
		return nil, fmt.Errorf("cannot be read: %w", redact.WithoutURL(err))
	}
	return &Source{struct{ io.Reader }{buffer}, file, head}, nil
}

// guarded makes errors of the panics of a source and of what breaks the contract of [io.Reader]: a transport may read and close it in a
// goroutine of its own, where nobody could recover. A read of nothing is repeated, as often as bufio does.
type guarded struct{ source io.ReadCloser }

func (g guarded) Read(p []byte) (n int, err error) {
	defer func() { err = cmp.Or(panicked(recover()), err) }()
	for range 100 {
		n, err = g.source.Read(p)
		switch {
		case n < 0 || n > len(p):
			return 0, redact.OwnError("the file claims an impossible number of bytes")
		case n > 0 || err != nil || len(p) == 0:
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

func (g guarded) Close() (err error) {
	defer func() { err = cmp.Or(panicked(recover()), err) }()
	return g.source.Close()
}

func panicked(with any) error {
	if with == nil {
		return nil
	}
	return fmt.Errorf("the file panicked: %v", with)
}

// Upload is a request body: a source between two texts. The second text, without which the body is
// not complete, is only handed over while the attempt lasts. So with any transport it is known
// whether the peer can have received a complete body.
type Upload struct {
	head, tail *bytes.Reader
	source     io.ReadCloser
	left       int64 // of the source
	size       int64
	closed     atomic.Bool
	progress   func(sent, size int64) // bytes of the source handed over; or nil
	end        atomic.Int32
}

// Whether the end of an upload was handed over; 0: not yet.
const (
	endHandedOver int32 = iota + 1
	endWithheld
)

var (
	errOver                = errors.New("the attempt is over")
	errSourceTimeout error = redact.OwnError("nothing was read within the time limit of one attempt")
)

// NewUpload frames a source of exactly size bytes. It tells progress the bytes that were handed over;
// a panic in it is swallowed.
func NewUpload(head, tail []byte, source io.ReadCloser, size int64, progress func(sent, size int64)) *Upload {
	return &Upload{
		head: bytes.NewReader(head), tail: bytes.NewReader(tail), source: source, left: size, size: size, progress: progress,
	}
}

// Read reads the head, the source and, unless the attempt is over, the tail.
func (u *Upload) Read(p []byte) (int, error) {
	switch {
	case u.end.Load() == endWithheld:
		return 0, errOver
	case u.head.Len() > 0:
		return u.head.Read(p)
	case u.left > 0:
		return u.readSource(p)
	case u.end.Load() == 0:
		if err := u.finish(); err != nil {
			return 0, err
		}
	}
	return u.tail.Read(p)
}

func (u *Upload) readSource(p []byte) (int, error) {
	n, err := u.source.Read(p[:min(int64(len(p)), u.left)])
	u.left -= int64(n)
	if n > 0 && u.progress != nil {
		u.tell()
	}
	switch {
	case err == io.EOF && u.left > 0:
		return n, redact.OwnError(fmt.Sprintf("the file ended %d bytes before the size that was given", u.left))
	case err == io.EOF:
		return n, nil
	}
	return n, err
}

func (u *Upload) tell() {
	defer func() { _ = recover() }()
	u.progress(u.size-u.left, u.size)
}

// finish commits to hand over the end. It refuses a source that is longer than its size.
func (u *Upload) finish() error {
	var more [1]byte
	switch n, err := io.ReadFull(u.source, more[:]); {
	case n > 0:
		return redact.OwnError("the file is longer than the size that was given")
	case err != io.EOF:
		return err
	}
	_ = u.Close() // not every transport closes a body
	if !u.end.CompareAndSwap(0, endHandedOver) {
		return errOver
	}
	return nil
}

// Close closes the source once. A second call does not wait for the first.
func (u *Upload) Close() error {
	if u.closed.Swap(true) {
		return nil
	}
	return u.source.Close()
}

// Withhold withholds the end, and reports whether it did: the end may have been handed over.
func (u *Upload) Withhold() bool {
	u.end.CompareAndSwap(0, endWithheld)
	return u.end.Load() == endWithheld
}
