package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	modulePath = "github.com/prospectkit-release-test/prospectkit"
	changelog  = "# Changelog\n\n## [Unreleased]\n%s"
)

// TestRelease plays two releases in a bare repository, under another module path. Consumers get every module by the go command itself.
func TestRelease(t *testing.T) {
	root := maintainer(t, ".")
	remote := filepath.Join(t.TempDir(), "remote.git")
	command(t, root, "git", "init", "--quiet", "--bare", remote)
	command(t, root, "git", "remote", "add", "forge", remote)
	downloads := consumers(t, remote)

	note(t, root, "\n### Added\n\n- All of it.\n")
	require.NoError(t, prepare(root, modulePath, "v0.1.0"))
	require.Equal(t, "Release v0.1.0", strings.TrimSpace(command(t, root, "git", "log", "-1", "--format=%s")))
	require.Empty(t, command(t, root, "git", "status", "--porcelain"))
	left, err := exec.Command("git", "-C", root, "grep", "-lI", "example.com/prospectkit").Output()
	require.Error(t, err, "these name the old path: %s", left) // status 1: nothing found
	command(t, root, "go", "test", "./internal/cmd/catalogue")
	command(t, root, "go", "-C", "tools", "list", "./...")
	for _, dir := range append([]string{"examples/fleet"}, published...) { // development goes on before and after the tag
		command(t, root, "go", "-C", dir, "list", "-deps", "-test", "./...")
	}

	tags := publish(t, root, remote, "v0.1.0", "### Added\n\n- All of it.\n")
	require.Equal(t, []string{"contrib/otelprospectkit/v0.1.0", "contrib/postgres/v0.1.0"}, tags)
	t.Run("each alone", func(t *testing.T) {
		for _, dir := range append([]string{"."}, published...) {
			consumer := newConsumer(t, "with an empty cache")
			get(t, consumer, dir, "v0.1.0")
			require.Equal(t, "v0.1.0", version(t, consumer, modulePath))
		}
	})
	t.Run("as a go.sum says", func(t *testing.T) {
		for _, dir := range published {
			cmd := exec.Command("go", "-C", dir, "mod", "tidy", "-diff")
			cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=off")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
	})
	t.Run("the first program", func(t *testing.T) { requireFirstProgram(t, root) })
	t.Run("the commands", func(t *testing.T) { requireCommands(t, root) })
	t.Run("these tests after a release", func(t *testing.T) {
		requirePrepareRefused(t, root)
		requireVerifyRefused(t, root)
	})

	later := newConsumer(t, "")
	for _, dir := range slices.Backward(published) {
		get(t, later, dir, "v0.1.0")
	}
	note(t, root, "\n### Fixed\n\n- A part of it.\n\n## [0.1.0] - 2026-01-02\n\n- All of it.\n")
	t.Setenv("GOMODCACHE", downloads) // with the tools
	require.NoError(t, prepare(root, "", "v0.1.1"))
	publish(t, root, remote, "v0.1.1", "### Fixed\n\n- A part of it.\n")
	command(t, later, "go", "get", modulePath+"/contrib/postgres@latest") // takes the library along, and leaves the others
	require.Equal(t, "v0.1.1", version(t, later, modulePath))
	require.Equal(t, "v0.1.0", version(t, later, modulePath+"/contrib/otelprospectkit"))
	for _, dir := range published {
		command(t, later, "go", "get", modulePath+"/"+dir+"@latest")
		require.Equal(t, "v0.1.1", version(t, later, modulePath+"/"+dir))
	}
	command(t, later, "go", "build", "-trimpath", ".") // all of them
}

func TestPrepare_Refused(t *testing.T) { requirePrepareRefused(t, ".") }

func requirePrepareRefused(t *testing.T, of string) {
	t.Helper()
	root := maintainer(t, of)
	note(t, root, "\n- A note.\n")
	head := command(t, root, "git", "rev-parse", "HEAD")
	command(t, root, "git", "tag", "v0.1.0")
	refused := func(path, version, text string) {
		t.Helper()
		require.ErrorContains(t, prepare(root, path, version), text)
		require.Equal(t, head, command(t, root, "git", "rev-parse", "HEAD"))
	}
	for _, version := range []string{"v0.0.9", "v0.1.2", "v0.3.0", "v0.2.1", "v2.0.0"} {
		refused(modulePath, version, "is out of order: after v0.1.0 comes one of v0.1.1, v0.2.0, v1.0.0")
	}
	refused(modulePath, "v0.1.0", "out of order") // comes before a second tag of the same name, which git refuses later
	for _, version := range []string{"0.2.0", "v0.2", "v0.2.0-rc.1", "v0.2.0+build"} {
		refused(modulePath, version, "is not a version like v1.2.3")
	}
	for _, path := range []string{"prospectkit", "forge.invalid/other", "forge.invalid/a b/prospectkit"} {
		require.Error(t, prepare(root, path, "v0.2.0"), path)
	}
	refused("", "v0.2.0", "is a placeholder")
	require.Empty(t, command(t, root, "git", "status", "--porcelain"), "what was refused leaves nothing")

	stray := filepath.Join(root, "stray.txt")
	require.NoError(t, os.WriteFile(stray, nil, 0o600))
	refused(modulePath, "v0.2.0", "the tree is dirty")
	require.NoError(t, os.Remove(stray))

	note(t, root, "\n### Added\n\n## [0.1.0] - 2026-01-02\n\n- Old.\n")
	head = command(t, root, "git", "rev-parse", "HEAD")
	refused(modulePath, "v0.2.0", "no note about this version")
}

// TestVerify_Refused: a tag on a commit that the command has not written.
func TestVerify_Refused(t *testing.T) { requireVerifyRefused(t, ".") }

func requireVerifyRefused(t *testing.T, of string) {
	t.Helper()
	root := maintainer(t, of)
	note(t, root, "\n- New.\n")
	command(t, root, "git", "tag", "v0.1.0")
	require.NoError(t, rename(root, modulePath))
	refused := func(text string) {
		t.Helper()
		_, err := verify(root, "v0.1.0", t.TempDir())
		require.ErrorContains(t, err, text)
	}
	refused("the changelog has no chapter [0.1.0]")
	note(t, root, "\n- New.\n\n## [0.1.0] - 2026-01-02\n\n- A note.\n")
	refused("this commit is")
	command(t, root, "git", "tag", "--force", "v0.1.0")
	modules, err := findModules(root)
	require.NoError(t, err)
	if replaced := modules[slices.IndexFunc(modules, goModule.published)].mod.Replace; len(replaced) > 0 { // until the first release
		refused("replaces")
	}
	require.NoError(t, requireReleased(modules, "v0.0.9"))
	refused("does not require")
	modules, err = findModules(root)
	require.NoError(t, err)
	require.NoError(t, requireReleased(modules, "v0.1.0"))
	refused("lacks the line")
}

// maintainer is a clone of a repository without its tags and its history, which a checkout of a workflow may lack, and under the
// path that the module had before its first release.
func maintainer(t *testing.T, of string) string {
	t.Helper()
	top, err := git(of, "rev-parse", "--show-toplevel")
	require.NoError(t, err)
	root := filepath.Join(t.TempDir(), "clone")
	command(t, ".", "git", "clone", "--quiet", "--no-tags", top, root)
	command(t, root, "git", "config", "user.name", "Maintainer")
	command(t, root, "git", "config", "user.email", "maintainer@prospectkit.invalid")
	command(t, root, "git", "checkout", "--quiet", "--orphan", strings.ReplaceAll(t.Name(), "/", "-")) // a new name: the origin may be such a clone
	placeholder := "example.com/" + "prospectkit"                                                      // which a release does not rename
	require.NoError(t, rename(root, placeholder))
	command(t, root, "git", "commit", "--quiet", "--all", "--message=All of it")
	t.Setenv("GOWORK", "")
	t.Setenv("GOFLAGS", "-buildvcs=false")
	return root
}

// note commits a changelog.
func note(t *testing.T, root, unreleased string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(root, "CHANGELOG.md"), fmt.Appendf(nil, changelog, unreleased), 0o600))
	command(t, root, "git", "commit", "--quiet", "--all", "--message=A change")
}

// publish does what the owner does, and then what the workflow does in a checkout of the tag. What follows has an empty cache of modules.
func publish(t *testing.T, root, remote, version, wanted string) (tags []string) {
	t.Helper()
	command(t, root, "git", "tag", version)
	command(t, root, "git", "push", "--quiet", "--tags", "forge", "HEAD")
	checkout := filepath.Join(t.TempDir(), "checkout")
	dist := t.TempDir()
	command(t, root, "git", "clone", "--quiet", "--branch", version, remote, checkout)
	tags, err := verify(checkout, version, dist)
	require.NoError(t, err)
	command(t, checkout, "git", append([]string{"push", "--quiet", "origin"}, tags...)...)
	again, err := verify(checkout, version, t.TempDir())
	require.NoError(t, err, "a second run of the workflow")
	require.Equal(t, tags, again)
	text, err := os.ReadFile(filepath.Join(dist, "notes.md"))
	require.NoError(t, err)
	require.Equal(t, wanted, string(text))
	sums, err := os.ReadFile(filepath.Join(dist, "prospectkit-"+version+".sum"))
	require.NoError(t, err)
	t.Setenv("GOMODCACHE", t.TempDir())
	for _, dir := range append([]string{"."}, published...) {
		out := command(t, t.TempDir(), "go", "mod", "download", "-json", strings.TrimSuffix(modulePath+"/"+dir, "/.")+"@"+version)
		for _, sum := range []string{"Sum", "GoModSum"} {
			_, sum, found := strings.Cut(out, fmt.Sprintf("%q: \"", sum))
			require.True(t, found)
			sum, _, _ = strings.Cut(sum, `"`)
			require.Contains(t, string(sums), sum+"\n", "what the go command computes")
		}
	}
	return tags
}

// consumers points the go command at the remote for the module path, and at the downloads of this machine for all others.
func consumers(t *testing.T, remote string) (downloads string) {
	t.Helper()
	env := strings.Split(strings.TrimSpace(command(t, ".", "go", "env", "GOMODCACHE", "GOPROXY")), "\n")
	for name, value := range map[string]string{
		"GOPROXY":          "file://" + filepath.ToSlash(env[0]) + "/cache/download," + env[1],
		"GOPRIVATE":        strings.TrimSuffix(modulePath, "/prospectkit"), // no proxy and no checksum database
		"GOSUMDB":          "off",
		"GOFLAGS":          "-modcacherw",
		"GIT_CONFIG_COUNT": "1",
		"GIT_CONFIG_KEY_0": "url.file://" + filepath.ToSlash(remote) + ".insteadOf", "GIT_CONFIG_VALUE_0": "https://" + modulePath,
	} {
		t.Setenv(name, value)
	}
	return env[0]
}

func newConsumer(t *testing.T, emptyCache string) string {
	t.Helper()
	if emptyCache != "" {
		t.Setenv("GOMODCACHE", t.TempDir())
	}
	dir := t.TempDir()
	command(t, dir, "go", "mod", "init", "consumer.invalid/program")
	return dir
}

// get adds a module to a consumer that imports it. Everything that it imports is there.
func get(t *testing.T, consumer, dir, version string) {
	t.Helper()
	path := strings.TrimSuffix(modulePath+"/"+dir, "/.")
	name := filepath.Base(path)
	require.NoError(t, os.WriteFile(filepath.Join(consumer, name+".go"), fmt.Appendf(nil, "package program\n\nimport _ %q\n", path), 0o600))
	command(t, consumer, "go", "get", path+"@"+version)
	command(t, consumer, "go", "list", "-deps", ".")
}

func version(t *testing.T, consumer, path string) string {
	t.Helper()
	return strings.TrimSpace(command(t, consumer, "go", "list", "-m", "-f", "{{.Version}}", path))
}

// requireFirstProgram does what the released README.md says about the installation, compiles the program on its first screen, and counts what the library brings along.
func requireFirstProgram(t *testing.T, root string) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	_, install, found := strings.Cut(string(readme), "\n## Install\n\n`")
	require.True(t, found)
	install, _, _ = strings.Cut(install, "`")
	require.Equal(t, "go get "+modulePath, install)
	require.NotContains(t, string(readme), "-replace")
	_, program, found := strings.Cut(string(readme), "```go\npackage main\n")
	require.True(t, found)
	program, _, _ = strings.Cut(program, "```")
	dir := newConsumer(t, "with an empty cache")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n"+program), 0o600))
	command(t, dir, "sh", "-c", install)
	command(t, dir, "go", "mod", "tidy")
	command(t, dir, "go", "build", "-trimpath", "-o", os.DevNull, ".")
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(mod), "// indirect"), "%s", mod)
}

// requireCommands installs every command of the library by its version.
func requireCommands(t *testing.T, root string) {
	bin := t.TempDir()
	t.Setenv("GOBIN", bin)
	command(t, newConsumer(t, "with an empty cache"), "go", "install", "-trimpath", modulePath+"/cmd/...@v0.1.0")
	installed, err := os.ReadDir(bin)
	require.NoError(t, err)
	sources, err := filepath.Glob(filepath.Join(root, "cmd", "*", "main.go"))
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	require.Len(t, installed, len(sources))
	require.Contains(t, command(t, root, "go", "version", "-m", filepath.Join(bin, installed[0].Name())), modulePath+"\tv0.1.0\t")
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var errText strings.Builder
	cmd.Stderr = &errText
	out, err := cmd.Output()
	require.NoError(t, err, "%s %s\n%s%s", name, strings.Join(args, " "), out, &errText)
	return string(out)
}
