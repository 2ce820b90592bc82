package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAStrangerCompilesTheReadme uses this tree from an empty module elsewhere, runs the program on the first screen of README.md there, and
// compiles all other snippets against it.
func TestAStrangerCompilesTheReadme(t *testing.T) {
	const root = "../../.."
	dir := stranger(t, root)
	modules, goVersion, err := findModules(root)
	require.NoError(t, err)
	files, findings, err := parseAll(root, []string{"README.md", "docs/guide.md"}, ownImports(modules))
	require.NoError(t, err)
	require.Greater(t, len(files), 10)

	program, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(goBlocks("README.md", string(program))[0].code), 0o600))
	_, err = goTool(dir, "mod", "tidy")
	require.NoError(t, err)
	serveSandbox(t, dir)
	out, err := goTool(dir, "run", ".")
	require.NoError(t, err)
	require.Contains(t, out, "83 0")
	m, err := readGoMod(dir)
	require.NoError(t, err)
	var indirect []string
	for _, r := range m.Require {
		if r.Indirect {
			indirect = append(indirect, r.Path)
		}
	}
	require.Equal(t, []string{
		"github.com/google/go-querystring", "github.com/hashicorp/go-cleanhttp", "github.com/hashicorp/go-retryablehttp",
	}, indirect)

	get := []string{"get", "github.com/stretchr/testify", "github.com/jarcoal/httpmock"}
	for _, m := range modules {
		if strings.Contains(m.path, "/contrib/") && !strings.HasSuffix(m.path, "/benchmarks") {
			get = append(get, m.path)
		}
	}
	_, err = goTool(dir, get...)
	require.NoError(t, err)
	for i := range modules {
		modules[i].dir = dir
	}
	files = slices.DeleteFunc(files, func(c checked) bool { // which need modules of others
		return strings.HasSuffix(moduleOf(c.file, modules).path, "/internal/recipes")
	})
	require.Empty(t, append(findings, typeCheck(files, modules, goVersion)...))
}

// stranger makes an empty module whose go command finds our modules in this tree, and has those of others where they are on this machine.
func stranger(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	env, err := goTool(".", "env", "GOMODCACHE", "GOPROXY")
	require.NoError(t, err)
	cache, upstream, _ := strings.Cut(strings.TrimSpace(env), "\n")
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(cache)+"/cache/download,"+upstream)
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())
	_, err = goTool(dir, "mod", "init", "stranger.invalid/program")
	require.NoError(t, err)
	modules, _, err := findModules(root)
	require.NoError(t, err)
	for _, m := range modules {
		tree, err := filepath.Abs(m.dir)
		require.NoError(t, err)
		_, err = goTool(dir, "mod", "edit", "-replace", m.path+"="+tree)
		require.NoError(t, err)
	}
	return dir
}
