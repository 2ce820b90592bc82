package prospectkit

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

func TestFindNamed(t *testing.T) {
	find := func(name string, texts ...string) (match *string, others []string, err error) {
		match, rest, err := findNamed(func(yield func(*string, error) bool) {
			for _, text := range texts {
				if text == "cut" {
					yield(nil, io.ErrUnexpectedEOF)
					return
				}
				if !yield(&text, nil) {
					return
				}
			}
		}, op.ListsList, "lists", name, func(s *string) string { return *s })
		for _, other := range rest {
			others = append(others, *other)
		}
		return match, others, err
	}
	match, others, err := find("b", "A", " b ", "B")
	require.NoError(t, err)
	require.Equal(t, " b ", *match)
	require.Equal(t, []string{"A", "B"}, others)
	match, others, err = find("b", "A")
	require.NoError(t, err)
	require.Nil(t, match)
	require.Equal(t, []string{"A"}, others)
	_, _, err = find(" b", "b", "A", "b ")
	require.ErrorIs(t, err, CodeListNameAmbiguous)
	_, _, err = find("b", "b", "cut")
	require.Equal(t, io.ErrUnexpectedEOF, err)
}

// Any sign of a page is one, and nothing else is.
func TestPage_HasContent(t *testing.T) {
	require.False(t, new(Page[List]).hasContent())
	for _, p := range []Page[List]{{Items: make([]List, 1)}, {Number: 1}, {TotalPages: 1}, {TotalKnown: true}} {
		require.True(t, p.hasContent())
	}
}
