package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"example.com/prospectkit/internal/op"
)

// everywhere are the codes that any operation may return.
var everywhere = []string{"UNAUTHORIZED", "INSUFFICIENT_SCOPE", "ENDPOINT_NOT_FOUND", "RATE_LIMITED", "UNEXPECTED_ERROR"}

// page is operations.md without what follows from the table.
//
//go:embed operations.tmpl
var page string

func operationsMarkdown(source string) ([]byte, error) {
	reached, err := calls(source)
	if err != nil {
		return nil, err
	}
	var surfaces, verified, all strings.Builder
	for _, surface := range shared(op.All(), func(o *op.Op) (row, surface string) {
		return operationRow(o, reached[o.Route()]), heading(o)
	}) {
		fmt.Fprintf(&surfaces, "\n## %s\n\n%s%s", surface.what, tableHead, strings.Join(surface.names, ""))
	}
	for _, row := range shared(op.All(), func(o *op.Op) (name, row string) {
		return "**" + o.Name + "**", fmt.Sprintf("%s | %s", map[bool]string{true: "yes", false: "no"}[o.Resolves], o.Verify)
	}) {
		if !strings.HasSuffix(row.what, " | ") {
			fmt.Fprintf(&verified, "| %s | %s |\n", strings.Join(row.names, ", "), row.what)
		}
	}
	err = template.Must(template.New("").Parse(page)).Execute(&all, map[string]any{
		"operations": len(op.All()), "codes": len(op.Codes), "everywhere": quoted(everywhere), "surfaces": &surfaces, "verifyRows": &verified,
	})
	return []byte(all.String()), err
}

const tableHead = "| Operation | Call | Route | Class, effects, documentation | Codes |\n|---|---|---|---|---|\n"

// saidOf is what is said of some names.
type saidOf struct {
	what  string
	names []string
}

// shared groups items by what is said of them, in the order in which they first come.
func shared[T any](items []T, read func(T) (name, what string)) (all []saidOf) {
	for _, item := range items {
		name, what := read(item)
		i := slices.IndexFunc(all, func(s saidOf) bool { return s.what == what })
		if i < 0 {
			i, all = len(all), append(all, saidOf{what: what})
		}
		all[i].names = append(all[i].names, name)
	}
	return all
}

// heading is that of the operations that share a surface and a scope.
func heading(o *op.Op) string {
	limits := "Limits undocumented, learnt from the headers"
	if w := op.DocumentedLimits[o.Surface]; w != (op.Limits{}) {
		limits = fmt.Sprintf("%s requests a minute, %s a day", thousands(w.PerMinute), thousands(w.PerDay))
	}
	return fmt.Sprintf("%s\n\n%s; scope `%s`.", o.Surface, limits, o.Scope)
}

func operationRow(o *op.Op, calls []string) string {
	facts := []string{"`" + string(o.Class) + "`", effects(o), shown(o)}
	if o.Timeout != op.UsualTimeout {
		facts = append(facts, fmt.Sprintf("%g s", o.Timeout.Seconds()))
	}
	return fmt.Sprintf("| **%s**: %s | %s | `%s` | %s | %s |\n", o.Name, o.Summary, orDash(strings.Join(calls, ", ")), o.Route(),
		strings.Join(slices.DeleteFunc(facts, func(fact string) bool { return fact == "" }), ", "), quoted(o.Codes))
}

func effects(o *op.Op) string {
	var list []string
	for _, e := range []struct {
		word   string
		effect op.Effect
	}{{"spends", o.Spends}, {"sends", o.Sends}, {"writes outside", o.WritesOutside}} {
		switch e.effect {
		case op.Yes:
			list = append(list, "**"+e.word+"**")
		case op.Assumed:
			list = append(list, "**"+e.word+"?**")
		case op.No:
		}
	}
	if o.Free != "" {
		list = append(list, fmt.Sprintf("%q", o.Free))
	}
	return strings.Join(list, ", ")
}

func shown(o *op.Op) string {
	text := "`" + string(o.Shape) + "`"
	switch o.Provenance {
	case op.AssumedPath:
		text += ", **path assumed**"
	case op.CallerSupplied:
		text += ", **path from you**"
	case op.Documented:
	}
	return text
}

func quoted(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return "`" + strings.Join(words, "`, `") + "`"
}

// thousands groups the digits of a number below a million: 10000 is 10,000.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
