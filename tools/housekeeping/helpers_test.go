package housekeeping

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree writes a small repository: a go.mod of our module, and the files given by path.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	put := func(path, content string) {
		path = filepath.Join(root, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	put("go.mod", "module example.com/prospectkit\n\ngo 1.26.0\n")
	for path, content := range files {
		put(path, content)
	}
	return root
}

// findings runs one check on a tree.
func findings(t *testing.T, check func(string) ([]string, error), files map[string]string) []string {
	t.Helper()
	list, err := check(tree(t, files))
	require.NoError(t, err)
	return list
}

// serveSandbox runs the sandbox's command, as README.md says, and sets the two variables that it prints. A folder names the
// module in which the command is found.
func serveSandbox(t *testing.T, dir string) {
	t.Helper()
	command := filepath.Join(t.TempDir(), "sandbox")
	_, err := goTool(dir, "build", "-o", command, "example.com/prospectkit/cmd/prospectkit")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), command, "sandbox", "-json")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var announced struct{ BaseURL, Token string }
	require.NoError(t, json.NewDecoder(out).Decode(&announced))
	t.Setenv("PROSPECTKIT_BASE_URL", announced.BaseURL)
	t.Setenv("PROSPECTKIT_TOKEN", announced.Token)
}

// goTool runs the go command in a directory and returns what it prints.
func goTool(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var errText strings.Builder
	cmd.Stderr = &errText
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(errText.String()))
	}
	return string(out), nil
}
