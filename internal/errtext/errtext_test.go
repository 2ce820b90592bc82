package errtext_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/errtext"
)

func TestLine(t *testing.T) {
	require.Equal(t, "prospectkit", errtext.Line())
	require.Equal(t, "prospectkit: lists.get: it failed: why", errtext.Line("lists.get", "it failed.", "", "why"))
	require.NotContains(t, errtext.Line("a\nb"), "\n")
}

func TestCause(t *testing.T) {
	require.Empty(t, errtext.Cause(nil, "lists.get"))
	require.Equal(t, "cut", errtext.Cause(errors.New("prospectkit: lists.get: cut"), "lists.get"))
	require.Equal(t, "prospectkit: lists.list: cut", errtext.Cause(errors.New("prospectkit: lists.list: cut"), "lists.get"))
}

func TestWith(t *testing.T) {
	require.NoError(t, errtext.With(nil, nil))
	require.Equal(t, io.EOF, errtext.With(io.EOF, nil))
	require.Equal(t, io.EOF, errtext.With(nil, io.EOF))
	require.Equal(t, io.EOF, errtext.With(io.EOF, io.EOF), "once is enough")
	both := errtext.With(io.EOF, errtext.ErrTooLate)
	require.ErrorIs(t, both, io.EOF)
	require.ErrorIs(t, both, context.DeadlineExceeded)
	require.EqualError(t, both, "EOF; the deadline is too near for another attempt")
}

func TestPlural(t *testing.T) {
	require.Equal(t, "0 times", errtext.Plural(0, "time"))
	require.Equal(t, "1 time", errtext.Plural(1, "time"))
	require.Equal(t, "2 times", errtext.Plural(2, "time"))
}

func TestEnd(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	require.NoError(t, errtext.End(ctx, ""))
	cancel(io.EOF)
	require.EqualError(t, errtext.End(ctx, ""), "EOF; context canceled")
	err := errtext.End(ctx, "before it was sent")
	require.EqualError(t, err, "stopped before it was sent: EOF; context canceled")
	require.ErrorIs(t, err, io.EOF)
	require.ErrorIs(t, err, context.Canceled)
}
