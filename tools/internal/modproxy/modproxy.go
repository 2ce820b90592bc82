// Package modproxy writes the modules of this repository as a file-system module proxy: what a stranger gets by go get, with
// versions, checksums and zips, without a forge.
package modproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

// Published are the directories of the modules that users import, the root first.
var Published = []string{".", "contrib/redisbudget", "contrib/postgres", "contrib/otelprospectkit"}

// Write adds a version of each published module to the proxy in the directory out, from the files that git knows or would
// know below root. It returns the modules it wrote.
func Write(root, version, out string) ([]module.Version, error) {
	if semver.Canonical(version) != version {
		return nil, fmt.Errorf("%q is not a version like v1.2.3", version)
	}
	var written []module.Version
	for _, dir := range Published {
		m, err := write(filepath.Join(root, dir), version, out)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		written = append(written, m)
	}
	return written, nil
}

func write(dir, version, out string) (module.Version, error) {
	goMod, name, err := released(dir, version)
	if err != nil {
		return module.Version{}, err
	}
	m := module.Version{Path: name, Version: version}
	files, err := content(dir, goMod)
	if err != nil {
		return m, err
	}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return m, err
	}
	versions := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return m, err
	}
	var packed bytes.Buffer
	if err := zip.Create(&packed, m, files); err != nil {
		return m, err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return m, err
	}
	for name, data := range map[string][]byte{".zip": packed.Bytes(), ".mod": goMod, ".info": info} {
		if err := os.WriteFile(filepath.Join(versions, version+name), data, 0o644); err != nil {
			return m, err
		}
	}
	return m, list(filepath.Join(versions, "list"), version)
}

// list adds a version to the list of those that a module has.
func list(file, version string) error {
	known, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	versions := strings.Fields(string(known))
	if slices.Contains(versions, version) {
		return nil
	}
	versions = append(versions, version)
	semver.Sort(versions)
	return os.WriteFile(file, []byte(strings.Join(versions, "\n")+"\n"), 0o644)
}

// released returns the go.mod as strangers get it: a module beside it is required at the same version, not replaced.
func released(dir, version string) (text []byte, name string, err error) {
	file := filepath.Join(dir, "go.mod")
	text, err = os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		return nil, "", err
	}
	for _, r := range mod.Replace {
		if !modfile.IsDirectoryPath(r.New.Path) {
			return nil, "", fmt.Errorf("replaces %s by %s", r.Old.Path, r.New.Path)
		}
		neighbour := r.Old
		if err := mod.DropReplace(neighbour.Path, neighbour.Version); err != nil { // which empties r
			return nil, "", err
		}
		if err := mod.AddRequire(neighbour.Path, version); err != nil {
			return nil, "", err
		}
	}
	mod.Cleanup()
	text, err = mod.Format()
	return text, mod.Module.Mod.Path, err
}

// content lists the files of a module, without those of the modules below it.
func content(dir string, goMod []byte) ([]zip.File, error) {
	cmd := exec.Command("git", "ls-files", "-co", "--exclude-standard", "-z")
	cmd.Dir = dir
	tracked, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	names := strings.Split(strings.TrimSuffix(string(tracked), "\x00"), "\x00")
	nested := map[string]bool{}
	for _, name := range names {
		if below := path.Dir(name); path.Base(name) == "go.mod" && below != "." {
			nested[below] = true
		}
	}
	files := []zip.File{file{name: "go.mod", data: goMod}}
	for _, name := range names {
		if name == "go.mod" || within(name, nested) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and git does not know yet
		}
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, data: data})
	}
	return files, nil
}

func within(name string, dirs map[string]bool) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if dirs[dir] {
			return true
		}
	}
	return false
}

// A file of a module, in memory.
type file struct {
	name string
	data []byte
}

func (f file) Path() string                 { return f.name }
func (f file) Lstat() (fs.FileInfo, error)  { return info{f}, nil }
func (f file) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.data)), nil }

type info struct{ file file }

func (i info) Name() string     { return path.Base(i.file.name) }
func (i info) Size() int64      { return int64(len(i.file.data)) }
func (info) Mode() fs.FileMode  { return 0o644 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }
