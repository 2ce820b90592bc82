package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

var (
	ruleCityNames    = assumed("companies.city.names", "a city is one in which the sandbox has a company, case ignored; it is given as a string, an array of strings, or entries with a value; unknown names are ignored if another one is known")
	ruleExcludeMatch = assumed("companies.exclude.match", "a company is in a list if a row there has its id or its domain")
)

const cityField = "filters.headquartersCity"

// companyQuery is a company search.
type companyQuery struct {
	cities  []string // nil: anywhere
	exclude []*list
}

func (c *call) searchCompanies() (response, error) {
	body := c.body
	c.uses(ruleCompanySearch)
	page := body.readScroll(c)
	body.ignores("filters", "savedSearchId", "excludeCompanyLists", "size", "scrollToken")
	saved, isSaved := body.text("savedSearchId")
	filtered := body.has("filters")
	switch {
	case isSaved && filtered:
		body.fail("savedSearchId", "and filters exclude each other")
	case isSaved:
		body.id("savedSearchId", saved)
	}
	if err := body.err(); err != nil {
		return response{}, err
	}
	raw := body.fields["filters"]
	if isSaved {
		s, err := c.savedSearch(saved, true)
		if err != nil {
			return response{}, err
		}
		raw = s.Filters
	}
	q, err := c.companyQuery(raw, body.fields["excludeCompanyLists"])
	if err != nil {
		return response{}, err
	}
	page.query = fmt.Sprintf("%s %s %d %s", c.op.Name, saved, page.size, q)
	return c.scrollPage(page, "companies", kept(c.ws.searchableCompanies(), q.finds), func(company json.RawMessage) json.RawMessage { return company })
}

func (c *call) companyQuery(filters, exclude json.RawMessage) (q companyQuery, err error) {
	var keys map[string]json.RawMessage
	if len(filters) > 0 && (!isObject(filters) || json.Unmarshal(filters, &keys) != nil) {
		return q, unclear("filters", "has to be an object")
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if "filters."+key != cityField {
			return q, unclear("filters", "has a key that the sandbox does not know: "+key)
		}
	}
	if raw, ok := keys["headquartersCity"]; ok {
		if q.cities, err = c.cities(raw); err != nil {
			return q, err
		}
	}
	if exclude != nil {
		q.exclude, err = c.companyLists(exclude)
	}
	return q, err
}

// cities reads names, and keeps the known ones.
func (c *call) cities(raw json.RawMessage) (known []string, err error) {
	names, err := stringsOf(raw)
	var entries []struct{ Value string }
	if one, ok := asString(raw); ok {
		names = []string{one}
	} else if err != nil {
		if json.Unmarshal(raw, &entries) != nil || entries == nil {
			return nil, unclear(cityField, "has to hold names of cities")
		}
		for _, e := range entries {
			names = append(names, e.Value)
		}
	}
	c.uses(ruleCityNames)
	for _, company := range c.ws.searchableCompanies() {
		if city := cityOf(company); slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, city) }) {
			known = append(known, city)
		}
	}
	slices.Sort(known)
	if known = slices.Compact(known); len(known) == 0 {
		return nil, &refusal{code: "CITY_FILTER_UNRESOLVED", message: "None of the names is that of a city.", param: cityField}
	}
	return known, nil
}

func cityOf(company json.RawMessage) string {
	raw, _ := lookup(company, "address.city")
	city, _ := asString(raw)
	return city
}

// companyLists reads the lists whose companies are excluded.
func (c *call) companyLists(raw json.RawMessage) (lists []*list, err error) {
	const param = "excludeCompanyLists"
	ids, err := stringsOf(raw)
	if err != nil {
		return nil, invalid(param, err.Error())
	}
	for _, id := range ids {
		l, err := c.listByID(id)
		if err != nil || l.EntityType != CompanyList || l.System {
			return nil, &refusal{code: "EXCLUDE_COMPANY_LISTS_INVALID", message: "No visible company list has the id " + id + ".", param: param}
		}
		lists = append(lists, l)
	}
	if len(lists) > 0 {
		c.uses(ruleExcludeMatch)
	}
	return lists, nil
}

// String is the same for all queries with the same meaning.
func (q companyQuery) String() string {
	var out []string
	for _, l := range q.exclude {
		out = append(out, l.ID)
	}
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
