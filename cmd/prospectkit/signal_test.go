//go:build unix

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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

// A signal also ends a sandbox that still makes or reads its data, which may take minutes.
func TestSignalsEndTheCommand_BeforeItServes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seed.json")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", path).Run())
	cmd, _ := child(t, []string{asCommand + "=1"}, "sandbox", "-seed", path)
	seed, err := os.OpenFile(path, os.O_WRONLY, 0) // when the command reads it
	require.NoError(t, err)
	defer seed.Close()
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	late := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	require.EqualError(t, cmd.Wait(), "exit status 2")
}
