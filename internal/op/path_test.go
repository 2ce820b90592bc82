package op_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

func TestExpandBelow(t *testing.T) {
	path, ok := op.ExpandBelow("/api/v1%2F", twoIDs, "1", "2")
	require.True(t, ok)
	require.Equal(t, "/api/v1%2F/a/1/b/2", path)
	path, ok = op.ExpandBelow("/api/v1", "/a")
	require.True(t, ok)
	require.Equal(t, "/api/v1/a", path)
	_, ok = op.ExpandBelow("/api/v1", twoIDs, "1", "")
	require.False(t, ok, "an empty element would name another route")
}

func TestValidPath(t *testing.T) {
	for _, path := range []string{"/", "/a", "/a/", "/a/b-c_d.e~f", "/a%2Fb", "/a..b", "/...", "/{id}", "/a/{id}/b", "/k%C3%B6ln", "/a:b", "/!", "/~"} {
		require.True(t, op.ValidPath(path), path)
	}
	for _, path := range []string{
		"", "a", "a/b", "/a?b", "/a#b", `/a\b`, "/a b", "/a\x7f", "/a\nb", "/a\x1f", "/a\x00", "//a", "/a//b", "/a/.", "/./a", "/a/..", "/../a", "/a/%2e", "/a/%2E.",
		"/a%2F..", "/a/%zz", "/a%", "/%ff", "/\xff", "/{", "/}", "/{}", "/{id", "/id}", "/a{id}", "/{id}a", "/{{id}}", "/{a}{b}", "/a{", "/a/{}/b",
	} {
		require.False(t, op.ValidPath(path), path)
	}
}
