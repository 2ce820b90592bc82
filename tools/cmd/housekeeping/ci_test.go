package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// A run that is killed does not say that everything passed: whoever reads only the last line would believe it.
func TestCI_KilledRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals are those of Unix")
	}
	for signal, want := range map[string]string{"": "all passed in", "TERM": "FAILED: build, after", "HUP": "FAILED: build, after"} {
		t.Run(signal, func(t *testing.T) {
			dir := t.TempDir()
			kills := "#!/bin/sh\ntest -z '" + signal + "' || kill -s '" + signal + "' $PPID\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(kills), 0o700)) //nolint:gosec // it runs
			run := exec.CommandContext(t.Context(), "../../../.ci/run", "build")
			run.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := run.CombinedOutput()
			require.Equal(t, signal == "", err == nil, "%s", out)
			require.Contains(t, string(out), want)
			require.NotRegexp(t, "(?s)all passed.*FAILED|FAILED.*all passed", string(out))
		})
	}
}
