package exchange

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// file is a source that notes whether it is closed.
type file struct {
	io.Reader
	closed atomic.Int32
}

func (f *file) Close() error { f.closed.Add(1); return nil }

func text(s string) *file { return &file{Reader: strings.NewReader(s)} }

// slow is a source that opens, and is read for the first time, after some time.
func slow(opens, reads time.Duration, f *file) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		time.Sleep(opens)
		whole := f.Reader
		f.Reader = readFunc(func(p []byte) (int, error) {
			time.Sleep(reads)
			reads = 0
			return whole.Read(p)
		})
		return f, nil
	}
}

type readFunc func([]byte) (int, error)

func (r readFunc) Read(p []byte) (int, error) { return r(p) }

// Whatever a source does, opening it ends with the context or the time limit, and what is opened too late is closed.
func TestOpen_EndsInTime(t *testing.T) {
	const limit = time.Second
	for name, c := range map[string]struct{ opens, reads, after time.Duration }{
		"opens in the grace":  {limit + grace/2, 0, limit + grace/2},
		"opens too late":      {time.Hour, 0, limit + 2*grace},
		"reads in the grace":  {0, limit + grace/2, limit + grace/2},
		"reads too late":      {0, time.Hour, limit + 2*grace},
		"reads a little late": {0, limit + grace + grace/2, limit + grace + grace/2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, began := text("some"), time.Now()
				source, err := Open(t.Context(), limit, slow(c.opens, c.reads, f))
				require.ErrorIs(t, err, errSourceTimeout)
				require.EqualError(t, err, "cannot be read: nothing was read within the time limit of one attempt")
				require.Nil(t, source)
				require.Equal(t, c.after, time.Since(began))
				time.Sleep(2 * time.Hour) // virtual
				require.Positive(t, f.closed.Load())
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the caller has left")
		time.AfterFunc(limit/2, func() { cancel(why) })
		_, err := Open(ctx, limit, slow(time.Hour, 0, text("")))
		require.ErrorIs(t, err, why)
		time.Sleep(2 * time.Hour) // virtual
	})
}

// upload frames a source, and counts what is handed over of it.
func upload(source io.ReadCloser, size int64) (u *Upload, progress *int64) {
	progress = new(int64)
	return NewUpload([]byte("<head>"), []byte("<tail>"), source, size, func(sent, _ int64) { *progress = sent }), progress
}

func TestUpload(t *testing.T) {
	for _, content := range []string{"", "x", strings.Repeat("content ", 10_000)} {
		for name, reader := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "with the end": iotest.DataErrReader,
		} {
			f := &file{Reader: reader(strings.NewReader(content))}
			u, progress := upload(f, int64(len(content)))
			got, err := io.ReadAll(reader(u))
			require.NoError(t, err, name)
			require.Equal(t, "<head>"+content+"<tail>", string(got), name)
			require.EqualValues(t, len(content), *progress, name)
			require.EqualValues(t, 1, f.closed.Load(), "not every transport closes a body")
			require.NoError(t, u.Close())
			require.EqualValues(t, 1, f.closed.Load())
			require.False(t, u.Withhold(), "the end was handed over")
			_, err = u.Read(make([]byte, 1))
			require.Equal(t, io.EOF, err)
		}
	}
}

// Once the attempt is over, nothing more is handed over.
func TestUpload_Withhold(t *testing.T) {
	for n := range len("<head>content") + 1 {
		u, _ := upload(text("content"), 7)
		got := make([]byte, n)
		_, err := io.ReadFull(u, got)
		require.NoError(t, err)
		require.True(t, u.Withhold(), "after %d bytes", n)
		require.True(t, u.Withhold(), "it stays so")
		rest, err := io.ReadAll(u)
		require.Equal(t, errOver, err)
		require.Empty(t, rest)
	}
	u, _ := upload(text("content"), 7)
	_, err := io.ReadFull(u, make([]byte, len("<head>content<")))
	require.NoError(t, err)
	require.False(t, u.Withhold(), "a part of the end was handed over")
	rest, err := io.ReadAll(u)
	require.NoError(t, err)
	require.Equal(t, "tail>", string(rest))

	var late *Upload // it ends while the end is being looked for
	late, _ = upload(io.NopCloser(readFunc(func([]byte) (int, error) { late.Withhold(); return 0, io.EOF })), 0)
	got, err := io.ReadAll(late)
	require.Equal(t, errOver, err)
	require.Equal(t, "<head>", string(got))
}
