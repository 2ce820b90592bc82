//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// asCommand makes the test binary the command itself.
const asCommand = "PROSPECTKIT_SANDBOX_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestSignalsEndTheCommand(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "state.json")
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-json", "-seed", "empty", "-state", file)
			cmd.Env = append(os.Environ(), asCommand+"=1")
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			var p process
			require.NoError(t, json.NewDecoder(stdout).Decode(&p.announcement))
			p.ok(t, "POST", "/business/lists", `{"name":"kept"}`)

			require.NoError(t, cmd.Process.Signal(signal))
			require.NoError(t, cmd.Wait(), "exit code 0")
			state, err := readState(file)
			require.NoError(t, err)
			require.Equal(t, "kept", state.Workspaces[0].Lists[0].Name)
		})
	}
}
