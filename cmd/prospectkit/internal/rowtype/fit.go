package rowtype

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Mismatch is a way in which rows do not fit a type: they would lose something, or not decode.
type Mismatch struct {
	Field   string // with those around it, by their keys
	Problem string
	Rows    int // how many rows have it
}

// Fits collects how rows fit the type of a file.
type Fits struct {
	file    *File
	columns []Column
	rows    int
	found   map[Mismatch]int
	last    map[Mismatch]int // the last row that each was found in
}

// NewFits starts without rows. The columns are those that the list has now.
func NewFits(f *File, columns []Column) *Fits {
	return &Fits{file: f, columns: columns, found: map[Mismatch]int{}, last: map[Mismatch]int{}}
}

// Add compares a row. It is an error if the row is no JSON object.
func (f *Fits) Add(row []byte) error {
	v, err := parse(row)
	if err != nil {
		return err
	}
	f.rows++
	f.value(f.file.root, "", v)
	return nil
}

// Count returns how many rows were added.
func (f *Fits) Count() int { return f.rows }

// Mismatches returns what was found, in the order of the fields.
func (f *Fits) Mismatches() []Mismatch {
	list := slices.SortedFunc(maps.Keys(f.found), func(a, b Mismatch) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Problem, b.Problem))
	})
	for i, m := range list {
		list[i].Rows = f.found[m]
	}
	return list
}

func (f *Fits) note(path, problem string) {
	m := Mismatch{Field: cmp.Or(path, "the row"), Problem: problem}
	if f.last[m] != f.rows {
		f.last[m] = f.rows
		f.found[m]++
	}
}

// value compares a value that is there.
func (f *Fits) value(t *goType, path string, v any) {
	list, isList := v.([]any)
	members, isObject := v.(map[string]any)
	switch {
	case v == nil && (t.nilable() || t.kind == optional):
	case t.kind == pointer || t.kind == optional:
		f.value(t.elem, path, v)
	case t.kind == slice && isList:
		for _, e := range list {
			f.value(t.elem, path+"[]", e)
		}
	case t.kind == dict && isObject:
		for _, e := range members {
			f.value(t.elem, path+"{}", e)
		}
	case t.kind == structure && isObject:
		f.members(t.object, path, members)
	case !t.kind.holds(v):
		f.note(path, t.kind.instead(v))
	}
}

// nilable reports whether null is nil, which omitzero leaves out.
func (t *goType) nilable() bool { return t.kind == slice || t.kind == dict || t.kind == pointer }

func (f *Fits) members(o *object, path string, members map[string]any) {
	known := map[string]bool{}
	for _, field := range o.Fields {
		known[field.Key] = true
		at := strings.TrimPrefix(path+"."+f.shown(field.Key), ".")
		v, ok := members[field.Key]
		switch {
		case !ok && !field.MayLack:
			f.note(at, "missing, but the type expects it in every row")
		case ok && v == nil && field.MayLack && field.Typ.nilable():
			f.note(at, "null, but the type only expects it to be absent")
		case ok:
			f.value(field.Typ, at, v)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		_, column := f.column(key)
		mayBeData := !column && (looksLikeData(key) || path != "" && !plainKey.MatchString(key))
		if known[key] || o.Other != "" && mayBeData {
			continue
		}
		name := "(a key that may be data)"
		if !mayBeData {
			name = f.shown(key)
		}
		f.note(strings.TrimPrefix(path+"."+name, "."), "new: the type has no such field; it is "+jsonType(members[key]).String())
	}
}

// column returns the column that a key names by its id.
func (f *Fits) column(key string) (Column, bool) {
	id := strings.TrimPrefix(key, columnPrefix)
	for _, c := range f.columns {
		if c.ID != "" && strings.EqualFold(c.ID, id) {
			return c, true
		}
	}
	return Column{}, false
}

// shown is the key of a field, with the name of the column that it is the id of.
func (f *Fits) shown(key string) string {
	if c, ok := f.column(key); ok {
		return shown(key) + " (column " + quoted(c.Name) + ")"
	}
	return shown(key)
}

// holds reports whether a Go value of the kind keeps the value. Only a json.RawMessage keeps null, or a whole array or object.
func (k kind) holds(v any) bool {
	switch v := v.(type) {
	case string:
		return k == raw || k == text || k == stamp && isStamp(v) || k == instant && isTime(v)
	case json.Number:
		return k == raw || k == number || k == integer && isInt(string(v)) || k == float && keepsFloat(string(v))
	case bool:
		return k == raw || k == boolean
	}
	return k == raw
}

// keeps reports whether a Go value of the kind also keeps the text of the value.
func (k kind) keeps(v any) bool {
	if n, ok := v.(json.Number); ok && k == float {
		return floatText(string(n)) == string(n)
	}
	return v == nil || k.holds(v)
}

// instead says what a value is that a kind does not hold.
func (k kind) instead(v any) string {
	_, isText := v.(string)
	_, isNumber := v.(json.Number)
	switch {
	case k == stamp && isText:
		return "text that is not a timestamp in UTC with milliseconds"
	case k == instant && isText:
		return "text that is not a timestamp as time.Time writes it"
	case k == integer && isNumber:
		return "a number that int64 does not hold"
	case k == float && isNumber:
		return "a number whose digits float64 does not keep"
	}
	return fmt.Sprintf("%s, but the type expects %s", jsonType(v), k)
}

// jsonType is the kind that holds any value of the same JSON type.
func jsonType(v any) kind {
	switch v.(type) {
	case nil:
		return 0
	case string:
		return text
	case json.Number:
		return number
	case bool:
		return boolean
	case []any:
		return slice
	}
	return dict
}
