package main

import (
	"os"
	"path/filepath"
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
