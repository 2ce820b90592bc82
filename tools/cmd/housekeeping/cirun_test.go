//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A signal ends .ci/run, the step that it is at, and all that the step has started, and nothing has passed then.
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
		"bin/go":    "#!/bin/sh\nsh -c 'echo up; exec sleep 100'\n",
		"README.md": "```sh\ngo run ./examples/quickstart\ngo test ./...\n```\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o700))
	}
	for _, step := range []string{"build", "readme"} { // the second has a time limit on what it starts
		for _, sent := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
			for to, group := range map[string]bool{"the process": false, "its group": true} {
				t.Run(step+"/"+sent.String()+" to "+to, func(t *testing.T) { requireKilled(t, dir, step, sent, group) })
			}
		}
	}
}

// requireKilled runs a step, waits until a program runs in it, and sends a signal. Nothing that was started has the output still
// open in the end.
func requireKilled(t *testing.T, dir, step string, sent syscall.Signal, group bool) {
	t.Helper()
	out, in, err := os.Pipe()
	require.NoError(t, err)
	defer func() { require.NoError(t, out.Close()) }()
	require.NoError(t, out.SetReadDeadline(time.Now().Add(time.Minute)), "less than what is left runs")
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, ".ci", "run"), step)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = in, in, &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, in.Close())
	lines := bufio.NewReader(out)
	for line := ""; line != "up\n"; {
		line, err = lines.ReadString('\n')
		require.NoError(t, err)
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
	require.Equal(t, 1, strings.Count(string(said), "FAILED: "+step), "%s", said)
}
