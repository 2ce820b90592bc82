package main

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	codeSpan  = regexp.MustCompile("`[^`]+`")
	quotation = regexp.MustCompile(`"[^"]*"`)
	// A name is not a part of a path, a header or a file, and not the key of a literal.
	goName = regexp.MustCompile(`(?:^|[^\w./\-$@%])([A-Za-z_]\w*(?:\.[A-Z]\w*)*)(?:[^\w./\-:]|\.\.\.|$)`)
	noGo   = regexp.MustCompile(`^[A-Z0-9_]+$`) // an environment variable, a code or a method of HTTP
)

// names finds Go names that the prose of README files, of docs, and of the pages for agents and about security mentions, and that do not
// exist: a member that its type or package lacks, or a name that occurs nowhere in the Go code.
func names(root string) ([]string, error) {
	code, err := readCode(root)
	if err != nil {
		return nil, err
	}
	paths, err := walk(root, func(p string) bool { return forUsers(p) || p == "SECURITY.md" })
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, p := range paths {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return nil, err
		}
		for number, line := range prose(string(content)) {
			for _, span := range codeSpan.FindAllString(line, -1) {
				for _, name := range namesIn(span) {
					if !code.has(name) {
						findings = append(findings, fmt.Sprintf("%s:%d: no %s in the Go code", p, number, name))
					}
				}
			}
		}
	}
	return findings, nil
}

// namesIn returns the Go names of a code span: with a capital letter somewhere.
func namesIn(span string) (list []string) {
	text := quotation.ReplaceAllString(strings.Trim(span, "`"), " ")
	for {
		at := goName.FindStringSubmatchIndex(text)
		if at == nil {
			return list
		}
		name := text[at[2]:at[3]]
		last := name[strings.LastIndex(name, ".")+1:]
		if ast.IsExported(last) && !noGo.MatchString(name) {
			list = append(list, name)
		}
		text = text[at[3]:]
	}
}

// goCode is what the Go files of the repository declare and use.
type goCode struct {
	used     map[string]bool            // every identifier
	packages map[string]map[string]bool // those that a user can import: their names
	types    map[string][]members       // the types of these packages, by name
	client   map[string]string          // the fields of Client, and the name of the type of each
}

// members are those of a type. It also has those of the types that it embeds or stands for.
type members struct {
	names map[string]bool
	from  []string
	open  bool // others come from another package
}

func readCode(root string) (*goCode, error) {
	list, err := sources(root, func(p string) bool { return !within(p, "tools") })
	if err != nil {
		return nil, err
	}
	code := &goCode{used: map[string]bool{}, packages: map[string]map[string]bool{}, types: map[string][]members{}, client: map[string]string{}}
	byType := map[string]*members{} // with the directory, whose files may come in any order
	for _, s := range list {
		for n := range ast.Preorder(s.File) {
			if id, ok := n.(*ast.Ident); ok {
				code.used[id.Name] = true
			}
		}
		if !strings.HasSuffix(s.path, "_test.go") && s.Name.Name != "main" && !within(s.path, "internal", "examples") {
			code.add(s, byType)
		}
	}
	for key, m := range byType {
		name := path.Base(key)
		code.types[name] = append(code.types[name], *m)
	}
	return code, nil
}

func (c *goCode) add(s source, byType map[string]*members) {
	top := c.packages[s.Name.Name]
	if top == nil {
		top = map[string]bool{}
		c.packages[s.Name.Name] = top
	}
	of := func(name string) *members {
		key := path.Dir(s.path) + "/" + name
		if byType[key] == nil {
			byType[key] = &members{names: map[string]bool{}}
		}
		return byType[key]
	}
	for _, decl := range s.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				top[d.Name.Name] = true
			} else {
				of(receiver(d)).names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok {
					for _, name := range value.Names {
						top[name.Name] = true
					}
				}
				if typ, ok := spec.(*ast.TypeSpec); ok {
					top[typ.Name.Name] = true
					of(typ.Name.Name).addAll(typ.Type)
					if s.path == "client.go" && typ.Name.Name == "Client" {
						c.addServices(typ.Type)
					}
				}
			}
		}
	}
}

// addAll adds the fields of a struct, or the methods of an interface.
func (m *members) addAll(of ast.Expr) {
	switch t := of.(type) {
	case *ast.StructType:
		m.addFields(t.Fields)
	case *ast.InterfaceType:
		m.addFields(t.Methods)
	case *ast.FuncType, *ast.MapType, *ast.ArrayType:
	default:
		m.addType(t)
	}
}

func (m *members) addFields(list *ast.FieldList) {
	for _, field := range list.List {
		for _, name := range field.Names {
			m.names[name.Name] = true
		}
		if len(field.Names) == 0 {
			m.addType(field.Type)
		}
	}
}

func (m *members) addType(of ast.Expr) {
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	switch t := of.(type) {
	case *ast.Ident:
		m.from = append(m.from, t.Name)
		m.names[t.Name] = true
	case *ast.SelectorExpr:
		m.open = true
		m.names[t.Sel.Name] = true
	default:
		m.open = true
	}
}

func (c *goCode) addServices(of ast.Expr) {
	client, ok := of.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range client.Fields.List {
		if p, ok := field.Type.(*ast.StarExpr); ok {
			if t, ok := p.X.(*ast.Ident); ok {
				for _, name := range field.Names {
					c.client[name.Name] = t.Name
				}
			}
		}
	}
}

// has reports whether a name exists. A variable is named after its type: budget.Snapshot is that of a Budget.
func (c *goCode) has(name string) bool {
	first, rest, chain := strings.Cut(name, ".")
	if !chain {
		return c.used[name] || strings.HasPrefix(name, "Test") && c.hasTest(name)
	}
	next, _, _ := strings.Cut(rest, ".")
	typ := strings.ToUpper(first[:1]) + first[1:]
	switch {
	case c.packages[first] != nil:
		return c.packages[first][next] && c.has(rest)
	case c.client[first] != "":
		return c.hasMember(c.client[first], next) && c.has(rest)
	case c.types[typ] != nil:
		return c.hasMember(typ, next) && c.has(rest)
	case ast.IsExported(first) && !c.used[first]:
		return false
	}
	for part := range strings.SplitSeq(rest, ".") { // of another package, or of a variable
		if !c.used[part] {
			return false
		}
	}
	return true
}

// hasTest reports whether the pattern of a run has a test.
func (c *goCode) hasTest(pattern string) bool {
	for name := range c.used {
		if strings.HasPrefix(name, pattern) {
			return true
		}
	}
	return false
}

// hasMember also looks at the types that a type embeds, except those it came by: another package may have types of the same names.
func (c *goCode) hasMember(typ, name string, by ...string) bool {
	by = append(by, typ)
	inherits := func(from string) bool { return !slices.Contains(by, from) && c.hasMember(from, name, by...) }
	for _, m := range c.types[typ] {
		if m.names[name] || m.open && c.used[name] || slices.ContainsFunc(m.from, inherits) {
			return true
		}
	}
	return false
}
