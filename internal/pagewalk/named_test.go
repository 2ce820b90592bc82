package pagewalk

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamed(t *testing.T) {
	names := func(texts ...string) func(yield func(*string, error) bool) {
		return func(yield func(*string, error) bool) {
			for _, text := range texts {
				if text == "cut" {
					yield(nil, io.ErrUnexpectedEOF)
					return
				}
				if !yield(&text, nil) {
					return
				}
			}
		}
	}
	own := func(s *string) string { return *s }
	match, others, err := Named(names("A", " b ", "B"), "b", own)
	require.NoError(t, err)
	require.Equal(t, " b ", *match)
	require.Equal(t, []string{"A", "B"}, others)
	match, others, err = Named(names("A"), "b", own)
	require.NoError(t, err)
	require.Nil(t, match)
	require.Equal(t, []string{"A"}, others)
	_, _, err = Named(names("b", "A", "b "), " b", own)
	require.Equal(t, ErrAmbiguous, err)
	_, _, err = Named(names("b", "cut"), "b", own)
	require.Equal(t, io.ErrUnexpectedEOF, err)
}
