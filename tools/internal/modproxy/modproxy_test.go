package modproxy

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrite: a module below another one is not in its zip, and requires it at the same version.
func TestWrite(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module forge.invalid/a\n\ngo 1.26.0\n",
		"a.go":          "package a\n",
		"below/go.mod":  "module forge.invalid/a/below\n\ngo 1.26.0\n\nrequire forge.invalid/a v0.0.0\n\nreplace forge.invalid/a => ../\n",
		"below/b.go":    "package below\n",
		"below/x/x.go":  "package x\n",
		"ignored/i.txt": "not for others\n",
		".gitignore":    "ignored/\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	require.NoError(t, exec.Command("git", "init", "--quiet", root).Run())

	for _, version := range []string{"v0.2.0", "v0.1.0", "v0.2.0"} {
		for _, dir := range []string{".", "below"} {
			_, err := write(filepath.Join(root, dir), version, out)
			require.NoError(t, err)
		}
	}
	list, err := os.ReadFile(filepath.Join(out, "forge.invalid/a/@v/list"))
	require.NoError(t, err)
	require.Equal(t, "v0.1.0\nv0.2.0\n", string(list))
	require.ElementsMatch(t, []string{"go.mod", "a.go", ".gitignore"}, packed(t, out, "forge.invalid/a"))
	require.ElementsMatch(t, []string{"go.mod", "b.go", "x/x.go"}, packed(t, out, "forge.invalid/a/below"))
	goMod, err := os.ReadFile(filepath.Join(out, "forge.invalid/a/below/@v/v0.2.0.mod"))
	require.NoError(t, err)
	require.Equal(t, "module forge.invalid/a/below\n\ngo 1.26.0\n\nrequire forge.invalid/a v0.2.0\n", string(goMod))

	_, err = Write(root, "1.0", out)
	require.ErrorContains(t, err, "is not a version")
}

// packed lists the files in the zip of a module, without the prefix that all of them have.
func packed(t *testing.T, out, module string) []string {
	t.Helper()
	r, err := zip.OpenReader(filepath.Join(out, module, "@v", "v0.2.0.zip"))
	require.NoError(t, err)
	defer r.Close()
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name[len(module+"@v0.2.0/"):])
	}
	return names
}
