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
	ask, array   string
	page, limit  int64
	defaultLimit bool
	first        string // the request for the first page, if this is the second
}

// paging judges pages: their number, length and totals.
func (j *judge) paging() {
	for _, p := range []paged{
		{"lists", "data", 1, 50, true, ""},
		{"lists, page 2", "data", 2, 1, false, "lists"},
		{"lists, past the end", "data", 1_000_000, 1000, false, ""},
		{"rows of contacts", "data", 1, 100, true, ""},
		{"rows of companies", "data", 1, 100, true, ""},
		{"rows, page 2", "data", 2, 1, false, "rows of contacts"},
	} {
		f := Finding{Check: "paging: " + p.ask, Operation: j.opOf(p.ask).Name, Source: Documented, Rules: []string{"lists.order", "paging.total"}}
		v, why := j.viewOf(p.ask)
		if why != "" {
			j.finish(f, nil, why)
			continue
		}
		differences, why := p.judge(v)
		if first, unknown := j.viewOf(p.first); p.first != "" && unknown == "" && p.repeats(first, v) {
			differences, why = append(differences, "the page repeats the first element of the first page"), ""
		}
		j.finish(f, differences, why)
	}
}

func (j *judge) opOf(name string) *op.Op {
	for i := range j.asks {
		if j.asks[i].name == name {
			return j.asks[i].op
		}
	}
	return nil
}

// viewOf returns the response to a request, or why it tells nothing.
func (j *judge) viewOf(name string) (*view, string) {
	switch v := j.views[name]; {
	case j.static:
		return nil, staticText
	case v != nil:
		return v, ""
	case j.missing[j.opOf(name)]:
		return nil, "its path leads nowhere"
	case j.got[name] != nil:
		return nil, j.refusedWhy(j.opOf(name), []*exchange{j.got[name]})
	}
	return nil, cmp.Or(j.why[name], "it was not asked")
}

func (p paged) judge(v *view) (differences []string, why string) {
	items, ok := v.at(v.value, "", p.array).([]any)
	if !ok {
		return nil, "there is no array of elements"
	}
	if p.page > 1000 && len(items) > 0 {
		return []string{"a page past the end is not empty"}, ""
	}
	if int64(len(items)) > p.limit {
		what := "the page is longer than limit"
		if p.defaultLimit {
			what = fmt.Sprintf("a page is longer than the documented default of %d", p.limit)
		}
		differences = append(differences, what)
	}
	page, known := v.number(v.value, "", "pagination.pageNum")
	if known && page != p.page && v.exact("pagination.pageNum") {
		differences = append(differences, "pageNum is not that of the page that was asked for")
	}
	pages, known := v.number(v.value, "", "pagination.totalPages")
	records, also := v.number(v.value, "", "pagination.totalRecords")
	if !known || !also || !v.exact("pagination.totalPages") || !v.exact("pagination.totalRecords") {
		return differences, "the totals are missing, or stand elsewhere"
	}
	if pages != (records+p.limit-1)/p.limit && len(differences) == 0 {
		differences = append(differences, fmt.Sprintf("totalPages does not fit totalRecords and a page of %d", p.limit))
	}
	if before := p.limit * (p.page - 1); records > before && int64(len(items)) != min(p.limit, records-before) && len(differences) == 0 {
		differences = append(differences, "the page is shorter than limit and totalRecords say")
	}
	return differences, ""
}

// repeats reports whether a second page of one element has that of the first, although nothing was added meanwhile.
func (p paged) repeats(first, second *view) bool {
	before, after := first.items(p.array), second.items(p.array)
	total, _ := first.number(first.value, "", "pagination.totalRecords")
	now, known := second.number(second.value, "", "pagination.totalRecords")
	page, _ := second.number(second.value, "", "pagination.pageNum")
	if _, rises := first.ages(); rises > 0 && p.first == "lists" { // then the order is what differs
		return false
	}
	return known && now == total && page == p.page && len(before) > 1 && len(after) == 1 &&
		reflect.DeepEqual(before[0], after[0]) && !reflect.DeepEqual(before[0], before[1])
}

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
	j.newestFirst()
	j.counts()
	j.names("rows of contacts", "firstName", "lastName", "jobTitle", "createdAt")
	j.names("rows of companies", "name", "domain", "industry", "revenue", "socialHeadCount")
	j.entityOf("rows of contacts", "contactList")
	j.entityOf("rows of companies", "companyList")
}

// only judges whether all elements have the value that was asked for.
func (j *judge) only(check, ask, array, field, value string) {
	f := Finding{Check: check, Operation: j.opOf(ask).Name, Source: Documented}
	v, why := j.viewOf(ask)
	if why != "" {
		j.finish(f, nil, why)
		return
	}
	kinds := described()[op.FoldersList].Fields["folders"].Items.Fields["type"].Values
	others, n := 0, 0
	for _, item := range v.items(array) {
		text := v.text(item, array+"[]", field)
		if _, known := kinds[text]; known { // what is unknown is told by the response
			n++
			if text != value {
				others++
			}
		}
	}
	switch {
	case n == 0:
		j.finish(f, nil, "this workspace has none with a documented kind")
	case others > 0:
		j.finish(f, []string{"others are returned, too"}, "")
	default:
		j.finish(f, nil, "")
	}
}

// ages counts how often a list is older than the one before it, and how often it is newer.
func (v *view) ages() (falls, rises int) {
	before := ""
	for _, item := range v.items("data") {
		at := v.text(item, "data[]", "createdAt")
		if before != "" && len(at) == len(before) {
			switch {
			case at > before:
				rises++
			case at < before:
				falls++
			}
		}
		before = at
	}
	return falls, rises
}

// newestFirst judges the order of the lists.
func (j *judge) newestFirst() {
	f := Finding{Check: "lists: newest first", Operation: op.ListsList.Name, Source: Documented, Rules: []string{"lists.order"}}
	v, why := j.viewOf("lists")
	if why != "" {
		j.finish(f, nil, why)
		return
	}
	falls, rises := v.ages()
	switch {
	case rises > 0:
		j.finish(f, []string{"an older list comes before a newer one"}, "")
	case falls == 0:
		j.finish(f, nil, "this workspace has too few lists with different dates")
	default:
		j.finish(f, nil, "")
	}
}

// entityOf judges whether rows name the kind of their list.
func (j *judge) entityOf(ask, kind string) {
	f := Finding{Check: "rows: entityType of " + kind, Operation: op.ListsRows.Name, Source: Documented}
	v, why := j.viewOf(ask)
	if why != "" {
		j.finish(f, nil, why)
		return
	}
	switch text := v.text(v.value, "", "entityType"); {
	case text == "":
		j.finish(f, nil, "the response has no entityType")
	case text == "contactList" && kind == "companyList", text == "companyList" && kind == "contactList":
		j.finish(f, []string{"rows of a " + kind + " name the other kind"}, "")
	default:
		j.finish(f, nil, "")
	}
}

// counts judges whether a list counts only rows of its kind.
func (j *judge) counts() {
	f := Finding{Check: "lists: counts", Operation: op.ListsList.Name, Source: Assumed, Rules: []string{"lists.counts"}}
	v, why := j.viewOf("lists")
	if why != "" {
		j.finish(f, nil, why)
		return
	}
	counted := false
	for _, item := range v.items("data") {
		contacts, _ := v.number(item, "data[]", "contactsCount")
		companies, _ := v.number(item, "data[]", "companiesCount")
		kind := v.text(item, "data[]", "entityType")
		if kind == "contactList" && companies > contacts || kind == "companyList" && contacts > companies {
			j.finish(f, []string{"a list counts the other kind"}, "")
			return
		}
		counted = counted || contacts > 0 || companies > 0
		if contacts > 0 && companies > 0 {
			j.finish(f, []string{"a list counts contacts and companies"}, "")
			return
		}
	}
	if !counted {
		why = "this workspace has no list with rows"
	}
	j.finish(f, nil, why)
}

// names judges whether rows have the fields by which they are documented to be sorted. Few rows, and rows with few of
// these fields, tell nothing.
func (j *judge) names(ask string, documented ...string) {
	const fewRows, fewNames = 5, 2
	f := Finding{Check: "rows: fields of " + ask, Operation: op.ListsRows.Name, Source: Documented, Question: "which fields a row has"}
	v, why := j.viewOf(ask)
	if why != "" {
		j.finish(f, nil, why)
		return
	}
	rows := v.items("data")
	var differences []string
	for _, name := range documented {
		if !slices.ContainsFunc(rows, func(row any) bool { return v.has(row, "data[]", name) }) {
			differences = append(differences, fmt.Sprintf("no row has %s, by which rows can be sorted", name))
		}
	}
	if len(rows) < fewRows || len(documented)-len(differences) < fewNames {
		j.finish(f, nil, "this list has few rows, or few of these fields")
		return
	}
	j.finish(f, differences, "")
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
