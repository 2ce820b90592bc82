package main

import (
	"fmt"
	"go/version"
	"strings"
)

// A metric is one figure of a result.
type metric = func(result) float64

// A bound is what a goal asks for with the oldest supported Go, and from Go 1.27 on, whose encoding/json is another; 0: nothing.
type bound struct{ before, since float64 }

func same(b float64) bound { return bound{b, b} }

// first is a bound from the time when there was one version of Go to measure with.
func first(b float64) bound { return bound{b, 0} }

func (b bound) with(goVersion string) float64 {
	if version.Compare(goVersion, "go1.27") >= 0 {
		return b.since
	}
	return b.before
}

// A goal is a bound on one figure. A ratio can be asked for by wall and by CPU time.
type goal struct {
	text   string
	want   bound
	most   bool // the figure must not be above it; else not below
	figure func(v *view, time metric) (float64, bool)
}

func goals() []goal {
	rowRatio := func(v *view, time metric) []float64 {
		return v.ofRows(func(v *view, w *work) (float64, bool) { return v.ratio(w, ours, byHandName, time) })
	}
	return []goal{
		{text: "Row types against by hand, median", want: bound{6, 4.5}, figure: func(v *view, time metric) (float64, bool) { return middle(rowRatio(v, time)) }},
		{text: "Row types against by hand, worst", want: bound{4, 3}, figure: func(v *view, time metric) (float64, bool) { return worst(rowRatio(v, time), false) }},
		{text: "Row types, allocations a row beyond what the values need, worst", want: same(1), most: true, figure: func(v *view, _ metric) (float64, bool) {
			return worst(v.ofRows(beyond), true)
		}},
		{text: "W3X against by hand", want: bound{7, 5}, figure: against("W3X", byHandName)},
		{text: "W2 against by hand", want: bound{4, 2.5}, figure: against("W2", byHandName)},
		{text: "W4 against by hand", want: bound{2.1, 2}, figure: against("W4", byHandName)},
		{text: "W1 with everything on, µs of CPU above a bare round trip", want: same(8), most: true, figure: aboveBare("W1", cpu, 1e3)},
		{text: "W1 with everything on, allocations above a bare round trip", want: same(10), most: true, figure: aboveBare("W1", allocs, 1)},
		{text: "W5 with everything on, µs of CPU above a bare round trip", want: same(8), most: true, figure: aboveBare("W5", cpu, 1e3)},
		{text: "W5 with everything on, allocations above a bare round trip", want: same(10), most: true, figure: aboveBare("W5", allocs, 1)},
		{text: "W3L peak RSS, MiB", want: same(20), most: true, figure: ofOurs("W3L", rss)},
		{text: "W1 against the best peer", want: first(1), figure: againstBest("W1")},
		{text: "W5 against the best peer that hands over the code", want: first(1), figure: func(v *view, time metric) (float64, bool) {
			return againstBest("W5", v.losers(find("W5"))...)(v, time)
		}},
		{text: "W1 allocations a call", want: first(72), most: true, figure: ofOurs("W1", allocs)},
		{text: "W5 allocations a call", want: first(72), most: true, figure: ofOurs("W5", allocs)},
		{text: "W3 against the best peer", want: first(5), figure: againstBest("W3")},
		{text: "W3 against json.Valid on the same bytes", want: first(0.5), figure: against("W3", "json.Valid")},
		{text: "W3 against a bare scan of the same bytes by the own scanner", want: first(0.5), figure: against("W3", "own scan")},
		{text: "W3 allocations a row", want: first(1.5), most: true, figure: ofOurs("W3", allocs)},
		{text: "W6 against the best peer but azcore", want: first(2), figure: againstBest("W6", "azcore")},
		{text: "W6 against azcore", want: first(1.3), figure: against("W6", "azcore")},
		{text: "W6T against by hand", want: first(1.1), figure: against("W6T", byHandName)},
		{text: "W7 with Prefetch(8), in speed of the best peer", want: first(7), figure: func(v *view, _ metric) (float64, bool) {
			w := find("W7")
			return v.ratio(w, prefetching(8), v.best(w, wall), wall)
		}},
		{text: "W7 sequential, as a multiple of what a bare socket waits", want: first(1.1), most: true, figure: func(v *view, _ metric) (float64, bool) {
			return v.ratio(find("W7"), "raw TCP", ours, wall)
		}},
	}
}

func find(id string) *work {
	for _, w := range works() {
		if w.id == id {
			return &w
		}
	}
	panic("no work " + id)
}

// oursIn is prospectkit as the goal means it: small calls are to be fast with everything switched on.
func oursIn(id string) string {
	if id == "W1" || id == "W5" {
		return observed
	}
	return ours
}

func against(id, other string) func(*view, metric) (float64, bool) {
	return func(v *view, time metric) (float64, bool) { return v.ratio(find(id), oursIn(id), other, time) }
}

func againstBest(id string, but ...string) func(*view, metric) (float64, bool) {
	return func(v *view, time metric) (float64, bool) {
		return v.ratio(find(id), oursIn(id), v.best(find(id), time, but...), time)
	}
}

// aboveBare is what prospectkit takes more than a bare round trip, in some unit of the figure.
func aboveBare(id string, figure metric, unit float64) func(*view, metric) (float64, bool) {
	return func(v *view, _ metric) (float64, bool) {
		more, ok := v.above(find(id), oursIn(id), "body to nowhere", figure)
		return more / unit, ok
	}
}

// ofOurs is a figure of prospectkit, for each unit of the work, or in MiB.
func ofOurs(id string, figure metric) func(*view, metric) (float64, bool) {
	return func(v *view, _ metric) (float64, bool) {
		w := find(id)
		n, ok := v.median(w, oursIn(id), figure)
		if figure(result{PeakRSS: 1}) == 1 {
			return n / (1 << 20), ok
		}
		return n / v.units(w), ok
	}
}

const aboutGoals = `## Goals

Set before the work began; where there is no bound, the goal is from a time when one version of Go was measured. Ratios are of
prospectkit's speed to the other's, and wall time decides. Small calls (W1, W5) need not be as fast as by hand: that program has no time
limit, no trace, no budget and no retries, and at 120 requests a minute nobody waits for what they cost. The bound is on that cost itself:
with an observer, above a round trip of net/http whose body is read and dropped.

`

func (t *table) writeGoals(b *strings.Builder) {
	b.WriteString(aboutGoals + "| Goal")
	for _, version := range t.gos {
		fmt.Fprintf(b, " | Bound, %s | Measured | By CPU time | ", version)
	}
	b.WriteString(" |\n|---" + strings.Repeat("|---|---:|---:|---", len(t.gos)) + "|\n")
	for _, g := range goals() {
		line, found := "| "+g.text, false
		for _, v := range t.views() {
			columns, ok := g.columns(v)
			line, found = line+columns, found || ok
		}
		if found {
			b.WriteString(line + " |\n")
		}
	}
	b.WriteString("\n")
}

// columns are a goal's with one version of Go.
func (g *goal) columns(v *view) (text string, ok bool) {
	value, ok := g.figure(v, wall)
	if !ok {
		return " | | | |", false
	}
	verdict, limit, byCPU := "missed", "at least", ""
	want := g.want.with(v.version)
	if g.most {
		limit = "at most"
	}
	if value >= want != g.most || value == want {
		verdict = "reached"
	}
	limit = fmt.Sprintf("%s %g", limit, want)
	if want == 0 {
		limit, verdict = "", ""
	}
	if strings.Contains(g.text, " against ") {
		byCPU = ratioText(g.figure(v, cpu))
	}
	return fmt.Sprintf(" | %s | %s | %s | %s", limit, ratioText(value, true), byCPU, verdict), true
}
