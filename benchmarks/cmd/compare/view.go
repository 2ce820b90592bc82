package main

import (
	"slices"
	"strings"
)

// A view is what was measured with one version of Go.
type view struct {
	*table

	version string
}

func (t *table) views() (all []*view) {
	for _, version := range t.gos {
		all = append(all, &view{t, version})
	}
	return all
}

func (v *view) of(w *work, contender string) []result {
	return v.results[cell{v.version, w.id, contender}]
}

// median takes one figure from the results of a cell; ok says whether there is any.
func (v *view) median(w *work, contender string, figure metric) (value float64, ok bool) {
	rs := v.of(w, contender)
	figures := make([]float64, len(rs))
	for i, r := range rs {
		figures[i] = figure(r)
	}
	return middle(figures)
}

func middle(figures []float64) (value float64, ok bool) {
	if len(figures) == 0 {
		return 0, false
	}
	slices.Sort(figures)
	return (figures[(len(figures)-1)/2] + figures[len(figures)/2]) / 2, true
}

// paired compares two contenders turn by turn, and takes the median of that.
func (v *view) paired(w *work, contender, other string, figure metric, compare func(mine, theirs float64) float64) (float64, bool) {
	mine, theirs := v.of(w, contender), v.of(w, other)
	var all []float64
	for i := range min(len(mine), len(theirs)) {
		all = append(all, compare(figure(mine[i]), figure(theirs[i])))
	}
	return middle(all)
}

// ratio is how many times faster a contender is than another one.
func (v *view) ratio(w *work, contender, other string, time metric) (float64, bool) {
	return v.paired(w, contender, other, time, func(mine, theirs float64) float64 { return theirs / mine })
}

// above is how much more a contender takes than another one, for each unit of the work.
func (v *view) above(w *work, contender, other string, figure metric) (float64, bool) {
	more, ok := v.paired(w, contender, other, figure, func(mine, theirs float64) float64 { return mine - theirs })
	return more / v.units(w), ok
}

func (t *table) units(w *work) float64 { return float64(w.units(w.size(t.scale))) }

// best is the fastest other client, by hand apart.
func (v *view) best(w *work, time metric, but ...string) string {
	name, least := "", 0.0
	for _, c := range contenders() {
		if !c.peer || c.name == byHandName || slices.Contains(but, c.name) {
			continue
		}
		if m, ok := v.median(w, c.name, time); ok && (name == "" || m < least) {
			name, least = c.name, m
		}
	}
	return name
}

// losers are the contenders that do not hand over the code of an error.
func (v *view) losers(w *work) (names []string) {
	for _, c := range contenders() {
		if rs := v.of(w, c.name); w.kind == readMissing && !c.floor && len(rs) > 0 && rs[0].Code == "" {
			names = append(names, c.name)
		}
	}
	return names
}

// measured lists the works that there are figures of, those of the row types apart.
func (t *table) measured() []work {
	return slices.DeleteFunc(works(), func(w work) bool { return strings.HasPrefix(w.id, rowsID) || t.times(&w) == 0 })
}

// times is how often each contender has done a work, with each version of Go.
func (t *table) times(w *work) (n int) {
	for c, rs := range t.results {
		if c.work == w.id {
			n = max(n, len(rs))
		}
	}
	return n
}
