package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const routeForm = "GET /business/lists, scope lists."

var routeLine = regexp.MustCompile(`^(.+), scope ([a-z]+)\.$`)

// routes checks the last comment line of every exported method of a service: it names the routes of the method, joined by
// "and", and their scope. Every operation has to be named by at least one method.
func routes(root string) ([]string, error) {
	scopes, order, err := operations(root)
	if err != nil {
		return nil, err
	}
	list, err := sources(root, func(path string) bool { return !strings.Contains(path, "/") && !strings.HasSuffix(path, "_test.go") })
	if err != nil {
		return nil, err
	}
	var findings []string
	named := map[string]bool{}
	for _, s := range list {
		for _, d := range s.Decls {
			method, ok := d.(*ast.FuncDecl)
			if !ok || !serviceMethod(method) {
				continue
			}
			of, err := methodRoutes(method.Doc, scopes)
			if err != nil {
				findings = append(findings, fmt.Sprintf("%s:%d: %s.%s: %v", s.path, s.line(method.Pos()), receiver(method), method.Name.Name, err))
			}
			for _, route := range of {
				named[route] = true
			}
		}
	}
	for _, route := range order {
		if !named[route] {
			findings = append(findings, fmt.Sprintf("no service method names %q", route))
		}
	}
	return findings, nil
}

// operations reads the scope of every route, and the routes in their order.
func operations(root string) (scopes map[string]string, order []string, err error) {
	content, err := os.ReadFile(filepath.Join(root, "operations.json"))
	if err != nil {
		return nil, nil, err
	}
	var rows []struct{ Method, Path, Scope string }
	if err := json.Unmarshal(content, &rows); err != nil {
		return nil, nil, fmt.Errorf("operations.json: %w", err)
	}
	scopes = make(map[string]string, len(rows))
	for _, row := range rows {
		if row.Path == "" {
			row.Path = "(path not shown)"
		}
		route := strings.TrimSpace(row.Method + " " + row.Path)
		scopes[route] = row.Scope
		order = append(order, route)
	}
	return scopes, order, nil
}

func serviceMethod(d *ast.FuncDecl) bool {
	return d.Recv != nil && d.Name.IsExported() && strings.HasSuffix(receiver(d), "Service")
}

// methodRoutes reads the routes from the last line of a comment.
func methodRoutes(doc *ast.CommentGroup, scopes map[string]string) ([]string, error) {
	text := strings.TrimSpace(doc.Text())
	last := text[strings.LastIndex(text, "\n")+1:]
	parts := routeLine.FindStringSubmatch(last)
	if parts == nil {
		return nil, fmt.Errorf("the last line of the comment is %q, not like %q", last, routeForm)
	}
	list := strings.Split(parts[1], " and ")
	for _, route := range list {
		switch scope, ok := scopes[route]; {
		case !ok:
			return list, fmt.Errorf("%q is not the route of an operation", route)
		case scope != parts[2]:
			return list, fmt.Errorf("%s has the scope %s, not %s", route, scope, parts[2])
		}
	}
	return list, nil
}
