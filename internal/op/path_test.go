package op_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

func TestExpandBelow(t *testing.T) {
	path, ok := op.Expand("/api/v1%2F", twoIDs, "1", "2")
	require.True(t, ok)
	require.Equal(t, "/api/v1%2F/a/1/b/2", path)
	path, ok = op.Expand("/api/v1", "/a")
	require.True(t, ok)
	require.Equal(t, "/api/v1/a", path)
	_, ok = op.Expand("/api/v1", twoIDs, "1", "")
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

// What a proxy or a server strips or decodes once more would lead elsewhere.
func TestValidRoute(t *testing.T) {
	for _, o := range op.All() {
		require.True(t, o.Path == "" || op.ValidRoute(o.Path), o.Path)
	}
	for _, path := range []string{"/", "/a/", "/a/b-c_d.e~f/V2", "/a/{someId}/b"} {
		require.True(t, op.ValidRoute(path), path)
	}
	for _, path := range []string{
		"", "a", "//a", "/a/..", "/a/{id", "/a;x=1", "/a%3B", "/a%20", "/a%00", "/a%09", "/a%3Fx", "/a%23", "/%61", "/%2561", "/a%2F%2Fb", "/a%2Fb", "/a%E2%80%8B", "/é",
		"/a:b", "/a,b", "/a=b", "/a+b", "/a*", "/a@b", "/a!", "/a'", "/(a)", "/$a", "/a&b", "/a|b",
	} {
		require.False(t, op.ValidRoute(path), path)
	}
}

// Some servers take what follows a dot for a format.
func TestLeads_ADotEndsTheName(t *testing.T) {
	const approve = "/business/campaigns/{campaignId}/approve"
	for path, want := range map[string]bool{
		"/business/campaigns/1/approve.json": true, "/business/campaigns/1/Approve./": true, "/business/campaigns/1.2/approve": true,
		"/business/campaigns/1/approved": false, "/business/campaigns/1/.approve": false, "/business/campaigns/approve": false,
	} {
		require.Equal(t, want, op.Leads(approve, path), path)
	}
}
