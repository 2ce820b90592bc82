package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// condition is one key of a row filter.
type condition struct {
	key  string
	test func(*match) bool
}

// match is a row that is compared.
type match struct {
	ws  *workspace
	l   *list
	row []byte
	id  string
}

var errHeadcount = errors.New("an unquoted headcount")

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
	var kept []condition
	for _, condition := range conditions {
		switch _, ok := companyFields[condition.key]; {
		case condition.key == "customColumns":
			c.uses(ruleColumns)
		case l.EntityType == CompanyList && !ok:
			c.uses(ruleIgnored)
			continue
		default:
			c.uses(ruleMatching, ruleFieldNames)
		}
		kept = append(kept, condition)
	}
	return kept
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
		if json.Unmarshal(raw, &elements) != nil {
			return nil
		}
		var all []string
		for _, e := range elements {
			all = append(all, texts(e)...)
		}
		return all
	}
	return []string{string(raw)}
}

// parseFilters reads a filter object.
func (c *call) parseFilters(filters string) ([]condition, error) {
	raw := []byte(filters)
	var keys map[string]json.RawMessage
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
		case errors.Is(err, errHeadcount):
			return nil, refuse("UNEXPECTED_ERROR", "Something went wrong.")
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

// choices are values to include, and values to exclude.
type choices struct{ include, exclude []string }

func decodeChoices(raw json.RawMessage) (choices, error) {
	if include, err := stringsOf(raw); err == nil {
		return choices{include: include}, nil
	}
	var form map[string]json.RawMessage
	if !isObject(raw) || json.Unmarshal(raw, &form) != nil {
		return choices{}, errors.New("has to be an array of strings, or an object with include and exclude")
	}
	var ch choices
	for key, value := range form {
		list, err := stringsOf(value)
		switch {
		case err != nil:
			return choices{}, err
		case key == "include":
			ch.include = list
		case key == "exclude":
			ch.exclude = list
		default:
			return choices{}, fmt.Errorf("%q is neither include nor exclude", key)
		}
	}
	return ch, nil
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
	ch, err := decodeChoices(raw)
	if err != nil || len(ch.include)+len(ch.exclude) == 0 {
		return nil, err
	}
	return func(m *match) bool {
		some := func(list []string) bool {
			return slices.ContainsFunc(list, func(choice string) bool { return holds(m, choice) })
		}
		return (len(ch.include) == 0 || some(ch.include)) && !some(ch.exclude)
	}, nil
}

func parseChoices(key string, raw json.RawMessage) (func(*match) bool, error) {
	return choose(raw, func(m *match, choice string) bool { return m.has(key, choice) })
}

func (m *match) has(key, value string) bool {
	return slices.ContainsFunc(m.values(key), func(s string) bool { return strings.EqualFold(s, value) })
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
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	if holdsNumber(v) {
		return nil, errHeadcount
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
