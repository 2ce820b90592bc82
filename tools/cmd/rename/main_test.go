package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheRenamedModuleBuilds renames a copy of this repository, and builds and tests what a rename could break.
func TestTheRenamedModuleBuilds(t *testing.T) {
	root := filepath.Join(t.TempDir(), "copy")
	command(t, ".", "git", "clone", "--quiet", "--depth=1", "file://"+repository(t), root)
	changed, err := rename(root, "forge.invalid/team/prospectkit")
	require.NoError(t, err)
	require.Greater(t, changed, 100)
	require.NotContains(t, command(t, root, "go", "list", "-deps", "./..."), "example.com/")
	command(t, root, "go", "vet", ".", "./sandbox", "./examples/quickstart")
	command(t, root, "go", "run", "./internal/cmd/catalogue", "-check")
	command(t, root, "go", "-C", "tools", "list", "./...")
	left, err := exec.Command("git", "-C", root, "grep", "-lI", "example.com/prospectkit").Output()
	require.Error(t, err, "these name the old path: %s", left) // status 1: nothing found
}

func TestWhatIsNoModulePathIsRefused(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module example.com/prospectkit\n"), 0o600))
	for _, path := range []string{"", "prospectkit", "forge.invalid/other", "forge.invalid/a b/prospectkit"} {
		_, err := rename(root, path)
		require.Error(t, err, path)
	}
}

func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	return filepath.ToSlash(root)
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
