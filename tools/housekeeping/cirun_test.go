//go:build unix

package housekeeping

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A signal ends .ci/run, the steps that it is at, and all that they have started, and nothing has passed then.
func TestRun_Killed(t *testing.T) {
	// Started in the background, this test may ignore signals, and so would what it starts.
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGHUP, syscall.SIGINT)
	t.Cleanup(func() { signal.Stop(ignored) })
	script, err := os.ReadFile(filepath.Join(repository, ".ci", "run"))
	require.NoError(t, err)
	dir := t.TempDir()
	for name, content := range map[string]string{
		".ci/run":   string(script),
		"bin/go":    "#!/bin/sh\nsh -c 'echo up >&3; exec sleep 100'\n",
		"README.md": "```sh\ngo run ./examples/quickstart\ngo test ./...\n```\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o700))
	}
	for _, steps := range [][]string{{"build"}, {"readme"}, {"vet", "build"}} { // readme has a time limit on what it starts; two run side by side
		for _, sent := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
			for to, group := range map[string]bool{"the process": false, "its group": true} {
				t.Run(strings.Join(steps, " ")+"/"+sent.String()+" to "+to, func(t *testing.T) { requireKilled(t, dir, steps, sent, group) })
			}
		}
	}
}

// requireKilled runs steps side by side, waits until a program runs in each, and sends a signal. Nothing that was started has the
// output still open in the end.
func requireKilled(t *testing.T, dir string, steps []string, sent syscall.Signal, group bool) {
	t.Helper()
	out, in, err := os.Pipe()
	require.NoError(t, err)
	defer func() { require.NoError(t, out.Close()) }()
	require.NoError(t, out.SetReadDeadline(time.Now().Add(time.Minute)), "less than what is left runs")
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, ".ci", "run"), steps...)
	cmd.Env = append(os.Environ(), "LANES="+strconv.Itoa(len(steps)), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	cmd.ExtraFiles = []*os.File{in} // the output of steps side by side goes to files until they end
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = in, in, &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, in.Close())
	lines := bufio.NewReader(out)
	for up := 0; up < len(steps); {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if line == "up\n" {
			up++
		}
	}
	pid := cmd.Process.Pid
	if group {
		pid = -pid
	}
	require.NoError(t, syscall.Kill(pid, sent))
	said, err := io.ReadAll(lines)
	require.NoError(t, err, "what the step has started is still there: %s", said)
	require.Error(t, cmd.Wait())
	require.NotContains(t, string(said), "all passed")
	require.Equal(t, 1, strings.Count(string(said), "FAILED: "), "%s", said)
	_, named, _ := strings.Cut(string(said), "FAILED: ")
	for _, step := range steps {
		require.Contains(t, named, step)
	}
}
