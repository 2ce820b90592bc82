package shapes

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// flat is a value without its nesting: what stands at each path of an object, down to the next array.
type flat struct {
	leaves  map[string]*Shape
	objects map[string]*Shape
}

// flatten ends at the places that are leaves elsewhere.
func flatten(s *Shape, leaves map[string]*Shape) flat {
	f := flat{map[string]*Shape{}, map[string]*Shape{}}
	f.add("", s, leaves)
	return f
}

func (f flat) add(path string, s *Shape, stops map[string]*Shape) {
	stop, stopped := stops[path]
	if !s.Has(Object) || len(s.Fields) == 0 && (path != "" || s.Rest != nil) ||
		stopped && (stop.Has(Object) || stop.Has(Any)) {
		f.leaves[path] = s
		return
	}
	f.objects[path] = s
	for name, field := range s.Fields {
		f.add(place(path, name), field, stops)
	}
}

func split(path string) (parent, last string) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], path[i+1:]
}

// below reports whether a path is another one or leads on from it.
func below(path, top string) bool {
	return top == "" || path == top || strings.HasPrefix(path, top+".")
}

func anyBelow[V any](paths map[string]V, top string) bool {
	for path := range paths {
		if below(path, top) {
			return true
		}
	}
	return false
}

// pair finds what stands for what: the same path first, then the likeliest. It returns seen paths by expected ones.
func pair(want, got flat) map[string]string {
	pairs, taken := map[string]string{}, map[string]bool{}
	take := func(w, g string) { pairs[w], taken[g] = g, true }
	for w := range want.leaves {
		if got.leaves[w] != nil {
			take(w, w)
		}
	}
	type candidate struct {
		want, got string
		score     float64
	}
	var all []candidate
	for w, expected := range want.leaves {
		for g, seen := range got.leaves {
			if taken[g] || got.leaves[w] != nil {
				continue
			}
			score := likeness(w, expected, g, seen)
			switch parent, _ := split(w); {
			case expected.Optional && score == 0 && movedTogether(want, got, w, g):
				score = 1
			case want.objects[parent] != nil && want.objects[parent].open && expected.Format != seen.Format:
				score = 0 // among many fields that are undocumented, a name alone says little
			}
			if score > 0 {
				all = append(all, candidate{w, g, score})
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.score, b.score), strings.Compare(a.want, b.want), strings.Compare(a.got, b.got))
	})
	for _, c := range all {
		if _, done := pairs[c.want]; !done && !taken[c.got] {
			take(c.want, c.got)
		}
	}
	pairSole(want, got, pairs, taken)
	return pairs
}

// movedTogether reports whether at least three optional fields of an object have moved to another object.
func movedTogether(want, got flat, wantPath, gotPath string) bool {
	const some = 3
	from, name := split(wantPath)
	to, same := split(gotPath)
	n := 0
	for path := range want.leaves {
		if parent, last := split(path); parent == from && got.leaves[path] == nil && got.leaves[place(to, last)] != nil {
			n++
		}
	}
	return name == same && to != from && n >= some
}

// likeness scores how likely a value stands for an expected one, although it has another place. Zero is not at all.
func likeness(wantPath string, want *Shape, gotPath string, got *Shape) float64 {
	wantParent, wantName := split(wantPath)
	gotParent, gotName := split(gotPath)
	alike, sameParent := compatible(want, got), wantParent == gotParent
	if want.Has(Array) && got.Has(Array) && itemsAlike(want.Items, got.Items) {
		return 7
	}
	var score float64
	switch shared := similarity(wantName, gotName); {
	case shared == 1 && sameParent:
		score = 8 // another way to write it
	case want.Optional || !alike:
		return 0
	case shared == 1:
		score = 5
	case shared > 0:
		score = 1 + 3*shared
	default:
		return 0
	}
	for _, also := range []bool{sameParent, alike, want.Format != "" && want.Format == got.Format, sameValues(want, got)} {
		if also {
			score++
		}
	}
	return score
}

// pairSole takes what is left over on both sides of an object, if there is one of each, or one of each special type.
func pairSole(want, got flat, pairs map[string]string, taken map[string]bool) {
	left := func(leaves map[string]*Shape, done func(string) bool) map[string][]string {
		byParent := map[string][]string{}
		for _, path := range slices.Sorted(maps.Keys(leaves)) {
			if parent, _ := split(path); !done(path) && !leaves[path].Optional {
				byParent[parent] = append(byParent[parent], path)
			}
		}
		return byParent
	}
	wanted := left(want.leaves, func(p string) bool { _, done := pairs[p]; return done })
	found := left(got.leaves, func(p string) bool { return taken[p] })
	for _, parent := range slices.Sorted(maps.Keys(wanted)) {
		if object := want.objects[parent]; object != nil && object.open {
			continue
		}
		ws, gs := wanted[parent], found[parent]
		if len(ws) == 1 && len(gs) == 1 && compatible(want.leaves[ws[0]], got.leaves[gs[0]]) {
			pairs[ws[0]], taken[gs[0]] = gs[0], true
			continue
		}
		for _, w := range ws {
			fits := slices.DeleteFunc(slices.Clone(gs), func(g string) bool {
				return taken[g] || !special(want.leaves[w], got.leaves[g])
			})
			if len(fits) == 1 {
				pairs[w], taken[fits[0]] = fits[0], true
			}
		}
	}
}

// special reports whether two values share a type that is rare.
func special(want, got *Shape) bool {
	return want.Format != "" && want.Format == got.Format || sameValues(want, got) || want.Has(Boolean) && got.Has(Boolean)
}

func sameValues(want, got *Shape) bool {
	return slices.ContainsFunc(want.Values, func(value string) bool { return got.texts[value] > 0 })
}

// compatible reports whether two shapes share a kind, apart from null.
func compatible(want, got *Shape) bool {
	if want.Has(Any) || len(got.Kinds) == 0 || len(want.Kinds) == 0 {
		return true
	}
	for _, kind := range got.Kinds {
		if kind != Null && want.Has(kind) || kind == Integer && want.Has(Number) || kind == Number && want.Has(Integer) {
			return true
		}
	}
	return len(got.Kinds) == 1 && got.Has(Null)
}

// itemsAlike reports whether the elements of two arrays share at least half of their field names.
func itemsAlike(want, got *Shape) bool {
	if !want.Has(Object) || !got.Has(Object) {
		return false
	}
	shared, required := 0, 0
	for name, field := range want.Fields {
		if !field.Optional {
			required++
		}
		if got.Fields[name] != nil {
			shared++
		}
	}
	return shared > 0 && shared*2 >= required
}

// similarity compares names by their words, from 0 to 1, for names that differ only in how they are written.
func similarity(a, b string) float64 {
	wa, wb := words(a), words(b)
	if strings.Join(wa, "") == strings.Join(wb, "") {
		return 1
	}
	shared := 0
	for _, w := range wa {
		if slices.ContainsFunc(wb, func(other string) bool { return sameWord(w, other) }) {
			shared++
		}
	}
	return 0.9 * float64(shared) / float64(max(len(wa), len(wb)))
}

// sameWord also takes the plural, and an abbreviation of at least three letters.
func sameWord(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= 3 && strings.HasPrefix(b, a)
}

// namesTime reports whether a name is that of an instant.
func namesTime(name string) bool {
	return slices.ContainsFunc(words(name), func(w string) bool {
		return slices.Contains([]string{"at", "on", "date", "time", "timestamp", "created", "updated", "until", "since"}, w)
	})
}

var word = regexp.MustCompile(`[A-Z]*[^A-Z_$@-]+|[A-Z]+`)

// words are those of a name, in small letters.
func words(name string) []string {
	all := word.FindAllString(name, -1)
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	return all
}
