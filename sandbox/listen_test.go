package sandbox_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func TestListen(t *testing.T) {
	for name, stop := range map[string]func(*sandbox.Server, context.CancelFunc) error{
		"close":    func(s *sandbox.Server, _ context.CancelFunc) error { return s.Close() },
		"shutdown": func(s *sandbox.Server, _ context.CancelFunc) error { return s.Shutdown(context.Background()) },
		"context": func(s *sandbox.Server, cancel context.CancelFunc) error {
			cancel()
			return s.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			sb := sandbox.New(t, someLists())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			srv, err := sb.Listen(ctx, "127.0.0.1:0")
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(srv.BaseURL(), "http://127.0.0.1:"), srv.BaseURL())
			require.Contains(t, srv.BaseURL(), srv.Addr().String())
			c := caller{t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, srv.BaseURL(), sb.Token(), sb}
			require.Len(t, c.get(lists).ok(200)["data"], 3)
			require.NoError(t, stop(srv, cancel))
			_, err = c.send(c.request("GET", lists, nil))
			require.Error(t, err)
		})
	}
}

func TestListenStaysOnThisMachine(t *testing.T) {
	sb := sandbox.New(t)
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:80", "nonsense"} {
		_, err := sb.Listen(t.Context(), addr)
		require.Error(t, err, addr)
	}
	_, err := sb.Listen(t.Context(), "127.0.0.1:99999")
	require.ErrorContains(t, err, "listen")
	srv, err := sb.Listen(t.Context(), "localhost:0")
	require.NoError(t, err)
	require.NoError(t, srv.Close())
	srv, err = sandbox.New(t, sandbox.AllowRemote()).Listen(t.Context(), ":0")
	require.NoError(t, err)
	require.NoError(t, srv.Close())
	require.NoError(t, srv.Wait())
}

func TestShutdownGivesUpWithItsContext(t *testing.T) {
	sb := sandbox.New(t)
	sb.Fail("account.me", sandbox.Latency(time.Hour))
	srv, err := sb.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	c := caller{t, &http.Client{}, srv.BaseURL(), sb.Token(), sb}
	arrived := make(chan struct{})
	sb.Fail("*", sandbox.When(func(*http.Request) bool { close(arrived); return false }), sandbox.HTML(502))
	failed := make(chan error, 1)
	go func() {
		_, err := c.send(c.request("GET", "/business/me", nil))
		failed <- err
	}()
	<-arrived
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, srv.Shutdown(ctx), context.Canceled)
	require.NoError(t, srv.Close())
	require.Error(t, <-failed)
	sb.Clear()
}

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
