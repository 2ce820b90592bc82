package shapes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Describe reads a description of a response. It is JSON of the same form as the response, with types in place of
// values:
//
//	{"list": {"id": "id", "folderId": "id null", "type": "contactList|companyList", "columns?": [{"id": "id", "...": ""}]}}
//
// A type is a kind, or several of them. The types id, timestamp and date are formats of strings; values separated by |
// are those of an enumeration. A field with a question mark is optional, one with a tilde is assumed. A field named
// ... says that there may be others, and one named * describes what stands under keys that are data. A name with an
// at sign is another description. A mistake in it is one of the program: Describe panics.
func Describe(text string, others map[string]string) *Shape {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(fmt.Errorf("a description: %w", err))
	}
	return describe(v, others)
}

func describe(v any, others map[string]string) *Shape {
	switch v := v.(type) {
	case string:
		if other, ok := strings.CutPrefix(v, "@"); ok {
			return Describe(others[other], others)
		}
		return describeText(v)
	case []any:
		return &Shape{Kinds: []string{Array}, Items: describe(v[0], others)}
	case map[string]any:
		return describeObject(v, others)
	}
	panic(fmt.Errorf("a description holds %v", v))
}

func describeText(text string) *Shape {
	s := &Shape{}
	for word := range strings.FieldsSeq(text) {
		switch {
		case strings.Contains(word, "|"):
			s.addKind(String)
			s.Values = strings.Split(word, "|")
		case slices.Contains([]string{FormatID, FormatTimestamp, FormatDate}, word):
			s.addKind(String)
			s.Format = word
		default:
			s.addKind(word)
		}
	}
	return s
}

func describeObject(v map[string]any, others map[string]string) *Shape {
	s := &Shape{Kinds: []string{Object}, Fields: map[string]*Shape{}}
	for key, value := range v {
		if key == "..." {
			s.open = true
			continue
		}
		field := describe(value, others)
		plain := strings.TrimRight(key, "?~")
		field.Optional, field.assumed = strings.Contains(key, "?"), strings.Contains(key, "~")
		if plain == "*" {
			s.Rest = field
			continue
		}
		s.Fields[plain] = field
	}
	return s
}
