package sandbox

import (
	"bytes"
	"cmp"
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

// condition is a filter key with its value, as a test of a row.
type condition struct {
	key  string
	test test
}

type test func(*match) bool

// match is a row that is tested.
type match struct {
	ws  *workspace
	l   *List
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

// meets reports whether a row meets all conditions that its list honors.
func (c *call) meets(l *List, i int, conditions []condition) bool {
	m := match{c.ws, l, l.Rows[i], c.ws.index(l).ids[i]}
	return !slices.ContainsFunc(conditions, func(condition condition) bool {
		_, honored := companyFields[condition.key]
		return (honored || l.EntityType != CompanyList || condition.key == "customColumns") && !condition.test(&m)
	})
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

// parseFilters reads filters, or ends the request.
func parseFilters(filters string) (conditions []condition) {
	var keys fields
	if raw := []byte(filters); !isObject(raw) || json.Unmarshal(raw, &keys) != nil {
		badFilters("filters is not a JSON object")
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		parse, ok := filterKeys[key]
		if !ok {
			badFilters("%q is not a filter", key)
		}
		if fits := parse(key, keys[key]); fits != nil {
			conditions = append(conditions, condition{key, fits})
		}
	}
	return conditions
}

func badFilters(format string, args ...any) {
	deny("INVALID_ROW_FILTERS", fmt.Sprintf(format, args...), "filters")
}

// filterKeys are the documented filters, with what reads the value of each, or ends the request. A nil test restricts nothing. The default
// is a choice of values.
var filterKeys = func() map[string]func(key string, raw json.RawMessage) test {
	keys := map[string]func(key string, raw json.RawMessage) test{
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

// objectOf reads the value of a key that has to be an object.
func objectOf(key string, raw json.RawMessage) (form fields) {
	if !isObject(raw) || json.Unmarshal(raw, &form) != nil {
		badFilters("%s has to be an object", key)
	}
	return form
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

// choose reads values to include, and values to exclude. It tests that one is included, if there are any, and none excluded.
func choose(key string, raw json.RawMessage, holds func(m *match, choice string) bool) test {
	include, err := stringsOf(raw)
	var exclude []string
	if err != nil {
		for name, value := range objectOf(key, raw) {
			choices, err := stringsOf(value)
			switch {
			case err != nil || name != "include" && name != "exclude":
				badFilters("%s has to be an array of strings, or include and exclude with such arrays", key)
			case name == "include":
				include = choices
			default:
				exclude = choices
			}
		}
	}
	if len(include)+len(exclude) == 0 {
		return nil
	}
	return func(m *match) bool {
		some := func(list []string) bool {
			return slices.ContainsFunc(list, func(choice string) bool { return holds(m, choice) })
		}
		return (len(include) == 0 || some(include)) && !some(exclude)
	}
}

func parseChoices(key string, raw json.RawMessage) test {
	return choose(key, raw, func(m *match, choice string) bool { return m.has(key, choice) })
}

func (m *match) has(key, value string) bool { return foldContains(m.values(key), value) }

func foldContains(values []string, want string) bool {
	return slices.ContainsFunc(values, func(s string) bool { return strings.EqualFold(s, want) })
}

func parseOtherLists(key string, raw json.RawMessage) test {
	return choose(key, raw, func(m *match, name string) bool {
		return slices.ContainsFunc(lists.in(m.ws), func(other *List) bool {
			return other != m.l && strings.EqualFold(other.Name, name) && m.ws.has(other, m.id)
		})
	})
}

var (
	quoted    = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	headcount = regexp.MustCompile(`^(\d{1,15})(?:-(\d{1,15})|(\+))?$`) // 42, 11-50 or 10001+
)

// parseHeadcount finds an unquoted number, for which the service returns 500, at any place.
func parseHeadcount(key string, raw json.RawMessage) test {
	if strings.ContainsAny(quoted.ReplaceAllString(string(raw), ""), "0123456789") {
		deny("UNEXPECTED_ERROR", "Something went wrong.")
	}
	return choose(key, raw, func(m *match, choice string) bool {
		parts := headcount.FindStringSubmatch(choice)
		if parts == nil {
			return false
		}
		to := math.Inf(1)
		if parts[3] == "" {
			to, _ = strconv.ParseFloat(cmp.Or(parts[2], parts[1]), 64)
		}
		from, _ := strconv.ParseFloat(parts[1], 64)
		return within(m.values(key), from, to)
	})
}

func parseRevenue(key string, raw json.RawMessage) test {
	var want *float64
	if json.Unmarshal(raw, &want) != nil || want == nil {
		badFilters("%s has to be a number", key)
	}
	return func(m *match) bool { return within(m.values(key), *want, *want) }
}

// within reports whether one of the values is a number in a range.
func within(values []string, from, to float64) bool {
	return slices.ContainsFunc(values, func(s string) bool {
		n, err := strconv.ParseFloat(s, 64)
		return err == nil && n >= from && n <= to
	})
}

func parseText(key string, raw json.RawMessage) test {
	text := textOf(key, raw)
	return func(m *match) bool { return m.has(key, text) }
}

func textOf(key string, raw json.RawMessage) string {
	text, ok := asString(raw)
	if !ok {
		badFilters("%s has to be a string", key)
	}
	return text
}

func parseKeywords(key string, raw json.RawMessage) test {
	words := textOf(key, raw)
	if !strings.Contains(words, "*") {
		words = "*" + words + "*" // it may stand anywhere
	}
	pattern := regexp.MustCompile("(?is)^" + strings.ReplaceAll(regexp.QuoteMeta(words), `\*`, ".*") + "$")
	return func(m *match) bool {
		title, ok := fieldString(m.row, "jobTitle")
		return ok && pattern.MatchString(title)
	}
}

func parseStatuses(key string, raw json.RawMessage) test {
	if form := objectOf(key, raw); len(form) != 1 || form["include"] == nil {
		badFilters("%s has to be an object with include", key)
	}
	return parseChoices(key, raw)
}

func parseICPMatch(key string, raw json.RawMessage) test {
	truth := map[string]string{"yes": "true", "no": "false"}
	one, err := stringsOf(raw)
	if err != nil || len(one) != 1 || truth[one[0]] == "" {
		badFilters(`%s has to be ["yes"] or ["no"]`, key)
	}
	return func(m *match) bool { return m.has(key, one[0]) || m.has(key, truth[one[0]]) }
}

// parseColumns reads the filters of custom columns, by their ids.
func parseColumns(key string, raw json.RawMessage) test {
	var tests []test
	columns := objectOf(key, raw)
	for _, id := range slices.Sorted(maps.Keys(columns)) {
		tests = append(tests, parseColumn(id, columns[id]))
	}
	if len(tests) == 0 {
		return nil
	}
	return func(m *match) bool { return !slices.ContainsFunc(tests, func(fits test) bool { return !fits(m) }) }
}

func parseColumn(id string, raw json.RawMessage) test {
	var f struct {
		DataType           string
		Include            []*string
		Value              *bool
		RangeMin, RangeMax *float64
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	bad := dec.Decode(&f) != nil || bytes.Contains(quoted.ReplaceAll(raw, nil), []byte("null")) || slices.Contains(f.Include, nil)
	text, flag, number := f.Include != nil, f.Value != nil, f.RangeMin != nil || f.RangeMax != nil
	want := map[string][3]bool{"string": {true, false, false}, "boolean": {false, true, false}, "number": {false, false, true}}
	if sent, known := want[f.DataType]; bad || !known || sent != [3]bool{text, flag, number} {
		badFilters("%s is not a filter of a column of the data type %q", id, f.DataType)
	}
	return func(m *match) bool {
		switch {
		case text:
			return len(f.Include) == 0 || slices.ContainsFunc(f.Include, func(want *string) bool { return foldContains(m.column(id), *want) })
		case flag:
			return slices.Contains(m.column(id), strconv.FormatBool(*f.Value))
		}
		return within(m.column(id), *cmp.Or(f.RangeMin, new(math.Inf(-1))), *cmp.Or(f.RangeMax, new(math.Inf(1))))
	}
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
