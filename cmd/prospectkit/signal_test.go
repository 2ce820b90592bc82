//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// A signal ends the sandbox, which keeps its state.
func TestSignalsEndTheCommand(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			s, cmd := startService(t, "-seed", "empty", "-state", path)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+"/business/lists", strings.NewReader(`{"name":"kept"}`))
			require.NoError(t, err)
			req.SetBasicAuth(s.Token, "")
			req.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())

			require.NoError(t, cmd.Process.Signal(signal))
			require.NoError(t, cmd.Wait(), "exit code 0")
			file, err := os.Open(path)
			require.NoError(t, err)
			defer file.Close()
			state, err := sandbox.ReadState(file)
			require.NoError(t, err)
			require.Equal(t, "kept", state.Workspaces[0].Lists[0].Name)
		})
	}
}
