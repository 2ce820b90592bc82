package sandbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

const (
	search          = "/business/prospects/search"
	saved           = "/business/saved-searches"
	companiesSearch = "/companies/search"
)

// including is one filter of a search.
func including(key string, values ...string) object {
	entries := []object{}
	for _, v := range values {
		entries = append(entries, object{"status": "include", "value": v})
	}
	return object{key: entries}
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// prospects are 25 people, of whom every fifth is a manager, saved searches of all sorts, companies and 100 credits.
func prospects() sandbox.Option {
	var people []sandbox.Row
	for n := range 25 {
		level := []string{"entry", "vp", "director", "c_suite", "manager"}[n%5]
		people = append(people, sandbox.Row{"firstName": fmt.Sprint("P", n), "socialUrl": fmt.Sprint("https://social.example/in/", n), "job_title_levels": level, "tags": []string{"even", "odd"}[n%2 : n%2+1]})
	}
	return sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main", Credits: 100, Prospects: sandbox.Rows(people...),
		FilterOptions: map[string][]string{"job_title_levels": {"entry", "vp", "director", "c_suite", "manager"}, "tags": {"even", "odd"}},
		Companies: sandbox.Rows(
			sandbox.Row{"id": id(201), "name": "A", "domain": "a.example", "address": sandbox.Row{"city": "Berlin"}},
			sandbox.Row{"name": "B", "domain": "b.example", "address": sandbox.Row{"city": "Paris"}},
			sandbox.Row{"name": "C", "domain": "c.example", "address": sandbox.Row{"city": "Berlin"}},
		),
		SavedSearches: []sandbox.SavedSearch{
			{ID: id(31), Name: "managers", Filters: encode(including("job_title_levels", "manager"))},
			{ID: id(32), Name: "broken", Filters: json.RawMessage(`{"gone":[]}`)},
			{ID: id(33), Name: "Berlin firms", Companies: true, Filters: json.RawMessage(`{"headquartersCity":["berlin"]}`)},
			{ID: id(34), Name: "everybody"},
		},
		Lists: []sandbox.List{
			{ID: id(1), Name: "people", Rows: sandbox.Rows(sandbox.Row{"id": id(101), "socialUrl": "https://social.example/in/4"})},
			{ID: id(2), Name: "firms", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(sandbox.Row{"id": id(201)}, sandbox.Row{"domain": "B.example"})},
			{ID: id(3), Name: "All firms", EntityType: sandbox.CompanyList, System: true},
		},
	}}})
}

// scrolled reads a scroll to its end and returns the first names.
func scrolled(c caller, path string, body object) (found []string) {
	for {
		page := c.do("POST", path, body).ok(200)
		for _, p := range page["profiles"].([]any) {
			found = append(found, p.(object)["firstName"].(string))
		}
		token, more := page["scrollToken"]
		if !more {
			return found
		}
		body = with(body, object{"scrollToken": token})
	}
}

func TestSearchSizes(t *testing.T) {
	for size, want := range map[any]int{gone: 10, 1: 1, 10: 10, 100: 25} {
		onEachRoad(t, []sandbox.Option{prospects()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
			t.Helper()
			page := c.do("POST", search, with(object{"filters": object{}}, object{"size": size})).ok(200)
			require.Len(t, page["profiles"], want)
			require.Equal(t, want < 25, page["scrollToken"] != nil)
			require.EqualValues(t, 100-want, sb.Balance(), "a credit for each profile")
		})
	}
	for _, size := range []any{0, 101, -1, "10", 1.5, nil} {
		sb := sandbox.New(t, prospects())
		param, _ := inPlace(t, sb).do("POST", search, object{"filters": object{}, "size": size}).fails(422, "VALIDATION_FAILED")
		require.Equal(t, "size", param)
		require.Empty(t, sb.Ledger())
	}
}

func TestAScrollEndsWithoutAToken(t *testing.T) {
	for _, size := range []int{1, 5, 7, 25} {
		onEachRoad(t, []sandbox.Option{prospects(), sandbox.NoLimits()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
			t.Helper()
			found := scrolled(c, search, object{"filters": object{}, "size": size})
			require.Len(t, found, 25)
			require.Equal(t, []string{"P0", "P24"}, []string{found[0], found[24]})
			require.EqualValues(t, 75, sb.Balance())
			require.Equal(t, (25+size-1)/size, sb.Calls("search.prospects"))
		})
	}
}

func TestSearchFilters(t *testing.T) {
	for name, tc := range map[string]struct {
		filters any
		want    int // found; negative is refused
	}{
		"one":           {including("job_title_levels", "vp"), 5},
		"or":            {including("job_title_levels", "vp", "manager"), 10},
		"and":           {with(including("job_title_levels", "vp"), including("tags", "odd")), 3},
		"empty":         {object{}, 25},
		"no entries":    {object{"tags": []object{}}, 25},
		"no object":     {[]object{}, -1},
		"null":          {nil, -1},
		"no array":      {object{"tags": "odd"}, -1},
		"no entry":      {object{"tags": []string{"odd"}}, -1},
		"null entry":    {object{"tags": []any{nil}}, -1},
		"no status":     {object{"tags": []object{{"value": "odd"}}}, -1},
		"no value":      {object{"tags": []object{{"status": "include"}}}, -1},
		"other status":  {object{"tags": []object{{"status": "exclude", "value": "odd"}}}, -1},
		"unknown key":   {including("seniority", "vp"), -1},
		"unknown value": {including("job_title_levels", "VP"), -1},
	} {
		t.Run(name, func(t *testing.T) {
			sb := sandbox.New(t, prospects())
			r := inPlace(t, sb).do("POST", search, object{"filters": tc.filters, "size": 100})
			if tc.want >= 0 {
				require.Len(t, r.ok(200)["profiles"], tc.want)
				return
			}
			param, _ := r.fails(422, "SEARCH_FILTERS_INVALID")
			require.True(t, strings.HasPrefix(param, "filters"))
			require.Empty(t, sb.Ledger())
		})
	}
}

func TestScrollTokens(t *testing.T) {
	first := object{"filters": with(including("tags", "odd", "even"), including("job_title_levels", "vp", "entry")), "size": 2}
	for name, next := range map[string]object{
		"another value": {"filters": with(including("tags", "odd"), including("job_title_levels", "vp", "entry"))},
		"another key":   {"filters": including("tags", "odd", "even")},
		"no filters":    {"filters": gone},
		"another size":  {"size": 3},
		"unknown":       {"scrollToken": "abc"},
		"empty":         {"scrollToken": ""},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, []sandbox.Option{prospects()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
				t.Helper()
				token := c.do("POST", search, first).ok(200)["scrollToken"]
				param, _ := c.do("POST", search, with(with(first, object{"scrollToken": token}), next)).fails(422, "VALIDATION_FAILED")
				require.Equal(t, "scrollToken", param)
				require.EqualValues(t, 98, sb.Balance(), "a refused page is free")
				same := with(first, object{"scrollToken": token})
				c.do("POST", search, same).ok(200)
				c.do("POST", search, same).fails(422, "VALIDATION_FAILED")
			})
		})
	}
	sb := sandbox.New(t, prospects())
	c := inPlace(t, sb)
	token := c.do("POST", search, first).ok(200)["scrollToken"]
	param, _ := c.do("POST", search, with(first, object{"scrollToken": 5})).fails(422, "VALIDATION_FAILED")
	require.Equal(t, "scrollToken", param)
	foreign := sb.Workspace("b")
	require.NotNil(t, token)
	c.as(foreign.Token()).do("POST", search, object{"scrollToken": token}).fails(422, "VALIDATION_FAILED")
}

func TestScrollTokensExpire(t *testing.T) {
	body := object{"filters": object{}}
	for after, alive := range map[time.Duration]bool{5*time.Minute - 1: true, 5 * time.Minute: false} {
		sb := sandbox.New(t, prospects(), manual())
		c := inPlace(t, sb)
		token := c.do("POST", search, body).ok(200)["scrollToken"]
		events := sb.Advance(after)
		require.Equal(t, alive, len(events) == 0)
		r := c.do("POST", search, with(body, object{"scrollToken": token}))
		if alive {
			r.ok(200)
			require.Equal(t, []string{"scroll token expired"}, kinds(sb.Advance(time.Hour)), "that of the new page; the other was spent")
			continue
		}
		r.fails(422, "VALIDATION_FAILED")
		require.NotContains(t, fmt.Sprint(events), token)
	}
}

func TestSearchNeedsCreditsForTheWholePage(t *testing.T) {
	sb := sandbox.New(t, prospects(), sandbox.Credits(14))
	c := inPlace(t, sb)
	token := c.do("POST", search, object{"filters": object{}}).ok(200)["scrollToken"]
	more := object{"filters": object{}, "scrollToken": token}
	c.do("POST", search, more).fails(402, "INSUFFICIENT_CREDITS")
	require.EqualValues(t, 4, sb.Balance())
	sb.Do(func(tx *sandbox.Tx) { tx.AddCredits(6, "bought") })
	require.Len(t, c.do("POST", search, more).ok(200)["profiles"], 10, "the refusal did not use the token up")
	require.Equal(t, "profiles found", sb.Ledger()[0].Reason)
	require.Equal(t, []int64{-10, 6, -10}, amounts(sb))
}

func TestInventedProspects(t *testing.T) {
	sb := sandbox.New(t, sandbox.NoLimits())
	c := inPlace(t, sb)
	all := scrolled(c, search, object{"size": 100})
	require.Len(t, all, 250)
	options := at(c.get("/business/prospects/filter-options").ok(200), "filterOptions", "job_title_levels").([]any)
	total := 0
	for _, level := range options {
		total += len(scrolled(c, search, object{"size": 100, "filters": including("job_title_levels", level.(string))}))
	}
	require.Equal(t, 250, total)
	require.Equal(t, all, scrolled(inPlace(t, sandbox.New(t)), search, object{"size": 50}), "the same in every run")
}

func TestSavedSearches(t *testing.T) {
	onEachRoad(t, []sandbox.Option{prospects()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		list := c.get(saved).ok(200)["savedSearches"].([]any)
		require.Len(t, list, 4)
		require.Equal(t, object{"id": id(33), "name": "Berlin firms", "type": "companies"}, list[2])
		run := func(n int) string { return saved + "/" + id(n) + "/run" }
		require.Equal(t, []string{"P4", "P9", "P14", "P19", "P24"}, scrolled(c, run(31), object{"size": 2}))
		require.Len(t, scrolled(c, run(34), object{}), 25)
		require.EqualValues(t, 70, sb.Balance())
		token := c.do("POST", run(31), object{"size": 2}).ok(200)["scrollToken"]
		c.do("POST", run(34), object{"size": 2, "scrollToken": token}).fails(422, "VALIDATION_FAILED")
		c.do("POST", run(32), object{}).fails(422, "SAVED_SEARCH_INVALID")
		c.do("POST", run(33), object{}).fails(422, "SAVED_SEARCH_TYPE_MISMATCH")
		c.do("POST", run(99), object{}).fails(404, "SAVED_SEARCH_NOT_FOUND")
		c.do("POST", run(31), object{"size": 101}).fails(422, "VALIDATION_FAILED")
		c.do("POST", saved+"/x/run", object{}).fails(422, "VALIDATION_FAILED")

		var made string
		sb.Do(func(tx *sandbox.Tx) {
			made = tx.Put("savedSearches", sandbox.Row{"name": "theirs", "filters": encode(including("tags", "odd"))})
		})
		require.Len(t, scrolled(c, saved+"/"+made+"/run", object{"size": 100}), 12)
		require.Equal(t, "theirs", sb.Snapshot().Workspaces[0].SavedSearches[4].Name)
	})
}

func TestSaveASearchToAList(t *testing.T) {
	const save = search + "/save-to-list"
	managers := including("job_title_levels", "manager")
	onEachRoad(t, []sandbox.Option{prospects()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		require.EqualValues(t, 4, c.do("POST", save, object{"filters": managers, "listId": id(1)}).ok(200)["addedCount"], "one is there already")
		require.EqualValues(t, 0, c.do("POST", save, object{"filters": managers, "listId": id(1)}).ok(200)["addedCount"])
		made := c.do("POST", save, object{"filters": managers, "listName": "Managers"}).ok(200)
		require.EqualValues(t, 5, at(made, "list", "contactsCount"))
		require.EqualValues(t, 91, sb.Balance())
		require.EqualValues(t, 0, c.do("POST", save, object{"filters": managers, "listName": "Managers"}).ok(200)["addedCount"])

		c.do("POST", save, object{"filters": object{"x": 1}, "listId": id(1)}).fails(422, "SEARCH_FILTERS_INVALID")
		c.do("POST", save, object{"filters": managers, "listId": id(2)}).fails(422, "VALIDATION_FAILED")
		c.do("POST", save, object{"filters": managers, "listId": id(9)}).fails(404, "LIST_NOT_FOUND")
		c.do("POST", save, object{"filters": managers}).fails(422, "VALIDATION_FAILED")
		c.do("POST", save, object{"filters": managers, "listName": "all contacts"}).fails(422, "LIST_NAME_RESERVED")
	})
}

func TestCompanySearch(t *testing.T) {
	for name, tc := range map[string]struct {
		body  object
		want  []string
		code  string
		param string
	}{
		"all":                {object{}, []string{"A", "B", "C"}, "", ""},
		"a city":             {object{"filters": object{"headquartersCity": []string{"BERLIN", "Atlantis"}}}, []string{"A", "C"}, "", ""},
		"saved":              {object{"savedSearchId": id(33)}, []string{"A", "C"}, "", ""},
		"without a list":     {object{"excludeCompanyLists": []string{id(2)}}, []string{"C"}, "", ""},
		"without no list":    {object{"excludeCompanyLists": []string{}}, []string{"A", "B", "C"}, "", ""},
		"no city":            {object{"filters": object{"headquartersCity": []string{"Atlantis"}}}, nil, "CITY_FILTER_UNRESOLVED", "filters.headquartersCity"},
		"no names":           {object{"filters": object{"headquartersCity": []string{}}}, nil, "CITY_FILTER_UNRESOLVED", "filters.headquartersCity"},
		"a number":           {object{"filters": object{"headquartersCity": 5}}, nil, "SEARCH_FILTERS_INVALID", "filters.headquartersCity"},
		"another key":        {object{"filters": object{"city": []string{"Berlin"}}}, nil, "SEARCH_FILTERS_INVALID", "filters"},
		"no object":          {object{"filters": 5}, nil, "SEARCH_FILTERS_INVALID", "filters"},
		"a contact list":     {object{"excludeCompanyLists": []string{id(2), id(1)}}, nil, "EXCLUDE_COMPANY_LISTS_INVALID", "excludeCompanyLists"},
		"a missing list":     {object{"excludeCompanyLists": []string{id(9)}}, nil, "EXCLUDE_COMPANY_LISTS_INVALID", "excludeCompanyLists"},
		"a system list":      {object{"excludeCompanyLists": []string{id(3)}}, nil, "EXCLUDE_COMPANY_LISTS_INVALID", "excludeCompanyLists"},
		"lists no array":     {object{"excludeCompanyLists": id(2)}, nil, "VALIDATION_FAILED", "excludeCompanyLists"},
		"saved for people":   {object{"savedSearchId": id(31)}, nil, "SAVED_SEARCH_INVALID", ""},
		"saved and filters":  {object{"savedSearchId": id(33), "filters": object{}}, nil, "VALIDATION_FAILED", "savedSearchId"},
		"saved, no id":       {object{"savedSearchId": "x"}, nil, "VALIDATION_FAILED", "savedSearchId"},
		"more than a page":   {object{"size": 101}, nil, "VALIDATION_FAILED", "size"},
		"a token of nowhere": {object{"scrollToken": "x"}, nil, "VALIDATION_FAILED", "scrollToken"},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, []sandbox.Option{prospects()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
				t.Helper()
				r := c.do("POST", companiesSearch, tc.body)
				if tc.code != "" {
					param, _ := r.fails(422, tc.code)
					require.Equal(t, tc.param, param)
					require.Empty(t, sb.Ledger())
					return
				}
				found := []string{}
				for _, company := range r.ok(200)["companies"].([]any) {
					found = append(found, company.(object)["name"].(string))
				}
				require.Equal(t, tc.want, found)
				require.EqualValues(t, 100-len(tc.want), sb.Balance())
			})
		})
	}
	c := inPlace(t, sandbox.New(t))
	c.do("POST", companiesSearch, object{"savedSearchId": id(1)}).fails(404, "SAVED_SEARCH_NOT_FOUND")
	page := c.do("POST", companiesSearch, object{"size": 40}).ok(200)
	page = c.do("POST", companiesSearch, object{"size": 40, "scrollToken": page["scrollToken"]}).ok(200)
	require.Len(t, page["companies"], 20)
	require.NotContains(t, page, "scrollToken")
}
