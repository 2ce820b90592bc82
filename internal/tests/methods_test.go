package tests

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

// byArgument are the methods whose argument knows the row, so that the source does not show it.
var byArgument = []string{"AgentsService.Create", "AgentsService.CreateAndStart", "AgentsService.Ensure"}

// source is the package, parsed.
type source struct {
	funcs map[string]*ast.FuncDecl // by name, methods as Type.Name
}

func parseSource(t *testing.T) source {
	t.Helper()
	files, err := filepath.Glob(Path("*.go"))
	require.NoError(t, err)
	s := source{funcs: make(map[string]*ast.FuncDecl)}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				s.funcs[receiver(f)+f.Name.Name] = f
			}
		}
	}
	return s
}

// receiver is the type of a method with a dot, or nothing.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	return t.(*ast.Ident).Name + "."
}

// rows lists the rows of the table that a function uses, itself or through functions of the package; through exported ones
// only if whole is set.
func (s source) rows(name string, whole bool, visited map[string]bool) map[string]bool {
	found := make(map[string]bool)
	f := s.funcs[name]
	if f == nil || visited[name] || f.Body == nil {
		return found
	}
	visited[name] = true
	follow := func(prefix string, called *ast.Ident) {
		if whole || !called.IsExported() {
			maps.Copy(found, s.rows(prefix+called.Name, whole, visited))
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			switch {
			case ok && x.Name == "op":
				found[n.Sel.Name] = true
			case ok && f.Recv != nil && len(f.Recv.List[0].Names) == 1 && x.Name == f.Recv.List[0].Names[0].Name:
				follow(receiver(f), n.Sel)
			}
		case *ast.Ident:
			follow("", n)
		}
		return true
	})
	return found
}

// tableNames maps the variables of the table to its rows, as the source declares them.
func tableNames(t *testing.T) map[string]*op.Op {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), Path("internal", "op", "table.go"), nil, 0)
	require.NoError(t, err)
	names := make(map[string]*op.Op)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		ast.Inspect(spec.Values[0], func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Name" {
					if row, ok := op.ByName(strings.Trim(kv.Value.(*ast.BasicLit).Value, `"`)); ok {
						names[spec.Names[0].Name] = row
					}
				}
			}
			return true
		})
		return true
	})
	require.Len(t, names, len(op.All()))
	return names
}

// named lists the routes that the last line of a comment names, which ends with a scope.
func named(f *ast.FuncDecl) (routes []string, scope string) {
	lines := strings.Split(strings.TrimSpace(f.Doc.Text()), "\n")
	line, ends := strings.CutSuffix(lines[len(lines)-1], ".")
	text, scope, ok := strings.Cut(line, ", scope ")
	if !ok || !ends || len(lines) < 3 || lines[len(lines)-2] != "" {
		return nil, ""
	}
	return strings.Split(text, " and "), scope
}

// entrances are the exported functions and methods of services that take a context.
func (s source) entrances() map[string]*ast.FuncDecl {
	found := make(map[string]*ast.FuncDecl)
	for name, f := range s.funcs {
		params := f.Type.Params.List
		if f.Name.IsExported() && (f.Recv == nil || strings.HasSuffix(receiver(f), "Service.")) &&
			len(params) > 0 && types.ExprString(params[0].Type) == "context.Context" {
			found[name] = f
		}
	}
	return found
}

// Every row has a method, and the comment of every method names rows only. That a method names the rows that it uses, and no others, is
// TestMethods_EndTheirCommentWithRouteAndScope's.
func TestMethods_EachRowHasOne(t *testing.T) {
	naming := make(map[string][]string) // names of methods, by route
	for name, f := range parseSource(t).entrances() {
		routes, _ := named(f)
		for _, route := range routes {
			naming[route] = append(naming[route], name)
		}
	}
	for _, row := range op.All() {
		require.NotEmpty(t, naming[row.Route()], "no method names the route of %s", row.Name)
		delete(naming, row.Route())
	}
	require.Empty(t, naming, "comments name routes that the table does not have")
}

// Whatever reaches the wire says so in its last line, and names nothing that it does not reach.
func TestMethods_EndTheirCommentWithRouteAndScope(t *testing.T) {
	s, table := parseSource(t), tableNames(t)
	reaching := 0
	for name, f := range s.entrances() {
		routes, scope := named(f)
		own := s.rows(name, false, make(map[string]bool))
		maps.DeleteFunc(own, func(row string, _ bool) bool { return table[row] == nil })
		if len(own) > 0 {
			reaching++
		}
		if len(own) > 0 || f.Recv != nil {
			require.NotEmpty(t, routes, "%s uses %v; its comment ends with no line like \"GET /business/lists, scope lists.\"", name, own)
		}
		reached := make(map[string]string)
		for row := range s.rows(name, true, make(map[string]bool)) {
			if o := table[row]; o != nil {
				reached[o.Route()] = string(o.Scope)
			}
		}
		if slices.Contains(byArgument, name) {
			for _, o := range op.All() {
				reached[o.Route()] = string(o.Scope)
			}
		}
		for _, route := range routes {
			require.Equal(t, reached[route], scope, "%s: %s", name, route)
			require.NotEmpty(t, scope, "%s: %s", name, route)
		}
	}
	require.GreaterOrEqual(t, reaching, len(op.All()))
}

// A method of a type that is not generic names no generic type of the package's own, such as a pager of lists. Else every package that
// knows a client compiles all methods of that type, and of those that they use: 1,600 functions, when six methods did.
func TestMethods_NameNoGenericTypeOfOurs(t *testing.T) {
	for name, f := range parseSource(t).funcs {
		if f.Recv == nil || genericReceiver(f) {
			continue
		}
		ast.Inspect(f.Type, func(n ast.Node) bool {
			generic, ok := n.(*ast.IndexExpr)
			if !ok {
				return true
			}
			made, ok := generic.X.(*ast.Ident)
			require.False(t, ok && !made.IsExported(), "%s: make it a function", name)
			return true
		})
	}
}

func genericReceiver(f *ast.FuncDecl) (generic bool) {
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		_, index := n.(*ast.IndexExpr)
		generic = generic || index
		return true
	})
	return generic
}
