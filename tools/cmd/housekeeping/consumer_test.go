package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/tools/internal/modproxy"
)

// TestAStrangerCompilesTheReadme gets the library as go get would, into an empty module elsewhere, runs the program on the first screen
// of README.md there, and compiles all other snippets against what arrived.
func TestAStrangerCompilesTheReadme(t *testing.T) {
	const root, version = "../../..", "v0.0.1"
	dir := stranger(t, root, version)
	modules, goVersion, err := findModules(root)
	require.NoError(t, err)
	files, findings, err := parseAll(root, []string{"README.md", "docs/guide.md"}, ownImports(modules))
	require.NoError(t, err)
	require.Greater(t, len(files), 10)

	program, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(goBlocks("README.md", string(program))[0].code), 0o600))
	_, err = goTool(dir, "get", modules[0].path+"@"+version)
	require.NoError(t, err)
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
	for _, published := range modproxy.Published {
		m, err := readGoMod(filepath.Join(root, published))
		require.NoError(t, err)
		get = append(get, m.Module.Path+"@"+version)
	}
	_, err = goTool(dir, get...)
	require.NoError(t, err)
	for i := range modules {
		modules[i].dir = dir
	}
	require.Empty(t, append(findings, typeCheck(files, modules, goVersion)...))
}

// stranger makes an empty module whose go command finds our modules in a proxy made of this tree, and those of others where
// this machine has them already.
func stranger(t *testing.T, root, version string) string {
	t.Helper()
	proxy, dir := t.TempDir(), t.TempDir()
	_, err := modproxy.Write(root, version, proxy)
	require.NoError(t, err)
	env, err := goTool(".", "env", "GOMODCACHE", "GOPROXY")
	require.NoError(t, err)
	cache, upstream, _ := strings.Cut(strings.TrimSpace(env), "\n")
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(cache)+"/cache/download,"+upstream)
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())
	_, err = goTool(dir, "mod", "init", "stranger.invalid/program")
	require.NoError(t, err)
	return dir
}
