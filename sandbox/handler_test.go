package sandbox_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// A web page can make its own name point to this machine: under another name there is no response, whatever the path and the key.
func TestForeignHostNamesAreNotAnswered(t *testing.T) {
	sb := sandbox.New(t)
	c := bySocket(t, sb)
	ask := func(c caller, host, path string) int {
		t.Helper()
		return c.altered("GET", path, nil, func(r *http.Request) { r.Host = host }).status
	}
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0", "10.0.0.1", "localhost.", "127.0.0.1:80:80", "sandbox.invalid"} {
		require.Equal(t, http.StatusMisdirectedRequest, ask(c, host, lists), host)
		require.Equal(t, http.StatusMisdirectedRequest, ask(c, host, "/business/nothing"), host)
	}
	require.Empty(t, sb.Journal())
	for _, host := range []string{"", "localhost", "LOCALHOST:1", "127.0.0.1", "127.8.0.1:99", "[::1]", "[::1]:80"} {
		require.Equal(t, http.StatusOK, ask(c, host, lists), host)
	}
	require.Equal(t, http.StatusOK, ask(bySocket(t, sandbox.New(t, sandbox.AllowRemote())), "evil.example", lists))
	require.Equal(t, http.StatusOK, ask(inPlace(t, sb), "evil.example", lists), "in place nobody else can ask")
}
