package main

import (
	"fmt"
	"slices"
	"strings"
)

// A rowFigure is one column of the table of row types.
type rowFigure struct {
	title  string
	format func(float64, bool) string
	high   bool // the worst is the highest
	figure func(v *view, w *work) (float64, bool)
}

func rowFigures() []rowFigure {
	ratio := func(title string, time metric, other func(v *view, w *work) string) rowFigure {
		return rowFigure{title: title, format: ratioText, figure: func(v *view, w *work) (float64, bool) {
			return v.ratio(w, ours, other(v, w), time)
		}}
	}
	name := func(name string) func(*view, *work) string { return func(*view, *work) string { return name } }
	a := func(title string, figure func(v *view, w *work) (float64, bool)) rowFigure {
		return rowFigure{title: title, format: decimalsText, high: true, figure: figure}
	}
	return []rowFigure{
		ratio("by hand", wall, name(byHandName)),
		ratio("by hand, CPU", cpu, name(byHandName)),
		ratio("best peer", wall, func(v *view, w *work) string { return v.best(w, wall) }),
		ratio("sonic", wall, name(bySonicName)),
		ratio("json/v2", wall, name(byJSONv2Name)),
		{title: "by hand, over a socket", format: ratioText, figure: func(v *view, w *work) (float64, bool) {
			return v.ratio(find(w.id+overSocket), ours, byHandName, wall)
		}},
		{title: "time a row", high: true, format: func(ns float64, ok bool) string { return known(ok, duration(ns)) }, figure: perRow(ours, wall)},
		a("allocations a row", perRow(ours, allocs)),
		a("needed", needed),
		a("beyond that", beyond),
		a("by hand", perRow(byHandName, allocs)),
	}
}

func perRow(contender string, figure metric) func(v *view, w *work) (float64, bool) {
	return func(v *view, w *work) (float64, bool) {
		total, ok := v.median(w, contender, figure)
		return total / v.units(w), ok
	}
}

// needed is what the values of a row cannot do without.
func needed(v *view, w *work) (float64, bool) {
	thousand, ok := v.median(w, ours, func(r result) float64 { return float64(r.Needs) })
	return thousand / 1000, ok
}

// beyond is how many allocations a row takes more than that.
func beyond(v *view, w *work) (float64, bool) {
	n, ok := perRow(ours, allocs)(v, w)
	least, _ := needed(v, w)
	return max(0, n-least), ok
}

// ofRows is a figure for each row type that was measured.
func (v *view) ofRows(figure func(v *view, w *work) (float64, bool)) (all []float64) {
	for _, w := range rowWorks() {
		if f, ok := figure(v, &w); ok {
			all = append(all, f)
		}
	}
	return all
}

func rowWorks() []work {
	return slices.DeleteFunc(works(), func(w work) bool { return !strings.HasPrefix(w.id, rowsID) || !w.inside })
}

// worst is the lowest or the highest figure.
func worst(figures []float64, high bool) (float64, bool) {
	switch {
	case len(figures) == 0:
		return 0, false
	case high:
		return slices.Max(figures), true
	}
	return slices.Min(figures), true
}

const aboutRows = `## Row types

Rows of about 1,400 bytes and 30 fields, objects and lists inside, read into structs as different users would write them: no decoder can
be tuned to all. The service responds in the same process, so that decoding counts and not the kernel; one column repeats it over a socket.
Ratios say how many times as fast prospectkit is. Needed is what the values cannot do without: an allocation for what each pointer, slice
and interface holds, and for a map what the runtime takes to make one of its size. Strings need none, because those of a page can share.
The last column has the allocations of encoding/json by hand. **The median and the worst are what to expect**, not the best.

`

// writeRows is the section of the row types.
func (t *table) writeRows(b *strings.Builder) {
	all := rowWorks()
	if !slices.ContainsFunc(all, func(w work) bool { return t.times(&w) > 0 }) {
		return
	}
	b.WriteString(aboutRows)
	for _, v := range t.views() {
		fmt.Fprintf(b, "### Row types with %s\n\n", v.version)
		if note := v.note(all); note != "" {
			fmt.Fprintf(b, "sonic: %s.\n\n", note)
		}
		figures := rowFigures()
		b.WriteString("|")
		for _, f := range figures {
			b.WriteString(" | " + f.title)
		}
		b.WriteString(" |\n|---" + strings.Repeat("|---:", len(figures)) + "|\n")
		for _, w := range all {
			if t.times(&w) == 0 {
				continue
			}
			b.WriteString("| " + w.id + " " + w.title)
			for _, f := range figures {
				b.WriteString(" | " + f.format(f.figure(v, &w)))
			}
			b.WriteString(" |\n")
		}
		middles, worsts := "| **median**", "| **worst**"
		for _, f := range figures {
			values := v.ofRows(f.figure)
			worsts += " | " + f.format(worst(values, f.high))
			middles += " | " + f.format(middle(values))
		}
		b.WriteString(middles + " |\n" + worsts + " |\n\n")
	}
}

// note is what sonic says of itself.
func (v *view) note(all []work) string {
	for _, w := range all {
		if rs := v.of(&w, bySonicName); len(rs) > 0 {
			return rs[0].Note
		}
	}
	return ""
}

func decimalsText(n float64, ok bool) string { return known(ok, decimals(n)) }

func known(ok bool, text string) string {
	if !ok {
		return ""
	}
	return text
}
