package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// installLists returns the numbered lists of the chapter Install, a line each.
func installLists(t *testing.T, readme string) (lists [][]string) {
	t.Helper()
	_, chapter, found := strings.Cut(readme, "\n## Install\n")
	require.True(t, found)
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	for line := range strings.SplitSeq(chapter, "\n") {
		number, text, found := strings.Cut(line, ". ")
		switch {
		case !found || !regexp.MustCompile(`^\d+$`).MatchString(number):
		case number == "1":
			lists = append(lists, []string{text})
		default:
			lists[len(lists)-1] = append(lists[len(lists)-1], text)
		}
	}
	return lists
}

// TestInstallAsWritten does what README.md tells a newcomer to do, to the letter, in an empty folder for each way. Only the path of
// the clone is filled in, and the program on the first screen is saved when it says so.
func TestInstallAsWritten(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	serveSandbox(t, root)
	stranger(t, root)                                   // for its environment: nothing is taken from the caches of this machine but what others have published
	for _, kept := range []string{"GOCACHE", "GOENV"} { // which lie below the home directory
		value, err := goTool(".", "env", kept)
		require.NoError(t, err)
		t.Setenv(kept, strings.TrimSpace(value))
	}
	t.Setenv("HOME", t.TempDir())
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	program := goBlocks("README.md", string(readme))[0].code
	lists := installLists(t, string(readme))
	require.Len(t, lists, 1, "go get follows, once the path has a name: tools/cmd/release tests that")
	for _, list := range lists {
		dir := t.TempDir()
		script := "set -eu\n"
		saved := filepath.Join(t.TempDir(), "program")
		require.NoError(t, os.WriteFile(saved, []byte(program), 0o600))
		for _, step := range list {
			command, isCommand := strings.CutPrefix(step, "`")
			if isCommand {
				command, isCommand = strings.CutSuffix(command, "`")
			}
			if !isCommand {
				require.Equal(t, "Save the program above as `main.go`.", step)
				command = "cp '" + saved + "' main.go"
			}
			script += strings.ReplaceAll(command, "/path/to/the/clone", root) + "\n"
		}
		cmd := exec.Command("bash", "-c", script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", script, out)
		require.Contains(t, string(out), "Berlin conference 84 0")
	}
}
