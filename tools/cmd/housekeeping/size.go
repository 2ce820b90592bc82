package main

import (
	"fmt"
	"go/ast"
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
	var findings []string
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
