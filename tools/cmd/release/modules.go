package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// published are the directories of the modules that are released with the root. The others are for readers of a clone.
var published = []string{"contrib/otelprospectkit", "contrib/postgres"}

// A nested module, or the root, whose directory is ".".
type goModule struct {
	dir  string // relative to the root, with slashes
	file string // its go.mod
	mod  *modfile.File
}

func (m goModule) path() string    { return m.mod.Module.Mod.Path }
func (m goModule) published() bool { return slices.Contains(published, m.dir) }

// findModules returns the modules that git knows below root, the root's first.
func findModules(root string) ([]goModule, error) {
	names, err := git(root, "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	var list []goModule
	for name := range strings.FieldsSeq(names) {
		if strings.Contains("/"+name, "/testdata/") {
			continue
		}
		m := goModule{dir: path.Dir(name), file: filepath.Join(root, filepath.FromSlash(name))}
		text, err := os.ReadFile(m.file)
		if err != nil {
			return nil, err
		}
		if m.mod, err = modfile.Parse(name, text, nil); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	slices.SortStableFunc(list, func(a, b goModule) int { return strings.Compare(a.dir, b.dir) }) // "." comes first
	if len(list) == 0 || list[0].dir != "." {
		return nil, fmt.Errorf("%s has no go.mod", root)
	}
	for _, dir := range published {
		if !slices.ContainsFunc(list, func(m goModule) bool { return m.dir == dir }) {
			return nil, fmt.Errorf("there is no module in %s", dir)
		}
	}
	return list, nil
}

// requireReleased lets every module require those of this repository at the version. A published one does not replace them.
func requireReleased(modules []goModule, version string) error {
	for _, m := range modules[1:] {
		edit := []string{"mod", "edit", "-fmt"} // another path may have another place
		for _, own := range modules {
			if !slices.ContainsFunc(m.mod.Require, func(r *modfile.Require) bool { return r.Mod.Path == own.path() }) {
				continue
			}
			if m.published() && own.dir != "." {
				return fmt.Errorf("%s requires %s: only the root's checksum is computed", m.dir, own.dir)
			}
			edit = append(edit, "-require="+own.path()+"@"+version)
			if m.published() {
				edit = append(edit, "-dropreplace="+own.path())
			}
		}
		if _, err := output(filepath.Dir(m.file), "go", edit...); err != nil {
			return err
		}
	}
	return nil
}

// writeSums adds the root's checksums to the go.sum of each published module, in the place of those of another version.
func writeSums(root string, modules []goModule, version string) error {
	sums, err := checksums(root, modules[0], version)
	if err != nil {
		return err
	}
	for _, m := range modules {
		if !m.published() {
			continue
		}
		err := rewrite(filepath.Join(filepath.Dir(m.file), "go.sum"), func(text string) (string, error) {
			lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(line string) bool {
				return strings.HasPrefix(line, modules[0].path()+" ")
			})
			lines = append(lines, sums...)
			slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(first(a), first(b)) })
			return strings.Join(lines, "\n") + "\n", nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func first(line string) string {
	word, _, _ := strings.Cut(line, " ")
	return word
}

// checksums returns the two lines of a go.sum about a module, as the go command computes them from the commit at HEAD.
func checksums(root string, m goModule, version string) ([]string, error) {
	packed, err := os.CreateTemp("", "module-*.zip")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(packed.Name()) }()
	defer func() { _ = packed.Close() }()
	if err := zip.CreateFromVCS(packed, module.Version{Path: m.path(), Version: version}, root, "HEAD", strings.TrimPrefix(m.dir, ".")); err != nil {
		return nil, err
	}
	whole, err := dirhash.HashZip(packed.Name(), dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	goMod, err := git(root, "show", "HEAD:"+path.Join(m.dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	alone, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(goMod + "\n")), nil
	})
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%s %s %s", m.path(), version, whole),
		fmt.Sprintf("%s %s/go.mod %s", m.path(), version, alone),
	}, nil
}
