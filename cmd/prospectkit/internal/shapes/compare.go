package shapes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Comparison is what [Compare] found.
type Comparison struct {
	Differences []string          // a sentence for each, without the full stop; the elements of an array stand under []
	Moves       map[string]string // the place of each value that has moved, within its object, by its expected path
	Untold      []string          // places about which the values tell nothing: arrays without elements
	Lenient     bool              // what is only assumed may be missing
}

// Compare compares what was seen with what is expected.
func (c *Comparison) Compare(want, got *Shape) { c.compare(want, got, "") }

// differs says how a place differs: the one where the description has it.
func (c *Comparison) differs(path, how string, args ...any) {
	c.Differences = append(c.Differences, cmp.Or(path, "the whole response")+" "+fmt.Sprintf(how, args...))
}

// moved says where a value stands instead, by its path in the same object.
func (c *Comparison) moved(path, to string) {
	if to == "" {
		c.differs(path, "has no wrapper: its content stands at the top")
		return
	}
	c.differs(path, "is now %s", to)
}

// compare compares two values that are no arrays, or an array at the top.
func (c *Comparison) compare(want, got *Shape, at string) {
	w := flatten(want, nil)
	g := flatten(got, w.leaves)
	c.objects(w, g, at)
	pairs := pair(w, g)
	c.moves(w, pairs, at)
	c.retyped(w, g, pairs, at)
	c.missing(w, g, pairs, at)
	c.extra(w, g, pairs, want, at)
	for _, path := range slices.Sorted(maps.Keys(pairs)) {
		c.leaf(w.leaves[path], g.leaves[pairs[path]], place(at, path))
	}
}

// place is a path below another one.
func place(at, path string) string {
	if at == "" || path == "" {
		return at + path
	}
	return at + "." + path
}

// objects compares the objects that stand at the same place, and drops what stands below a value of another type.
func (c *Comparison) objects(w, g flat, at string) {
	for _, path := range slices.Sorted(maps.Keys(w.objects)) {
		want, got := w.objects[path], g.objects[path]
		replaced := got == nil && path != ""
		if replaced {
			got = g.leaves[path]
		}
		if got == nil {
			continue
		}
		c.kinds(want, got, place(at, path))
		c.optional(want, got, place(at, path))
		if !replaced {
			continue
		}
		delete(g.leaves, path)
		maps.DeleteFunc(w.leaves, func(leaf string, _ *Shape) bool { return below(leaf, path) })
	}
}

func (c *Comparison) optional(want, got *Shape, at string) {
	if got.Optional && !want.Optional && (!c.Lenient || !want.assumed) {
		c.differs(at, "is missing from some of the objects")
	}
}

// moves records what has another place. What moved together is told once.
func (c *Comparison) moves(w flat, pairs map[string]string, at string) {
	told := map[string]bool{}
	tops := slices.SortedFunc(maps.Keys(w.objects), func(a, b string) int { return len(a) - len(b) })
	for _, top := range tops {
		to, together := "", true
		n := 0
		for path, seen := range pairs {
			if !below(path, top) || told[path] {
				continue
			}
			rest := strings.TrimPrefix(strings.TrimPrefix(path, top), ".")
			before, ok := strings.CutSuffix(seen, rest)
			before = strings.TrimSuffix(before, ".")
			together = together && ok && path != seen && place(before, rest) == seen && (n == 0 || before == to)
			to = before
			n++
		}
		if together && n > 0 && to != top {
			c.moved(place(at, top), to)
			for path := range pairs {
				if below(path, top) {
					told[path] = true
				}
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(pairs)) {
		seen := pairs[path]
		if seen == path {
			continue
		}
		made(&c.Moves)[place(at, path)] = seen
		if !told[path] {
			c.moved(place(at, path), seen)
		}
	}
}

// retyped finds objects where something else is expected.
func (c *Comparison) retyped(w, g flat, pairs map[string]string, at string) {
	for _, path := range slices.Sorted(maps.Keys(w.leaves)) {
		object := g.objects[path]
		if _, paired := pairs[path]; paired || object == nil {
			continue
		}
		c.differs(place(at, path), "is %s instead of %s", object, w.leaves[path])
		delete(w.leaves, path)
		maps.DeleteFunc(g.leaves, func(leaf string, _ *Shape) bool { return below(leaf, path) })
	}
}

// missing tells what has no place at all, as a whole if a whole object is missing.
func (c *Comparison) missing(w, g flat, pairs map[string]string, at string) {
	told := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(w.leaves)) {
		want := w.leaves[path]
		if _, paired := pairs[path]; paired || want.Optional || c.Lenient && want.assumed {
			continue
		}
		top := path
		for parent, _ := split(path); parent != ""; parent, _ = split(parent) {
			if w.objects[parent] != nil && w.objects[parent].Optional {
				top = ""
				break
			}
			if g.objects[parent] == nil && !anyBelow(pairs, parent) {
				top = parent
			}
		}
		if top == "" && path != "" || told[top] {
			continue
		}
		told[top] = true
		c.differs(place(at, top), "is missing (%s)", cmp.Or(w.objects[top], want))
	}
}

// extra tells what no description has, unless it is open.
func (c *Comparison) extra(w, g flat, pairs map[string]string, want *Shape, at string) {
	taken := map[string]bool{}
	for _, seen := range pairs {
		taken[seen] = true
	}
	told := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(g.leaves)) {
		if taken[path] {
			continue
		}
		top, open := path, want.open
		for parent, _ := split(path); parent != ""; parent, _ = split(parent) {
			if object := w.objects[parent]; object != nil {
				open = object.open
				break
			}
			if !anyBelow(taken, parent) {
				top = parent
			}
		}
		if !open && !told[top] {
			told[top] = true
			c.differs(place(at, top), "is undocumented (%s)", cmp.Or(g.leaves[top], g.objects[top]))
		}
	}
	if root := g.objects[""]; root != nil && root.Rest != nil && want.Rest == nil && !want.open {
		c.differs(place(at, "*"), "is undocumented (under keys that are data: %s)", root.Rest)
	}
}

// leaf compares two values at the same place.
func (c *Comparison) leaf(want, got *Shape, at string) {
	c.optional(want, got, at)
	if want.Has(Any) {
		return
	}
	c.kinds(want, got, at)
	c.formats(want, got, at)
	c.values(want, got, at)
	if want.Has(Array) && got.Has(Array) {
		switch {
		case got.Items == nil || len(got.Items.Kinds) == 0:
			c.Untold = append(c.Untold, at+"[]")
		case want.Items != nil && len(want.Items.Kinds) > 0:
			c.element(want.Items, got.Items, at+"[]")
		}
	}
	if want.Rest != nil && got.Rest != nil {
		c.element(want.Rest, got.Rest, at+".*")
	}
}

func (c *Comparison) element(want, got *Shape, at string) {
	if want.Has(Object) && got.Has(Object) {
		c.kinds(want, got, at)
		c.compare(want, got, at)
		return
	}
	got.Optional = false
	c.leaf(want, got, at)
}

// fold leaves the letters of a value, in lower case.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(text))
}

// expects reports whether an enumeration has a value, or a part of it after an asterisk.
func (s *Shape) expects(value string) bool {
	return slices.ContainsFunc(s.Values, func(known string) bool {
		word, part := strings.CutPrefix(known, "*")
		return known == value || part && strings.Contains(value, word)
	})
}

// writes reports whether a text differs from a value of an enumeration only by case and separators.
func (s *Shape) writes(text string) bool {
	return fold(text) != "" && slices.ContainsFunc(s.Values, func(known string) bool { return fold(known) == fold(text) })
}

// kinds compares types.
func (c *Comparison) kinds(want, got *Shape, at string) {
	if want.Has(Any) || len(want.Kinds) == 0 || len(want.Kinds) == 1 && want.Has(Null) { // null alone tells no type
		return
	}
	odd := &Shape{}
	for _, kind := range got.Kinds {
		if !want.Has(kind) && (kind != Integer || !want.Has(Number)) {
			odd.addKind(kind)
		}
	}
	if len(odd.Kinds) == 0 {
		return
	}
	if !odd.Has(Null) || len(odd.Kinds) > 1 {
		odd.Format = got.Format
	}
	seen := odd.String()
	if len(odd.Kinds) < len(got.Kinds) {
		seen = "sometimes " + seen
	}
	c.differs(at, "is %s instead of %s", seen, want)
}

// formats compares the form of strings, where one is expected.
func (c *Comparison) formats(want, got *Shape, at string) {
	if want.Format == "" || !got.Has(String) || !want.Has(String) {
		return
	}
	seen := slices.Sorted(maps.Keys(got.formats))
	seen = slices.DeleteFunc(seen, func(format string) bool { return format == want.Format })
	if len(seen) > 0 {
		c.differs(at, "has the form %q instead of %q", strings.Join(seen, ", "), want.Format)
	}
}

// values compares the values of an enumeration, and shows those that look like names.
func (c *Comparison) values(want, got *Shape, at string) {
	if len(want.Values) == 0 {
		return
	}
	odd := map[string]bool{}
	for text := range got.texts {
		if !IsValue(text) && !want.writes(text) {
			odd["(one that is no plain name)"] = true
		} else if !want.expects(text) {
			odd[text] = true
		}
	}
	for _, value := range slices.Sorted(maps.Keys(odd)) {
		c.differs(at, "has the undocumented value %s", value)
	}
}
