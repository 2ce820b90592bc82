package firstcontact

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/shapes"
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
		{"lists", "data", 1, defaultLists, true, ""},
		{"lists, page 2", "data", 2, 1, false, "lists"},
		{"lists, past the end", "data", 1_000_000, 1000, false, ""},
		{"rows of contacts", "data", 1, defaultRows, true, ""},
		{"rows of companies", "data", 1, defaultRows, true, ""},
		{"rows, largest page", "data", 1, largestPage, false, ""},
		{"rows, page 2", "data", 2, 1, false, "rows of contacts"},
	} {
		f := Finding{Check: "paging: " + p.ask, Operation: j.opOf(p.ask).Name, Source: Documented}
		v, why := j.viewOf(p.ask)
		if why != "" {
			j.finish(f, nil, why)
			continue
		}
		differences, why := j.page(p, v)
		if first, unknown := j.viewOf(p.first); p.first != "" && unknown == "" {
			switch {
			case p.repeats(first, v):
				differences, why = append(differences, "the page repeats the first element of the first page"), ""
			case p.skips(first, v):
				j.pagingOf(j.opOf(p.ask)).FromZero = true
				differences, why = []string{"pageNum=2 gives the third page: pages count from 0, and page 1 is the second"}, ""
			}
		}
		j.finish(f, differences, why)
	}
	for o, size := range map[*op.Op]int{op.ListsList: defaultLists, op.ListsRows: defaultRows} {
		if p := j.file.Operations[o.Name].Paging; p != nil && p.Refused {
			p.Largest = cmp.Or(p.Default, size) // what is in between was not asked
		}
	}
}

// The documented sizes of a page.
const (
	defaultLists = 50
	defaultRows  = 100
	largestPage  = 1000
)

// pagingOf is what the file says about the pages of an operation.
func (j *judge) pagingOf(o *op.Op) *shapes.Paging {
	file := j.file.Operations[o.Name]
	if file.Paging == nil {
		file.Paging = &shapes.Paging{}
	}
	return file.Paging
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

// page judges one page.
func (j *judge) page(p paged, v *view) (differences []string, why string) {
	items, ok := v.at(v.value, "", p.array).([]any)
	if !ok {
		return nil, "there is no array of elements"
	}
	n := int64(len(items))
	if p.page > 1000 && n > 0 {
		return []string{"a page past the end is not empty"}, ""
	}
	page, known := v.number(v.value, "", "pagination.pageNum")
	if known && page != p.page && v.exact("pagination.pageNum") {
		differences = append(differences, fmt.Sprintf("pageNum is not that of the page that was asked for: %d instead of %d", page, p.page))
		if page == 0 {
			j.pagingOf(j.opOf(p.ask)).ShowsZero = true
		}
	}
	pages, known := v.number(v.value, "", "pagination.totalPages")
	records, also := v.number(v.value, "", "pagination.totalRecords")
	total := known && also && v.exact("pagination.totalPages") && v.exact("pagination.totalRecords")
	more := total && records > p.limit*(p.page-1)+n
	size, difference := j.size(p, n, more)
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
			if pages == (records+defaultLists-1)/defaultLists {
				j.pagingOf(op.ListsList).Largest = defaultLists
			}
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
func (j *judge) size(p paged, n int64, more bool) (size int64, difference string) {
	switch seen := j.opOf(p.ask); {
	case p.defaultLimit && more && n > 0 && n != p.limit:
		j.pagingOf(seen).Default = int(n)
		return n, fmt.Sprintf("a page has %d elements by default, instead of %d", n, p.limit)
	case p.defaultLimit && n > p.limit:
		return p.limit, fmt.Sprintf("a page is longer than the documented default of %d", p.limit)
	case n > p.limit:
		return p.limit, "the page is longer than limit"
	case p.limit == largestPage && more && n > 0 && n < p.limit:
		j.pagingOf(seen).Largest = int(n)
		return n, fmt.Sprintf("limit=%d gives only %d elements, although there are more", p.limit, n)
	}
	return p.limit, ""
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

// skips reports whether the second page of one element has the third of the first page, as if pages counted from zero.
func (p paged) skips(first, second *view) bool {
	before, after := first.items(p.array), second.items(p.array)
	total, _ := first.number(first.value, "", "pagination.totalRecords")
	now, known := second.number(second.value, "", "pagination.totalRecords")
	at := func(i int) string { return first.text(before[i], p.array+"[]", "createdAt") }
	switch shown, _ := first.number(first.value, "", "pagination.pageNum"); {
	case !known || now != total || len(before) < 2:
		return false
	case len(before) == 2:
		return len(after) == 0 && total == 2 && shown == 0
	case len(after) != 1 || reflect.DeepEqual(before[1], before[2]) || p.first == "lists" && at(1) == at(2): // lists of one instant have no order
		return false
	}
	return reflect.DeepEqual(before[2], after[0])
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
	j.unmatched()
	j.sorted("rows, largest page", "firstName", "asc")
	j.sorted("rows of companies", "name", "desc")
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
		j.ignores(j.opOf(ask), field)
		j.finish(f, []string{"others are returned, too"}, "")
	default:
		j.finish(f, nil, "")
	}
}

// ignores keeps that parameters of a query change nothing.
func (j *judge) ignores(o *op.Op, parameters ...string) {
	file := j.file.Operations[o.Name]
	for _, name := range parameters {
		if !slices.Contains(file.Ignored, name) {
			file.Ignored = append(file.Ignored, name)
		}
	}
	slices.Sort(file.Ignored)
}

// unmatched judges whether a search that no list matches returns none.
func (j *judge) unmatched() {
	f := Finding{Check: "lists: search", Operation: op.ListsList.Name, Source: Documented}
	all, why := j.viewOf("lists")
	found, also := j.viewOf("lists without match")
	switch why = cmp.Or(why, also); {
	case why != "":
		j.finish(f, nil, why)
	case len(all.items("data")) == 0:
		j.finish(f, nil, "this workspace shows no list")
	case len(found.items("data")) > 0:
		j.ignores(op.ListsList, "search")
		j.finish(f, []string{"search is ignored: lists are returned that cannot match"}, "")
	default:
		j.finish(f, nil, "")
	}
}

// sorted judges whether rows come in the order that was asked for. It compares first letters of one case: the service
// need not sort anything else as this program would.
func (j *judge) sorted(ask, field, order string) {
	f := Finding{Check: "rows: sorted by " + field, Operation: op.ListsRows.Name, Source: Documented}
	v, why := j.viewOf(ask)
	if why != "" {
		j.finish(f, nil, why)
		return
	}
	rises, falls := 0, 0
	before := map[bool]byte{} // by case
	for _, row := range v.items("data") {
		text := v.text(row, "data[]", field)
		if text == "" {
			continue
		}
		letter, small := text[0], text[0] >= 'a' && text[0] <= 'z'
		if !small && (letter < 'A' || letter > 'Z') {
			continue
		}
		switch last := before[small]; {
		case last != 0 && letter > last:
			rises++
		case last != 0 && letter < last:
			falls++
		}
		before[small] = letter
	}
	right, wrong := rises, falls
	if order == "desc" {
		right, wrong = falls, rises
	}
	asked := fmt.Sprintf("sortBy=%s&sortOrder=%s", field, order)
	switch {
	case wrong == 0 && right == 0:
		j.finish(f, nil, "the rows have too few different values of "+field)
	case wrong == 0:
		j.finish(f, nil, "")
	case right == 0:
		j.finish(f, []string{asked + " gives the opposite order"}, "")
	default:
		j.ignores(op.ListsRows, "sortBy", "sortOrder")
		j.finish(f, []string{asked + " is ignored: the rows are in another order"}, "")
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
	f := Finding{Check: "lists: newest first", Operation: op.ListsList.Name, Source: Documented}
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
	f := Finding{Check: "lists: counts", Operation: op.ListsList.Name, Source: Assumed}
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
