package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// headcount reads "11-50", "10001+" or "42".
func headcount(s string) (from, to float64, ok bool) {
	if n, open := strings.CutSuffix(s, "+"); open {
		from, ok = count(n)
		return from, math.Inf(1), ok
	}
	low, high, ranged := strings.Cut(s, "-")
	from, ok = count(low)
	if !ranged {
		return from, from, ok
	}
	to, okTo := count(high)
	return from, to, ok && okTo
}

func count(s string) (float64, bool) {
	n, err := strconv.ParseUint(s, 10, 53)
	return float64(n), err == nil
}

func parseRevenue(key string, raw json.RawMessage) (func(*match) bool, error) {
	var want *float64
	if json.Unmarshal(raw, &want) != nil || want == nil {
		return nil, errors.New("has to be a number")
	}
	return func(m *match) bool { return within(m.values(key), *want, *want) }, nil
}

// within reports whether one of the values is a number in a range.
func within(values []string, from, to float64) bool {
	return slices.ContainsFunc(values, func(s string) bool {
		n, err := strconv.ParseFloat(s, 64)
		return err == nil && n >= from && n <= to
	})
}

func parseKeywords(_ string, raw json.RawMessage) (func(*match) bool, error) {
	words, ok := asString(raw)
	if !ok {
		return nil, errors.New("has to be a string")
	}
	pattern := strings.Split(strings.ToLower(words), "*")
	if len(pattern) == 1 {
		pattern = []string{"", pattern[0], ""} // it may stand anywhere
	}
	return func(m *match) bool {
		title, ok := fieldString(m.row, "jobTitle")
		return ok && fits(strings.ToLower(title), pattern)
	}, nil
}

// fits reports whether a text consists of these parts in order, with anything between them.
func fits(text string, parts []string) bool {
	text, ok := strings.CutPrefix(text, parts[0])
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		_, rest, found := strings.Cut(text, part)
		text, ok = rest, ok && found
	}
	return ok && strings.HasSuffix(text, parts[last])
}

func parseText(key string, raw json.RawMessage) (func(*match) bool, error) {
	text, ok := asString(raw)
	if !ok {
		return nil, errors.New("has to be a string")
	}
	return func(m *match) bool { return m.has(key, text) }, nil
}

func parseStatuses(key string, raw json.RawMessage) (func(*match) bool, error) {
	var form map[string]json.RawMessage
	if !isObject(raw) || json.Unmarshal(raw, &form) != nil || len(form) != 1 || form["include"] == nil {
		return nil, errors.New("has to be an object with include")
	}
	return parseChoices(key, raw)
}

func parseICPMatch(key string, raw json.RawMessage) (func(*match) bool, error) {
	truth := map[string]string{"yes": "true", "no": "false"}
	one, err := stringsOf(raw)
	if err != nil || len(one) != 1 || truth[one[0]] == "" {
		return nil, errors.New(`has to be ["yes"] or ["no"]`)
	}
	return func(m *match) bool { return m.has(key, one[0]) || m.has(key, truth[one[0]]) }, nil
}

// columnFilter is the filter of one custom column.
type columnFilter struct {
	DataType string          `json:"dataType"`
	Include  json.RawMessage `json:"include"`
	Value    *bool           `json:"value"`
	RangeMin *float64        `json:"rangeMin"`
	RangeMax *float64        `json:"rangeMax"`
}

// columnKeys are the keys that go with a data type.
var columnKeys = map[string][]string{
	"string":  {"dataType", "include"},
	"boolean": {"dataType", "value"},
	"number":  {"dataType", "rangeMin", "rangeMax"},
}

func parseColumns(_ string, raw json.RawMessage) (func(*match) bool, error) {
	var columns map[string]json.RawMessage
	if !isObject(raw) || json.Unmarshal(raw, &columns) != nil {
		return nil, errors.New("has to be an object")
	}
	var tests []func(*match) bool
	for _, id := range slices.Sorted(maps.Keys(columns)) {
		test, err := parseColumn(id, columns[id])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		tests = append(tests, test)
	}
	if len(tests) == 0 {
		return nil, nil
	}
	return func(m *match) bool {
		return !slices.ContainsFunc(tests, func(test func(*match) bool) bool { return !test(m) })
	}, nil
}

func parseColumn(id string, raw json.RawMessage) (func(*match) bool, error) {
	var keys map[string]json.RawMessage
	var f columnFilter
	if !isObject(raw) || json.Unmarshal(raw, &keys) != nil || json.Unmarshal(raw, &f) != nil {
		return nil, errors.New("is not a column filter")
	}
	for key := range keys {
		switch {
		case !slices.Contains(columnKeys[f.DataType], key):
			return nil, fmt.Errorf("%q does not go with the data type %q", key, f.DataType)
		case string(keys[key]) == "null":
			return nil, fmt.Errorf("%q is null", key)
		}
	}
	switch f.DataType {
	case "string":
		return f.parseTexts(id)
	case "boolean":
		if f.Value == nil {
			return nil, errors.New("value is missing")
		}
		want := strconv.FormatBool(*f.Value)
		return func(m *match) bool { return slices.Contains(m.column(id), want) }, nil
	default:
		if f.RangeMin == nil && f.RangeMax == nil {
			return nil, errors.New("rangeMin and rangeMax are missing")
		}
		from, to := math.Inf(-1), math.Inf(1)
		if f.RangeMin != nil {
			from = *f.RangeMin
		}
		if f.RangeMax != nil {
			to = *f.RangeMax
		}
		return func(m *match) bool { return within(m.column(id), from, to) }, nil
	}
}

func (f columnFilter) parseTexts(id string) (func(*match) bool, error) {
	include, err := stringsOf(f.Include)
	if err != nil {
		return nil, err
	}
	return func(m *match) bool {
		return len(include) == 0 || slices.ContainsFunc(m.column(id), func(s string) bool {
			return slices.ContainsFunc(include, func(want string) bool { return strings.EqualFold(s, want) })
		})
	}, nil
}

// column are the values that a row has in a custom column.
func (m *match) column(id string) []string {
	raw, ok := lookup(m.row, "customColumns")
	if !ok {
		return nil
	}
	value, ok := field(raw, id)
	if !ok {
		return nil
	}
	return texts(value)
}
