package main

import (
	"fmt"
	"strings"
)

// A metric is one figure of a result.
type metric = func(result) float64

// A goal is a bound on one figure. A ratio can be asked for by wall and by CPU time.
type goal struct {
	text   string
	want   float64
	most   bool // the figure must not be above it; else not below
	figure func(t *table, time metric) (float64, bool)
}

func goals() []goal {
	return []goal{
		{text: "W1 against by hand", want: 1, figure: against("W1", byHandName)},
		{text: "W1 against the best peer", want: 1, figure: againstBest("W1")},
		{text: "W1 allocations a call", want: 72, most: true, figure: ofOurs("W1", allocs)},
		{text: "W2 against the best peer", want: 4, figure: againstBest("W2")},
		{text: "W3 against the best peer", want: 5, figure: againstBest("W3")},
		{text: "W3 against json.Valid on the same bytes", want: 0.5, figure: against("W3", "json.Valid")},
		{text: "W3 against a bare scan of the same bytes by the own scanner", want: 0.5, figure: against("W3", "own scan")},
		{text: "W3 allocations a row", want: 1.5, most: true, figure: ofOurs("W3", allocs)},
		{text: "W3L peak RSS, MiB", want: 20, most: true, figure: ofOurs("W3L", rss)},
		{text: "W3X against the best peer", want: 8, figure: againstBest("W3X")},
		{text: "W4 against the best peer", want: 2, figure: againstBest("W4")},
		{text: "W5 against by hand", want: 1, figure: against("W5", byHandName)},
		{text: "W5 against the best peer that hands over the code", want: 1, figure: func(t *table, time metric) (float64, bool) {
			return againstBest("W5", t.losers(find("W5"))...)(t, time)
		}},
		{text: "W5 allocations a call", want: 72, most: true, figure: ofOurs("W5", allocs)},
		{text: "W6 against the best peer but azcore", want: 2, figure: againstBest("W6", "azcore")},
		{text: "W6 against azcore", want: 1.3, figure: against("W6", "azcore")},
		{text: "W6T against by hand", want: 1.1, figure: against("W6T", byHandName)},
		{text: "W7 with Prefetch(8), in speed of the best peer", want: 7, figure: func(t *table, _ metric) (float64, bool) {
			w := find("W7")
			return t.ratio(w, prefetching(8), t.best(w, wall), wall)
		}},
		{text: "W7 sequential, as a multiple of what a bare socket waits", want: 1.1, most: true, figure: func(t *table, _ metric) (float64, bool) {
			return t.ratio(find("W7"), "raw TCP", ours, wall)
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

func against(id, other string) func(*table, metric) (float64, bool) {
	return func(t *table, time metric) (float64, bool) { return t.ratio(find(id), oursIn(id), other, time) }
}

func againstBest(id string, but ...string) func(*table, metric) (float64, bool) {
	return func(t *table, time metric) (float64, bool) {
		return t.ratio(find(id), oursIn(id), t.best(find(id), time, but...), time)
	}
}

// ofOurs is a figure of prospectkit, for each unit of the work, or in MiB.
func ofOurs(id string, figure metric) func(*table, metric) (float64, bool) {
	return func(t *table, _ metric) (float64, bool) {
		w := find(id)
		v, ok := t.median(w, oursIn(id), figure)
		if figure(result{PeakRSS: 1}) == 1 {
			return v / (1 << 20), ok
		}
		return v / float64(w.units(w.size(t.scale))), ok
	}
}

func (t *table) writeGoals(b *strings.Builder) {
	b.WriteString("## Goals\n\nSet before the work began. Ratios are of prospectkit's speed to the other's, and wall time decides.\n\n")
	b.WriteString("| Goal | Bound | Measured | By CPU time | |\n|---|---|---:|---:|---|\n")
	for _, g := range goals() {
		v, ok := g.figure(t, wall)
		if !ok {
			continue
		}
		verdict, bound, byCPU := "missed", "at least", ""
		if g.most {
			bound = "at most"
		}
		if v >= g.want != g.most || v == g.want {
			verdict = "reached"
		}
		if strings.Contains(g.text, " against ") {
			byCPU = ratioText(g.figure(t, cpu))
		}
		fmt.Fprintf(b, "| %s | %s %g | %s | %s | %s |\n", g.text, bound, g.want, ratioText(v, true), byCPU, verdict)
	}
	b.WriteString("\n")
}
