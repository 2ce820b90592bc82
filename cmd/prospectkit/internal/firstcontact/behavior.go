package firstcontact

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"example.com/prospectkit/internal/op"
)

// paged is a request for a page.
type paged struct {
	ask          string
	page, limit  int64
	defaultLimit bool
	first        string // the request for the first page, if this is the second
}

// paging judges pages: their number, length and totals.
func (j *judge) paging() {
	for _, p := range []paged{
		{"lists", 1, defaultLists, true, ""},
		{"lists, page 2", 2, 1, false, "lists"},
		{"lists, past the end", 1_000_000, 1000, false, ""},
		{"rows of contacts", 1, defaultRows, true, ""},
		{"rows of companies", 1, defaultRows, true, ""},
		{"rows, largest page", 1, largestPage, false, ""},
		{"rows, page 2", 2, 1, false, "rows of contacts"},
	} {
		j.about(Finding{Check: "paging: " + p.ask}, p.ask, func(v *view) (differences []string, why string) {
			differences, why = j.page(p, v)
			if p.first == "" {
				return differences, why
			}
			first, unknown := j.viewOf(p.first)
			if unknown != "" {
				return differences, why
			}
			switch repeats, skips := p.contradicts(first, v); {
			case repeats:
				return append(differences, "the page repeats the first element of the first page"), ""
			case skips:
				return []string{"pageNum=2 gives the third page: pages count from 0, and page 1 is the second"}, ""
			}
			return differences, why
		})
	}
}

// about judges the response to an ask, if there is one. The function says how it differs, or why that cannot be told.
func (j *judge) about(f Finding, ask string, judge func(*view) (differences []string, why string)) {
	f.Operation, f.Source = j.named(ask).op.Name, cmp.Or(f.Source, Documented)
	var differences []string
	v, why := j.viewOf(ask)
	if why == "" {
		differences, why = judge(v)
	}
	j.finish(f, differences, why)
}

// The documented sizes of a page.
const (
	defaultLists = 50
	defaultRows  = 100
	largestPage  = 1000
)

// named is the ask of a name.
func (r *Run) named(name string) *ask {
	return r.asks[slices.IndexFunc(r.asks, func(a *ask) bool { return a.name == name })]
}

// viewOf returns the response to a request, or why it tells nothing.
func (j *judge) viewOf(name string) (*view, string) {
	a := j.named(name)
	if a.view == nil {
		return nil, a.reason()
	}
	return a.view, ""
}

// page judges one page.
func (j *judge) page(p paged, v *view) (differences []string, why string) {
	items, ok := v.at(v.value, "", "data").([]any)
	if !ok {
		return nil, "there is no array of elements"
	}
	n := int64(len(items))
	if p.page > 1000 && n > 0 {
		return []string{"a page past the end is not empty"}, ""
	}
	page, known := v.page("pageNum")
	if known && page != p.page && v.exact("pagination.pageNum") {
		differences = append(differences, fmt.Sprintf("pageNum is not that of the page that was asked for: %d instead of %d", page, p.page))
	}
	pages, known := v.page("totalPages")
	records, also := v.page("totalRecords")
	total := known && also && v.exact("pagination.totalPages") && v.exact("pagination.totalRecords")
	more := total && records > p.limit*(p.page-1)+n
	size, difference := p.size(n, more)
	if difference != "" {
		differences = append(differences, difference)
	}
	if !total {
		return differences, "the totals are missing, or stand elsewhere"
	}
	if pages != (records+size-1)/size && (len(differences) == 0 || size != p.limit) {
		text := fmt.Sprintf("totalPages does not fit totalRecords and a page of %d", size)
		if p.page > 1 && size == largestPage && pages > 1 {
			text += ": pages are smaller"
		}
		differences = append(differences, text)
	}
	if more && n < size && len(differences) == 0 {
		differences = append(differences, "the page is shorter than limit and totalRecords say")
	}
	if p.limit == largestPage && p.page == 1 && records <= defaultRows {
		why = "this list has no more rows than any page may have"
	}
	return differences, why
}

// size judges how many elements a page has, and returns how many it has if there are more.
func (p paged) size(n int64, more bool) (size int64, difference string) {
	switch {
	case p.defaultLimit && more && n > 0 && n != p.limit:
		return n, fmt.Sprintf("a page has %d elements by default, instead of %d", n, p.limit)
	case p.defaultLimit && n > p.limit:
		return p.limit, fmt.Sprintf("a page is longer than the documented default of %d", p.limit)
	case n > p.limit:
		return p.limit, "the page is longer than limit"
	case p.limit == largestPage && more && n > 0 && n < p.limit:
		return n, fmt.Sprintf("limit=%d gives only %d elements, although there are more", p.limit, n)
	}
	return p.limit, ""
}

// contradicts reports whether a second page of one element has that of the first page, although nothing was added meanwhile, or the
// third of the first page, as if pages counted from zero. Lists of one instant have no order.
func (p paged) contradicts(first, second *view) (repeats, skips bool) {
	before, after := first.items("data"), second.items("data")
	total, _ := first.page("totalRecords")
	now, known := second.page("totalRecords")
	if !known || now != total || len(before) < 2 {
		return false, false
	}
	if len(before) == 2 && len(after) == 0 {
		shown, _ := first.page("pageNum")
		return false, total == 2 && shown == 0
	}
	if len(after) != 1 {
		return false, false
	}
	lists := p.first == "lists"
	at := func(i int) string { return first.text(before[i], "data[]", "createdAt") }
	page, _ := second.page("pageNum")
	rises, _ := first.ages() // then the order is what differs
	repeats = page == p.page && (!lists || rises == 0) && reflect.DeepEqual(before[0], after[0]) && !reflect.DeepEqual(before[0], before[1])
	skips = len(before) > 2 && (!lists || at(1) != at(2)) && reflect.DeepEqual(before[2], after[0]) && !reflect.DeepEqual(before[1], before[2])
	return repeats, skips
}

// page returns a number of the pagination.
func (v *view) page(name string) (int64, bool) { return v.number(v.value, "", "pagination."+name) }

// exact reports whether a value stands where it is expected, or in another place under its own name.
func (v *view) exact(path string) bool {
	to, moved := v.moves[path]
	return !moved || path[strings.LastIndexByte(path, '.')+1:] == to[strings.LastIndexByte(to, '.')+1:]
}

// filters judges whether what was asked for was heeded.
func (j *judge) filters() {
	j.only("lists: entityType", "company lists", "data", "entityType", "companyList")
	for _, kind := range []string{"contactList", "companyList", "campaign", "agent"} {
		j.only("folders: type "+kind, "folders of "+kind, "folders", "type", kind)
	}
	j.about(Finding{Check: "lists: search"}, "lists", j.unmatched)
	j.sorted("rows, largest page", "firstName", "asc")
	j.sorted("rows of companies", "name", "desc")
	j.about(Finding{Check: "lists: newest first"}, "lists", newestFirst)
	j.about(Finding{Check: "lists: counts", Source: Assumed}, "lists", counts)
	j.names("rows of contacts", "firstName", "lastName", "jobTitle", "createdAt")
	j.names("rows of companies", "name", "domain", "industry", "revenue", "socialHeadCount")
	j.entityOf("rows of contacts", "contactList", "companyList")
	j.entityOf("rows of companies", "companyList", "contactList")
}

// only judges whether all elements have the value that was asked for.
func (j *judge) only(check, ask, array, field, value string) {
	j.about(Finding{Check: check}, ask, func(v *view) ([]string, string) {
		kinds := described()[op.FoldersList].Fields["folders"].Items.Fields["type"].Values
		others, n := 0, 0
		for _, item := range v.items(array) {
			text := v.text(item, array+"[]", field)
			if slices.Contains(kinds, text) { // what is unknown is told by the response
				n++
				if text != value {
					others++
				}
			}
		}
		switch {
		case n == 0:
			return nil, "this workspace has none with a documented kind"
		case others > 0:
			return []string{"others are returned, too"}, ""
		}
		return nil, ""
	})
}

// unmatched judges whether a search that no list matches returns none.
func (j *judge) unmatched(all *view) ([]string, string) {
	switch found, why := j.viewOf("lists without match"); {
	case why != "":
		return nil, why
	case len(all.items("data")) == 0:
		return nil, "this workspace shows no list"
	case len(found.items("data")) > 0:
		return []string{"search is ignored: lists are returned that cannot match"}, ""
	}
	return nil, ""
}

// sorted judges whether rows come in the order that was asked for.
func (j *judge) sorted(ask, field, order string) {
	j.about(Finding{Check: "rows: sorted by " + field}, ask, func(v *view) ([]string, string) {
		right, wrong := v.order(field)
		if order == "desc" {
			right, wrong = wrong, right
		}
		asked := fmt.Sprintf("sortBy=%s&sortOrder=%s", field, order)
		switch {
		case wrong == 0 && right == 0:
			return nil, "the rows have too few different values of " + field
		case wrong == 0:
			return nil, ""
		case right == 0:
			return []string{asked + " gives the opposite order"}, ""
		}
		return []string{asked + " is ignored: the rows are in another order"}, ""
	})
}

// order counts how often a field rises from row to row, and how often it falls. It compares first letters of one case: the service
// need not sort anything else as this program would.
func (v *view) order(field string) (rises, falls int) {
	var small, large []string
	for _, row := range v.items("data") {
		switch text := v.text(row, "data[]", field); {
		case text == "":
		case text[0] >= 'a' && text[0] <= 'z':
			small = append(small, text[:1])
		case text[0] >= 'A' && text[0] <= 'Z':
			large = append(large, text[:1])
		}
	}
	rises, falls = trend(small)
	more, less := trend(large)
	return rises + more, falls + less
}

// trend counts how often a text is greater than the one before it, and how often it is less. Texts of another length are not compared.
func trend(texts []string) (rises, falls int) {
	for i, text := range texts[min(1, len(texts)):] {
		switch before := texts[i]; {
		case len(text) != len(before):
		case text > before:
			rises++
		case text < before:
			falls++
		}
	}
	return rises, falls
}

// ages counts how often a list is newer than the one before it, and how often it is older.
func (v *view) ages() (rises, falls int) {
	var dates []string
	for _, item := range v.items("data") {
		dates = append(dates, v.text(item, "data[]", "createdAt"))
	}
	return trend(dates)
}

// newestFirst judges the order of the lists.
func newestFirst(lists *view) ([]string, string) {
	switch rises, falls := lists.ages(); {
	case rises > 0:
		return []string{"an older list comes before a newer one"}, ""
	case falls == 0:
		return nil, "this workspace has too few lists with different dates"
	}
	return nil, ""
}

// entityOf judges whether rows name the kind of their list.
func (j *judge) entityOf(ask, kind, other string) {
	j.about(Finding{Check: "rows: entityType of " + kind}, ask, func(v *view) ([]string, string) {
		switch v.text(v.value, "", "entityType") {
		case "":
			return nil, "the response has no entityType"
		case other:
			return []string{"rows of a " + kind + " name the other kind"}, ""
		}
		return nil, ""
	})
}

// counts judges whether a list counts only rows of its kind.
func counts(lists *view) ([]string, string) {
	counted := false
	for _, item := range lists.items("data") {
		contacts, _ := lists.number(item, "data[]", "contactsCount")
		companies, _ := lists.number(item, "data[]", "companiesCount")
		kind := lists.text(item, "data[]", "entityType")
		switch {
		case kind == "contactList" && companies > contacts, kind == "companyList" && contacts > companies:
			return []string{"a list counts the other kind"}, ""
		case contacts > 0 && companies > 0:
			return []string{"a list counts contacts and companies"}, ""
		}
		counted = counted || contacts > 0 || companies > 0
	}
	if !counted {
		return nil, "this workspace has no list with rows"
	}
	return nil, ""
}

// names judges whether rows have the fields by which they are documented to be sorted. Few rows, and rows with few of
// these fields, tell nothing.
func (j *judge) names(ask string, documented ...string) {
	const fewRows, fewNames = 5, 2
	j.about(Finding{Check: "rows: fields of " + ask, Question: "which fields a row has"}, ask, func(v *view) (differences []string, why string) {
		rows := v.items("data")
		for _, name := range documented {
			if !slices.ContainsFunc(rows, func(row any) bool { return v.has(row, "data[]", name) }) {
				differences = append(differences, fmt.Sprintf("no row has %s, by which rows can be sorted", name))
			}
		}
		if len(rows) < fewRows || len(documented)-len(differences) < fewNames {
			return nil, "this list has few rows, or few of these fields"
		}
		return differences, ""
	})
}

// has reports whether an object has a field, wherever it stands.
func (v *view) has(object any, context, name string) bool {
	if to, moved := v.moves[context+"."+name]; moved {
		return v.at(object, "", to) != nil
	}
	fields, _ := object.(map[string]any)
	_, there := fields[name]
	return there
}
