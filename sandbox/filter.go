package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/prospectkit/internal/jsonscan"
)

type condition struct {
	key  string
	test func(*match) bool
}

type match struct {
	ws  *workspace
	l   *list
	row []byte
	id  string
}

// contactFields and companyFields are the row fields that a filter key compares. Any of them may match.
var (
	contactFields = map[string][]string{
		"name":                       {"name", "fullName"},
		"title":                      {"jobTitle"},
		"dept":                       {"dept", "department"},
		"level":                      {"level", "seniority"},
		"industryName":               {"industryName", "industry"},
		"country":                    {"country", "address.country"},
		"state":                      {"state", "address.state"},
		"personalLocation":           {"personalLocation", "address.city", "address.state", "address.country"},
		"companyName":                {"company.name", "companyName"},
		"companyIndustry":            {"company.industry"},
		"companyHeadQuartersCountry": {"company.country", "company.address.country"},
		"companyLocation":            {"company.address.city", "company.address.state", "company.address.country"},
		"website":                    {"company.domain", "website"},
		"campaignEngagement":         {"campaignEngagement"},
		"numberOfEmployees":          {"company.socialHeadCount"},
		"revenue":                    {"company.revenue"},
		"socialUrl":                  {"socialUrl"},
		"enrichedEmail":              {"enrichedEmail"},
		"enrichedPhone":              {"enrichedPhone"},
		"emailValidity":              {"emailValidity"},
		"icpMatch":                   {"icpMatch"},
	}
	companyFields = map[string][]string{
		"companyName":                {"name"},
		"companyIndustry":            {"industry"},
		"companyHeadQuartersCountry": {"country", "address.country"},
		"website":                    {"domain", "website"},
		"numberOfEmployees":          {"socialHeadCount"},
		"campaignEngagement":         {"campaignEngagement"},
	}
)

// honoured omits the keys that a company list does not honor, and records the rules of the others.
func (c *call) honoured(l *list, conditions []condition) []condition {
	return kept(conditions, func(condition condition) bool {
		switch _, ok := companyFields[condition.key]; {
		case condition.key == "customColumns":
			c.uses(ruleColumns)
		case l.EntityType == CompanyList && !ok:
			c.uses(ruleIgnored)
			return false
		default:
			c.uses(ruleMatching, ruleFieldNames)
		}
		return true
	})
}

func (c *call) meets(l *list, i int, conditions []condition) bool {
	m := match{c.ws, l, l.rows[i], l.ids[i]}
	return !slices.ContainsFunc(conditions, func(condition condition) bool { return !condition.test(&m) })
}

// values are the texts that a row has for a filter key.
func (m *match) values(key string) []string {
	fields := contactFields
	if m.l.EntityType == CompanyList {
		fields = companyFields
	}
	var values []string
	for _, path := range fields[key] {
		if raw, ok := lookup(m.row, path); ok {
			values = append(values, texts(raw)...)
		}
	}
	if key == "name" {
		first, _ := fieldString(m.row, "firstName")
		last, _ := fieldString(m.row, "lastName")
		values = append(values, first, last, strings.TrimSpace(first+" "+last))
	}
	return values
}

// texts are the values of a field: each element, if it is an array.
func texts(raw []byte) []string {
	if s, ok := asString(raw); ok {
		return []string{s}
	}
	if len(raw) > 0 && raw[0] == '[' {
		var elements []json.RawMessage
		_ = json.Unmarshal(raw, &elements) // rows are valid JSON
		var all []string
		for _, e := range elements {
			all = append(all, texts(e)...)
		}
		return all
	}
	return []string{string(raw)}
}

func (c *call) parseFilters(filters string) ([]condition, error) {
	raw := []byte(filters)
	var keys fields
	if !isObject(raw) || json.Unmarshal(raw, &keys) != nil {
		return nil, badFilters("filters is not a JSON object")
	}
	c.looksOdd(raw)
	var conditions []condition
	empty := bytes.Contains(bytes.Join(bytes.Fields(raw), nil), []byte("[]"))
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		parse, ok := filterKeys[key]
		if !ok {
			return nil, badFilters(fmt.Sprintf("%q is not a filter", key))
		}
		test, err := parse(key, keys[key])
		switch {
		case errors.Is(err, &refusalInternal):
			return nil, err
		case err != nil:
			return nil, badFilters(fmt.Sprintf("%s: %v", key, err))
		case test == nil:
			empty = true
		default:
			conditions = append(conditions, condition{key, test})
		}
	}
	if empty {
		c.uses(ruleNoValues)
	}
	return conditions, nil
}

func badFilters(message string) error {
	return &refusal{code: "INVALID_ROW_FILTERS", message: message, param: "filters"}
}

// A filterParser reads the value of a key. A nil test restricts nothing.
type filterParser func(key string, raw json.RawMessage) (func(*match) bool, error)

// filterKeys are the documented filters. The default is a choice of values.
var filterKeys = func() map[string]filterParser {
	keys := map[string]filterParser{
		"otherLists":        parseOtherLists,
		"numberOfEmployees": parseHeadcount,
		"revenue":           parseRevenue,
		"keywords":          parseKeywords,
		"socialUrl":         parseText,
		"enrichedEmail":     parseStatuses,
		"enrichedPhone":     parseStatuses,
		"emailValidity":     parseStatuses,
		"icpMatch":          parseICPMatch,
		"customColumns":     parseColumns,
	}
	for key := range contactFields {
		if keys[key] == nil {
			keys[key] = parseChoices
		}
	}
	return keys
}()

// decodeChoices reads the values to include, and those to exclude.
func decodeChoices(raw json.RawMessage) (choices map[string][]string, err error) {
	choices = map[string][]string{}
	if choices["include"], err = stringsOf(raw); err == nil {
		return choices, nil
	}
	var form fields
	if !isObject(raw) || json.Unmarshal(raw, &form) != nil {
		return nil, errors.New("has to be an array of strings, or an object with include and exclude")
	}
	for key, value := range form {
		if key != "include" && key != "exclude" {
			return nil, fmt.Errorf("%q is neither include nor exclude", key)
		}
		if choices[key], err = stringsOf(value); err != nil {
			return nil, err
		}
	}
	return choices, nil
}

func stringsOf(raw json.RawMessage) ([]string, error) {
	var elements []*string
	if err := json.Unmarshal(raw, &elements); err != nil || elements == nil || slices.Contains(elements, nil) {
		return nil, errors.New("has to be an array of strings")
	}
	list := make([]string, len(elements))
	for i, e := range elements {
		list[i] = *e
	}
	return list, nil
}

// choose reads choices, and tests that one is included, if any are given, and none excluded.
func choose(raw json.RawMessage, holds func(m *match, choice string) bool) (func(*match) bool, error) {
	choices, err := decodeChoices(raw)
	include, exclude := choices["include"], choices["exclude"]
	if err != nil || len(include)+len(exclude) == 0 {
		return nil, err
	}
	return func(m *match) bool {
		some := func(list []string) bool {
			return slices.ContainsFunc(list, func(choice string) bool { return holds(m, choice) })
		}
		return (len(include) == 0 || some(include)) && !some(exclude)
	}, nil
}

func parseChoices(key string, raw json.RawMessage) (func(*match) bool, error) {
	return choose(raw, func(m *match, choice string) bool { return m.has(key, choice) })
}

func (m *match) has(key, value string) bool { return foldContains(m.values(key), value) }

func foldContains(values []string, want string) bool {
	return slices.ContainsFunc(values, func(s string) bool { return strings.EqualFold(s, want) })
}

func parseOtherLists(_ string, raw json.RawMessage) (func(*match) bool, error) {
	return choose(raw, func(m *match, name string) bool {
		return slices.ContainsFunc(m.ws.lists, func(other *list) bool {
			return other != m.l && strings.EqualFold(other.Name, name) && other.has(m.id)
		})
	})
}

// parseHeadcount finds an unquoted number, for which the service returns 500, at any place.
func parseHeadcount(key string, raw json.RawMessage) (func(*match) bool, error) {
	var v any
	_ = json.Unmarshal(raw, &v) // it is valid
	if holdsNumber(v) {
		return nil, &refusalInternal
	}
	return choose(raw, func(m *match, choice string) bool {
		from, to, ok := headcount(choice)
		return ok && within(m.values(key), from, to)
	})
}

func holdsNumber(v any) bool {
	switch v := v.(type) {
	case float64:
		return true
	case []any:
		return slices.ContainsFunc(v, holdsNumber)
	case object:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), holdsNumber)
	}
	return false
}

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
	if !strings.Contains(words, "*") {
		words = "*" + words + "*" // it may stand anywhere
	}
	pattern := regexp.MustCompile("(?is)^" + strings.ReplaceAll(regexp.QuoteMeta(words), `\*`, ".*") + "$")
	return func(m *match) bool {
		title, ok := fieldString(m.row, "jobTitle")
		return ok && pattern.MatchString(title)
	}, nil
}

func parseText(key string, raw json.RawMessage) (func(*match) bool, error) {
	text, ok := asString(raw)
	if !ok {
		return nil, errors.New("has to be a string")
	}
	return func(m *match) bool { return m.has(key, text) }, nil
}

func parseStatuses(key string, raw json.RawMessage) (func(*match) bool, error) {
	var form fields
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

// columnKeys are the keys that go with a data type.
var columnKeys = map[string][]string{
	"string":  {"dataType", "include"},
	"boolean": {"dataType", "value"},
	"number":  {"dataType", "rangeMin", "rangeMax"},
}

func parseColumns(_ string, raw json.RawMessage) (func(*match) bool, error) {
	var columns fields
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
	var keys fields
	f := struct {
		DataType           string
		Value              bool
		RangeMin, RangeMax float64
	}{RangeMin: math.Inf(-1), RangeMax: math.Inf(1)}
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
	switch {
	case f.DataType == "string":
		include, err := stringsOf(keys["include"])
		return func(m *match) bool {
			return len(include) == 0 || slices.ContainsFunc(include, func(want string) bool { return foldContains(m.column(id), want) })
		}, err
	case f.DataType == "boolean" && keys["value"] == nil:
		return nil, errors.New("value is missing")
	case f.DataType == "boolean":
		return func(m *match) bool { return slices.Contains(m.column(id), strconv.FormatBool(f.Value)) }, nil
	case keys["rangeMin"] == nil && keys["rangeMax"] == nil:
		return nil, errors.New("rangeMin and rangeMax are missing")
	}
	return func(m *match) bool { return within(m.column(id), f.RangeMin, f.RangeMax) }, nil
}

// column are the values that a row has in a custom column.
func (m *match) column(id string) []string {
	raw, _ := lookup(m.row, "customColumns")
	value, ok := jsonscan.Lookup(raw, id)
	if !ok {
		return nil
	}
	return texts(value)
}
