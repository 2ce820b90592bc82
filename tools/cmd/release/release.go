package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// release is one version of the root and of the published modules below it.
type release struct {
	root, version, date string

	notes string
}

// prepare writes the two commits, and leaves HEAD at the second one.
func (r *release) prepare(path string) error {
	status, err := r.git("status", "--porcelain")
	if err == nil && status != "" {
		err = errors.New("the tree has changes that are not committed:\n" + status)
	}
	if err != nil {
		return err
	}
	if err := r.inOrder(); err != nil {
		return err
	}
	if path != "" {
		if err := rename(r.root, path); err != nil {
			return err
		}
	}
	if err := r.cutNotes(); err != nil {
		return err
	}
	if _, err := r.git("commit", "--quiet", "--all", "--message=Release "+r.version); err != nil {
		return err
	}
	if _, err := r.git("switch", "--quiet", "--detach"); err != nil {
		return err
	}
	sums, err := r.sums()
	if err != nil {
		return err
	}
	below, err := r.published()
	if err != nil {
		return err
	}
	for _, dir := range below {
		if err := r.requireRelease(dir, sums); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	_, err = r.git("commit", "--quiet", "--all", "--allow-empty", "--message="+r.version+": the modules below require it")
	return err
}

// verify checks that HEAD is what prepare makes of the commit before.
func (r *release) verify() error {
	if err := r.inOrder(); err != nil {
		return err
	}
	_, section, found := strings.Cut(r.changelog(), "\n## ["+r.bare()+"] - ")
	if r.notes = sectionOf(section); !found || r.notes == "" {
		return fmt.Errorf("CHANGELOG.md says nothing about %s", r.version)
	}
	sums, err := r.sums()
	if err != nil {
		return err
	}
	below, err := r.published()
	if err != nil {
		return err
	}
	for _, dir := range below {
		text, err := os.ReadFile(filepath.Join(r.root, dir, "go.mod"))
		if err != nil {
			return err
		}
		released, err := r.released(text)
		if err != nil {
			return err
		}
		known, err := os.ReadFile(filepath.Join(r.root, dir, "go.sum"))
		if err != nil {
			return err
		}
		if !bytes.Equal(text, released) || !slices.Contains(strings.Split(string(known), "\n"), sums[0]) {
			return fmt.Errorf("%s does not require this commit as %s: tag the commit that the release command has written", dir, r.version)
		}
	}
	return nil
}

// inOrder refuses what is no version, and one that is not later than all tags but itself.
func (r *release) inOrder() error {
	if semver.Canonical(r.version) != r.version || semver.Prerelease(r.version) != "" {
		return fmt.Errorf("%q is not a version like v1.2.3", r.version)
	}
	tags, err := r.git("tag", "--list", "v*")
	for tag := range strings.FieldsSeq(tags) {
		head, _ := r.git("rev-parse", "HEAD")
		if at, _ := r.git("rev-parse", tag+"^{commit}"); tag == r.version && at != head {
			return fmt.Errorf("%s is a tag of another commit", tag)
		}
		if semver.Compare(tag, r.version) > 0 {
			return fmt.Errorf("%s is there already: %s would be out of order", tag, r.version)
		}
	}
	return err
}

// cutNotes moves what is unreleased in the changelog under the version.
func (r *release) cutNotes() error {
	const unreleased = "\n## [Unreleased]\n"
	text := r.changelog()
	before, section, found := strings.Cut(text, unreleased)
	if r.notes = sectionOf(section); !found || r.notes == "" {
		return errors.New("CHANGELOG.md has nothing under [Unreleased]: a release needs a note")
	}
	text = before + unreleased + "\n## [" + r.bare() + "] - " + r.date + "\n" + section
	return os.WriteFile(filepath.Join(r.root, "CHANGELOG.md"), []byte(text), 0o644)
}

func (r *release) bare() string { return strings.TrimPrefix(r.version, "v") }

func (r *release) changelog() string {
	text, _ := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md")) // without it, no note
	return string(text)
}

// sectionOf is what stands below a heading.
func sectionOf(text string) string {
	text, _, _ = strings.Cut(text, "\n## ")
	_, text, _ = strings.Cut(text, "\n")
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return text + "\n"
}

// published are the directories of the modules below contrib that others can import: those with more than tests.
func (r *release) published() (dirs []string, err error) {
	mods, err := filepath.Glob(filepath.Join(r.root, "contrib", "*", "go.mod"))
	for _, file := range mods {
		sources, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go"))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(sources, func(name string) bool { return !strings.HasSuffix(name, "_test.go") }) {
			dirs = append(dirs, "contrib/"+filepath.Base(filepath.Dir(file)))
		}
	}
	return dirs, err
}

// sums are the lines of go.sum about the root: what everybody will download by the tag.
func (r *release) sums() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return nil, err
	}
	m := module.Version{Path: modfile.ModulePath(text), Version: r.version}
	packed, err := os.CreateTemp("", "release-*.zip")
	if err != nil {
		return nil, err
	}
	defer os.Remove(packed.Name())
	defer packed.Close()
	if err := zip.CreateFromVCS(packed, m, r.root, "HEAD", ""); err != nil {
		return nil, err
	}
	whole, err := dirhash.HashZip(packed.Name(), dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	goMod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
	return []string{m.Path + " " + m.Version + " " + whole, m.Path + " " + m.Version + "/go.mod " + goMod}, err
}

// requireRelease makes a module require the release, in go.mod and go.sum.
func (r *release) requireRelease(dir string, sums []string) error {
	mod, sum := filepath.Join(r.root, dir, "go.mod"), filepath.Join(r.root, dir, "go.sum")
	text, err := os.ReadFile(mod)
	if err != nil {
		return err
	}
	if text, err = r.released(text); err != nil {
		return err
	}
	if err := os.WriteFile(mod, text, 0o644); err != nil {
		return err
	}
	known, err := os.ReadFile(sum)
	if err != nil {
		return err
	}
	lines := slices.Sorted(slices.Values(append(strings.FieldsFunc(string(known), func(c rune) bool { return c == '\n' }), sums...)))
	return os.WriteFile(sum, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// released is a go.mod as others need it: what is replaced by a directory is required at the version instead.
func (r *release) released(text []byte) ([]byte, error) {
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	root, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return nil, err
	}
	for _, replaced := range mod.Replace {
		if old := replaced.Old; old.Path != modfile.ModulePath(root) {
			return nil, fmt.Errorf("replaces %s, which is not the root", old.Path)
		}
		if err := mod.DropReplace(replaced.Old.Path, replaced.Old.Version); err != nil {
			return nil, err
		}
	}
	if err := mod.AddRequire(modfile.ModulePath(root), r.version); err != nil {
		return nil, err
	}
	mod.Cleanup()
	return mod.Format()
}

func (r *release) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.root
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// rename gives the module, and those below it, another path in every text file that git knows. The last element has to stay: it is the name
// of the package.
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
	tracked, err := (&release{root: root}).git("ls-files", "-z")
	if err != nil {
		return err
	}
	escape := strings.NewReplacer(".", `\.`) // as it stands in regular expressions
	paths := strings.NewReplacer(from, to, escape.Replace(from), escape.Replace(to))
	for name := range strings.SplitSeq(strings.TrimSuffix(tracked, "\x00"), "\x00") {
		file := filepath.Join(root, filepath.FromSlash(name))
		old, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if renamed := paths.Replace(string(old)); renamed != string(old) && bytes.IndexByte(old, 0) < 0 {
			if err := os.WriteFile(file, []byte(renamed), 0o644); err != nil { // which keeps the mode
				return err
			}
		}
	}
	return nil
}
