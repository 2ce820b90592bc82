package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const routeForm = "GET /business/lists, scope lists."

var routeLine = regexp.MustCompile(`^(.+), scope ([a-z]+)\.$`)

// routes checks the last comment line of every exported method of a service: it names the routes of the method, joined by
// "and", and their scope. That every operation has its method is a test of internal/tests. Then it finds the paths that
// are written where they do not belong.
func routes(root string) ([]string, error) {
	scopes, err := operations(root)
	if err != nil {
		return nil, err
	}
	list, err := sources(root, func(path string) bool {
		return !strings.HasSuffix(path, "_test.go") && path != "internal/op/table.go" && !within(path, "tools", "tests")
	})
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, s := range list {
		findings = append(findings, strayPaths(s)...)
		if strings.Contains(s.path, "/") {
			continue
		}
		for _, d := range s.Decls {
			method, ok := d.(*ast.FuncDecl)
			if !ok || !serviceMethod(method) {
				continue
			}
			if err := methodRoutes(method.Doc, scopes); err != nil {
				findings = append(findings, fmt.Sprintf("%s:%d: %s.%s: %v", s.path, s.line(method.Pos()), receiver(method), method.Name.Name, err))
			}
		}
	}
	return findings, nil
}

// strayPaths finds paths of the service in the code: only the operation table knows them.
func strayPaths(s source) (findings []string) {
	for n := range ast.Preorder(s.File) {
		if text, ok := n.(*ast.BasicLit); ok && strings.Contains(text.Value, "/business/") {
			findings = append(findings, fmt.Sprintf("%s:%d: a path of the service outside of internal/op: %s", s.path, s.line(n.Pos()), text.Value))
		}
	}
	return findings
}

// operations reads the scope of every route.
func operations(root string) (map[string]string, error) {
	content, err := os.ReadFile(filepath.Join(root, "operations.json"))
	if err != nil {
		return nil, err
	}
	var rows []struct{ Method, Path, Scope string }
	if err := json.Unmarshal(content, &rows); err != nil {
		return nil, fmt.Errorf("operations.json: %w", err)
	}
	scopes := make(map[string]string, len(rows))
	for _, row := range rows {
		if row.Path == "" {
			row.Path = "(path undocumented)"
		}
		scopes[strings.TrimSpace(row.Method+" "+row.Path)] = row.Scope
	}
	return scopes, nil
}

func serviceMethod(d *ast.FuncDecl) bool {
	return d.Recv != nil && d.Name.IsExported() && strings.HasSuffix(receiver(d), "Service")
}

// methodRoutes holds the last line of a comment against the table.
func methodRoutes(doc *ast.CommentGroup, scopes map[string]string) error {
	text := strings.TrimSpace(doc.Text())
	last := text[strings.LastIndex(text, "\n")+1:]
	parts := routeLine.FindStringSubmatch(last)
	if parts == nil {
		return fmt.Errorf("the last line of the comment is %q, not like %q", last, routeForm)
	}
	for route := range strings.SplitSeq(parts[1], " and ") {
		switch scope, ok := scopes[route]; {
		case !ok:
			return fmt.Errorf("%q is not the route of an operation", route)
		case scope != parts[2]:
			return fmt.Errorf("%s has the scope %s, not %s", route, scope, parts[2])
		}
	}
	return nil
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*"), "[")
	return name
}
