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
	var limited, operations, verified, codes, all strings.Builder
	for _, surface := range shared(op.All(), func(o *op.Op) (row, surface string) {
		return operationRow(o, reached[o.Route()]), string(o.Surface)
	}) {
		fmt.Fprintf(&limited, "| `%s` | %s |\n", surface.what, limits(op.DocumentedLimits[op.Surface(surface.what)]))
		operations.WriteString(strings.Join(surface.names, ""))
	}
	for _, row := range shared(op.All(), func(o *op.Op) (name, row string) {
		return "**" + o.Name + "**", fmt.Sprintf("%s | %s", map[bool]string{true: "yes", false: "no"}[o.Resolves], o.Verify)
	}) {
		if !strings.HasSuffix(row.what, " | ") {
			fmt.Fprintf(&verified, "| %s | %s |\n", strings.Join(row.names, ", "), row.what)
		}
	}
	for _, row := range shared(slices.SortedStableFunc(slices.Values(op.Codes), func(a, b op.Code) int {
		return strings.Compare(string(a.Action), string(b.Action))
	}), func(c op.Code) (name, row string) {
		return "`" + c.Name + "` " + statuses(c.Statuses), fmt.Sprintf("**%s**: %s.", c.Action, c.Hint)
	}) {
		codes.WriteString(wrapped("- "+row.what, row.names))
	}
	err = template.Must(template.New("").Parse(page)).Execute(&all, map[string]any{
		"operations": len(op.All()), "codes": len(op.Codes), "everywhere": quoted(everywhere),
		"surfaceRows": &limited, "operationRows": &operations, "verifyRows": &verified, "codeRows": &codes,
	})
	return []byte(all.String()), err
}

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

// wrapped makes an item of a list: its lead, and names in lines of the width of the pages.
func wrapped(lead string, names []string) string {
	var b strings.Builder
	line := lead
	for i, name := range names {
		name += map[bool]string{true: ".", false: ","}[i == len(names)-1]
		if len(line)+len(name) >= 148 {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + name
	}
	return b.String() + line + "\n"
}

func limits(w op.Limits) string {
	if w == (op.Limits{}) {
		return "undocumented: the client learns them from the response headers"
	}
	return fmt.Sprintf("%s and %s", thousands(w.PerMinute), thousands(w.PerDay))
}

func operationRow(o *op.Op, calls []string) string {
	return fmt.Sprintf("| **%s**: %s | %s | `%s` | `%s`, `%s` | `%s` | %s | %s | %g s | %s | %s |\n",
		o.Name, o.Summary, orDash(strings.Join(calls, ", ")), o.Route(), o.Surface, o.Scope, o.Class, effects(o), shown(o), o.Timeout.Seconds(),
		quoted(o.Codes), quoted(o.Likely))
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
	return orDash(strings.Join(list, ", "))
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

func statuses(list []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", " or ")
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
