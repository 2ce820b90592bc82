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
			c := caller{t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, srv.BaseURL(), sb.Token()}
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
	c := caller{t, &http.Client{}, srv.BaseURL(), sb.Token()}
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
