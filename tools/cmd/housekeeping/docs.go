package main

import (
	"fmt"
	"go/ast"
	"strings"
)

// docs finds exported names without a comment, in the packages that users import.
func docs(root string) ([]string, error) {
	list, err := sources(root, func(path string) bool {
		return !strings.HasSuffix(path, "_test.go") && !within(path, "internal", "cmd", "examples", "tools", "benchmarks")
	})
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, s := range list {
		if s.Name.Name == "main" {
			continue
		}
		for _, d := range s.Decls {
			for _, name := range undocumented(d) {
				findings = append(findings, fmt.Sprintf("%s:%d: %s is exported and has no comment", s.path, s.line(name.Pos()), name.Name))
			}
		}
	}
	return findings, nil
}

// undocumented lists the exported names of a declaration that no comment explains. In a group, the comment of the group
// will do.
func undocumented(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc == nil {
			return undocumentedSpecs(d.Specs)
		}
	}
	return nil
}

func undocumentedSpecs(specs []ast.Spec) []*ast.Ident {
	var list []*ast.Ident
	for _, spec := range specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Doc == nil && spec.Comment == nil && spec.Name.IsExported() {
				list = append(list, spec.Name)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if spec.Doc == nil && spec.Comment == nil && name.IsExported() {
					list = append(list, name)
				}
			}
		}
	}
	return list
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
