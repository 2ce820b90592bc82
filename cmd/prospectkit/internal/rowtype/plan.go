package rowtype

import (
	"cmp"
	"slices"
	"strings"
)

// kind is how Go holds a value. Zero is null.
type kind int

const (
	raw kind = iota + 1 // json.RawMessage
	text
	integer // int64
	float
	number // json.Number
	boolean
	instant // time.Time
	stamp   // timestamps of the documented form
	pointer
	optional // absent, null or a value
	slice
	dict // map[string]T
	structure
)

// plain are the kinds that hold one text, number or boolean, the strictest first.
var plain = []kind{boolean, integer, float, number, stamp, instant, text}

// String says what a kind holds.
func (k kind) String() string {
	return map[kind]string{
		0: "null", text: "text", integer: "a whole number", float: "a number", number: "a number", boolean: "true or false",
		instant: "a timestamp", stamp: "a timestamp", slice: "an array", dict: "an object", structure: "an object",
	}[k]
}

// goType is a type of the written file.
type goType struct {
	kind kind
	elem *goType
	*object
}

// object is a struct of the written file.
type object struct {
	Name   string
	Fields []field
	Other  string // the field for members without a field; empty if there is none
}

type field struct {
	Name, Key string
	MayLack   bool // objects may lack the key
	Typ       *goType
	Comment   string
}

// Exact reports whether the struct decodes itself: for a key that no tag can hold, or to keep other members.
func (o *object) Exact() bool {
	return o.Other != "" || slices.ContainsFunc(o.Fields, func(f field) bool { return !taggable(f.Key) })
}

// planner turns shapes into types.
type planner struct {
	*Rows

	columns []Column // sorted, each once
	types   names
	structs []*object // in the order of the file
	stamps  string    // the helper for timestamps
	options string    // the helper for what may be absent and null
	placed  map[string]bool
	used    perKind // in the file
}

func (r *Rows) plan() *planner {
	p := &planner{Rows: r, columns: slices.Clone(r.Columns), types: names{}, placed: map[string]bool{}}
	slices.SortFunc(p.columns, func(a, b Column) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID), strings.Compare(a.Type, b.Type))
	})
	p.columns = slices.Compact(p.columns)
	p.types.take(r.Type)
	p.stamps, p.options = p.types.take(r.Type+"Time"), p.types.take(r.Type+"Optional")
	p.object(p.scope(&r.root, "", true), r.Type)
	return p
}

// object plans a struct.
func (p *planner) object(in *scope, name string) *object {
	o := &object{Name: name}
	p.structs = append(p.structs, o)
	taken := names{"MarshalJSON": true, "UnmarshalJSON": true}
	keys := in.names()
	for _, key := range keys {
		o.Fields = append(o.Fields, p.seenField(in, taken, name, key))
	}
	o.Fields = append(o.Fields, in.documentedFields(taken)...)
	o.Fields = append(o.Fields, in.columnFields(taken, o.Fields)...)
	if len(keys) < len(in.members) || o.Exact() {
		o.Other = taken.take("Other")
	}
	return o
}

func (p *planner) seenField(in *scope, taken names, typeName, key string) field {
	m := in.members[key]
	f := field{Key: key, MayLack: m.seen < in.objects}
	column := ""
	if c, ok := in.columns[key]; ok {
		f.Name, column = taken.take(goName(c.Name, "Column")), c.describe(key)
		p.placed[c.ID] = true
	} else {
		f.Name = taken.take(goName(key, "Field"))
	}
	t, comment := p.typeOf(m, typeName+f.Name, join(in.path, key))
	f.Typ, f.Comment = p.wrap(t, m.types[0], f.MayLack), strings.Trim(column+"; "+comment, "; ")
	return f
}

// wrap makes room for null and absence.
func (p *planner) wrap(t *goType, null, absent bool) *goType {
	switch {
	case t.kind == raw:
		return t
	case null && absent:
		return &goType{kind: optional, elem: t}
	case (null || absent) && !t.nilable():
		return &goType{kind: pointer, elem: t}
	}
	return t
}

// typeOf plans the type of a value that is there and is not null.
func (p *planner) typeOf(s *shape, name, path string) (t *goType, comment string) {
	switch kinds := s.kinds(); {
	case s.deep:
		return &goType{kind: raw}, "nested too deep for a type"
	case len(kinds) == 0:
		return &goType{kind: raw}, "only null was seen"
	case len(kinds) > 1:
		return &goType{kind: raw}, strings.Join(kinds, ", ") + " were seen"
	case s.types[dict]:
		return p.objectType(s, name, path)
	case !s.types[slice]:
		k := plain[slices.IndexFunc(plain, func(k kind) bool { return !s.lossy[k] })]
		if k == number {
			comment = "float64 would not keep every digit"
		}
		return &goType{kind: k}, comment
	}
	elem := cmp.Or(s.elem, &shape{})
	inner, comment := p.typeOf(elem, name, path)
	if s.elem == nil {
		comment = "only empty arrays were seen"
	}
	return &goType{kind: slice, elem: p.wrap(inner, elem.types[0], false)}, comment
}

// objectType is a struct, or a map if the keys are data.
func (p *planner) objectType(s *shape, name, path string) (t *goType, comment string) {
	if in := p.scope(s, path, false); len(in.names()) > 0 {
		return &goType{kind: structure, object: p.object(in, p.types.take(name))}, ""
	}
	values := &shape{}
	for _, m := range s.members {
		values.merge(m)
	}
	inner, comment := p.typeOf(values, name, elsewhere)
	if len(s.members) == 0 {
		comment = "only empty objects were seen"
	}
	return &goType{kind: dict, elem: p.wrap(inner, values.types[0], false)}, comment
}

// unplaced describes the columns that no field is for.
func (p *planner) unplaced() (list []string) {
	for _, c := range p.columns {
		if !p.placed[c.ID] {
			list = append(list, c.describe(c.Name))
		}
	}
	return list
}
