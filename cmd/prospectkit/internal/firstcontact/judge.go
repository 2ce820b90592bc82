package firstcontact

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"example.com/prospectkit/internal/op"
)

// Report is what differs, and what could not be told. As JSON, it is the same for two runs that meet the same.
type Report struct {
	Format  string       `json:"format"`
	Differs []Difference `json:"differs"`
	Untold  []Untold     `json:"untold"`
	Learnt  []Learnt     `json:"learnt,omitempty"` // of -write
}

// Format is the format of a report as JSON.
const Format = "prospectkit-check/2"

// Difference is one, of an operation, a surface or the error envelope.
type Difference struct {
	About      string `json:"about"`
	Source     Source `json:"source"`
	Difference string `json:"difference"`
}

// Untold is what could not be told, and why.
type Untold struct {
	About  string `json:"about"`
	Why    string `json:"why"`
	Looked string `json:"-"` // at how much, for people
}

func (r *Run) differs(about string, source Source, format string, args ...any) {
	r.report.Differs = append(r.report.Differs, Difference{about, source, fmt.Sprintf(format, args...)})
}

func (r *Run) untold(about, why string) {
	r.report.Untold = append(r.report.Untold, Untold{About: about, Why: why})
}

// Report compares what was received with what is expected.
func (r *Run) Report() *Report {
	static := r.named("no key").got.succeeded() && r.named("limit=1001").got.succeeded()
	for i := range descriptions[1:] {
		d := &descriptions[i+1]
		r.judgeOp(d.op, d.source, describe(d.body), static)
	}
	if static {
		r.untold("everything else", "this server responds alike whatever is asked, as a static mock does")
	} else {
		r.judgeErrors()
		r.judgePages()
		r.judgeOrder()
		r.judgeFilters()
		r.judgeHeaders()
	}
	all := &r.report
	slices.SortStableFunc(all.Differs, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.About, b.About), cmp.Compare(a.Difference, b.Difference))
	})
	all.Differs = slices.Compact(all.Differs)
	slices.SortStableFunc(all.Untold, func(a, b Untold) int { return cmp.Or(cmp.Compare(a.About, b.About), cmp.Compare(a.Why, b.Why)) })
	all.Untold = slices.CompactFunc(all.Untold, func(a, b Untold) bool { return a.About == b.About && a.Why == b.Why })
	return all
}

func (r *Run) named(name string) *ask {
	return r.asks[slices.IndexFunc(r.asks, func(a *ask) bool { return a.name == name })]
}

// judgeOp judges the responses to valid requests for an operation: status, form and content.
func (r *Run) judgeOp(o *op.Op, source Source, want any, static bool) {
	var seen []any
	var refused []*ask
	empty, worked := false, false
	for _, a := range r.asks {
		if a.op != o || a.fails.status != 0 {
			continue
		}
		if !a.got.succeeded() {
			refused = append(refused, a)
			continue
		}
		worked = true
		if !static {
			r.judgeForm(o.Name, a.got)
		}
		switch {
		case a.got.isJSON:
			seen = append(seen, a.got.value)
		case len(bytes.TrimSpace(a.got.body)) == 0:
			empty = true
		default:
			r.differs(o.Name, source, "the response is no JSON")
		}
	}
	for _, a := range refused {
		r.judgeRefusal(a, worked, static)
	}
	switch {
	case source == Assumed && static && worked:
		r.untold(o.Name, "its content is undocumented, and this server responds alike whatever is asked")
		return
	case empty && (static || source == Assumed):
		r.untold(o.Name, "the response is empty")
	case empty:
		r.differs(o.Name, source, "the response is empty")
	}
	c := comparison{lenient: static}
	if len(seen) > 0 {
		c.compare("", want, seen)
	}
	for _, text := range c.differences {
		r.differs(o.Name, source, "%s", text)
	}
	if len(c.empty) > 0 {
		r.untold(o.Name, strings.Join(c.empty, ", ")+": no element in this workspace")
	}
}

// judgeForm judges status and content type of a success.
func (r *Run) judgeForm(about string, e *exchange) {
	if e.status != 200 {
		r.differs(about, Documented, "the status is %d instead of 200", e.status)
	}
	r.judgeType(about, "the response", e)
}

func (r *Run) judgeType(about, what string, e *exchange) {
	if len(e.body) > 0 && e.mediaType() != "application/json" {
		r.differs(about, Documented, "%s is not declared as application/json", what)
	}
	if bytes.HasPrefix(e.body, byteOrder) {
		r.differs(about, Documented, "%s begins with a byte order mark", what)
	}
}

// judgeRefusal judges an unsuccessful response to a valid request.
func (r *Run) judgeRefusal(a *ask, othersWork, static bool) {
	o, e := a.op, a.got
	source := Documented
	if o.Provenance != op.Documented {
		source = Assumed
	}
	switch code := e.code(); {
	case e == nil:
		r.untold(o.Name, a.name+": "+a.why)
	case e.is(403) && o.Scope != op.ScopeAny:
		r.untold(o.Name, "the key has no access (403): it may lack the scope "+string(o.Scope))
	case e.is(429):
		r.untold(o.Name, a.name+": the rate limit was used up (429)")
	case static:
		r.untold(o.Name, fmt.Sprintf("%s: the status is %d", a.name, e.status))
	case e.leadsNowhere() && !othersWork, slices.Contains([]int{404, 405, 410}, e.status) && a.id == "" && !othersWork:
		r.differs(o.Name, source, "%s leads nowhere (%d): -route sets another path", o.Route(), e.status)
	case strings.Contains("&"+a.query, "&limit=1000") && text(e.value, "error", "param") == "limit":
		r.differs(o.Name, Documented, "limit=1000, documented as the largest, is refused with a %d", e.status)
	case e.is(409), e.status < 500 && !e.is(403) && !e.is(422) && a.id != "" && (slices.Contains(o.Codes, code) || slices.Contains(o.Likely, code)):
		r.untold(o.Name, fmt.Sprintf("%s: the response is %d %s", a.name, e.status, code))
	default:
		r.differs(o.Name, Documented, "%s", strings.TrimSpace(fmt.Sprintf("a valid request (%s) gets a %d %s", a.name, e.status, code)))
	}
}

// leadsNowhere reports whether a response says that there is no such path.
func (e *exchange) leadsNowhere() bool {
	return slices.Contains([]int{404, 405, 410}, e.status) && (e.code() == "ENDPOINT_NOT_FOUND" || e.code() == "")
}

// code is the code of an error, if it looks like one.
func (e *exchange) code() string {
	if e == nil {
		return ""
	}
	if code := text(e.value, "error", "code"); isName(code) {
		return code
	}
	return ""
}

// works reports whether an operation responds to any request.
func (r *Run) works(o *op.Op) bool {
	return slices.ContainsFunc(r.asks, func(a *ask) bool { return a.op == o && a.got != nil && a.got.status < 500 && !a.got.leadsNowhere() })
}

// judgeErrors judges the errors that were expected, and their envelope.
func (r *Run) judgeErrors() {
	const envelope = "errors"
	var seen []any
	for _, a := range r.asks {
		e, want := a.got, a.fails
		if e != nil && e.status >= 400 && e.status < 500 {
			r.judgeType(envelope, "an error", e)
			if e.isJSON {
				seen = append(seen, e.value)
			} else {
				r.differs(envelope, Documented, "the error for %s is no JSON", a.name)
			}
		}
		switch code := e.code(); {
		case want.status == 0, e != nil && want.code != "ENDPOINT_NOT_FOUND" && e.leadsNowhere() && !r.works(a.op): // judgeRefusal says it
		case e == nil:
			r.untold(envelope, a.name+": "+a.why)
		case e.is(403) && !a.noKey && a.op.Scope != op.ScopeAny, e.is(429), e.status >= 500 && !r.works(a.op):
			r.untold(envelope, fmt.Sprintf("%s: the response is %d", a.name, e.status))
		case e.succeeded(), e.status != want.status:
			r.differs(envelope, want.source, "%s: the status is %d instead of %d %s", a.name, e.status, want.status, want.code)
		case code != want.code && e.isJSON && at(e.value, "error", "code") != nil:
			r.differs(envelope, want.source, "%s: the code is %s instead of %s", a.name, cmp.Or(code, "another text"), want.code)
		case want.param != "" && code == want.code && text(e.value, "error", "param") != want.param:
			r.differs(envelope, want.source, "%s: the error does not name %s", a.name, want.param)
		}
	}
	if len(seen) == 0 {
		r.untold(envelope, "there was no error")
		return
	}
	var c comparison
	c.compare("", describe(descriptions[0].body), seen)
	for _, text := range c.differences {
		r.differs(envelope, Documented, "%s", text)
	}
}

// pages are the requests for pages: which, how many elements they may have, and the request for the first page, if it is the second.
var pages = []struct {
	ask         string
	page, limit int64
	first       string
}{
	{"lists", 1, 50, ""},
	{"lists, 1,000 a page", 1, 1000, ""},
	{"lists, page 2", 2, 1, "lists, 1,000 a page"},
	{"rows", 1, 100, ""},
	{"rows, 1,000 a page", 1, 1000, ""},
	{"rows, page 2", 2, 1, "rows"},
	{"rows of companies", 1, 100, ""},
}

// judgePages judges the numbers of pages, their length, and the totals.
func (r *Run) judgePages() {
	for _, p := range pages {
		a := r.named(p.ask)
		all, ok := at(valueOf(a), "data").([]any)
		if !ok {
			continue // judgeOp says why
		}
		about := func(format string, args ...any) { r.differs(a.op.Name, Documented, p.ask+": "+format, args...) }
		total, size, shown := number(a.got.value, "pagination", "totalRecords"), int64(len(all)), number(a.got.value, "pagination", "pageNum")
		if shown >= 0 && shown != p.page {
			about("pageNum is %d instead of %d", shown, p.page)
		}
		more, length := total > (p.page-1)*p.limit+size, p.limit
		switch {
		case size > p.limit:
			about("a page has %d elements, limit is %d", size, p.limit)
		case more && size > 0 && size < p.limit && shown != 0:
			about("a page has only %d elements of %d, although there are more: limit is smaller", size, p.limit)
			length = size
		case p.page == 1 && p.limit == 1000 && total <= 100:
			r.report.Untold = append(r.report.Untold, Untold{a.op.Name, p.ask + ": too few elements to tell how many a page may have", looked(size)})
		}
		if of := number(a.got.value, "pagination", "totalPages"); of >= 0 && total >= 0 && length == p.limit && of != (total+p.limit-1)/p.limit {
			about("totalPages does not fit totalRecords and a limit of %d", p.limit)
		}
		if p.first != "" {
			r.judgeSecond(a, p.first, all, total)
		}
	}
	if past := r.named("lists, past the end"); len(items(valueOf(past), "data")) > 0 {
		r.differs(past.op.Name, Documented, "a page past the end is not empty")
	}
}

// judgeSecond judges whether a second page of one element follows the first one.
func (r *Run) judgeSecond(a *ask, first string, second []any, total int64) {
	before := items(valueOf(r.named(first)), "data")
	if len(before) > 1 && a.op == op.ListsList && text(before[0], "createdAt") < text(before[1], "createdAt") {
		return // the order is what differs
	}
	if len(second) != 1 || len(before) < 2 || number(valueOf(r.named(first)), "pagination", "totalRecords") != total {
		return
	}
	switch is := func(i int) bool { return i < len(before) && reflect.DeepEqual(before[i], second[0]) }; {
	case is(1):
	case is(0):
		r.differs(a.op.Name, Documented, "%s repeats the first element of the first page", a.name)
	case is(2) && !sameTime(before[1], before[2]):
		r.differs(a.op.Name, Documented, "%s is the third: pages count from 0", a.name)
	}
}

func sameTime(a, b any) bool { return text(a, "createdAt") == text(b, "createdAt") }

// valueOf is a success, or nil.
func valueOf(a *ask) any {
	if !a.got.succeeded() {
		return nil
	}
	return a.got.value
}

func looked(n int64) string { return fmt.Sprintf("it looked at %d", n) }

// judgeOrder judges whether elements come in the documented order, or in the one that was asked for.
func (r *Run) judgeOrder() {
	for _, o := range []struct{ ask, field, order string }{
		{"lists, 1,000 a page", "createdAt", "desc"}, {"rows, 1,000 a page", "firstName", "asc"}, {"rows of companies", "name", "desc"},
	} {
		a := r.named(o.ask)
		all := items(valueOf(a), "data")
		ids := map[string]bool{}
		for _, item := range all {
			ids[text(item, "id")] = true
		}
		if len(ids) < len(all) {
			continue // without ids, or with elements twice, there is no order
		}
		rises, falls := 0, 0
		before := map[bool]string{}
		for _, item := range all {
			value := text(item, o.field)
			key := false
			if o.field != "createdAt" { // first letters of one case: the service need not sort anything else as this program would
				if value == "" || !strings.ContainsAny(value[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
					continue
				}
				value, key = value[:1], value[0] >= 'a'
			}
			switch last := before[key]; {
			case last == "" || len(last) != len(value):
			case value > last:
				rises++
			case value < last:
				falls++
			}
			before[key] = value
		}
		right, wrong := rises, falls
		if o.order == "desc" {
			right, wrong = falls, rises
		}
		switch {
		case valueOf(a) == nil:
		case wrong > 0 && o.field == "createdAt":
			r.differs(a.op.Name, Documented, "order: an older list comes before a newer one")
		case wrong > 0 && right == 0:
			r.differs(a.op.Name, Documented, "order: sortBy=%s&sortOrder=%s gives the opposite order", o.field, o.order)
		case wrong > 0:
			r.differs(a.op.Name, Documented, "order: sortBy=%s&sortOrder=%s is ignored", o.field, o.order)
		case right == 0:
			r.report.Untold = append(r.report.Untold, Untold{a.op.Name, "order: too few different values of " + o.field, looked(int64(len(all)))})
		}
	}
}

// judgeFilters judges whether what was asked for was heeded, and whether lists and rows name their kind.
func (r *Run) judgeFilters() {
	only := func(ask, array, field, value string, kinds ...string) {
		a, n := r.named(ask), 0
		for _, item := range items(valueOf(a), array) {
			switch kind := text(item, field); {
			case kind == value:
				n++
			case slices.Contains(kinds, kind): // what is unknown is told by the response
				r.differs(a.op.Name, Documented, "%s=%s is ignored: others are returned", field, value)
				return
			}
		}
		if n == 0 && valueOf(a) != nil {
			r.untold(a.op.Name, field+"="+value+": this workspace has none")
		}
	}
	only("company lists", "data", "entityType", "companyList", "contactList")
	for _, kind := range []string{"contactList", "companyList", "campaign", "agent"} {
		only("folders of "+kind, "folders", "type", kind, "contactList", "companyList", "campaign", "agent")
	}
	if search := r.named("lists, search"); len(items(valueOf(search), "data")) > 0 {
		r.differs(search.op.Name, Documented, "search is ignored: lists are returned that cannot match")
	}
	for kind, ask := range map[string]string{"contactList": "rows", "companyList": "rows of companies"} {
		a := r.named(ask)
		other := map[string]string{"contactList": "companyList", "companyList": "contactList"}[kind]
		if text(valueOf(a), "entityType") == other {
			r.differs(a.op.Name, Documented, "rows of a %s name the other kind", kind)
		}
	}
	sortable := map[string][]string{"rows": {"firstName", "lastName", "jobTitle", "createdAt"}, "rows of companies": {"name", "domain", "industry", "revenue", "socialHeadCount"}}
	for ask, names := range sortable {
		a := r.named(ask)
		rows := items(valueOf(a), "data")
		missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return slices.ContainsFunc(rows, func(row any) bool { _, ok := row.(map[string]any)[name]; return ok })
		})
		if len(rows) >= 5 && len(missing) > 0 && len(missing) != len(names)-1 { // one name alone may be chance
			r.differs(a.op.Name, Documented, "%s: no row has %s, by which rows can be sorted", ask, strings.Join(missing, ", "))
		}
	}
	for _, item := range items(valueOf(r.named("lists, 1,000 a page")), "data") {
		contacts, companies := number(item, "contactsCount"), number(item, "companiesCount") // -1 if one is missing
		if kind := text(item, "entityType"); min(contacts, companies) >= 0 && (kind == "contactList" && companies > contacts || kind == "companyList" && contacts > companies) {
			r.differs(op.ListsList.Name, Assumed, "a list counts the other kind")
		}
	}
}
