package prospectkit

import (
	"encoding/json"
	"maps"
	"slices"

	"example.com/prospectkit/internal/check"
)

// RowFilter narrows the rows of a list. The values of one field are alternatives; different fields
// must all match. Use [ContactFilter] or [CompanyFilter], according to the list, or [RawFilter].
//
// The service accepts unknown values, which match nothing. Nothing in a filter may be empty: the
// meaning of an empty array is undocumented, and it may match every row.
type RowFilter interface {
	checkFilter(bad *check.Violations)
	listKind() ListKind
}

// Match is a set of values to include, to exclude, or both. The zero value does not filter. A slice
// that is empty but not nil is refused.
type Match struct {
	Include []string
	Exclude []string
}

// AnyOf matches rows with any of the values. Without values, the filter is refused.
func AnyOf(values ...string) Match { return Match{Include: given(values)} }

// NoneOf matches rows with none of the values. Without values, the filter is refused.
func NoneOf(values ...string) Match { return Match{Exclude: given(values)} }

// given copies the values. The copy is never nil, because nil means no filter.
func given[T any](values []T) []T { return append([]T{}, values...) }

// Except returns the match without the rows that have one of the values.
func (m Match) Except(values ...string) Match {
	m.Exclude = append(given(m.Exclude), values...)
	return m
}

// IsZero reports whether the match does not filter.
func (m Match) IsZero() bool { return m.Include == nil && m.Exclude == nil }

// MarshalJSON returns a plain array, or the form with include and exclude if something is excluded.
func (m Match) MarshalJSON() ([]byte, error) {
	if m.Exclude == nil {
		return json.Marshal(m.Include)
	}
	return json.Marshal(struct {
		Include []string `json:"include,omitzero"`
		Exclude []string `json:"exclude,omitzero"`
	}{m.Include, m.Exclude})
}

// checkHeadcounts refuses invalid ranges. A range is always sent as text: an unquoted number makes the
// service fail with a 500.
func (m Match) checkHeadcounts(bad *check.Violations) {
	for _, r := range slices.Concat(m.Include, m.Exclude) {
		if !check.IsRange(r) {
			bad.Add("filters.numberOfEmployees", "has %q, must be <min>-<max>, <n>+ or <n>", r)
		}
	}
}

// StatusFilter is a set of statuses to include. Their values are undocumented. A set that is empty but
// not nil is refused.
type StatusFilter []string

// MarshalJSON returns the form with include.
func (s StatusFilter) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string][]string{"include": s})
}

// ColumnFilter narrows by a custom column. Make one with [ColumnText], [ColumnBool] or
// [ColumnNumber]. A range may have a single end.
type ColumnFilter struct {
	DataType string   `json:"dataType"`
	Include  []string `json:"include,omitzero"`
	Value    *bool    `json:"value,omitempty"`
	RangeMin *float64 `json:"rangeMin,omitempty"`
	RangeMax *float64 `json:"rangeMax,omitempty"`
}

// ColumnText matches rows whose text column has any of the values. It needs at least one.
func ColumnText(include ...string) ColumnFilter {
	return ColumnFilter{DataType: "string", Include: given(include)}
}

// ColumnBool matches rows whose boolean column has the value.
func ColumnBool(v bool) ColumnFilter { return ColumnFilter{DataType: "boolean", Value: &v} }

// ColumnNumber matches rows whose number column is between low and high. Whether the range includes
// its ends is undocumented.
func ColumnNumber(low, high float64) ColumnFilter {
	return ColumnFilter{DataType: "number", RangeMin: &low, RangeMax: &high}
}

// check refuses undocumented forms.
func (f ColumnFilter) check(bad *check.Violations, param string) {
	text, truth, number := f.Include != nil, f.Value != nil, f.RangeMin != nil || f.RangeMax != nil
	fits := text == (f.DataType == "string") && truth == (f.DataType == "boolean") && number == (f.DataType == "number")
	if !fits || !text && !truth && !number {
		bad.Add(param, "must be made by ColumnText, ColumnBool or ColumnNumber")
	}
	if f.RangeMin != nil && f.RangeMax != nil && *f.RangeMin > *f.RangeMax {
		bad.Add(param, "has its ends the wrong way round")
	}
}

func checkColumns(bad *check.Violations, columns map[string]ColumnFilter) {
	for id, column := range columns {
		param := "filters.customColumns." + id
		bad.ID(param, id)
		column.check(bad, param)
	}
}

// ContactFilter narrows the rows of a contact list. Keywords match the job title only and may hold
// wildcards. ICPMatch selects contacts that fit the ideal customer profile, or those that do not.
type ContactFilter struct {
	Name                       Match                   `json:"name,omitzero"`
	Title                      Match                   `json:"title,omitzero"`
	Department                 Match                   `json:"dept,omitzero"`
	Level                      Match                   `json:"level,omitzero"`
	Industry                   Match                   `json:"industryName,omitzero"`
	Country                    Match                   `json:"country,omitzero"`
	State                      Match                   `json:"state,omitzero"`
	PersonalLocation           Match                   `json:"personalLocation,omitzero"`
	CompanyName                Match                   `json:"companyName,omitzero"`
	CompanyIndustry            Match                   `json:"companyIndustry,omitzero"`
	CompanyHeadquartersCountry Match                   `json:"companyHeadQuartersCountry,omitzero"`
	CompanyLocation            Match                   `json:"companyLocation,omitzero"`
	Website                    Match                   `json:"website,omitzero"`
	CampaignEngagement         Match                   `json:"campaignEngagement,omitzero"`
	OtherLists                 Match                   `json:"otherLists,omitzero"`        // names of lists, not ids
	Employees                  Match                   `json:"numberOfEmployees,omitzero"` // "51-200", "1000+" or "7"
	Revenue                    *float64                `json:"revenue,omitempty"`          // new(5e6)
	Keywords                   string                  `json:"keywords,omitzero"`          // of the job title
	SocialURL                  string                  `json:"socialUrl,omitzero"`
	EnrichedEmail              StatusFilter            `json:"enrichedEmail,omitzero"`
	EnrichedPhone              StatusFilter            `json:"enrichedPhone,omitzero"`
	EmailValidity              StatusFilter            `json:"emailValidity,omitzero"`
	ICPMatch                   Match                   `json:"icpMatch,omitzero"`      // AnyOf("yes") or AnyOf("no")
	CustomColumns              map[string]ColumnFilter `json:"customColumns,omitzero"` // by column id
}

func (f ContactFilter) checkFilter(bad *check.Violations) {
	f.Employees.checkHeadcounts(bad)
	checkColumns(bad, f.CustomColumns)
	odd := func(value string) bool { return value != "yes" && value != "no" }
	if fits := f.ICPMatch; fits.Exclude != nil || len(fits.Include) > 1 || slices.ContainsFunc(fits.Include, odd) {
		bad.Add("filters.icpMatch", `must be AnyOf("yes") or AnyOf("no")`)
	}
}

func (ContactFilter) listKind() ListKind { return ContactList }

// CompanyFilter narrows the rows of a company list, by the seven fields that the service supports.
type CompanyFilter struct {
	Name                Match                   `json:"companyName,omitzero"`
	Industry            Match                   `json:"companyIndustry,omitzero"`
	HeadquartersCountry Match                   `json:"companyHeadQuartersCountry,omitzero"`
	Website             Match                   `json:"website,omitzero"`
	Employees           Match                   `json:"numberOfEmployees,omitzero"` // "51-200", "1000+" or "7"
	CampaignEngagement  Match                   `json:"campaignEngagement,omitzero"`
	CustomColumns       map[string]ColumnFilter `json:"customColumns,omitzero"` // by column id
}

func (f CompanyFilter) checkFilter(bad *check.Violations) {
	f.Employees.checkHeadcounts(bad)
	checkColumns(bad, f.CustomColumns)
}

func (CompanyFilter) listKind() ListKind { return CompanyList }

// RawFilter is a filter for undocumented keys. Only its size is checked, and that nothing in it is
// empty. Write the values of numberOfEmployees as text: the service fails on numbers.
type RawFilter Fields

func (f RawFilter) checkFilter(bad *check.Violations) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if f[name] == "" {
			bad.Empty("filters." + name)
		}
	}
}

func (RawFilter) listKind() ListKind { return "" }
