package tests

import (
	"go/ast"
	"go/doc"
	"go/parser"
	gotoken "go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// byArgument are the methods whose argument knows the row, so that the source does not show it.
var byArgument = []string{"AgentsService.Create", "AgentsService.CreateAndStart", "AgentsService.Ensure"}

// source is the package, parsed.
type source struct {
	funcs map[string]*ast.FuncDecl // by name, methods as Type.Name
}

func parseSource(t *testing.T) source {
	t.Helper()
	s := source{funcs: make(map[string]*ast.FuncDecl)}
	_, files := ParseDir(t, "")
	for _, file := range files {
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

func isContext(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.X.(*ast.Ident).Name == "context" && s.Sel.Name == "Context"
}

// entrances are the exported functions and methods of services that take a context.
func (s source) entrances() map[string]*ast.FuncDecl {
	found := make(map[string]*ast.FuncDecl)
	for name, f := range s.funcs {
		params := f.Type.Params.List
		if f.Name.IsExported() && (f.Recv == nil || strings.HasSuffix(receiver(f), "Service.")) &&
			len(params) > 0 && isContext(params[0].Type) {
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

// codeSets are the codes that a call may return.
type codeSets struct{ documented, likely []string }

func (s *codeSets) add(more codeSets) {
	s.documented, s.likely = append(s.documented, more.documented...), append(s.likely, more.likely...)
}

// sorted removes repeats, and from the likely ones those that are documented.
func (s codeSets) sorted() codeSets {
	slices.Sort(s.documented)
	s.documented = slices.Compact(s.documented)
	s.likely = slices.DeleteFunc(slices.Clone(s.likely), func(c string) bool { return slices.Contains(s.documented, c) })
	slices.Sort(s.likely)
	s.likely = slices.Compact(s.likely)
	return s
}

var (
	codeLink   = regexp.MustCompile(`\[(Code\w+)\]`)
	methodLink = regexp.MustCompile(`\[(\w+Service\.\w+)\]`)
	remark     = regexp.MustCompile(`\([^()]*\)`)
)

// paragraph returns the paragraph of a comment that begins with a word, on one line.
func paragraph(f *ast.FuncDecl, word string) string {
	for text := range strings.SplitSeq(f.Doc.Text(), "\n\n") {
		if strings.HasPrefix(text, word) {
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return ""
}

// codeNames maps the constants to the codes.
func codeNames(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), Path("codes.go"), nil, 0)
	require.NoError(t, err)
	names := make(map[string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			names[spec.Names[0].Name] = strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)
		}
		return true
	})
	return names
}

// The line "Errors:" of a comment says which codes the document shows for the call and which are
// likely, as the table does. It may stand for those of another call.
func TestComments_ErrorsAreThoseOfTheTable(t *testing.T) {
	calls, names := parseSource(t).entrances(), codeNames(t)
	table := make(map[string]codeSets)
	for _, o := range op.All() {
		table[o.Route()] = codeSets{o.Codes, o.Likely}
	}
	for name, f := range calls {
		routes, _ := named(f)
		var want, got codeSets
		for _, route := range routes {
			want.add(table[route])
		}
		text := paragraph(f, "Errors:")
		if refs := methodLink.FindAllStringSubmatch(remark.ReplaceAllString(text, ""), -1); len(refs) > 0 {
			require.Regexp(t, `^Errors: those of \[\w+\.\w+\]( and \[\w+\.\w+\])*\.$`, text, name)
			for _, ref := range refs {
				other := calls[ref[1]]
				require.NotNil(t, other, "%s refers to %s", name, ref[1])
				require.NotContains(t, paragraph(other, "Errors:"), "those of", "%s refers to what refers on", name)
				others, _ := named(other)
				for _, route := range others {
					got.add(table[route])
				}
			}
			require.Subset(t, got.documented, want.documented, name)
			require.Subset(t, append(got.likely, got.documented...), want.likely, name)
			continue
		}
		documented, likely, _ := strings.Cut(remark.ReplaceAllString(text, ""), "likely: ")
		for _, link := range codeLink.FindAllStringSubmatch(documented, -1) {
			got.documented = append(got.documented, names[link[1]])
		}
		for _, link := range codeLink.FindAllStringSubmatch(likely, -1) {
			got.likely = append(got.likely, names[link[1]])
		}
		want = want.sorted()
		require.Equal(t, want, got.sorted(), "%s: its comment against the table", name)
		if text != "" {
			require.Equal(t, len(want.documented) > 0, strings.HasPrefix(text, "Errors: documented: "), name)
		}
	}
}

// What is undocumented is supplied by the caller. Each such comment names what the sandbox takes, in the words of its rules.
func TestComments_NameTheFieldsThatTheSandboxTakes(t *testing.T) {
	rules := make(map[string]string)
	for line := range strings.Lines(sandbox.Assumptions()) {
		id, text, _ := strings.Cut(line, ": ")
		rules[id] = text
	}
	sentence := regexp.MustCompile(`The sandbox takes ([^.]+) \(assumed: rule ([a-z.-]+)(?: and ([a-z.-]+))?\)\.`)
	small := strings.Fields("and or one of at least with a any body nothing objects alone")
	word := regexp.MustCompile(`[A-Za-z]+`)
	found := 0
	for name, f := range parseSource(t).entrances() {
		text := strings.Join(strings.Fields(f.Doc.Text()), " ")
		if !takesFields(f) && !strings.Contains(text, "The sandbox takes") { // a request with a few documented fields says it, too
			continue
		}
		found++
		match := sentence.FindStringSubmatch(text)
		require.NotNil(t, match, "%s does not say what the sandbox takes", name)
		require.NotEmpty(t, rules[match[2]], "%s: rule %s", name, match[2])
		require.True(t, match[3] == "" || rules[match[3]] != "", "%s: rule %s", name, match[3])
		known := word.FindAllString(rules[match[2]]+" "+rules[match[3]], -1)
		for _, w := range word.FindAllString(match[1], -1) {
			require.True(t, slices.Contains(small, w) || slices.Contains(known, w), "%s: %q is in none of its rules", name, w)
		}
	}
	require.NotZero(t, found)
}

func takesFields(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		named, ok := p.Type.(*ast.Ident)
		return ok && named.Name == "Fields"
	})
}

// go doc shows a constant under its type only if the group writes the type: X T = T(y), not X = T(y).
func TestComments_ConstantsStandUnderTheirType(t *testing.T) {
	for _, dir := range []string{"", "filter", "journal", "sandbox", "spend"} {
		fset, files := ParseDir(t, dir)
		pkg, err := doc.NewFromFiles(fset, files, "example.com/prospectkit/"+dir)
		require.NoError(t, err)
		require.NotEmpty(t, pkg.Types, dir)
		for _, group := range pkg.Consts { // those under no type
			for _, spec := range group.Decl.Specs {
				value := spec.(*ast.ValueSpec)
				_, conversion := append(value.Values, nil)[0].(*ast.CallExpr)
				require.False(t, conversion, "%s: write the type of %s", dir, value.Names[0])
			}
		}
	}
}
