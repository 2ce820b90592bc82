package rowtype

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strconv"
	"time"
)

// deepest is how far below a row values are told apart. What is deeper keeps its text.
const deepest = 12

// shape is what was seen of a value in many rows. Its booleans say what did not hold.
type shape struct {
	seen  int // times, null included
	nulls int

	texts, numbers, bools, arrays, objects int
	filled                                 int // objects that have members

	notStamp, notTime bool // a text that is not a timestamp of the service, or that time.Time does not keep
	notInt, notFloat  bool // a number that the type does not keep
	deep              bool

	elem    *shape            // of arrays
	members map[string]*shape // of objects
}

func (s *shape) add(v any, depth int) {
	s.seen++
	switch v := v.(type) {
	case nil:
		s.nulls++
	case string:
		s.texts++
		s.notStamp = s.notStamp || !isStamp(v)
		s.notTime = s.notTime || !isTime(v)
	case json.Number:
		s.numbers++
		s.notInt = s.notInt || !isInt(string(v))
		s.notFloat = s.notFloat || floatText(string(v)) != string(v)
	case bool:
		s.bools++
	case []any:
		s.arrays++
		s.deep = s.deep || depth == deepest
		for _, e := range v {
			s.elem = cmp.Or(s.elem, &shape{})
			if !s.deep {
				s.elem.add(e, depth+1)
			}
		}
	case map[string]any:
		s.objects++
		s.filled += min(1, len(v))
		s.deep = s.deep || depth == deepest
		for key, e := range v {
			if !s.deep {
				s.member(key).add(e, depth+1)
			}
		}
	}
}

func (s *shape) member(key string) *shape {
	if s.members == nil {
		s.members = map[string]*shape{}
	}
	if s.members[key] == nil {
		s.members[key] = &shape{}
	}
	return s.members[key]
}

// merge adds what was seen of other values.
func (s *shape) merge(o *shape) {
	s.seen, s.nulls = s.seen+o.seen, s.nulls+o.nulls
	s.texts, s.numbers, s.bools = s.texts+o.texts, s.numbers+o.numbers, s.bools+o.bools
	s.arrays, s.objects, s.filled = s.arrays+o.arrays, s.objects+o.objects, s.filled+o.filled
	s.notStamp, s.notTime = s.notStamp || o.notStamp, s.notTime || o.notTime
	s.notInt, s.notFloat, s.deep = s.notInt || o.notInt, s.notFloat || o.notFloat, s.deep || o.deep
	if o.elem != nil {
		s.elem = cmp.Or(s.elem, &shape{})
		s.elem.merge(o.elem)
	}
	for key, m := range o.members {
		s.member(key).merge(m)
	}
}

// kinds names what was seen, null apart.
func (s *shape) kinds() (names []string) {
	for _, k := range []struct {
		n    int
		name string
	}{{s.texts, "text"}, {s.numbers, "numbers"}, {s.bools, "true or false"}, {s.arrays, "arrays"}, {s.objects, "objects"}} {
		if k.n > 0 {
			names = append(names, k.name)
		}
	}
	return names
}

// stampLayout is the documented form of timestamps.
const stampLayout = "2006-01-02T15:04:05.000Z"

// isStamp reports whether a text is a timestamp of the documented form. The zero time is none: it reads as absent.
func isStamp(s string) bool {
	t, err := time.Parse(stampLayout, s)
	return err == nil && !t.IsZero() && t.Format(stampLayout) == s
}

// isTime reports whether a time.Time keeps the text.
func isTime(s string) bool {
	var t time.Time
	if t.UnmarshalText([]byte(s)) != nil || t.IsZero() {
		return false
	}
	text, err := t.MarshalText()
	return err == nil && string(text) == s
}

func isInt(number string) bool {
	n, err := strconv.ParseInt(number, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == number
}

// floatText is a number as encoding/json writes it from a float64; empty if a float64 cannot hold it.
func floatText(number string) string {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return ""
	}
	text, _ := json.Marshal(f) // it is finite
	return string(text)
}

// keepsFloat reports whether a float64 keeps the number, if not its text: 1.50 is written as 1.5.
func keepsFloat(number string) bool {
	kept, ok := new(big.Rat).SetString(floatText(number))
	exact, also := new(big.Rat).SetString(number) // no exponent beyond a million
	return ok && also && kept.Cmp(exact) == 0
}
