package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.SearchProspects: {handle: (*call).searchProspects, json: true},
	op.SearchSave:      {handle: (*call).saveSearchToList, json: true},
	op.SearchSaved:     {handle: (*call).listSavedSearches},
	op.SearchRunSaved:  {handle: (*call).runSavedSearch, json: true},
	op.SearchCompanies: {handle: (*call).searchCompanies, json: true},
})

const (
	maxSearchSize     = 100
	defaultSearchSize = 10
)

// SavedSearch seeds a saved search.
type SavedSearch struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Companies bool            `json:"companies,omitempty"` // it stores filters of a company search
	Filters   json.RawMessage `json:"filters,omitempty"`   // as a search takes them; what is none makes it invalid
}

var savedSearches = keeps(kind[SavedSearch]{
	name: "savedSearches", missing: refusal{code: "SAVED_SEARCH_NOT_FOUND", message: "No saved search has this id."},
	seeds: func(ws *Workspace) *[]SavedSearch { return &ws.SavedSearches },
	check: func(s SavedSearch, fail failing) {
		if len(s.Filters) > 0 && !json.Valid(s.Filters) {
			fail("saved search %q: the filters are not JSON", s.Name)
		}
	},
})

// SavedSearches copies the saved searches.
func (w *Tenant) SavedSearches() []SavedSearch { return savedSearches.copies(w) }

// invented is what searches find if the seed has nothing: n rows.
func invented(n int, row func(i int) Row) (once func() []json.RawMessage) {
	return sync.OnceValue(func() []json.RawMessage {
		rows := make([]Row, n)
		for i := range rows {
			rows[i] = row(i)
		}
		return Rows(rows...)
	})
}

var (
	inventedPeople = invented(250, func(i int) Row { return invent("prospects", i).profile(i) })
	inventedFirms  = invented(60, func(i int) Row { return inventFirm(rand.New(rand.NewPCG(0, uint64(i)))).row() })
)

func seeded(objects []json.RawMessage, otherwise func() []json.RawMessage) []json.RawMessage {
	if len(objects) > 0 {
		return objects
	}
	return otherwise()
}

func (ws *workspace) prospects() []json.RawMessage { return seeded(ws.Prospects, inventedPeople) }
func (ws *workspace) companies() []json.RawMessage { return seeded(ws.Companies, inventedFirms) }

// filterOptions are the keys of searches, and the values that each accepts.
func (ws *workspace) filterOptions() map[string][]string {
	if len(ws.FilterOptions) > 0 {
		return ws.FilterOptions
	}
	return map[string][]string{levelKey: levels}
}

// levelKey is the only documented filter key.
const levelKey = "job_title_levels"

// searchFilters are the values that each key includes.
type searchFilters map[string][]string

// normal is the same for all filters with the same meaning.
func (f searchFilters) normal() string {
	sorted := searchFilters{}
	for key, values := range f {
		sorted[key] = slices.Compact(slices.Sorted(slices.Values(values)))
	}
	return fmt.Sprintf("%q", sorted)
}

func unclear(param, message string) error {
	return &refusal{code: "SEARCH_FILTERS_INVALID", message: param + " " + message + ".", param: param}
}

func (c *call) readFilters(raw json.RawMessage) (searchFilters, error) {
	if len(raw) == 0 {
		return searchFilters{}, nil
	}
	var keys map[string]json.RawMessage
	if !isObject(raw) || json.Unmarshal(raw, &keys) != nil {
		return nil, unclear("filters", "has to be an object")
	}
	filters, options := searchFilters{}, c.ws.filterOptions()
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		param := "filters." + key
		var entries []fields
		if json.Unmarshal(keys[key], &entries) != nil || entries == nil {
			return nil, unclear(param, "has to be an array of entries with status and value")
		}
		words, known := options[key]
		for _, e := range entries {
			status, hasStatus := asString(e["status"])
			value, hasValue := asString(e["value"])
			if !hasStatus || !hasValue {
				return nil, unclear(param, "has an entry without status or value")
			}
			known = known && len(e) == 2 && status == "include" && slices.Contains(words, value)
			filters[key] = append(filters[key], value)
		}
		if !known {
			return nil, unclear(param, "holds what the filter options do not have")
		}
	}
	return filters, nil
}

// shown is a profile without the fields that only filters use: undocumented fields with the name of a filter.
func (ws *workspace) shown(profile json.RawMessage) json.RawMessage {
	var all fields
	_ = json.Unmarshal(profile, &all) // it is an object
	before := len(all)
	for key := range ws.filterOptions() {
		if !slices.Contains(profileFields, key) {
			delete(all, key)
		}
	}
	if len(all) == before {
		return profile
	}
	return must(json.Marshal(all))
}

// profileFields are the documented ones.
var profileFields = []string{"firstName", "lastName", "jobTitle", "companyName", "socialUrl"}

func (f searchFilters) meets(profile json.RawMessage) bool {
	for key, values := range f {
		raw, _ := jsonscan.Lookup(profile, key)
		has, err := stringsOf(raw)
		if one, ok := asString(raw); ok {
			has, err = []string{one}, nil
		}
		if err != nil || !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(has, v) }) {
			return false
		}
	}
	return true
}

func (c *call) searchProspects() response {
	body := c.body
	page := body.readScroll()
	body.valid()
	filters := must(c.readFilters(body.fields["filters"]))
	return c.scrollProfiles(page, "", filters)
}

// scrollProfiles handles a search. Its saved search, if any, is part of the query.
func (c *call) scrollProfiles(page scrollRequest, saved string, filters searchFilters) response {
	page.query = fmt.Sprintf("%s %s %d %s", c.op.Name, saved, page.size, filters.normal())
	return c.scrollPage(page, "profiles", kept(c.ws.prospects(), filters.meets), c.ws.shown)
}

func (c *call) saveSearchToList() response {
	body := c.body
	to := body.destination()
	body.valid()
	filters := must(c.readFilters(body.fields["filters"]))
	found := appendEach(nil, kept(c.ws.prospects(), filters.meets), c.ws.shown)
	l := c.destination(to, ContactList)
	if l == nil {
		return c.saveToNew(to.name, ContactList, found)
	}
	there := map[string]bool{}
	for _, row := range l.rows {
		url, _ := fieldString(row, "socialUrl")
		there[url] = true
	}
	return c.fill(l, slices.DeleteFunc(found, func(p json.RawMessage) bool {
		url, _ := fieldString(p, "socialUrl")
		return url != "" && there[url]
	}))
}

func (c *call) listSavedSearches() response {
	return listing("savedSearches", savedSearches.in(c.ws), func(s *SavedSearch) object {
		return object{"id": s.ID, "name": s.Name, "type": map[bool]string{true: "companies", false: "prospects"}[s.Companies]}
	})
}

// savedSearch finds a saved search, which has to be of a kind.
func (c *call) savedSearch(id string, companies bool) *SavedSearch {
	s := must(savedSearches.byID(c, id))
	switch {
	case s.Companies && !companies:
		deny("SAVED_SEARCH_TYPE_MISMATCH", "The saved search is one for companies: run it through company search.")
	case companies && !s.Companies:
		deny("SAVED_SEARCH_INVALID", "The saved search is one for prospects.")
	}
	return s
}

func (c *call) runSavedSearch() response {
	page := c.body.readScroll()
	s := c.savedSearch(c.pathID("savedSearchId"), false)
	filters, err := c.readFilters(s.Filters)
	if err != nil {
		deny("SAVED_SEARCH_INVALID", "The stored filters cannot be run: "+strings.TrimPrefix(err.Error(), "SEARCH_FILTERS_INVALID: "))
	}
	return c.scrollProfiles(page, s.ID, filters)
}

const cityField = "filters.headquartersCity"

type companyQuery struct {
	cities  []string // nil: anywhere
	exclude []*list
}

func (c *call) searchCompanies() response {
	body := c.body
	page := body.readScroll()
	saved, isSaved := body.text("savedSearchId")
	filtered := body.has("filters")
	switch {
	case isSaved && filtered:
		body.fail("savedSearchId", "and filters exclude each other")
	case isSaved:
		body.id("savedSearchId", saved)
	}
	body.valid()
	raw := body.fields["filters"]
	if isSaved {
		raw = c.savedSearch(saved, true).Filters
	}
	q := c.companyQuery(raw, body.fields["excludeCompanyLists"])
	page.query = fmt.Sprintf("%s %s %d %s", c.op.Name, saved, page.size, q)
	return c.scrollPage(page, "companies", kept(c.ws.companies(), q.finds), func(company json.RawMessage) json.RawMessage { return company })
}

func (c *call) companyQuery(filters, exclude json.RawMessage) (q companyQuery) {
	var keys map[string]json.RawMessage
	if len(filters) > 0 && (!isObject(filters) || json.Unmarshal(filters, &keys) != nil) {
		stop(unclear("filters", "has to be an object"))
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if "filters."+key != cityField {
			stop(unclear("filters", "has a key that the sandbox does not know: "+key))
		}
	}
	if raw, ok := keys["headquartersCity"]; ok {
		q.cities = c.cities(raw)
	}
	if exclude != nil {
		q.exclude = c.companyLists(exclude)
	}
	return q
}

// cities reads names, and keeps the known ones.
func (c *call) cities(raw json.RawMessage) (known []string) {
	names, err := stringsOf(raw)
	var entries []struct{ Value string }
	if one, ok := asString(raw); ok {
		names = []string{one}
	} else if err != nil {
		if json.Unmarshal(raw, &entries) != nil || entries == nil {
			stop(unclear(cityField, "has to hold names of cities"))
		}
		for _, e := range entries {
			names = append(names, e.Value)
		}
	}
	for _, company := range c.ws.companies() {
		if city := cityOf(company); slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, city) }) {
			known = append(known, city)
		}
	}
	slices.Sort(known)
	if known = slices.Compact(known); len(known) == 0 {
		stop(&refusal{code: "CITY_FILTER_UNRESOLVED", message: "None of the names is that of a city.", param: cityField})
	}
	return known
}

func cityOf(company json.RawMessage) string {
	raw, _ := lookup(company, "address.city")
	city, _ := asString(raw)
	return city
}

func (c *call) companyLists(raw json.RawMessage) (lists []*list) {
	const param = "excludeCompanyLists"
	ids, err := stringsOf(raw)
	if err != nil {
		stop(invalid(param, err.Error()))
	}
	for _, id := range ids {
		l, err := c.listByID(id)
		if err != nil || l.EntityType != CompanyList || l.System {
			stop(&refusal{code: "EXCLUDE_COMPANY_LISTS_INVALID", message: "No visible company list has the id " + id + ".", param: param})
		}
		lists = append(lists, l)
	}
	return lists
}

// String is the same for all queries with the same meaning.
func (q companyQuery) String() string {
	out := appendEach(nil, q.exclude, func(l *list) string { return l.ID })
	slices.Sort(out)
	return fmt.Sprint(q.cities, slices.Compact(out))
}

func (q companyQuery) finds(company json.RawMessage) bool {
	if q.cities != nil && !slices.Contains(q.cities, cityOf(company)) {
		return false
	}
	id, _ := fieldString(company, "id")
	domain, _ := fieldString(company, "domain")
	return !slices.ContainsFunc(q.exclude, func(l *list) bool {
		return l.has(id) || domain != "" && slices.ContainsFunc(l.rows, func(row json.RawMessage) bool {
			other, _ := fieldString(row, "domain")
			return strings.EqualFold(domain, other)
		})
	})
}
