package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"
)

const (
	maxFile     = 700 // lines
	maxFunction = 60
)

// sizes finds files and functions that are too long to read. Generated files may be of any size.
func sizes(root string) ([]string, error) {
	list, err := sources(root, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	findings, err := longFiles(root, ".lua", ".html", ".mjs", ".sh")
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if ast.IsGenerated(s.File) {
			continue
		}
		if n := s.fset.File(s.Pos()).LineCount(); n > maxFile {
			findings = append(findings, fmt.Sprintf("%s: %d lines, more than %d", s.path, n, maxFile))
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			name := "a function literal"
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.FuncLit:
			default:
				return true
			}
			if lines := s.line(n.End()) - s.line(n.Pos()) + 1; lines > maxFunction {
				findings = append(findings, fmt.Sprintf("%s:%d: %s has %d lines, more than %d", s.path, s.line(n.Pos()), name, lines, maxFunction))
			}
			return false
		})
	}
	return findings, nil
}

// longFiles finds files in other languages that are too long to read.
func longFiles(root string, extensions ...string) ([]string, error) {
	paths, err := walk(root, func(p string) bool { return slices.Contains(extensions, path.Ext(p)) })
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, p := range paths {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return nil, err
		}
		if n := bytes.Count(text, []byte("\n")); n > maxFile {
			findings = append(findings, fmt.Sprintf("%s: %d lines, more than %d", p, n, maxFile))
		}
	}
	return findings, nil
}
