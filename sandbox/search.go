package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.SearchProspects: {handle: (*call).searchProspects, json: true, takes: scrolls},
	op.SearchSave:      {handle: (*call).saveSearchToList, json: true, takes: destination},
	op.SearchSaved:     {handle: (*call).listSavedSearches},
	op.SearchRunSaved:  {handle: (*call).runSavedSearch, json: true, takes: scrolls},
	op.SearchCompanies: {handle: (*call).searchCompanies, json: true, takes: append([]taking{
		optional("savedSearchId", anID), func(_ *call, in input, v *checks) {
			if in.has("savedSearchId") && in.has("filters") {
				v.fail("savedSearchId", "and filters exclude each other")
			}
		},
	}, scrolls...)},
})

// SavedSearch seeds a saved search.
type SavedSearch struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Companies bool            `json:"companies,omitempty"` // it stores filters of a company search
	Filters   json.RawMessage `json:"filters,omitempty"`   // as a search takes them; what is none makes it invalid
}

var savedSearches = keeps(kind[SavedSearch]{
	name: "savedSearches", missing: refusal{"SAVED_SEARCH_NOT_FOUND", "No saved search has this id.", ""},
	seeds: func(ws *Workspace) *[]SavedSearch { return &ws.SavedSearches },
	check: func(_ *Workspace, s SavedSearch, fail failing) {
		if len(s.Filters) > 0 && !json.Valid(s.Filters) {
			fail("saved search %q: the filters are not JSON", s.Name)
		}
	},
})

// invented is what searches find if the seed has nothing.
var invented = sync.OnceValues(func() (people, firms []json.RawMessage) {
	for i := range 250 {
		p := invent("prospects", i)
		row := p.row(i)
		row["companyName"], row["job_title_levels"] = p.Employer.Name, p.Level
		people = append(people, Rows(row)...)
	}
	for i := range 60 {
		firms = append(firms, Rows(inventFirm(rand.New(rand.NewPCG(0, uint64(i)))).row())...)
	}
	return people, firms
})

func (ws *workspace) prospects() []json.RawMessage {
	if people, _ := invented(); len(ws.Prospects) == 0 {
		return people
	}
	return ws.Prospects
}

func (ws *workspace) companies() []json.RawMessage {
	if _, firms := invented(); len(ws.Companies) == 0 {
		return firms
	}
	return ws.Companies
}

// filterOptions are the keys of searches, and the values that each accepts.
func (ws *workspace) filterOptions() map[string][]string {
	if len(ws.FilterOptions) > 0 {
		return ws.FilterOptions
	}
	return map[string][]string{"job_title_levels": levels} // the only documented key
}

// searchFilters are the values that each key includes.
type searchFilters map[string][]string

func unclear(param, message string) error {
	return refuse("SEARCH_FILTERS_INVALID", param+" "+message+".", param)
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

// shown is a profile as a search shows it: the fields that are documented.
func shown(profile json.RawMessage) json.RawMessage {
	fields := fields{}
	for _, name := range []string{"firstName", "lastName", "jobTitle", "companyName", "socialUrl"} {
		if value, there := jsonscan.Lookup(profile, name); there {
			fields[name] = value
		}
	}
	return must(json.Marshal(fields))
}

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
	return c.scroll(c.page(""), "profiles", c.profiles(must(c.readFilters(c.body["filters"]))))
}

// profiles are those that filters find.
func (c *call) profiles(f searchFilters) []json.RawMessage {
	return appendEach(nil, kept(c.ws.prospects(), f.meets), shown)
}

func (c *call) saveSearchToList() response {
	found := c.profiles(must(c.readFilters(c.body["filters"])))
	l := c.destination(ContactList)
	if l == nil {
		return c.saveToNew(ContactList, found)
	}
	there := map[string]bool{}
	for _, row := range l.Rows {
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
	s := c.savedSearch(c.req.PathValue("savedSearchId"), false)
	filters, err := c.readFilters(s.Filters)
	if err != nil {
		deny("SAVED_SEARCH_INVALID", "The stored filters cannot be run: "+strings.TrimPrefix(err.Error(), "SEARCH_FILTERS_INVALID: "))
	}
	return c.scroll(c.page(string(s.Filters)), "profiles", c.profiles(filters))
}

func (c *call) searchCompanies() response {
	filters, stored := c.body["filters"], ""
	if c.in.has("savedSearchId") {
		filters = c.savedSearch(c.in.text("savedSearchId"), true).Filters
		stored = string(filters)
	}
	cities, exclude := c.cities(filters), c.companyLists(c.body["excludeCompanyLists"])
	return c.scroll(c.page(stored), "companies", kept(c.ws.companies(), func(company json.RawMessage) bool {
		return (cities == nil || slices.Contains(cities, cityOf(company))) && !slices.ContainsFunc(exclude, func(l *List) bool { return c.ws.holds(l, company) })
	}))
}

// cities are those that the only known filter names, or nil without one. Unknown names are ignored if another one is known.
func (c *call) cities(filters json.RawMessage) (known []string) {
	const param = "filters.headquartersCity"
	var keys fields
	if len(filters) > 0 && (!isObject(filters) || json.Unmarshal(filters, &keys) != nil) {
		stop(unclear("filters", "has to be an object"))
	}
	raw, filtered := keys["headquartersCity"]
	if len(keys) > 1 || len(keys) == 1 && !filtered {
		stop(unclear("filters", "has a key that the sandbox does not know"))
	}
	if !filtered {
		return nil
	}
	names, err := stringsOf(raw)
	if err != nil {
		stop(unclear(param, err.Error()))
	}
	for _, company := range c.ws.companies() {
		if city := cityOf(company); foldContains(names, city) {
			known = append(known, city)
		}
	}
	if known == nil {
		deny("CITY_FILTER_UNRESOLVED", "None of the names is that of a city.", param)
	}
	return known
}

func cityOf(company json.RawMessage) string {
	raw, _ := lookup(company, "address.city")
	city, _ := asString(raw)
	return city
}

func (c *call) companyLists(raw json.RawMessage) (excluded []*List) {
	const param = "excludeCompanyLists"
	ids, err := stringsOf(raw)
	if err != nil && raw != nil {
		stop(invalid(param, err.Error()))
	}
	for _, id := range ids {
		l, err := lists.byID(c, id)
		if err != nil || l.EntityType != CompanyList || l.System {
			deny("EXCLUDE_COMPANY_LISTS_INVALID", "No visible company list has the id "+id+".", param)
		}
		excluded = append(excluded, l)
	}
	return excluded
}

// holds reports whether a row of the list has the id of a company, or its domain.
func (ws *workspace) holds(l *List, company json.RawMessage) bool {
	id, _ := fieldString(company, "id")
	domain, _ := fieldString(company, "domain")
	return ws.has(l, id) || domain != "" && slices.ContainsFunc(l.Rows, func(row json.RawMessage) bool {
		other, _ := fieldString(row, "domain")
		return strings.EqualFold(domain, other)
	})
}

// scrollTTL is how long a token lives.
const scrollTTL = 5 * time.Minute

// scrollToken leads to a page, once.
type scrollToken struct {
	query  string
	offset int
}

// page is the request of a page of any search.
type page struct {
	query string // all of it but the token
	size  int
	token string
	later bool // there is a token
}

// scrolls are what a search in pages takes.
var scrolls = []taking{optional("size", integer(1, 100)), optional("scrollToken", anyText)}

// page is what a search asks for, which may be stored.
func (c *call) page(stored string) page {
	rest := maps.Clone(c.body)
	delete(rest, "scrollToken")
	return page{c.req.URL.Path + string(must(json.Marshal(rest))) + stored, int(c.in.number("size", 10)), c.in.text("scrollToken"), c.in.has("scrollToken")}
}

// scroll returns the next page of results, for its price, with a token if there are more.
func (c *call) scroll(p page, name string, found []json.RawMessage) response {
	from := 0
	if p.later {
		token := c.ws.scrolls[p.token]
		if token == nil || token.query != p.query {
			stop(invalid("scrollToken", "is spent, has expired or belongs to another query"))
		}
		from = min(token.offset, len(found))
	}
	to := min(len(found), from+p.size)
	body := object{name: append([]json.RawMessage{}, found[from:to]...)}
	c.buy(to-from, name+" found", func() {
		delete(c.ws.scrolls, p.token)
		if to < len(found) {
			body["scrollToken"] = c.mint(&scrollToken{p.query, to})
		}
	}, "%s found: %d", name, to-from)
	return reply(http.StatusOK, body)
}

// mint makes a token, which expires by the clock.
func (c *call) mint(t *scrollToken) string {
	c.ws.minted++
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", c.ws.number, c.ws.minted))
	token := hex.EncodeToString(sum[:20])
	ws := c.ws
	ws.scrolls[token] = t
	c.sb.agenda.add(c.now.Add(scrollTTL), "scroll token expired", c.op.Name, func() bool {
		there := ws.scrolls[token] == t
		delete(ws.scrolls, token)
		return there
	})
	return token
}
