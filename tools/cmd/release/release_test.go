package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// released is another path of the module. The go command asks git for it without looking it up, and git finds the repository of the test.
const released = "github.com/prospectkit-release-test/prospectkit"

// TestAReleaseIsOneTag plays two releases: rename, prepare, tag, push to a bare repository, and what a stranger then gets.
func TestAReleaseIsOneTag(t *testing.T) {
	dir := t.TempDir()
	forge, clone := filepath.Join(dir, "forge.git"), filepath.Join(dir, "clone")
	run(t, dir, "git", "init", "--quiet", "--bare", forge)
	cloneTree(t, clone)
	run(t, clone, "git", "remote", "add", "forge", forge)
	r := &release{root: clone, version: "v0.1.0", date: "2026-11-24"}
	note(t, clone, "the first one")
	require.NoError(t, r.prepare(released))
	require.Equal(t, "main", run(t, clone, "git", "name-rev", "--name-only", "HEAD~1"), "the tagged commit stands beside the branch")
	tag(t, r)

	strangers(t, forge)
	getEach(t, r)
	bin := t.TempDir()
	t.Setenv("GOBIN", bin)
	commands, err := filepath.Glob(filepath.Join(clone, "cmd", "*", "main.go"))
	require.NoError(t, err)
	require.NotEmpty(t, commands)
	for _, main := range commands {
		run(t, t.TempDir(), "go", "install", released+"/cmd/"+filepath.Base(filepath.Dir(main))+"@"+r.version)
	}
	installed, err := os.ReadDir(bin)
	require.NoError(t, err)
	require.Len(t, installed, len(commands))

	user := t.TempDir()
	run(t, user, "go", "mod", "init", "stranger.invalid/program")
	run(t, user, "go", "get", released+"@latest", released+"/contrib/otelprospectkit@latest")
	require.Contains(t, run(t, user, "go", "list", "-m", "all"), released+" v0.1.0")

	run(t, clone, "git", "switch", "--quiet", "main")
	note(t, clone, "the second one")
	r = &release{root: clone, version: "v0.1.1", date: "2026-11-25"}
	require.NoError(t, r.prepare(""))
	tag(t, r)
	require.Contains(t, r.notes, "the second one")
	require.NotContains(t, r.notes, "the first one")
	t.Setenv("GOMODCACHE", t.TempDir()) // what is latest is remembered for a while
	run(t, user, "go", "get", "-u", released, released+"/contrib/otelprospectkit")
	all := run(t, user, "go", "list", "-m", "all")
	require.Contains(t, all, released+" v0.1.1")
	require.Contains(t, all, released+"/contrib/otelprospectkit v0.1.1")
}

// cloneTree makes a repository of this tree as it is, with one commit, on the branch main.
func cloneTree(t *testing.T, to string) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(to, 0o750))
	run(t, to, "git", "init", "--quiet", "--initial-branch=main")
	for name := range strings.SplitSeq(run(t, root, "git", "ls-files", "-co", "--exclude-standard"), "\n") {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		file := filepath.Join(to, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, text, info.Mode().Perm()))
	}
	for key, value := range map[string]string{"user.name": "release", "user.email": "release@forge.invalid"} {
		run(t, to, "git", "config", key, value)
	}
	run(t, to, "git", "add", "--all")
	run(t, to, "git", "commit", "--quiet", "--message=all")
}

// note puts a line under what is unreleased, and commits it.
func note(t *testing.T, clone, text string) {
	t.Helper()
	file := filepath.Join(clone, "CHANGELOG.md")
	changelog, err := os.ReadFile(file)
	require.NoError(t, err)
	more := strings.Replace(string(changelog), "## [Unreleased]\n", "## [Unreleased]\n\n- "+text+"\n", 1)
	require.NoError(t, os.WriteFile(file, []byte(more), 0o600))
	run(t, clone, "git", "commit", "--quiet", "--all", "--message="+text)
}

// tag does what the owner does, and then the workflow.
func tag(t *testing.T, r *release) {
	t.Helper()
	run(t, r.root, "git", "tag", r.version)
	checked := &release{root: r.root, version: r.version}
	require.NoError(t, checked.verify())
	require.Equal(t, r.notes, checked.notes)
	below, err := r.published()
	require.NoError(t, err)
	require.Len(t, below, 3)
	for _, dir := range below {
		text, err := os.ReadFile(filepath.Join(r.root, dir, "go.mod"))
		require.NoError(t, err)
		require.NotContains(t, string(text), "replace")
		run(t, r.root, "git", "tag", dir+"/"+r.version)
	}
	run(t, r.root, "git", "push", "--quiet", "--tags", "forge", "main")
}

// strangers sets the environment of somebody who knows the forge, and has nothing of ours. What others have published comes from where it
// always comes from, or from what is on this machine.
func strangers(t *testing.T, forge string) {
	t.Helper()
	cache, proxy, _ := strings.Cut(run(t, ".", "go", "env", "GOMODCACHE", "GOPROXY"), "\n")
	for key, value := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(cache) + "/cache/download," + proxy, "GOPRIVATE": released, "GOSUMDB": "off",
		"GOFLAGS": "-modcacherw", "GOWORK": "off", "GOMODCACHE": t.TempDir(),
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "url." + forge + ".insteadOf", "GIT_CONFIG_VALUE_0": "https://" + released,
	} {
		t.Setenv(key, value)
	}
}

// getEach gets each module alone, into an empty module and an empty cache.
func getEach(t *testing.T, r *release) {
	t.Helper()
	below, err := r.published()
	require.NoError(t, err)
	for _, dir := range append(below, "") {
		t.Setenv("GOMODCACHE", t.TempDir())
		user, module := t.TempDir(), strings.TrimSuffix(released+"/"+dir, "/")
		run(t, user, "go", "mod", "init", "stranger.invalid/program")
		run(t, user, "go", "get", module+"@"+r.version)
		run(t, user, "go", "list", "-deps", module) // everything that it imports is there
	}
}

func TestWhatIsNoReleaseIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		break_        func(dir string)
		version, want string
	}{
		"dirty":      {func(dir string) { write(t, dir, "a.go", "package a // changed\n") }, "v0.2.0", "not committed"},
		"no version": {func(string) {}, "0.2", "is not a version"},
		"prerelease": {func(string) {}, "v0.2.0-rc.1", "is not a version"},
		"earlier":    {func(string) {}, "v0.0.9", "v0.1.0 is there already"},
		"again":      {func(string) {}, "v0.1.0", "tag of another commit"},
		"no note": {func(dir string) {
			commit(t, dir, "CHANGELOG.md", "# C\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n\n- x\n")
		}, "v0.2.0", "needs a note"},
		"no list":     {func(dir string) { commit(t, dir, "CHANGELOG.md", "# C\n") }, "v0.2.0", "needs a note"},
		"other names": {func(string) {}, "v0.2.0", "has to end in /a"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := small(t)
			c.break_(dir)
			before := run(t, dir, "git", "rev-parse", "HEAD")
			path := map[bool]string{true: "forge.invalid/b"}[name == "other names"]
			require.ErrorContains(t, (&release{root: dir, version: c.version}).prepare(path), c.want)
			require.Equal(t, before, run(t, dir, "git", "rev-parse", "HEAD"))
		})
	}
}

// A tag of another commit than the one that was prepared is noticed, and so is one without a note.
func TestVerify(t *testing.T) {
	dir := small(t)
	r := &release{root: dir, version: "v0.2.0", date: "2026-11-24"}
	require.NoError(t, r.prepare(""))
	require.NoError(t, r.verify())
	run(t, dir, "git", "switch", "--quiet", "main")
	require.ErrorContains(t, r.verify(), "contrib/b does not require this commit as v0.2.0")
	commit(t, dir, "CHANGELOG.md", "# C\n")
	require.ErrorContains(t, r.verify(), "says nothing about v0.2.0")
}

// small is a repository with one module below it, and a release.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module forge.invalid/a\n\ngo 1.26.0\n", "a.go": "package a\n",
		"contrib/b/go.mod": "module forge.invalid/a/contrib/b\n\ngo 1.26.0\n\nrequire forge.invalid/a v0.0.0\n\nreplace forge.invalid/a => ../..\n",
		"contrib/b/b.go":   "package b\n", "contrib/b/go.sum": "",
		"contrib/tests/go.mod": "module forge.invalid/a/contrib/tests\n", "contrib/tests/x_test.go": "package tests\n",
		"CHANGELOG.md": "# C\n\n## [Unreleased]\n\n- new\n\n## [0.1.0] - 2026-01-01\n\n- x\n",
	} {
		write(t, dir, name, text)
	}
	run(t, dir, "git", "init", "--quiet", "--initial-branch=main")
	run(t, dir, "git", "config", "user.name", "release")
	run(t, dir, "git", "config", "user.email", "release@forge.invalid")
	run(t, dir, "git", "add", "--all")
	run(t, dir, "git", "commit", "--quiet", "--message=all")
	run(t, dir, "git", "tag", "v0.1.0")
	commit(t, dir, "more.go", "package a\n")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

func commit(t *testing.T, dir, name, text string) {
	t.Helper()
	write(t, dir, name, text)
	run(t, dir, "git", "add", "--all")
	run(t, dir, "git", "commit", "--quiet", "--message="+name)
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return strings.TrimSpace(string(out))
}
