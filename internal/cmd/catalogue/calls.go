package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// calls lists the Go calls of each route, as links to their source. The last line of a comment names the routes of a call.
func calls(source string) (map[string][]string, error) {
	files, err := parsed(source)
	if err != nil {
		return nil, err
	}
	found := make(map[string][]string)
	for name, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			for _, route := range routes(f.Doc.Text()) {
				found[route] = append(found[route], fmt.Sprintf("[`%s`](../%s)", call(f), name))
			}
		}
	}
	for _, links := range found {
		slices.Sort(links)
	}
	return found, nil
}

// parsed are the Go files of a directory, by their names, without tests.
func parsed(dir string) (map[string]*ast.File, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	files := make(map[string]*ast.File)
	for _, path := range paths {
		if name := filepath.Base(path); !strings.HasSuffix(name, "_test.go") {
			if files[name], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// routes lists the routes that a comment ends with, or none.
func routes(comment string) []string {
	comment = strings.TrimSpace(comment)
	text, _, ok := strings.Cut(comment[strings.LastIndex(comment, "\n")+1:], ", scope ")
	if !ok {
		return nil
	}
	return strings.Split(text, " and ")
}

// call is how a function is reached, a method of a service through the client.
func call(f *ast.FuncDecl) string {
	if f.Recv != nil {
		if star, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
			if service, ok := star.X.(*ast.Ident); ok {
				return "client." + strings.TrimSuffix(service.Name, "Service") + "." + f.Name.Name
			}
		}
	}
	return "prospectkit." + f.Name.Name
}
