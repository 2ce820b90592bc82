package outbound

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// Near returns the documented name that another name is probably meant to be: they differ in letter case, by one
// letter, or by two neighbours that have changed places. A documented name is near to nothing.
func Near(name string, documented []string) (string, bool) {
	if slices.Contains(documented, name) {
		return "", false
	}
	near := -1
	for i, d := range documented {
		switch a, b := []rune(folded(name)), []rune(folded(d)); {
		case slices.Equal(a, b):
			return d, true
		case near < 0 && oneEdit(a, b):
			near = i
		}
	}
	if near < 0 {
		return "", false
	}
	return documented[near], true
}

// oneEdit reports whether one letter is added, left out or replaced, or two neighbours have changed places.
func oneEdit(a, b []rune) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// Names returns the names that struct types give their fields in JSON.
func Names(values ...any) (all []string) {
	for _, value := range values {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(value)) {
			tag := f.Tag.Get("json")
			name, _, _ := strings.Cut(tag, ",")
			if name = cmp.Or(name, f.Name); tag != "-" && f.IsExported() && (!f.Anonymous || name != f.Name) && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
