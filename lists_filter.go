package prospectkit

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// RowFilter narrows the rows of a list: values inside one field are alternatives, different fields all have to hold. Use
// [ContactFilter] or [CompanyFilter] according to the list, or [RawFilter].
//
// The service does not check values against its vocabularies: one it does not know is accepted and matches nothing. Nothing in a
// filter may be empty: what the service makes of an empty array is undocumented, and it may mean every row.
type RowFilter interface {
	checkFilter(bad *checks)
	listKind() ListKind
}

// Match is a set of values to include, to exclude, or both. The zero value does not filter. A slice that is empty but not nil is
// refused: the service would take it for no filter and return every row.
type Match struct {
	Include []string
	Exclude []string
}

// AnyOf matches rows with any of the values. A filter by no values at all is refused.
func AnyOf(values ...string) Match { return Match{Include: given(values)} }

// NoneOf matches rows with none of the values. A filter by no values at all is refused.
func NoneOf(values ...string) Match { return Match{Exclude: given(values)} }

// given is values that somebody gave, even if there are none: they are not to pass for a filter that nobody asked for.
func given[T any](values []T) []T { return append([]T{}, values...) }

// Except returns the match without rows that have one of the values.
func (m Match) Except(values ...string) Match {
	m.Exclude = append(given(m.Exclude), values...)
	return m
}

// IsZero reports whether nobody asked for a filter.
func (m Match) IsZero() bool { return m.Include == nil && m.Exclude == nil }

// MarshalJSON writes the plain array, or the form with include and exclude where it is needed.
func (m Match) MarshalJSON() ([]byte, error) {
	if m.Exclude == nil {
		return json.Marshal(m.Include)
	}
	return json.Marshal(struct {
		Include []string `json:"include,omitzero"`
		Exclude []string `json:"exclude,omitzero"`
	}{m.Include, m.Exclude})
}

// Headcount is a range of employees. It is always written as a string: an unquoted number makes the service fail with a 500.
type Headcount string

// HeadcountBetween is a range with both ends.
func HeadcountBetween(low, high int) Headcount {
	return Headcount(strconv.Itoa(low) + "-" + strconv.Itoa(high))
}

// HeadcountFrom is a range without an upper end.
func HeadcountFrom(low int) Headcount { return Headcount(strconv.Itoa(low) + "+") }

// HeadcountExactly is one number of employees.
func HeadcountExactly(n int) Headcount { return Headcount(strconv.Itoa(n)) }

var headcountForm = regexp.MustCompile(`^[0-9]+(-[0-9]+|\+)?$`)

func (h Headcount) valid() bool {
	if !headcountForm.MatchString(string(h)) {
		return false
	}
	low, high, isRange := strings.Cut(string(h), "-")
	if !isRange {
		return true
	}
	a, errLow := strconv.Atoi(low)
	b, errHigh := strconv.Atoi(high)
	return errLow == nil && errHigh == nil && a <= b
}

// Headcounts is a set of headcount ranges to include, to exclude, or both. The zero value does not filter; a slice that is empty but
// not nil is refused.
type Headcounts struct {
	Include []Headcount
	Exclude []Headcount
}

// IsZero reports whether nobody asked for a filter.
func (h Headcounts) IsZero() bool { return h.Include == nil && h.Exclude == nil }

// MarshalJSON writes strings only.
func (h Headcounts) MarshalJSON() ([]byte, error) {
	return Match{Include: texts(h.Include), Exclude: texts(h.Exclude)}.MarshalJSON()
}

func texts(ranges []Headcount) []string {
	if ranges == nil {
		return nil
	}
	out := make([]string, len(ranges))
	for i, r := range ranges {
		out[i] = string(r)
	}
	return out
}

func (h Headcounts) check(bad *checks) {
	for _, r := range slices.Concat(h.Include, h.Exclude) {
		if !r.valid() {
			bad.add("filters.numberOfEmployees", "has %q, must be <min>-<max>, <n>+ or <n>", string(r))
		}
	}
}

// AnyHeadcount matches rows in any of the ranges. A filter by no range at all is refused.
func AnyHeadcount(ranges ...Headcount) Headcounts { return Headcounts{Include: given(ranges)} }

// Number is a number that may be there or not; its zero value is not.
type Number struct {
	value float64
	set   bool
}

// Num is a number that is there, zero included.
func Num(v float64) Number { return Number{v, true} }

// IsZero reports whether there is no number.
func (n Number) IsZero() bool { return !n.set }

// MarshalJSON writes the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.set {
		return []byte("null"), nil
	}
	return json.Marshal(n.value)
}

// Statuses is a set of status strings to include. Their values are not shown by the service's document. A set that is empty but not
// nil is refused.
type Statuses []string

// MarshalJSON writes the include form.
func (s Statuses) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string][]string{"include": s})
}

// ICPMatch says whether a contact fits the ideal customer profile.
type ICPMatch string

// The answers.
const (
	ICPYes ICPMatch = "yes"
	ICPNo  ICPMatch = "no"
)

// IsZero reports whether nothing is filtered.
func (m ICPMatch) IsZero() bool { return m == "" }

// MarshalJSON writes the array of one that the service expects.
func (m ICPMatch) MarshalJSON() ([]byte, error) { return json.Marshal([]string{string(m)}) }

// ColumnFilter narrows by a custom column; make one with ColumnText, ColumnBool or ColumnNumber.
type ColumnFilter struct {
	DataType string   `json:"dataType"`
	Include  []string `json:"include,omitzero"`
	Value    *bool    `json:"value,omitempty"`
	RangeMin Number   `json:"rangeMin,omitzero"`
	RangeMax Number   `json:"rangeMax,omitzero"`
}

// ColumnText matches rows whose text column has any of the values. A filter by no values at all is refused.
func ColumnText(include ...string) ColumnFilter {
	return ColumnFilter{DataType: "string", Include: given(include)}
}

// ColumnBool matches rows whose boolean column has the value.
func ColumnBool(v bool) ColumnFilter { return ColumnFilter{DataType: "boolean", Value: &v} }

// ColumnNumber matches rows whose number column lies between the ends. Whether the ends belong to the range is not shown by the
// service's document.
func ColumnNumber(low, high float64) ColumnFilter {
	return ColumnFilter{DataType: "number", RangeMin: Num(low), RangeMax: Num(high)}
}

// check refuses the forms that the document does not show. Of a range, one end will do.
func (f ColumnFilter) check(bad *checks, param string) {
	text, truth, number := f.Include != nil, f.Value != nil, f.RangeMin.set || f.RangeMax.set
	switch f.DataType {
	case "string":
		text = !text
	case "boolean":
		truth = !truth
	case "number":
		number = !number
	default:
		text = true
	}
	if text || truth || number {
		bad.add(param, "must be made by ColumnText, ColumnBool or ColumnNumber")
	}
}

// ColumnFilters narrow by custom columns, by column id.
type ColumnFilters map[string]ColumnFilter

func (f ColumnFilters) check(bad *checks) {
	for id, column := range f {
		param := fmt.Sprintf("filters.customColumns.%s", id)
		bad.id(param, id)
		column.check(bad, param)
		if column.RangeMin.set && column.RangeMax.set && column.RangeMin.value > column.RangeMax.value {
			bad.add(param, "has its ends the wrong way round")
		}
	}
}

// ContactFilter narrows the rows of a contact list.
type ContactFilter struct {
	Name                       Match         `json:"name,omitzero"`
	Title                      Match         `json:"title,omitzero"`
	Department                 Match         `json:"dept,omitzero"`
	Level                      Match         `json:"level,omitzero"`
	Industry                   Match         `json:"industryName,omitzero"`
	Country                    Match         `json:"country,omitzero"`
	State                      Match         `json:"state,omitzero"`
	PersonalLocation           Match         `json:"personalLocation,omitzero"`
	CompanyName                Match         `json:"companyName,omitzero"`
	CompanyIndustry            Match         `json:"companyIndustry,omitzero"`
	CompanyHeadquartersCountry Match         `json:"companyHeadQuartersCountry,omitzero"`
	CompanyLocation            Match         `json:"companyLocation,omitzero"`
	Website                    Match         `json:"website,omitzero"`
	CampaignEngagement         Match         `json:"campaignEngagement,omitzero"`
	OtherLists                 Match         `json:"otherLists,omitzero"` // names of lists, not ids
	Employees                  Headcounts    `json:"numberOfEmployees,omitzero"`
	Revenue                    Number        `json:"revenue,omitzero"`
	Keywords                   string        `json:"keywords,omitzero"` // in the job title only; may hold wildcards
	SocialURL                  string        `json:"socialUrl,omitzero"`
	EnrichedEmail              Statuses      `json:"enrichedEmail,omitzero"`
	EnrichedPhone              Statuses      `json:"enrichedPhone,omitzero"`
	EmailValidity              Statuses      `json:"emailValidity,omitzero"`
	ICPMatch                   ICPMatch      `json:"icpMatch,omitzero"`
	CustomColumns              ColumnFilters `json:"customColumns,omitzero"`
}

func (f ContactFilter) checkFilter(bad *checks) {
	f.Employees.check(bad)
	f.CustomColumns.check(bad)
	oneOf(bad, "filters.icpMatch", f.ICPMatch, ICPYes, ICPNo)
}

func (ContactFilter) listKind() ListKind { return ContactList }

// CompanyFilter narrows the rows of a company list. It has the seven fields that such a list honours.
type CompanyFilter struct {
	Name                Match         `json:"companyName,omitzero"`
	Industry            Match         `json:"companyIndustry,omitzero"`
	HeadquartersCountry Match         `json:"companyHeadQuartersCountry,omitzero"`
	Website             Match         `json:"website,omitzero"`
	Employees           Headcounts    `json:"numberOfEmployees,omitzero"`
	CampaignEngagement  Match         `json:"campaignEngagement,omitzero"`
	CustomColumns       ColumnFilters `json:"customColumns,omitzero"`
}

func (f CompanyFilter) checkFilter(bad *checks) {
	f.Employees.check(bad)
	f.CustomColumns.check(bad)
}

func (CompanyFilter) listKind() ListKind { return CompanyList }

// RawFilter is a filter object that you write yourself, for keys that the service's document does not show. Nothing in it may be
// empty, and its size is checked; nothing else is. Beware of numbers under numberOfEmployees: the service fails on them.
type RawFilter Fields

func (f RawFilter) checkFilter(bad *checks) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if f[name] == "" {
			bad.add("filters."+name, emptyFilter)
		}
	}
}

func (RawFilter) listKind() ListKind { return "" }
