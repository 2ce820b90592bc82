package services_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/tests"
)

// sentFilter runs a filter over the wire and returns what the service gets; empty if the parameter is not there.
func sentFilter(t *testing.T, f filter.Rows) (text string, err error) {
	t.Helper()
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		text = r.URL.Query().Get("filters")
		return tests.Respond(http.StatusOK, `{"data":[]}`), nil
	}))
	_, err = client.Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{Filter: f})
	return text, err
}

// matchKeys are the documented keys of contact lists that take values to include and to exclude, with the field they belong to.
var matchKeys = map[string]string{
	"name": "Name", "title": "Title", "dept": "Department", "level": "Level", "industryName": "Industry", "country": "Country",
	"state": "State", "personalLocation": "PersonalLocation", "companyName": "CompanyName", "companyIndustry": "CompanyIndustry",
	"companyHeadQuartersCountry": "CompanyHeadquartersCountry", "companyLocation": "CompanyLocation", "website": "Website",
	"campaignEngagement": "CampaignEngagement", "otherLists": "OtherLists",
}

var companyMatchKeys = map[string]string{
	"companyName": "Name", "companyIndustry": "Industry", "companyHeadQuartersCountry": "HeadquartersCountry", "website": "Website",
	"campaignEngagement": "CampaignEngagement",
}

// filterWith returns a filter in which one field is set.
func filterWith[F filter.Rows](field string, value any) filter.Rows {
	var f F
	reflect.ValueOf(&f).Elem().FieldByName(field).Set(reflect.ValueOf(value))
	return f
}

func TestFilter_MatchKeys(t *testing.T) {
	forms := []struct {
		match filter.Match
		want  string
	}{
		{filter.AnyOf("a", "b, \"c\" & é"), `["a","b, \"c\" & é"]`},
		{filter.NoneOf("x"), `{"exclude":["x"]}`},
		{filter.AnyOf("a").Except("x", "y"), `{"include":["a"],"exclude":["x","y"]}`},
	}
	for _, form := range forms {
		for key, field := range matchKeys {
			got, err := sentFilter(t, filterWith[filter.Contact](field, form.match))
			require.NoError(t, err)
			require.JSONEq(t, `{"`+key+`":`+form.want+`}`, got)
		}
		for key, field := range companyMatchKeys {
			got, err := sentFilter(t, filterWith[filter.Company](field, form.match))
			require.NoError(t, err)
			require.JSONEq(t, `{"`+key+`":`+form.want+`}`, got)
		}
	}
}

var filterCases = []struct {
	name   string
	filter filter.Rows
	want   string
}{
	{
		"headcounts are strings",
		filter.Contact{Employees: filter.AnyOf(
			"1-10", "10001+", "7", "0",
		)},
		`{"numberOfEmployees":["1-10","10001+","7","0"]}`,
	},
	{
		"headcounts with exclusions",
		filter.Company{Employees: filter.Match{Include: []string{"5"}, Exclude: []string{"1-4"}}},
		`{"numberOfEmployees":{"include":["5"],"exclude":["1-4"]}}`,
	},
	{"revenue", filter.Contact{Revenue: new(1.5e6)}, `{"revenue":1500000}`},
	{"no revenue at all", filter.Contact{Revenue: new(0.0)}, `{"revenue":0}`},
	{"keywords", filter.Contact{Keywords: "head*"}, `{"keywords":"head*"}`},
	{"social url", filter.Contact{SocialURL: "https://social.example/in/ada?x=1&y=2"}, `{"socialUrl":"https://social.example/in/ada?x=1&y=2"}`},
	{
		"statuses",
		filter.Contact{
			EnrichedEmail: filter.Statuses{"a"}, EnrichedPhone: filter.Statuses{"b", "c"}, EmailValidity: filter.Statuses{"d"},
		},
		`{"enrichedEmail":{"include":["a"]},"enrichedPhone":{"include":["b","c"]},"emailValidity":{"include":["d"]}}`,
	},
	{"fits the profile", filter.Contact{ICPMatch: filter.AnyOf("yes")}, `{"icpMatch":["yes"]}`},
	{"does not", filter.Contact{ICPMatch: filter.AnyOf("no")}, `{"icpMatch":["no"]}`},
	{
		"custom columns",
		filter.Company{CustomColumns: map[string]filter.Column{
			tests.ColumnID: filter.Text("x", "y"), tests.FolderID: filter.Bool(false), tests.ListID: filter.Number(0, 0),
		}},
		`{"customColumns":{"` + tests.ColumnID + `":{"dataType":"string","include":["x","y"]},"` + tests.FolderID +
			`":{"dataType":"boolean","value":false},"` + tests.ListID + `":{"dataType":"number","rangeMin":0,"rangeMax":0}}}`,
	},
	{
		"a column from a number on",
		filter.Contact{CustomColumns: map[string]filter.Column{tests.ColumnID: {DataType: "number", RangeMin: new(-1.0)}}},
		`{"customColumns":{"` + tests.ColumnID + `":{"dataType":"number","rangeMin":-1}}}`,
	},
	{"raw", filter.Raw{"brandNew": []int{1}}, `{"brandNew":[1]}`},
}

func TestFilter_JSON(t *testing.T) {
	for _, tc := range filterCases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := sentFilter(t, tc.filter)
			require.NoError(t, err)
			require.JSONEq(t, tc.want, got)
		})
	}
}

func TestFilter_Refusals(t *testing.T) {
	columns := func(id string, c filter.Column) filter.Rows {
		return filter.Company{CustomColumns: map[string]filter.Column{id: c}}
	}
	for _, h := range []string{
		"", "-1", "1-", "+", "1,000+", " 1", "1-2-3", "many", "-1-5",
	} {
		_, err := sentFilter(t, filter.Contact{Employees: filter.AnyOf(h)})
		require.Contains(t, tests.Refusals(t, err)[0], fmt.Sprintf("has %q", h))
		_, err = sentFilter(t, filter.Company{Employees: filter.Match{Exclude: []string{h}}})
		require.Contains(t, tests.Refusals(t, err)[0], fmt.Sprintf("has %q", h))
	}
	for _, tc := range []struct {
		filter filter.Rows
		want   string
	}{
		{filter.Contact{ICPMatch: filter.AnyOf("maybe")}, `filters.icpMatch must be AnyOf("yes") or AnyOf("no")`},
		{filter.Contact{ICPMatch: filter.AnyOf("yes", "no")}, `filters.icpMatch must be AnyOf("yes") or AnyOf("no")`},
		{filter.Contact{ICPMatch: filter.NoneOf("yes")}, `filters.icpMatch must be AnyOf("yes") or AnyOf("no")`},
		{columns("x", filter.Bool(true)), "filters.customColumns.x must be 24 hexadecimal digits"},
		{columns(tests.ColumnID, filter.Number(2, 1)), "filters.customColumns." + tests.ColumnID + " has its ends the wrong way round"},
	} {
		_, err := sentFilter(t, tc.filter)
		require.Equal(t, []string{tc.want}, tests.Refusals(t, err))
	}
	for _, f := range []filter.Rows{
		filter.Contact{Revenue: new(math.NaN())},
		columns(tests.ColumnID, filter.Number(0, math.Inf(1))),
		filter.Raw{"x": make(chan int)},
	} {
		_, err := sentFilter(t, f)
		require.Contains(t, tests.Refusals(t, err)[0], "filters cannot be encoded")
	}
}

// What came out empty is not taken for "no filter": that would return everybody.
func TestFilter_EmptyIsRefused(t *testing.T) {
	type contact = filter.Contact
	type company = filter.Company
	var nobody []string // nil, as a loop that found nothing leaves it
	column := func(c filter.Column) company {
		return company{CustomColumns: map[string]filter.Column{tests.ColumnID: c}}
	}
	for key, filters := range map[string][]filter.Rows{
		"filters": {filter.Raw{}, &filter.Raw{}},
		"filters.name": {
			contact{Name: filter.AnyOf()},
			contact{Name: filter.AnyOf(nobody...)},
			&contact{Name: filter.Match{Include: []string{}}},
			filter.Raw{"name": nobody},
			filter.Raw{"name": []string{}},
			filter.Raw{"name": ""},
			filter.Raw{"name": prospectkit.Fields{}},
			filter.Raw{"name": []byte{}},
			filter.Raw{"name": new(string)},
		},
		"filters.name[0]": {contact{Name: filter.AnyOf(" ")}, filter.Raw{"name": []string{""}}, filter.Raw{"name": []any{[]string{}}}},
		"filters.name[1]": {contact{Name: filter.AnyOf("x", "")}, contact{Name: filter.AnyOf("x", "\n")}},
		"filters.name.exclude": {
			contact{Name: filter.NoneOf(nobody...)},
			contact{Name: filter.AnyOf("x").Except()},
			contact{Name: filter.Match{Include: []string{"x"}, Exclude: []string{}}},
		},
		"filters.name.include":                                    {contact{Name: filter.AnyOf(nobody...).Except("x")}},
		"filters.keywords":                                        {contact{Keywords: " "}},
		"filters.numberOfEmployees":                               {contact{Employees: filter.AnyOf()}, company{Employees: filter.Match{Include: []string{}}}},
		"filters.enrichedEmail.include":                           {contact{EnrichedEmail: filter.Statuses{}}},
		"filters.enrichedEmail.include[0]":                        {contact{EnrichedEmail: filter.Statuses{""}}},
		"filters.enrichedPhone.include":                           {contact{EnrichedPhone: filter.Statuses{}}},
		"filters.emailValidity.include":                           {contact{EmailValidity: filter.Statuses{}}},
		"filters.customColumns":                                   {contact{CustomColumns: map[string]filter.Column{}}, company{CustomColumns: map[string]filter.Column{}}},
		"filters.customColumns." + tests.ColumnID + ".include":    {column(filter.Text()), column(filter.Text(nobody...))},
		"filters.customColumns." + tests.ColumnID + ".include[0]": {column(filter.Text(""))},
	} {
		for _, f := range filters {
			_, err := sentFilter(t, f)
			require.Equal(t, []string{key + " is empty, which could mean everything: leave it out if you mean that"}, tests.Refusals(t, err), "%#v", f)
		}
	}
}

// A column filter has one of the three documented forms, whole.
func TestFilter_ColumnForms(t *testing.T) {
	yes := true
	for _, c := range []filter.Column{
		{},
		{DataType: "text", Include: []string{"x"}},
		{DataType: "string"},
		{DataType: "boolean"},
		{DataType: "number"},
		{DataType: "string", Include: []string{"x"}, Value: &yes},
		{DataType: "boolean", Value: &yes, RangeMin: new(1.0)},
		{DataType: "boolean", Value: &yes, Include: []string{"x"}},
		{DataType: "number", RangeMax: new(1.0), Include: []string{"x"}},
		{DataType: "number", RangeMax: new(1.0), Value: &yes},
		{DataType: "string", Include: []string{"x"}, RangeMax: new(0.0)},
	} {
		_, err := sentFilter(t, filter.Company{CustomColumns: map[string]filter.Column{tests.ColumnID: c}})
		require.Equal(t, "filters.customColumns."+tests.ColumnID+" must be made by filter.Text, filter.Bool or filter.Number", tests.Refusals(t, err)[0], "%#v", c)
	}
	_, err := sentFilter(t, filter.Company{CustomColumns: map[string]filter.Column{tests.ColumnID: {DataType: "number", RangeMax: new(0.0)}}})
	require.NoError(t, err)
}

// keysOf lists the JSON names of a filter's fields.
func keysOf(f any) []string {
	var keys []string
	for _, field := range reflect.VisibleFields(reflect.TypeOf(f)) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		keys = append(keys, name)
	}
	slices.Sort(keys)
	return keys
}

// 24 keys are documented for contact lists, and seven for company lists.
func TestFilter_KeysAreTheDocumentedOnes(t *testing.T) {
	require.Equal(t, []string{
		"campaignEngagement", "companyHeadQuartersCountry", "companyIndustry", "companyName", "customColumns", "numberOfEmployees", "website",
	}, keysOf(filter.Company{}))
	contact := slices.Sorted(maps.Keys(matchKeys))
	contact = append(contact, "numberOfEmployees", "revenue", "keywords", "socialUrl", "enrichedEmail", "enrichedPhone", "emailValidity",
		"icpMatch", "customColumns")
	slices.Sort(contact)
	require.Equal(t, contact, keysOf(filter.Contact{}))
}

// Key and order go out together or not at all: the service ignores one without the other.
func TestSort(t *testing.T) {
	query := func(by string, down bool, opts ...prospectkit.CallOption) (key, order string) {
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			key, order = r.URL.Query().Get("sortBy"), r.URL.Query().Get("sortOrder")
			return tests.Respond(http.StatusOK, `{"data":[]}`), nil
		}))
		_, err := client.Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{SortBy: by, Descending: down}, opts...)
		require.NoError(t, err)
		return key, order
	}
	for _, name := range []string{
		"firstName", "lastName", "jobTitle", "createdAt", "address.city", "address.country", "updatedAt",
		"company.name", "company.domain", "company.industry", "company.country", "company.type", "company.revenue",
		"company.socialHeadCount", "company.address.city", "company.address.state", "company.address.country",
		"name", "domain", "industry", "revenue", "socialHeadCount", "customColumns_" + tests.ColumnID,
	} {
		gotKey, gotOrder := query(name, false)
		require.Equal(t, name+" asc", gotKey+" "+gotOrder)
		gotKey, gotOrder = query(name, true)
		require.Equal(t, name+" desc", gotKey+" "+gotOrder)
	}
	key, order := query("", false)
	require.Empty(t, key+order)
	key, order = query("", false, prospectkit.WithQuery("sortBy", "new.key"), prospectkit.WithQuery("sortOrder", "desc"))
	require.Equal(t, "new.key desc", key+" "+order)
}

// The service ignores a key that it does not know, without a word.
func TestSort_UnknownKeyIsRefused(t *testing.T) {
	for key, want := range map[string]string{
		"lastname":        `sortBy is "lastname", must be one of `,
		"customColumns_x": "sortBy must name a column by 24 hexadecimal digits",
		"":                "sortBy has 0 characters, must have 1 to 100",
	} {
		_, err := tests.NewClient(t, tests.Untouched(t)).Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{SortBy: key, Descending: true})
		require.Len(t, tests.Refusals(t, err), 1)
		require.Contains(t, tests.Refusals(t, err)[0], want)
	}
}

// A filter and a sort key for different kinds of lists cannot both fit.
func TestSort_OfAnotherKind(t *testing.T) {
	call := func(f filter.Rows, by string) error {
		_, err := tests.NewClient(t, tests.Always(http.StatusOK, `{"data":[]}`)).Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{
			Filter: f, SortBy: by,
		})
		return err
	}
	require.Equal(t, []string{"sortBy is a key of a companyList, the filter is for a contactList"},
		tests.Refusals(t, call(filter.Contact{}, "name")))
	require.Equal(t, []string{"sortBy is a key of a contactList, the filter is for a companyList"},
		tests.Refusals(t, call(filter.Company{}, "address.city")))
	require.NoError(t, call(filter.Company{}, "customColumns_"+tests.ColumnID))
	require.NoError(t, call(filter.Contact{}, "customColumns_"+tests.ColumnID))
	require.NoError(t, call(filter.Raw{"x": 1}, "address.city"))
}

// What goes in comes out on the other side, for whatever text it holds, unless it is refused.
func FuzzFilter(f *testing.F) {
	f.Add("a", "b", "c*", 3, 9, 0.0, true)
	f.Add("\"\\\u2028<&>", "", "\x00\x7f", -1, 5, -1e300, false)
	f.Add("\xff", "é", "界", 0, 0, math.Inf(1), false)
	f.Fuzz(func(t *testing.T, include, exclude, keywords string, low, high int, number float64, yes bool) {
		include, exclude, keywords = "x"+include, "x"+exclude, "x"+keywords // blank ones are refused
		filter := filter.Contact{
			Title: filter.AnyOf(include).Except(exclude), Country: filter.AnyOf(include), Keywords: keywords,
			Employees: filter.AnyOf(fmt.Sprintf("%d-%d", low, high)), Revenue: new(number),
			CustomColumns: map[string]filter.Column{tests.ColumnID: filter.Bool(yes), tests.FolderID: filter.Text(exclude)},
		}
		text, err := sentFilter(t, filter)
		if low < 0 || low > high || math.IsNaN(number) || math.IsInf(number, 0) || !utf8.ValidString(include) || !utf8.ValidString(exclude) || !utf8.ValidString(keywords) {
			require.ErrorAs(t, err, new(*prospectkit.RefusedError))
			return
		}
		if err != nil {
			require.Contains(t, tests.Refusals(t, err)[0], "must have at most 8000")
			return
		}
		var got struct {
			Title         struct{ Include, Exclude []string }
			Country       []string
			Keywords      string
			Employees     []string `json:"numberOfEmployees"`
			Revenue       *float64
			CustomColumns map[string]struct {
				Include []string
				Value   *bool
			}
		}
		require.NoError(t, json.Unmarshal([]byte(text), &got))
		require.Equal(t, include, got.Title.Include[0])
		require.Equal(t, exclude, got.Title.Exclude[0])
		require.Equal(t, got.Title.Include, got.Country)
		require.Equal(t, keywords, got.Keywords)
		require.Len(t, strings.Split(got.Employees[0], "-"), 2)
		require.InDelta(t, number, *got.Revenue, 0)
		require.Equal(t, yes, *got.CustomColumns[tests.ColumnID].Value)
		require.Equal(t, exclude, got.CustomColumns[tests.FolderID].Include[0])
	})
}

// What a list ignores ends in all of its rows, which the response shows: then none is delivered.
func TestFilter_IgnoredByTheKindOfList(t *testing.T) {
	contacts, companies := prospectkit.ContactList, prospectkit.CompanyList
	title := filter.AnyOf("outsider")
	type params = prospectkit.RowsParams
	for name, test := range map[string]struct {
		kind    prospectkit.ListKind
		params  params
		ignored string
	}{
		"a contact filter":                       {companies, params{Filter: filter.Contact{Title: title, Website: title}}, "the filter title"},
		"a contact filter by pointer":            {companies, params{Filter: &filter.Contact{Title: title, Keywords: "x"}}, "the filter keywords, the filter title"},
		"a raw filter":                           {companies, params{Filter: filter.Raw{"title": []string{"x"}}}, "the filter title"},
		"a raw filter that is undocumented":      {companies, params{Filter: filter.Raw{"new": "x"}}, ""},
		"a contact filter that companies have":   {companies, params{Filter: filter.Contact{Website: title}}, ""},
		"a company filter":                       {companies, params{Filter: filter.Company{Website: title}}, ""},
		"a company filter, which contacts have":  {contacts, params{Filter: filter.Company{Website: title}}, ""},
		"a contact filter, for contacts":         {contacts, params{Filter: filter.Contact{Title: title}}, ""},
		"of a kind that is not told":             {"", params{Filter: filter.Contact{Title: title}}, ""},
		"the sort key of contacts":               {companies, params{SortBy: "lastName"}, "the sort key lastName"},
		"the sort key of companies":              {contacts, params{SortBy: "domain"}, "the sort key domain"},
		"the sort key of contacts, and a filter": {companies, params{SortBy: "lastName", Filter: filter.Contact{Name: title}}, "the filter name, the sort key lastName"},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"entityType":` + tests.JSONText(string(test.kind)) + `,"data":[{"id":"a"}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`
			lists := tests.NewClient(t, tests.Always(http.StatusOK, body)).Lists
			page, err := lists.RowsPage(t.Context(), tests.ListID, test.params)
			rows, rowsErr := prospectkit.Collect(lists.Rows(t.Context(), tests.ListID, test.params, prospectkit.Sequential()), 9)
			values, valuesErr := prospectkit.Collect(prospectkit.RowsOf[tests.Contact](t.Context(), lists, tests.ListID, test.params), 9)
			pages, pagesErr := prospectkit.Collect(lists.RowsPages(t.Context(), tests.ListID, test.params), 9)
			for _, err := range []error{err, rowsErr, valuesErr, pagesErr} {
				if test.ignored == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, prospectkit.ErrInvalid)
				require.NotErrorAs(t, err, new(*prospectkit.RefusedError), "it was sent")
				require.NotErrorIs(t, err, prospectkit.ErrConflict)
				require.EqualError(t, err, "prospectkit: lists.rows: a "+string(test.kind)+" ignores "+test.ignored)
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			}
			if test.ignored != "" {
				require.Nil(t, page)
				require.Empty(t, rows)
				require.Empty(t, values)
				require.Empty(t, pages)
			}
		})
	}
}
