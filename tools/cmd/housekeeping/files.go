package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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

// sources parses the Go files below root that keep accepts.
func sources(root string, keep func(path string) bool) ([]source, error) {
	paths, err := walk(root, func(path string) bool { return strings.HasSuffix(path, ".go") && keep(path) })
	if err != nil {
		return nil, err
	}
	list := make([]source, 0, len(paths))
	for _, path := range paths {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(path)), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		list = append(list, source{path, fset, file})
	}
	return list, nil
}

func (s source) line(p token.Pos) int { return s.fset.Position(p).Line }

// within reports whether one of the elements of a path's directory is among the names.
func within(path string, names ...string) bool {
	elements := strings.Split(path, "/")
	return slices.ContainsFunc(elements[:len(elements)-1], func(e string) bool { return slices.Contains(names, e) })
}
