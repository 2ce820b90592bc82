package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
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

// alike are flips that change nothing a caller could see, and why.
var alike = map[string]string{
	"failCanceled, read: stepStop -> stepRetry":  contextEnded,
	"failCanceled, read: stepStop -> stepResend": contextEnded,
	"failCanceled, read: stepStop -> stepWait":   contextEnded,
	"failCanceled, read: stepStop -> stepRekey":  contextEnded,
}

const contextEnded = "the context of the call has ended, and schedule retries nothing then"

// hook reads the environment. It is compiled into the tests of this command, and nowhere else.
const hook = `package prospectkit

import (
	"os"
	"strconv"
	"strings"
)

var flippedPlace, flippedValue, _ = strings.Cut(os.Getenv(` + "`" + variable + "`" + `), "=")

func flipStep(place string, s step) step {
	if place != flippedPlace {
		return s
	}
	n, err := strconv.Atoi(flippedValue)
	if err != nil {
		panic(err)
	}
	return step(n)
}

func flipIf(place string, holds bool) bool {
	if place != flippedPlace {
		return holds
	}
	return flippedValue == "true"
}
`

// instrument returns the files of the overlay, and every flip that they allow. It finds the steps in the code of the types.
func instrument(name string, code, types []byte) (map[string][]byte, []flip, error) {
	fset := token.NewFileSet()
	typesFile, err := parser.ParseFile(fset, steps, types, 0)
	if err != nil {
		return nil, nil, err
	}
	file, err := parser.ParseFile(fset, name, code, 0)
	if err != nil {
		return nil, nil, err
	}
	p := &patient{fset: fset, code: string(code)}
	p.steps = constants(typesFile, "step")
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
	if len(p.steps) == 0 || len(p.flips) == 0 || p.err != nil {
		return nil, nil, fmt.Errorf("%s has no decision table that this command can read: %w", name, p.err)
	}
	return map[string][]byte{name: p.operated(), "flips_overlay.go": []byte(hook)}, p.flips, nil
}

// constants are the names of the block of constants that begins with a type, in order.
func constants(file *ast.File, typeName string) (names []string) {
	for _, decl := range file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		first, ok := block.Specs[0].(*ast.ValueSpec)
		if !ok {
			continue
		}
		if id, ok := first.Type.(*ast.Ident); !ok || id.Name != typeName {
			continue
		}
		for _, spec := range block.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				names = append(names, v.Names[0].Name)
			}
		}
	}
	return names
}

// patient is the source while it is changed.
type patient struct {
	fset  *token.FileSet
	code  string
	steps []string
	cuts  []cut
	flips []flip
	err   error
}

// cut wraps an expression.
type cut struct {
	from, to int
	call     string
}

func (p *patient) wrap(e ast.Expr, call string) (text string) {
	from, to := p.fset.Position(e.Pos()).Offset, p.fset.Position(e.End()).Offset
	p.cuts = append(p.cuts, cut{from, to, call})
	return p.code[from:to]
}

// table wraps the cells of the composite literal.
func (p *patient) table(value ast.Expr) {
	table, ok := value.(*ast.CompositeLit)
	if !ok {
		p.err = errors.New("decisions is not a literal")
		return
	}
	columns := []string{"read", "paid", "write"}
	for _, element := range table.Elts {
		row, _ := element.(*ast.KeyValueExpr)
		if row == nil {
			p.err = errors.New("a row has no key")
			return
		}
		key, _ := row.Key.(*ast.Ident)
		cells, _ := row.Value.(*ast.CompositeLit)
		if key == nil || cells == nil || len(cells.Elts) != 1+len(columns) {
			p.err = fmt.Errorf("a row has no name, or not %d cells", len(columns))
			return
		}
		for i, column := range columns {
			cell := cells.Elts[1+i]
			place := key.Name + "." + column
			was := p.wrap(cell, "flipStep("+strconv.Quote(place)+", ")
			for _, other := range p.others(was) {
				p.flips = append(p.flips, flip{
					place, strconv.Itoa(1 + slices.Index(p.steps, other)), fmt.Sprintf("%s, %s: %s -> %s", key.Name, column, was, other), true,
				})
			}
		}
	}
}

// others are the steps in place of one: the most harmful first.
func (p *patient) others(was string) []string {
	order := []string{"stepRetry", "stepStop", "stepUnknown", "stepLost", "stepResend", "stepWait", "stepRekey"}
	if len(order) != len(p.steps) {
		p.err = fmt.Errorf("there are %d steps, and %d are known here", len(p.steps), len(order))
	}
	if was == "stepResend" || was == "stepWait" {
		order[0], order[1] = order[1], order[0]
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
	place := fmt.Sprintf("condition %d", len(p.cuts))
	was := p.wrap(e, "flipIf("+strconv.Quote(place)+", ")
	for _, value := range []string{"true", "false"} {
		text := fmt.Sprintf("%s, %s -> %s", within, was, value)
		for n := 2; slices.ContainsFunc(p.flips, func(f flip) bool { return f.text == text }); n++ {
			text = fmt.Sprintf("%s, %s (%d) -> %s", within, was, n, value)
		}
		p.flips = append(p.flips, flip{place, value, text, false})
	}
}

// operated is the source with all its cuts.
func (p *patient) operated() []byte {
	slices.SortFunc(p.cuts, func(a, b cut) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, c := range p.cuts {
		b.WriteString(p.code[at:c.from] + c.call + p.code[c.from:c.to] + ")")
		at = c.to
	}
	b.WriteString(p.code[at:])
	return []byte(b.String())
}

// writeOverlay writes files, by their names in this directory, and the list of them for the go command.
func writeOverlay(scratch string, files map[string][]byte) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range files {
		copied := filepath.Join(scratch, name)
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(here, name)] = copied
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(scratch, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}
