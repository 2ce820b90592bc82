// Package filter has the filters of rows and of searches.
//
//	params := prospectkit.RowsParams{Filter: filter.Contact{Country: filter.AnyOf("Germany")}}
//	search := prospectkit.SearchParams{Filters: filter.Search{"job_title_levels": filter.Including("vp")}}
//
// Nothing in a filter may be empty: no array, and no text, also one of white space. Its meaning is undocumented, and it
// may match everything. The call that gets such a filter refuses it, before anything is sent.
package filter

import (
	"encoding/json"
	"slices"

	"example.com/prospectkit/internal/check"
)

// Rows narrows the rows of a list. The values of one field are alternatives; different fields must
// all match. Use [Contact] or [Company], according to the list, or [Raw].
//
// The service accepts unknown values, which match nothing.
type Rows interface {
	// Check adds what the service would refuse. The client calls it. Its parameter is internal, so only this package has filters.
	Check(bad *check.Violations)
	// Kind is the kind of lists that the filter is for: contactList, companyList, or "" for any.
	Kind() string
}

// Match is a set of values to include, to exclude, or both. The zero value does not filter. A slice
// that is empty but not nil is refused.
type Match struct {
	Include []string
	Exclude []string
}

// AnyOf matches rows with any of the values. Without values, the filter is refused.
func AnyOf(values ...string) Match { return Match{Include: given(values)} }

// NoneOf matches rows with none of the values. It sends exclude without include (assumed). Without values, the filter is refused.
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

// Statuses is a set of statuses to include. Their values are undocumented. A set that is empty but
// not nil is refused.
type Statuses []string

// MarshalJSON returns the form with include.
func (s Statuses) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string][]string{"include": s})
}

// Column narrows by a custom column. Make one with [Text], [Bool] or
// [Number]. A range may have a single end (assumed).
type Column struct {
	DataType string   `json:"dataType"`
	Include  []string `json:"include,omitzero"`
	Value    *bool    `json:"value,omitempty"`
	RangeMin *float64 `json:"rangeMin,omitempty"`
	RangeMax *float64 `json:"rangeMax,omitempty"`
}

// Text matches rows whose text column has any of the values. It needs at least one.
func Text(include ...string) Column {
	return Column{DataType: "string", Include: given(include)}
}

// Bool matches rows whose boolean column has the value.
func Bool(v bool) Column { return Column{DataType: "boolean", Value: &v} }

// Number matches rows whose number column is between low and high. Whether the range includes
// its ends is undocumented.
func Number(low, high float64) Column {
	return Column{DataType: "number", RangeMin: &low, RangeMax: &high}
}

// check refuses undocumented forms.
func (f Column) check(bad *check.Violations, param string) {
	text, truth, number := f.Include != nil, f.Value != nil, f.RangeMin != nil || f.RangeMax != nil
	fits := text == (f.DataType == "string") && truth == (f.DataType == "boolean") && number == (f.DataType == "number")
	if !fits || !text && !truth && !number {
		bad.Add(param, "must be made by filter.Text, filter.Bool or filter.Number")
	}
	if f.RangeMin != nil && f.RangeMax != nil && *f.RangeMin > *f.RangeMax {
		bad.Add(param, "has its ends the wrong way round")
	}
}

func checkColumns(bad *check.Violations, columns map[string]Column) {
	for id, column := range columns {
		param := "filters.customColumns." + id
		bad.ID(param, id)
		column.check(bad, param)
	}
}

// Contact narrows the rows of a contact list. Keywords match the job title only and may hold
// wildcards. ICPMatch selects contacts that fit the ideal customer profile, or those that do not.
type Contact struct {
	Name                       Match             `json:"name,omitzero"`
	Title                      Match             `json:"title,omitzero"`
	Department                 Match             `json:"dept,omitzero"`
	Level                      Match             `json:"level,omitzero"`
	Industry                   Match             `json:"industryName,omitzero"`
	Country                    Match             `json:"country,omitzero"`
	State                      Match             `json:"state,omitzero"`
	PersonalLocation           Match             `json:"personalLocation,omitzero"`
	CompanyName                Match             `json:"companyName,omitzero"`
	CompanyIndustry            Match             `json:"companyIndustry,omitzero"`
	CompanyHeadquartersCountry Match             `json:"companyHeadQuartersCountry,omitzero"`
	CompanyLocation            Match             `json:"companyLocation,omitzero"`
	Website                    Match             `json:"website,omitzero"`
	CampaignEngagement         Match             `json:"campaignEngagement,omitzero"`
	OtherLists                 Match             `json:"otherLists,omitzero"`        // names of lists, not ids
	Employees                  Match             `json:"numberOfEmployees,omitzero"` // "51-200", "1000+" or "7"
	Revenue                    *float64          `json:"revenue,omitempty"`          // new(5e6)
	Keywords                   string            `json:"keywords,omitzero"`          // of the job title
	SocialURL                  string            `json:"socialUrl,omitzero"`
	EnrichedEmail              Statuses          `json:"enrichedEmail,omitzero"`
	EnrichedPhone              Statuses          `json:"enrichedPhone,omitzero"`
	EmailValidity              Statuses          `json:"emailValidity,omitzero"`
	ICPMatch                   Match             `json:"icpMatch,omitzero"`      // AnyOf("yes") or AnyOf("no")
	CustomColumns              map[string]Column `json:"customColumns,omitzero"` // by column id
}

// Check adds invalid headcounts, columns and values of ICPMatch.
func (f Contact) Check(bad *check.Violations) {
	f.Employees.checkHeadcounts(bad)
	checkColumns(bad, f.CustomColumns)
	odd := func(value string) bool { return value != "yes" && value != "no" }
	if fits := f.ICPMatch; fits.Exclude != nil || len(fits.Include) > 1 || slices.ContainsFunc(fits.Include, odd) {
		bad.Add("filters.icpMatch", `must be AnyOf("yes") or AnyOf("no")`)
	}
}

// Kind returns contactList.
func (Contact) Kind() string { return "contactList" }

// Company narrows the rows of a company list, by the seven fields that the service supports.
type Company struct {
	Name                Match             `json:"companyName,omitzero"`
	Industry            Match             `json:"companyIndustry,omitzero"`
	HeadquartersCountry Match             `json:"companyHeadQuartersCountry,omitzero"`
	Website             Match             `json:"website,omitzero"`
	Employees           Match             `json:"numberOfEmployees,omitzero"` // "51-200", "1000+" or "7"
	CampaignEngagement  Match             `json:"campaignEngagement,omitzero"`
	CustomColumns       map[string]Column `json:"customColumns,omitzero"` // by column id
}

// Check adds invalid headcounts and columns.
func (f Company) Check(bad *check.Violations) {
	f.Employees.checkHeadcounts(bad)
	checkColumns(bad, f.CustomColumns)
}

// Kind returns companyList.
func (Company) Kind() string { return "companyList" }

// Raw is a filter for undocumented keys. Only its size is checked, and that nothing in it is
// empty. Write the values of numberOfEmployees as text: the service fails on numbers.
type Raw map[string]any

// Check adds nothing: the call checks the size, and that nothing is empty.
func (Raw) Check(*check.Violations) {}

// Kind returns "": any list.
func (Raw) Kind() string { return "" }
