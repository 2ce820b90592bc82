//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A signal ends the sandbox.
func TestSignalsEndTheCommand(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			_, cmd := startService(t, "-seed", "empty")
			require.NoError(t, cmd.Process.Signal(signal))
			require.NoError(t, cmd.Wait(), "exit code 0")
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
