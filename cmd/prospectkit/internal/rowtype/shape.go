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

// shape is what was seen of a value in many rows.
type shape struct {
	seen, objects int               // times, null included; of them objects
	filled        int               // objects that have members
	types         perKind           // that were seen: see jsonType
	lossy         perKind           // which do not keep what was seen
	deep          bool              // it holds more than deepest allows
	elem          *shape            // of arrays
	members       map[string]*shape // of objects
}

type perKind [structure + 1]bool

func (s *shape) add(v any, depth int) {
	s.seen++
	s.types[jsonType(v)] = true
	for _, k := range plain {
		s.lossy[k] = s.lossy[k] || !k.keeps(v)
	}
	switch v := v.(type) {
	case []any:
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
	s.seen, s.objects, s.filled, s.deep = s.seen+o.seen, s.objects+o.objects, s.filled+o.filled, s.deep || o.deep
	for k := range s.types {
		s.types[k], s.lossy[k] = s.types[k] || o.types[k], s.lossy[k] || o.lossy[k]
	}
	if o.elem != nil {
		s.elem = cmp.Or(s.elem, &shape{})
		s.elem.merge(o.elem)
	}
	for key, m := range o.members {
		s.member(key).merge(m)
	}
}

// kinds names the types that were seen, null apart.
func (s *shape) kinds() (names []string) {
	for _, k := range []struct {
		kind
		name string
	}{{text, "text"}, {number, "numbers"}, {boolean, "true or false"}, {slice, "arrays"}, {dict, "objects"}} {
		if s.types[k.kind] {
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
