package rowtype

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// scope is an object of a row, or a row, with what is known about its keys.
type scope struct {
	*planner
	*shape

	path    string // in the documented fields
	isRow   bool
	columns map[string]Column // by key
}

// elsewhere is a path that is not documented.
const elsewhere = "*"

func join(path, key string) string {
	switch {
	case key == "" || strings.Contains(key, ".") || path == elsewhere:
		return elsewhere
	case path == "":
		return key
	}
	return path + "." + key
}

// scope finds the keys that name columns. A name of a column may be the key of something else in an object that has other keys.
func (p *planner) scope(s *shape, path string, isRow bool) *scope {
	in := &scope{planner: p, shape: s, path: path, isRow: isRow, columns: map[string]Column{}}
	byID, byName := map[string]Column{}, map[string]Column{}
	for _, c := range slices.Backward(p.columns) {
		byID[strings.ToLower(c.ID)], byName[c.Name] = c, c
	}
	delete(byID, "")
	delete(byName, "")
	named := map[string]Column{}
	for key := range s.members {
		if c, ok := byID[strings.ToLower(strings.TrimPrefix(key, columnPrefix))]; ok {
			in.columns[key] = c
		} else if c, ok := byName[key]; ok && !in.documents(key) {
			named[key] = c
		}
	}
	if isRow || len(in.columns)+len(named) == len(s.members) {
		maps.Copy(in.columns, named)
	}
	return in
}

// columnPrefix is that of the sort keys of columns.
const columnPrefix = "customColumns_"

// names returns the keys that are names of fields, in the order of the fields. Other keys may be data, such as addresses, which the
// file must not hold. The keys of a row are names unless they look like data. Those of an object in it are names if they also look
// like names, or are in most objects; but if objects hardly share any, all are data.
func (in *scope) names() []string {
	const few = 3 // objects show no pattern
	var keys []string
	seen, plain, certain := 0, 0, false
	for key, m := range in.members {
		switch common := in.filled >= few && 2*m.seen >= in.filled; {
		case in.known(key), !looksLikeData(key) && (in.isRow || common && !plainKey.MatchString(key)):
			certain = true
		case !looksLikeData(key) && plainKey.MatchString(key):
			seen, plain = seen+m.seen, plain+1
		default:
			continue
		}
		keys = append(keys, key)
	}
	if !certain && in.filled > 1 && (seen == plain || in.filled >= few && 3*seen < in.filled*plain) {
		return nil
	}
	in.sort(keys)
	return keys
}

// known reports whether a key is documented or names a column.
func (in *scope) known(key string) bool {
	_, ok := in.columns[key]
	return ok || in.documents(key)
}

func (in *scope) documents(key string) bool { return in.documentedAt(key) >= 0 }

// documentedAt returns the place of the first documented path that begins with a key of the object, or -1.
func (in *scope) documentedAt(key string) int {
	path := join(in.path, key) + "."
	return slices.IndexFunc(in.Documented, func(d string) bool { return strings.HasPrefix(d+".", path) })
}

// sort puts the id of a row first, then documented fields in their order, then all others, and columns last, by their names.
func (in *scope) sort(keys []string) {
	type rank struct {
		place int
		name  string
	}
	ranks := make(map[string]rank, len(keys))
	for _, key := range keys {
		at, r := in.documentedAt(key), rank{2 + len(in.Documented), key}
		switch c, column := in.columns[key]; {
		case key == "id" && in.isRow:
			r = rank{}
		case at >= 0:
			r.place = 1 + at
		case column:
			r = rank{3 + len(in.Documented), c.Name}
		}
		ranks[key] = r
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(ranks[a].place-ranks[b].place, strings.Compare(ranks[a].name, ranks[b].name), strings.Compare(a, b))
	})
}

// documentedFields are fields that are documented, and that no object had.
func (in *scope) documentedFields(taken names) (fields []field) {
	for _, d := range in.Documented {
		if !in.isRow {
			rest, ok := strings.CutPrefix(d, in.path+".")
			if !ok {
				continue
			}
			d = rest
		}
		key, _, _ := strings.Cut(d, ".")
		known := slices.ContainsFunc(fields, func(f field) bool { return f.Key == key })
		if in.members[key] == nil && !known {
			fields = append(fields, unseen(taken.take(goName(key, "Field")), key, "documented; no row had it"))
		}
	}
	return fields
}

// columnFields are custom columns that no object had, although objects had others, by id. None has the key of another field.
func (in *scope) columnFields(taken names, others []field) (fields []field) {
	prefix, found := "", false
	had := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(in.columns)) {
		c := in.columns[key]
		had[c.ID] = true
		if at := len(key) - len(c.ID); !found && at >= 0 && strings.EqualFold(key[at:], c.ID) {
			prefix, found = key[:at], true
		}
	}
	for _, c := range in.planner.columns {
		key := prefix + c.ID
		if found && !had[c.ID] && c.ID != "" && !slices.ContainsFunc(others, func(f field) bool { return f.Key == key }) {
			had[c.ID], in.placed[c.ID] = true, true
			fields = append(fields, unseen(taken.take(goName(c.Name, "Column")), key, c.describe(key)+"; no row had it"))
		}
	}
	return fields
}

// unseen is a field of which nothing is known but the name.
func unseen(name, key, comment string) field {
	return field{Name: name, Key: key, MayLack: true, Typ: &goType{kind: raw}, Comment: comment}
}

// describe names a column in a comment, with its id unless the key has it.
func (c Column) describe(key string) string {
	words := []string{"column", quoted(c.Name)}
	if key == c.Name {
		words = append(words, shown(c.ID))
	}
	if c.Type != "" {
		words = append(words, "("+shown(c.Type)+")")
	}
	return strings.Join(words, " ")
}
