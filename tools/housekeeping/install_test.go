package housekeeping

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAStrangerInstallsAndCompiles does what README.md tells a newcomer to do, to the letter, in an empty folder and with an empty
// home: only the path of the clone is filled in. Then it compiles all other snippets there, where nothing internal can be reached.
// After the first release, README.md says go get, which the test of the command release proves.
func TestAStrangerInstallsAndCompiles(t *testing.T) {
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	readme := string(text)
	modules, err := findModules(root)
	require.NoError(t, err)
	dir := stranger(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(goBlocks("README.md", readme)[0].code), 0o600))
	serveSandbox(t, root)
	out, err := exec.CommandContext(t.Context(), "sh", "-ec", "cd '"+dir+"'\n"+strings.ReplaceAll(install(t, readme, modules[0].path), "/path/to/the/clone", root)+"\ngo run .").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "Berlin conference 84 0")
	m, err := readGoMod(dir)
	require.NoError(t, err)
	var indirect []string
	for _, r := range m.Require {
		if r.Indirect {
			indirect = append(indirect, r.Mod.Path)
		}
	}
	require.Equal(t, []string{
		"github.com/google/go-querystring", "github.com/hashicorp/go-cleanhttp", "github.com/hashicorp/go-retryablehttp",
	}, indirect)

	pages, err := read(root, func(p string) bool { return p == "README.md" || p == "docs/guide.md" })
	files, findings := parseAll(pages, ownImports(modules))
	require.NoError(t, err)
	require.Greater(t, len(files), 10)
	get := []string{"get", "github.com/stretchr/testify", "github.com/jarcoal/httpmock"}
	for i, m := range modules {
		if strings.HasPrefix(m.path, modules[0].path+"/contrib/") && !strings.HasSuffix(m.path, "/benchmarks") {
			_, err = goTool(dir, "mod", "edit", "-replace="+m.path+"="+m.dir)
			require.NoError(t, err)
			get = append(get, m.path)
		}
		modules[i].dir = dir
	}
	_, err = goTool(dir, get...)
	require.NoError(t, err)
	require.Empty(t, append(findings, typeCheck(files, modules)...))
}

// install is the block of the chapter about the installation, which works before the first release; after it, the same by hand.
func install(t *testing.T, readme, path string) string {
	t.Helper()
	_, chapter, found := strings.Cut(readme, "\n## Install\n")
	require.True(t, found)
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	require.Contains(t, chapter, "`go get "+path+"`")
	blocks := strings.Split(chapter, "```")
	if len(blocks) == 1 {
		return "go mod init program.invalid && go mod edit -replace " + path + "=/path/to/the/clone && go mod tidy"
	}
	script, isShell := strings.CutPrefix(blocks[1], "sh\n")
	require.True(t, isShell)
	return script
}

// stranger is an empty folder of somebody who has nothing of ours: the modules of others come from the downloads of this machine.
func stranger(t *testing.T) string {
	t.Helper()
	env, err := goTool(".", "env", "GOMODCACHE", "GOPROXY", "GOCACHE")
	require.NoError(t, err)
	list := strings.Split(strings.TrimSpace(env), "\n")
	for name, value := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(list[0]) + "/cache/download," + list[1], "GOSUMDB": "off", "GOFLAGS": "-modcacherw",
		"GOCACHE": list[2], "GOMODCACHE": t.TempDir(), "GOENV": "off", "HOME": t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	return t.TempDir()
}
