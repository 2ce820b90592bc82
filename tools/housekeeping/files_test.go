package housekeeping

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A source is one parsed Go file.
type source struct {
	path string // relative to the root, with slashes
	fset *token.FileSet
	*ast.File
}

// walk lists the files below root that keep accepts, by their relative paths with slashes. It leaves out hidden
// directories and test data.
func walk(root string, keep func(path string) bool) ([]string, error) {
	var list []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")
			if path != root && (hidden || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if relative = filepath.ToSlash(relative); keep(relative) {
			list = append(list, relative)
		}
		return nil
	})
	return list, err
}

// A page is a file with its text.
type page struct{ path, text string }

// read reads the files below root that keep accepts.
func read(root string, keep func(path string) bool) ([]page, error) {
	paths, err := walk(root, keep)
	if err != nil {
		return nil, err
	}
	list := make([]page, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		list[i] = page{path, string(text)}
	}
	return list, nil
}

// sources parses the Go files below root that keep accepts.
func sources(root string, keep func(path string) bool) ([]source, error) {
	files, err := read(root, func(path string) bool { return strings.HasSuffix(path, ".go") && keep(path) })
	list := make([]source, len(files))
	for i, f := range files {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, f.path, f.text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		list[i] = source{f.path, fset, file}
	}
	return list, err
}

func (s source) line(p token.Pos) int { return s.fset.Position(p).Line }

// within reports whether one of the elements of a path's directory is among the names.
func within(path string, names ...string) bool {
	elements := strings.Split(path, "/")
	return slices.ContainsFunc(elements[:len(elements)-1], func(e string) bool { return slices.Contains(names, e) })
}
