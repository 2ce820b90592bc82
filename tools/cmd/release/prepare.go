package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// prepare writes the commit of a release below root, an absolute path. It works in a clone, verifies the result there, and only then
// commits it here.
func prepare(root, path, version string) error {
	dirty, err := git(root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if dirty != "" {
		return fmt.Errorf("the tree is dirty: commit or remove this first:\n%s", dirty)
	}
	if err := inOrder(root, version, ""); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	clone := filepath.Join(scratch, "clone")
	if _, err := git(scratch, "clone", "--quiet", root, clone); err != nil {
		return err
	}
	if err := write(clone, path, version); err != nil {
		return err
	}
	if _, err := git(clone, "tag", version); err != nil {
		return err
	}
	if _, err := verify(clone, version, filepath.Join(scratch, "dist")); err != nil {
		return err
	}
	return take(root, clone, "Release "+version)
}

// write makes a clone what the tag of the version will hold, and commits it.
func write(clone, path, version string) error {
	if path != "" {
		if err := rename(clone, path); err != nil {
			return err
		}
	}
	modules, err := findModules(clone)
	if err != nil {
		return err
	}
	err = errors.Join(checkPath(modules[0].path(), version), cut(filepath.Join(clone, "CHANGELOG.md"), version, time.Now()), dropProvisional(clone))
	if err != nil {
		return err
	}
	if _, err := output(clone, "go", "tool", "-modfile=tools/go.mod", "apidiff", "-m", "-w", "tools/api/prospectkit.export", modules[0].path()); err != nil {
		return err
	}
	if err := requireReleased(modules, version); err != nil {
		return err
	}
	// The checksum of the root is that of its files in this commit. The go.sum files are in no zip of the root.
	if err := commit(clone); err != nil {
		return err
	}
	if err := writeSums(clone, modules, version); err != nil {
		return err
	}
	return commit(clone, "--amend")
}

// rename gives the module, and those below it, another path, in every text file that git knows. The last element of the path
// has to stay: it is the name of the package.
func rename(root, to string) error {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	from := modfile.ModulePath(text)
	if err := module.CheckPath(to); err != nil {
		return err
	}
	if name := from[strings.LastIndex(from, "/")+1:]; !strings.HasSuffix(to, "/"+name) {
		return fmt.Errorf("%s has to end in /%s, the name of the package", to, name)
	}
	escape := strings.NewReplacer(".", `\.`) // as it stands in regular expressions
	paths := strings.NewReplacer(from, to, escape.Replace(from), escape.Replace(to))
	return rewriteAll(root, "*", paths.Replace)
}

// commit is a draft in a clone. The commit that stays has the author, the hooks and the signature of the owner.
func commit(clone string, args ...string) error {
	if _, err := git(clone, "add", "--all"); err != nil {
		return err
	}
	_, err := git(clone, append([]string{
		"-c", "user.name=release", "-c", "user.email=release@invalid", "-c", "commit.gpgSign=false", "commit", "--quiet", "--no-verify", "--message=draft",
	}, args...)...)
	return err
}

// take commits here what was written in the clone, or leaves the tree as it was.
func take(root, clone, message string) error {
	if _, err := git(root, "fetch", "--quiet", "--no-tags", clone, "HEAD"); err != nil {
		return err
	}
	_, err := git(root, "cherry-pick", "--no-commit", "FETCH_HEAD")
	if err == nil {
		_, err = git(root, "commit", "--quiet", "--message="+message)
	}
	if err != nil {
		_, undo := git(root, "reset", "--quiet", "--hard", "HEAD")
		return errors.Join(err, undo)
	}
	return nil
}

// inOrder demands that a version is the next patch, minor or major version after the tags before it. The checksum database keeps
// every version for ever, a typing error too. The tag itself does not count.
func inOrder(root, version, itself string) error {
	if semver.Canonical(version) != version || semver.Prerelease(version) != "" {
		return fmt.Errorf("%q is not a version like v1.2.3", version)
	}
	merged, err := git(root, "tag", "--merged", "HEAD", "--list", "v*")
	if err != nil {
		return err
	}
	newest := "v0.0.0"
	for tag := range strings.FieldsSeq(merged) {
		if semver.IsValid(tag) && tag != itself && semver.Compare(tag, newest) > 0 {
			newest = tag
		}
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(newest, "v%d.%d.%d", &major, &minor, &patch); err != nil {
		return fmt.Errorf("the tag %s: %w", newest, err)
	}
	next := []string{
		fmt.Sprintf("v%d.%d.%d", major, minor, patch+1), fmt.Sprintf("v%d.%d.0", major, minor+1), fmt.Sprintf("v%d.0.0", major+1),
	}
	if slices.Contains(next, version) {
		return nil
	}
	return fmt.Errorf("%s is out of order: after %s comes one of %s", version, newest, strings.Join(next, ", "))
}

const unreleased = "\n## [Unreleased]\n"

// cut moves what is unreleased in the changelog under the version and a date.
func cut(file, version string, date time.Time) error {
	return rewrite(file, func(changelog string) (string, error) {
		before, after, found := strings.Cut(changelog, unreleased)
		if !found {
			return "", errors.New("the changelog has no chapter [Unreleased]")
		}
		heading := fmt.Sprintf("\n## [%s] - %s\n", strings.TrimPrefix(version, "v"), date.Format(time.DateOnly))
		released := before + unreleased + heading + after
		_, err := notes(released, version)
		return released, err
	})
}

// notes returns what the changelog says about a version.
func notes(changelog, version string) (string, error) {
	heading := regexp.MustCompile(`(?m)^## \[` + regexp.QuoteMeta(strings.TrimPrefix(version, "v")) + `\] - \d{4}-\d\d-\d\d\n`)
	at := heading.FindStringIndex(changelog)
	if at == nil {
		return "", fmt.Errorf("the changelog has no chapter [%s]", strings.TrimPrefix(version, "v"))
	}
	text, _, _ := strings.Cut(changelog[at[1]:], "\n## ")
	if !strings.Contains("\n"+text, "\n- ") {
		return "", errors.New("the changelog has no note about this version")
	}
	return strings.TrimSpace(text) + "\n", nil
}

// provisional is what a Markdown file says about the time before the first release.
var provisional = regexp.MustCompile(`(?s)<!-- before the first release -->\n.*?<!-- end -->\n\n?`)

func dropProvisional(clone string) error {
	return rewriteAll(clone, "*.md", func(text string) string { return provisional.ReplaceAllString(text, "") })
}

// rewriteAll changes every text file that git knows by a pattern.
func rewriteAll(root, pattern string, change func(text string) string) error {
	tracked, err := git(root, "ls-files", "-z", pattern)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(tracked, "\x00"), "\x00") {
		err := rewrite(filepath.Join(root, filepath.FromSlash(name)), func(text string) (string, error) {
			if strings.Contains(text, "\x00") {
				return text, nil // no text
			}
			return change(text), nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// rewrite changes the text of a file, which keeps its mode.
func rewrite(file string, change func(text string) (string, error)) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := change(string(old))
	if err != nil || text == string(old) {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// git runs git in a directory and returns what it prints, without the last newline.
func git(dir string, args ...string) (string, error) {
	out, err := output(dir, "git", args...)
	return strings.TrimSuffix(out, "\n"), err
}

// output runs a command in a directory, outside of any workspace of modules, and returns what it prints.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}
