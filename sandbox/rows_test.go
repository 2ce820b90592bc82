package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func rowsOf(list string) string { return lists + "/" + list + "/rows" }

func people() sandbox.List {
	return sandbox.List{ID: id(1), Name: "people", Rows: sandbox.Rows(
		sandbox.Row{
			"id": rid("ada"), "firstName": "Ada", "lastName": "Lovelace", "jobTitle": "Chief Analyst", "dept": "Science", "level": "c_suite",
			"address": object{"city": "London", "state": "Greater London", "country": "United Kingdom"}, "socialUrl": "https://social.example/ada",
			"company": object{
				"name": "Engines", "domain": "engines.example", "industry": "Computing", "socialHeadCount": 50, "revenue": 1000,
				"address": object{"city": "Leeds", "country": "United Kingdom"},
			},
			"enrichedEmail": "found", "enrichedPhone": "missing", "emailValidity": "valid", "icpMatch": true, "campaignEngagement": []string{"opened", "clicked"},
			"customColumns": object{"col1": "Gold", "col2": true, "col3": 7.5, "col4": []string{"x", "y"}},
		},
		sandbox.Row{
			"id": rid("bob"), "firstName": "bob", "lastName": "Zuse", "jobTitle": "Engineer", "dept": "IT", "level": "entry", "industry": "Metal",
			"address":       object{"city": "Berlin", "country": "Germany"},
			"company":       object{"name": "Zuse KG", "domain": "zuse.example", "industry": "Metal", "socialHeadCount": 11, "revenue": 5, "country": "Germany"},
			"enrichedEmail": "missing", "icpMatch": "no", "campaignEngagement": "opened",
			"customColumns": object{"col1": "silver", "col2": false, "col3": 3},
		},
		sandbox.Row{"id": rid("cy"), "firstName": "Cy", "jobTitle": "analyst, junior", "company": object{"name": "Cy", "socialHeadCount": 10001}},
		sandbox.Row{"id": rid("di"), "firstName": "Ada", "company": nil, "address": object{"city": nil}},
	)}
}

func firms() sandbox.List {
	return sandbox.List{ID: id(2), Name: "firms", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(
		sandbox.Row{"id": rid("e"), "name": "Engines", "domain": "engines.example", "industry": "Computing", "country": "United Kingdom", "socialHeadCount": 50, "revenue": 9, "customColumns": object{"col1": "a"}},
		sandbox.Row{"id": rid("z"), "name": "Zuse KG", "domain": "zuse.example", "industry": "Metal", "country": "Germany", "socialHeadCount": 1500, "revenue": 10},
		sandbox.Row{"id": rid("a"), "name": "acme", "domain": "acme.example", "industry": "metal", "country": "France", "socialHeadCount": 2},
	)}
}

func rowLists() sandbox.Option {
	return sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Lists: []sandbox.List{
		people(), firms(), {ID: id(3), Name: "Known", Rows: sandbox.Rows(sandbox.Row{"id": rid("bob")}, sandbox.Row{"id": rid("zoe")})}, {ID: id(4), Name: "empty"},
	}}}})
}

func TestRowsPaging(t *testing.T) {
	onEachRoad(t, []sandbox.Option{rowLists()}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		body := c.get(rowsOf(id(1))).ok(200)
		require.Equal(t, "contactList", body["entityType"])
		require.Equal(t, []string{"ada", "bob", "cy", "di"}, names(body, "id"))
		require.Equal(t, object{"pageNum": 1.0, "totalPages": 1.0, "totalRecords": 4.0}, body["pagination"])
		require.Equal(t, "London", at(body, "data", 0, "address", "city"))
		require.Equal(t, "companyList", c.get(rowsOf(id(2))).ok(200)["entityType"])

		body = c.get(rowsOf(id(1)), "limit", "3", "pageNum", "2").ok(200)
		require.Equal(t, []string{"di"}, names(body, "id"))
		require.Equal(t, object{"pageNum": 2.0, "totalPages": 2.0, "totalRecords": 4.0}, body["pagination"])
		body = c.get(rowsOf(id(1)), "limit", "3", "pageNum", "3").ok(200)
		require.Empty(t, body["data"])
		require.Equal(t, object{"pageNum": 3.0, "totalPages": 2.0, "totalRecords": 4.0}, body["pagination"])
		body = c.get(rowsOf(id(4))).ok(200)
		require.Equal(t, []any{}, body["data"])
		require.Equal(t, object{"pageNum": 1.0, "totalPages": 0.0, "totalRecords": 0.0}, body["pagination"])
	})
}

func TestRowsBounds(t *testing.T) {
	holdBounds(t, []sandbox.Option{rowLists()}, rowsOf(id(1)), []bound{
		{"limit", "0", false},
		{"limit", "1", true},
		{"limit", "1000", true},
		{"limit", "1001", false},
		{"pageNum", "0", false},
		{"pageNum", "1", true},
		{"sortBy", "", false},
		{"sortBy", "x", true},
		{"sortBy", strings.Repeat("ü", 100), true},
		{"sortBy", strings.Repeat("ü", 101), false},
		{"sortOrder", "asc", true},
		{"sortOrder", "desc", true},
		{"sortOrder", "ASC", false},
		{"sortOrder", "", false},
		{"filters", filterOf(8000), true},
		{"filters", filterOf(8001), false},
	})
	c := inPlace(t, sandbox.New(t, rowLists()))
	c.get(rowsOf(id(9))).fails(404, "LIST_NOT_FOUND")
	param, _ := c.get(rowsOf("9")).fails(422, "VALIDATION_FAILED")
	require.Equal(t, "listId", param)
}

// filterOf makes a valid filter of n characters.
func filterOf(n int) string {
	frame := `{"name":[""]}`
	return strings.Replace(frame, `""`, `"`+strings.Repeat("é", n-len(frame))+`"`, 1)
}

func TestRowsDefaultLimit(t *testing.T) {
	l := sandbox.List{ID: id(1), Name: "many"}
	for i := range 101 {
		l.Rows = append(l.Rows, sandbox.Rows(sandbox.Row{"n": i})...)
	}
	body := inPlace(t, sandbox.New(t, oneList(l))).get(rowsOf(id(1))).ok(200)
	require.Len(t, body["data"], 100)
	require.Regexp(t, "^[0-9a-f]{24}$", at(body, "data", 0, "id"), "a row without an id gets one")
}

func TestRowsSorting(t *testing.T) {
	for _, tc := range []struct{ list, by, order, want string }{
		{id(1), "firstName", "", "ada bob cy di"},
		{id(1), "", "asc", "ada bob cy di"},
		{id(1), "", "desc", "ada bob cy di"},
		{id(1), "firstName", "asc", "ada di bob cy"},
		{id(1), "firstName", "desc", "cy bob ada di"},
		{id(1), "lastName", "asc", "ada bob cy di"},
		{id(1), "lastName", "desc", "bob ada cy di"},
		{id(1), "address.city", "asc", "bob ada cy di"},
		{id(1), "company.name", "asc", "cy ada bob di"},
		{id(1), "company.socialHeadCount", "asc", "bob ada cy di"},
		{id(1), "company.socialHeadCount", "desc", "cy ada bob di"},
		{id(1), "company.address.country", "asc", "ada bob cy di"},
		{id(1), "company.founded", "asc", "ada bob cy di"},
		{id(1), "nonsense", "desc", "ada bob cy di"},
		{id(1), "customColumns_col1", "asc", "ada bob cy di"},
		{id(1), "customColumns_col2", "asc", "bob ada cy di"},
		{id(1), "customColumns_col3", "asc", "bob ada cy di"},
		{id(1), "customColumns_nope", "asc", "ada bob cy di"},
		{id(2), "name", "asc", "a e z"},
		{id(2), "socialHeadCount", "desc", "z e a"},
		{id(2), "revenue", "desc", "z e a"},
		{id(2), "country", "asc", "e z a"},
		{id(2), "company.name", "asc", "e z a"},
		{id(2), "customColumns_col1", "desc", "e z a"},
	} {
		t.Run(fmt.Sprint(tc), func(t *testing.T) {
			c := inPlace(t, sandbox.New(t, rowLists()))
			query := []string{}
			if tc.by != "" {
				query = append(query, "sortBy", tc.by)
			}
			if tc.order != "" {
				query = append(query, "sortOrder", tc.order)
			}
			require.Equal(t, strings.Fields(tc.want), names(c.get(rowsOf(tc.list), query...).ok(200), "id"))
		})
	}
}

// rowFilterCases name the rows that a filter lets through.
var rowFilterCases = []struct{ list, filters, want string }{
	{id(1), `{}`, "ada bob cy di"},
	{id(1), `{"name":[]}`, "ada bob cy di"},
	{id(1), `{"name":{}}`, "ada bob cy di"},
	{id(1), `{"name":["ada lovelace"]}`, "ada"},
	{id(1), `{"name":["ADA","bob"]}`, "ada bob di"},
	{id(1), `{"name":{"include":["ada"],"exclude":["Lovelace"]}}`, "di"},
	{id(1), `{"name":{"exclude":["ada"]}}`, "bob cy"},
	{id(1), `{"title":["Engineer"]}`, "bob"},
	{id(1), `{"title":["Analyst"]}`, ""},
	{id(1), `{"dept":["science"],"level":["c_suite","entry"]}`, "ada"},
	{id(1), `{"dept":["science"],"level":["entry"]}`, ""},
	{id(1), `{"industryName":["metal"]}`, "bob"},
	{id(1), `{"country":["Germany"]}`, "bob"},
	{id(1), `{"country":["DE"]}`, ""},
	{id(1), `{"state":["greater london"]}`, "ada"},
	{id(1), `{"personalLocation":["london","germany"]}`, "ada bob"},
	{id(1), `{"companyName":["Cy","Zuse KG"]}`, "bob cy"},
	{id(1), `{"companyIndustry":["Computing"]}`, "ada"},
	{id(1), `{"companyHeadQuartersCountry":["united kingdom","Germany"]}`, "ada bob"},
	{id(1), `{"companyLocation":["Leeds"]}`, "ada"},
	{id(1), `{"website":["zuse.example"]}`, "bob"},
	{id(1), `{"campaignEngagement":["opened"]}`, "ada bob"},
	{id(1), `{"campaignEngagement":{"include":["opened"],"exclude":["clicked"]}}`, "bob"},
	{id(1), `{"otherLists":["Known"]}`, "bob"},
	{id(1), `{"otherLists":{"exclude":["Known"]}}`, "ada cy di"},
	{id(1), `{"otherLists":["people"]}`, ""},
	{id(1), `{"otherLists":["` + id(3) + `"]}`, ""},
	{id(1), `{"numberOfEmployees":["11-50"]}`, "ada bob"},
	{id(1), `{"numberOfEmployees":["12-49"]}`, ""},
	{id(1), `{"numberOfEmployees":["50-50","10001+"]}`, "ada cy"},
	{id(1), `{"numberOfEmployees":["10002+"]}`, ""},
	{id(1), `{"numberOfEmployees":["11"]}`, "bob"},
	{id(1), `{"numberOfEmployees":["some","1 - 50","-5","5-"]}`, ""},
	{id(1), `{"numberOfEmployees":{"exclude":["11-50"]}}`, "cy di"},
	{id(1), `{"revenue":1000}`, "ada"},
	{id(1), `{"revenue":1000.5}`, ""},
	{id(1), `{"keywords":"ANALYST"}`, "ada cy"},
	{id(1), `{"keywords":"zuse"}`, ""},
	{id(1), `{"keywords":"en*er"}`, "bob"},
	{id(1), `{"keywords":"ANALYST*"}`, "cy"},
	{id(1), `{"keywords":"*analyst"}`, "ada"},
	{id(1), `{"keywords":"*analyst*"}`, "ada cy"},
	{id(1), `{"keywords":"*junior"}`, "cy"},
	{id(1), `{"keywords":"*n*g*n*"}`, "bob"},
	{id(1), `{"keywords":"*"}`, "ada bob cy"},
	{id(1), `{"keywords":"alyst*"}`, ""},
	{id(1), `{"keywords":"*analys"}`, ""},
	{id(1), `{"keywords":"analyst*analyst"}`, ""},
	{id(1), `{"keywords":"engine*eer"}`, ""},
	{id(1), `{"socialUrl":"https://social.example/ada"}`, "ada"},
	{id(1), `{"enrichedEmail":{"include":["found"]}}`, "ada"},
	{id(1), `{"enrichedPhone":{"include":["missing","found"]}}`, "ada"},
	{id(1), `{"emailValidity":{"include":["nonsense"]}}`, ""},
	{id(1), `{"icpMatch":["yes"]}`, "ada"},
	{id(1), `{"icpMatch":["no"]}`, "bob"},
	{id(1), `{"customColumns":{}}`, "ada bob cy di"},
	{id(1), `{"customColumns":{"col1":{"dataType":"string","include":["GOLD","bronze"]}}}`, "ada"},
	{id(1), `{"customColumns":{"col1":{"dataType":"string","include":[]}}}`, "ada bob cy di"},
	{id(1), `{"customColumns":{"col2":{"dataType":"boolean","value":false}}}`, "bob"},
	{id(1), `{"customColumns":{"col3":{"dataType":"number","rangeMin":3,"rangeMax":7.5}}}`, "ada bob"},
	{id(1), `{"customColumns":{"col3":{"dataType":"number","rangeMin":3.1,"rangeMax":7.4}}}`, ""},
	{id(1), `{"customColumns":{"col3":{"dataType":"number","rangeMin":4}}}`, "ada"},
	{id(1), `{"customColumns":{"col4":{"dataType":"string","include":["y"]}}}`, "ada"},
	{id(1), `{"customColumns":{"nope":{"dataType":"string","include":["y"]}}}`, ""},
	{id(1), `{"customColumns":{"col1":{"dataType":"string","include":["gold"]},"col2":{"dataType":"boolean","value":false}}}`, ""},
	{id(1), `{"title":["Engineer"],"country":["Germany"],"keywords":"eng"}`, "bob"},
	{id(2), `{"companyName":["engines"]}`, "e"},
	{id(2), `{"companyIndustry":["Metal"],"website":["acme.example"]}`, "a"},
	{id(2), `{"companyHeadQuartersCountry":{"exclude":["France"]}}`, "e z"},
	{id(2), `{"numberOfEmployees":["1001-5000"]}`, "z"},
	{id(2), `{"campaignEngagement":["opened"]}`, ""},
	{id(2), `{"customColumns":{"col1":{"dataType":"string","include":["a"]}}}`, "e"},
	{id(2), `{"name":["nobody"],"revenue":1,"keywords":"x"}`, "e z a"},
}

func TestRowsFilters(t *testing.T) {
	for _, tc := range rowFilterCases {
		t.Run(tc.list[23:]+tc.filters, func(t *testing.T) {
			c := inPlace(t, sandbox.New(t, rowLists()))
			body := c.get(rowsOf(tc.list), "filters", tc.filters).ok(200)
			require.Equal(t, strings.Fields(tc.want), names(body, "id"))
			require.EqualValues(t, len(strings.Fields(tc.want)), at(body, "pagination", "totalRecords"))
		})
	}
}

func TestRowsFiltersRefused(t *testing.T) {
	bad := []string{
		``, `x`, `null`, `[]`, `"name"`, `{`, `{}{}`, `{"name":["a"]`, `{"nome":["a"]}`, `{"Name":["a"]}`,
		`{"name":"a"}`, `{"name":null}`, `{"name":1}`, `{"name":[1]}`, `{"name":[null]}`, `{"name":{"include":"a"}}`,
		`{"name":{"includes":["a"]}}`, `{"name":{"include":null}}`, `{"numberOfEmployees":"11-50"}`, `{"numberOfEmployees":[true]}`,
		`{"revenue":"1000"}`, `{"revenue":null}`, `{"revenue":[1]}`, `{"keywords":["a"]}`, `{"keywords":null}`, `{"socialUrl":1}`,
		`{"enrichedEmail":["found"]}`, `{"enrichedEmail":{}}`, `{"enrichedEmail":{"include":["a"],"exclude":["b"]}}`, `{"emailValidity":{"exclude":["a"]}}`,
		`{"icpMatch":[]}`, `{"icpMatch":["maybe"]}`, `{"icpMatch":["yes","no"]}`, `{"icpMatch":["yes","yes"]}`, `{"icpMatch":["Yes"]}`, `{"icpMatch":[null]}`,
		`{"customColumns":{"c":{"dataType":"number","rangeMin":1,"rangeMax":null}}}`, `{"icpMatch":"yes"}`, `{"icpMatch":{"include":["yes"]}}`, `{"otherLists":"Known"}`,
		`{"customColumns":[]}`, `{"customColumns":{"c":[]}}`, `{"customColumns":{"c":{}}}`, `{"customColumns":{"c":{"dataType":"date"}}}`,
		`{"customColumns":{"c":{"dataType":"string"}}}`, `{"customColumns":{"c":{"dataType":"string","value":true}}}`,
		`{"customColumns":{"c":{"dataType":"boolean"}}}`, `{"customColumns":{"c":{"dataType":"boolean","value":"true"}}}`,
		`{"customColumns":{"c":{"dataType":"number"}}}`, `{"customColumns":{"c":{"dataType":"number","rangeMin":"1"}}}`,
		`{"customColumns":{"c":{"dataType":"number","include":["1"]}}}`,
	}
	for _, filters := range bad {
		t.Run(filters, func(t *testing.T) {
			onEachRoad(t, []sandbox.Option{rowLists()}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
				t.Helper()
				param, _ := c.get(rowsOf(id(1)), "filters", filters).fails(422, "INVALID_ROW_FILTERS")
				require.Equal(t, "filters", param)
			})
		})
	}
	c, messages := inPlace(t, sandbox.New(t, rowLists())), map[string]bool{}
	for range 30 {
		_, message := c.get(rowsOf(id(1)), "filters", `{"customColumns":{"a":1,"b":2,"c":3}}`).fails(422, "INVALID_ROW_FILTERS")
		messages[message] = true
	}
	require.Len(t, messages, 1, "it is the same in every run")
}

func TestRowsUnquotedHeadcountAnswers500(t *testing.T) {
	for _, filters := range []string{
		`{"numberOfEmployees":[50]}`, `{"numberOfEmployees":["11-50",50]}`, `{"numberOfEmployees":{"include":[50]}}`,
		`{"numberOfEmployees":{"exclude":[50]}}`, `{"numberOfEmployees":50}`,
	} {
		for _, list := range []string{id(1), id(2)} {
			onEachRoad(t, []sandbox.Option{rowLists()}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
				t.Helper()
				c.get(rowsOf(list), "filters", filters).fails(500, "UNEXPECTED_ERROR")
			})
		}
	}
}

func TestRowsPagesOfAFilterFollowChanges(t *testing.T) {
	sb := sandbox.New(t, rowLists())
	c := inPlace(t, sb)
	read := func() []string {
		return names(c.get(rowsOf(id(1)), "filters", `{"name":["ada"]}`, "sortBy", "jobTitle", "sortOrder", "asc").ok(200), "id")
	}
	require.Equal(t, []string{"ada", "di"}, read())
	require.Equal(t, []string{"ada", "di"}, read(), "from the prepared order")
	sb.Do(func(tx *sandbox.Tx) { tx.RemoveRows(id(1), rid("ada")) })
	require.Equal(t, []string{"di"}, read())
	sb.Do(func(tx *sandbox.Tx) {
		tx.InsertRows(id(1), 0, sandbox.Row{"id": rid("eve"), "firstName": "Ada", "jobTitle": "Z"}, sandbox.Row{"id": rid("fay"), "firstName": "Ada", "jobTitle": "A"})
	})
	require.Equal(t, []string{"fay", "eve", "di"}, read())
}

func TestRowsAreHandedOutAsTheyAre(t *testing.T) {
	raw := `{"b":1e3,"id":"00000000000000000000000A","a":"\u00e9 <&>","n":12345678901234567890,"deep":{"z":[1,{"y":null}]}}`
	sb := sandbox.New(t, oneList(sandbox.List{ID: id(1), Name: "l", Rows: []json.RawMessage{json.RawMessage(raw)}}))
	require.Contains(t, string(inPlace(t, sb).get(rowsOf(id(1))).raw), `"data":[`+raw+`]`)
}

func TestFiltersAreReadFromTheEncodedQuery(t *testing.T) {
	c := inPlace(t, sandbox.New(t, rowLists()))
	r := c.do("GET", rowsOf(id(1))+"?filters="+url.QueryEscape(`{"companyName":["Zuse KG"]}`), nil)
	require.Equal(t, []string{"bob"}, names(r.ok(200), "id"))
}
