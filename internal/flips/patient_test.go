package flips

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// flip is a change of one cell, or of one condition.
type flip struct {
	place, value string // for the environment
	text         string // for people
	cell         bool
}

// choosers are the functions that choose the row and the column.
var choosers = []string{"decide", "classify", "classifyIncomplete", "mayRekey", "isServiceEnvelope"}

// alike finds flips that change nothing a caller could see: the context of the call has ended, and schedule retries nothing then.
var alike = regexp.MustCompile("^failCanceled, read: stepStop -> step(Retry|Resend|Wait|Rekey)$")

// hook reads the environment. It is compiled into the tests of this command, and nowhere else.
const hook = `package prospectkit

import (
	"os"
	"strconv"
	"strings"
)

var flippedPlace, flippedTo, _ = strings.Cut(os.Getenv("` + variable + `"), "=")

func flipped[T any](place string, was T, others ...T) T {
	if place != flippedPlace {
		return was
	}
	n, err := strconv.Atoi(flippedTo)
	if err != nil {
		panic(err)
	}
	return others[n]
}
`

// instrument returns the files of the overlay, and every flip that they allow.
func instrument(name string, code []byte) (map[string][]byte, []flip, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, code, 0)
	if err != nil {
		return nil, nil, err
	}
	p := &patient{fset: fset, code: string(code)}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && v.Names[0].Name == "decisions" {
					p.table(v.Values[0])
				}
			}
		case *ast.FuncDecl:
			if slices.Contains(choosers, d.Name.Name) {
				p.conditions(d.Name.Name, d.Body)
			}
		}
	}
	if len(p.flips) == 0 || p.err != nil {
		return nil, nil, fmt.Errorf("%s has no decision table that this command can read: %w", name, p.err)
	}
	return map[string][]byte{name: p.operated(), "flips_overlay.go": []byte(hook)}, p.flips, nil
}

// patient is the source while it is changed.
type patient struct {
	fset  *token.FileSet
	code  string
	cuts  []cut
	flips []flip
	err   error
}

// cut puts an expression, and what may be in its place, into a call of the hook.
type cut struct {
	from, to int
	place    string
	others   []string
}

// text is that of an expression.
func (p *patient) text(e ast.Expr) string {
	return p.code[p.fset.Position(e.Pos()).Offset:p.fset.Position(e.End()).Offset]
}

// wrap makes a flip for each of the others. Its text for people is what a function makes of it.
func (p *patient) wrap(e ast.Expr, place string, cell bool, others []string, text func(other string) string) {
	p.cuts = append(p.cuts, cut{p.fset.Position(e.Pos()).Offset, p.fset.Position(e.End()).Offset, place, others})
	for i, other := range others {
		p.flips = append(p.flips, flip{place, strconv.Itoa(i), text(other), cell})
	}
}

// table wraps the cells of the composite literal.
func (p *patient) table(value ast.Expr) {
	columns := []string{"read", "paid", "write"}
	cells := map[string][]ast.Expr{} // by row
	steps := map[string]bool{}
	table, _ := value.(*ast.CompositeLit)
	if table == nil {
		p.err = errors.New("decisions is not a literal")
		return
	}
	var rows []string
	for _, element := range table.Elts {
		row, _ := element.(*ast.KeyValueExpr)
		if row == nil {
			p.err = errors.New("a row has no key")
			return
		}
		literal, _ := row.Value.(*ast.CompositeLit)
		if literal == nil || len(literal.Elts) != 1+len(columns) {
			p.err = fmt.Errorf("a row does not have %d cells", len(columns))
			return
		}
		name := p.text(row.Key)
		rows, cells[name] = append(rows, name), literal.Elts[1:]
		for _, cell := range cells[name] {
			steps[p.text(cell)] = true
		}
	}
	for _, row := range rows {
		for i, cell := range cells[row] {
			if row == "failApproved" && columns[i] != "write" { // an approval is one
				continue
			}
			was := p.text(cell)
			p.wrap(cell, row+"."+columns[i], true, others(was, steps), func(other string) string {
				return fmt.Sprintf("%s, %s: %s -> %s", row, columns[i], was, other)
			})
		}
	}
}

// others are the steps in place of one: the most harmful first.
func others(was string, steps map[string]bool) []string {
	order := []string{"stepRetry", "stepStop"}
	if was == "stepResend" || was == "stepWait" {
		slices.Reverse(order)
	}
	for _, s := range slices.Sorted(maps.Keys(steps)) {
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
	}
	return slices.DeleteFunc(order, func(s string) bool { return s == was })
}

// conditions wraps what is between the operators of each condition.
func (p *patient) conditions(within string, body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			p.operands(within, n.Cond)
		case *ast.SwitchStmt:
			if n.Tag != nil {
				return true
			}
			for _, clause := range n.Body.List {
				if c, ok := clause.(*ast.CaseClause); ok {
					for _, e := range c.List {
						p.operands(within, e)
					}
				}
			}
		case *ast.ReturnStmt:
			if b, ok := n.Results[0].(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
				p.operands(within, b)
			}
		}
		return true
	})
}

func (p *patient) operands(within string, e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		p.operands(within, e.X)
		return
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			p.operands(within, e.X)
			p.operands(within, e.Y)
			return
		}
	}
	p.wrap(e, fmt.Sprintf("condition %d", len(p.cuts)), false, []string{"true", "false"}, func(value string) string {
		was := p.text(e)
		text := fmt.Sprintf("%s, %s -> %s", within, was, value)
		for n := 2; slices.ContainsFunc(p.flips, func(f flip) bool { return f.text == text }); n++ {
			text = fmt.Sprintf("%s, %s (%d) -> %s", within, was, n, value)
		}
		return text
	})
}

// operated is the source with all its cuts.
func (p *patient) operated() []byte {
	slices.SortFunc(p.cuts, func(a, b cut) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, c := range p.cuts {
		fmt.Fprintf(&b, "%sflipped(%q, %s, %s)", p.code[at:c.from], c.place, p.code[c.from:c.to], strings.Join(c.others, ", "))
		at = c.to
	}
	b.WriteString(p.code[at:])
	return []byte(b.String())
}
