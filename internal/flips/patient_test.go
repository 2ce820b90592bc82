package flips

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
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
	p := &patient{}
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
	var operated bytes.Buffer
	err = format.Node(&operated, fset, file)
	return map[string][]byte{name: operated.Bytes(), "flips_overlay.go": []byte(hook)}, p.flips, err
}

// patient is the source while it is changed.
type patient struct {
	wrapped int // expressions
	flips   []flip
	err     error
}

// wrap puts an expression, and what may be in its place, into a call of the hook, and makes a flip for each of the others. Its text for
// people is what a function makes of it.
func (p *patient) wrap(e *ast.Expr, place string, cell bool, others []string, text func(other string) string) {
	call := &ast.CallExpr{Fun: ast.NewIdent("flipped"), Args: []ast.Expr{ast.NewIdent(strconv.Quote(place)), *e}}
	for i, other := range others {
		call.Args = append(call.Args, ast.NewIdent(other))
		p.flips = append(p.flips, flip{place, strconv.Itoa(i), text(other), cell})
	}
	*e = call
	p.wrapped++
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
		name := written(row.Key)
		rows, cells[name] = append(rows, name), literal.Elts[1:]
		for _, cell := range cells[name] {
			steps[written(cell)] = true
		}
	}
	for _, row := range rows {
		for i := range cells[row] {
			if row == "failRepeated" && columns[i] != "write" { // an approval is one
				continue
			}
			was := written(cells[row][i])
			p.wrap(&cells[row][i], row+"."+columns[i], true, others(was, steps), func(other string) string {
				return fmt.Sprintf("%s, %s: %s -> %s", row, columns[i], was, other)
			})
		}
	}
}

// written is an expression as gofmt writes it.
func written(e ast.Expr) string {
	var b bytes.Buffer
	_ = format.Node(&b, token.NewFileSet(), e) // a buffer takes everything
	return b.String()
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
			p.operands(within, &n.Cond)
		case *ast.SwitchStmt:
			if n.Tag != nil {
				return true
			}
			for _, clause := range n.Body.List {
				if c, ok := clause.(*ast.CaseClause); ok {
					for i := range c.List {
						p.operands(within, &c.List[i])
					}
				}
			}
		case *ast.ReturnStmt:
			if b, ok := n.Results[0].(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
				p.operands(within, &n.Results[0])
			}
		}
		return true
	})
}

func (p *patient) operands(within string, e *ast.Expr) {
	switch e := (*e).(type) {
	case *ast.ParenExpr:
		p.operands(within, &e.X)
		return
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			p.operands(within, &e.X)
			p.operands(within, &e.Y)
			return
		}
	}
	was := written(*e)
	p.wrap(e, fmt.Sprintf("condition %d", p.wrapped), false, []string{"true", "false"}, func(value string) string {
		text := fmt.Sprintf("%s, %s -> %s", within, was, value)
		for n := 2; slices.ContainsFunc(p.flips, func(f flip) bool { return f.text == text }); n++ {
			text = fmt.Sprintf("%s, %s (%d) -> %s", within, was, n, value)
		}
		return text
	})
}
