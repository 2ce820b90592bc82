package sandbox_test

import (
	"net"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// What this system says when nobody listens, and when the other side resets a connection.
func errRefused(t *testing.T) error { t.Helper(); return ofConnections(t)[0] }
func errReset(t *testing.T) error   { t.Helper(); return ofConnections(t)[1] }

var ofConnections = func() func(t *testing.T) [2]error {
	var once sync.Once
	var all [2]error
	return func(t *testing.T) [2]error {
		t.Helper()
		once.Do(func() {
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			dial := func() (net.Conn, error) {
				return (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
			}
			client, err := dial()
			require.NoError(t, err)
			server, err := listener.Accept()
			require.NoError(t, err)
			require.NoError(t, server.(*net.TCPConn).SetLinger(0))
			require.NoError(t, server.Close())
			require.NoError(t, listener.Close())
			_, refused := dial()
			_, reset := client.Read(make([]byte, 1))
			for i, err := range []error{refused, reset} {
				var system *os.SyscallError
				require.ErrorAs(t, err, &system)
				all[i] = system.Err
			}
		})
		return all
	}
}()
