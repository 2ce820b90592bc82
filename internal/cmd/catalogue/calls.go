package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// calls lists the Go calls of each route, as links to their source. The last line of a comment names the routes of a call.
func calls(source string) (map[string][]string, error) {
	texts, err := sources(source)
	if err != nil {
		return nil, err
	}
	found := make(map[string][]string)
	for name, text := range texts {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
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

// sources are the Go files of a directory, by their names, without tests.
func sources(dir string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	texts := make(map[string]string)
	for _, path := range paths {
		if name := filepath.Base(path); !strings.HasSuffix(name, "_test.go") {
			text, unread := os.ReadFile(path)
			texts[name], err = string(text), errors.Join(err, unread)
		}
	}
	return texts, err
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
		receiver := f.Recv.List[0].Type
		if pointer, ok := receiver.(*ast.StarExpr); ok {
			receiver = pointer.X
		}
		service := receiver.(*ast.Ident).Name
		return "client." + strings.TrimSuffix(service, "Service") + "." + f.Name.Name
	}
	return "prospectkit." + f.Name.Name
}
