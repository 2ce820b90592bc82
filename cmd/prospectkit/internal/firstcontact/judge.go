package firstcontact

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// Report is what differs, and what could not be told. As JSON, it is the same for two runs that meet the same.
type Report struct {
	Format  string    `json:"format"`
	Differs []Finding `json:"differs"`
	Untold  []Untold  `json:"untold"`
	Learnt  []Learnt  `json:"learnt,omitempty"` // of -write
}

// Format is the format of a report as JSON.
const Format = "prospectkit-check/3"

// Finding is a difference: of an operation, of errors, of the limits of a surface, or of every operation.
type Finding struct {
	Operation string `json:"operation"`
	What      string `json:"what"` // path, status, code, param, key, type, value, limit, page, order, filter, header or window
	Detail    string `json:"detail"`
}

// Untold is what could not be told, and why.
type Untold struct {
	Operation string `json:"operation"`
	Why       string `json:"why"`
	Looked    string `json:"-"` // at how much, for people
}

func (r *Run) differs(operation, what, format string, args ...any) {
	r.report.Differs = append(r.report.Differs, Finding{operation, what, fmt.Sprintf(format, args...)})
}

func (r *Run) untold(operation, why string, looked ...int) {
	u := Untold{Operation: operation, Why: why}
	for _, n := range looked {
		u.Looked = fmt.Sprintf(" (it looked at %d)", n)
	}
	r.report.Untold = append(r.report.Untold, u)
}

// Report compares the responses with those of the sandbox.
func (r *Run) Report() *Report {
	all := &r.report
	if r.named("no key").succeeded() && r.named("limit=1001").succeeded() {
		r.untold("everything", "this server responds alike whatever is asked, as a static mock does")
		return all
	}
	for i, a := range plan {
		r.judgeStatus(i)
		if e := r.got.to[i]; e.succeeded() && e.value != nil && r.want.to[i].succeeded() {
			r.judgeFilter(a, e)
			r.judgeKind(a, e.page)
			r.judgePage(a, e.page)
			r.judgeOrder(a, e.page.Data)
		}
	}
	r.judgeLimits()
	r.judgeShapes()
	slices.SortFunc(all.Differs, func(a, b Finding) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	slices.SortFunc(all.Untold, func(a, b Untold) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	all.Differs, all.Untold = slices.Compact(all.Differs), slices.Compact(all.Untold)
	return all
}

// named is the response to an ask, or an empty one.
func (r *Run) named(name string) *exchange {
	return cmp.Or(r.got.to[slices.IndexFunc(plan, func(a ask) bool { return a.name == name })], &exchange{})
}

// some reports whether a response of an operation is so.
func (r *Run) some(o *op.Op, so func(*exchange) bool) bool {
	for i, a := range plan {
		if e := r.got.to[i]; a.op == o && e != nil && so(e) {
			return true
		}
	}
	return false
}

// judgeStatus judges status, code and parameter of a response.
func (r *Run) judgeStatus(i int) {
	a, e, w := plan[i], r.got.to[i], r.want.to[i]
	o, code, given := a.op, e.code(), strings.HasPrefix(a.id, "=")
	found := o == nowhere || r.some(o, func(e *exchange) bool { return e.status < 500 && !e.leadsNowhere() })
	known := (a.id != "" || e.is(400)) && e.failed() && !e.is(422) && (slices.Contains(o.Codes, code) || slices.Contains(o.Likely, code))
	switch {
	case e == nil:
		r.untold(o.Name, a.name+": "+r.got.why[i])
	case e.is(429):
		r.untold(o.Name, a.name+": the rate limit was used up (429)")
	case e.broke() && (!found || w.succeeded() && a.id != ""):
		r.untold(o.Name, fmt.Sprintf("%s: the service failed each time (%d)", a.name, e.status))
	case e.is(403) && o.Scope != op.ScopeAny && (w.succeeded() || !r.some(o, (*exchange).succeeded)):
		r.untold(o.Name, "the key has no access (403): it may lack the scope "+string(o.Scope))
	case e.leadsNowhere() && !found && given:
		r.untold(o.Name, a.name+": the path may be unknown, too")
	case e.leadsNowhere() && !found:
		r.differs(o.Name, "path", "%s leads nowhere (%d)", o.Route(), e.status)
	case w.succeeded() && strings.HasPrefix(a.query, "limit=1000") && e.page.Error.Param == "limit":
		r.differs(o.Name, "limit", "limit=1000, documented as the largest, is refused with a %d", e.status)
	case w.succeeded() && (e.is(409) || known): // a resource may just not be ready, or gone
		r.untold(o.Name, fmt.Sprintf("%s: the response is %v", a.name, e))
	case e.status != w.status:
		r.differs(o.Name, "status", "%s: %v instead of %v", a.name, e, w)
	case e.page.Error.Code != "" && code != w.code():
		r.differs(o.Name, "code", "%s: %s instead of %s", a.name, cmp.Or(code, "another text"), w.code())
	case code != "" && w.page.Error.Param != "" && e.page.Error.Param != w.page.Error.Param:
		r.differs(o.Name, "param", "%s: the error does not name %s", a.name, w.page.Error.Param)
	}
}

// judgeShapes compares what all responses of an operation hold, and all errors, with what the sandbox responds. What differs in all operations
// is one finding.
func (r *Run) judgeShapes() {
	others, operations, by := r.report.Differs, map[string]bool{}, map[Finding][]string{}
	r.report.Differs = nil
	for key, got := range r.got.shapes {
		r.compare(cmp.Or(r.want.shapes[key], got), got)
		operations[got.of] = true
	}
	delete(operations, errorsOf)
	for _, f := range r.report.Differs {
		of := Finding{errorsOf, f.What, f.Detail}
		if f != of {
			of.Operation = "every operation"
		}
		by[of] = append(by[of], f.Operation)
	}
	for of, in := range by {
		slices.Sort(in)
		if in = slices.Compact(in); len(in) > 2 && len(in) == len(operations) {
			in = []string{of.Operation}
		}
		for _, operation := range in {
			others = append(others, Finding{operation, of.What, of.Detail})
		}
	}
	r.report.Differs = others
}

// number is a whole number, or -1.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// judgePage judges the numbers of a page, its length, and the totals.
func (r *Run) judgePage(a ask, p page) {
	differs := func(what, format string, args ...any) { r.differs(a.op.Name, what, a.name+": "+format, args...) }
	first, second := strings.CutSuffix(a.name, ", page 2")
	number := map[bool]int64{false: 1, true: 2}[second]
	largest := r.named(allLists)
	total, size, shown := p.Pagination.TotalRecords, int64(len(p.Data)), p.Pagination.PageNum
	switch {
	case a.none && size > 0:
		differs("page", "elements are returned, although none is there")
		return
	case a.none && total == 0 && largest.succeeded() && largest.page.Pagination.TotalRecords > 0:
		differs("page", "totalRecords is 0")
		return
	case a.page == 0 || p.Data == nil:
		return
	case size > a.page:
		differs("limit", "a page has more than %d elements", a.page)
	case total > (number-1)*a.page+size && size > 0 && size < a.page && shown != 0:
		differs("limit", "a page has only %d elements of %d, although totalRecords says that there are more", size, a.page)
	case min(p.Pagination.TotalPages, total) >= 0 && p.Pagination.TotalPages != (total+a.page-1)/a.page:
		differs("page", "totalPages does not fit totalRecords and a limit of %d", a.page)
	case a.page == 1000 && total <= 100:
		r.untold(a.op.Name, a.name+": too few elements to tell how many a page may have", len(p.Data))
	}
	if shown >= 0 && shown != number {
		differs("page", "pageNum is %d instead of %d", shown, number)
	}
	before := r.named(first)
	newest := func(a, b item) int { return strings.Compare(b.CreatedAt, a.CreatedAt) }
	if !second || size != 1 || !before.succeeded() || before.page.Pagination.TotalRecords != total || a.op == op.ListsList && !slices.IsSortedFunc(before.page.Data, newest) {
		return
	}
	switch n := slices.IndexFunc(before.page.Data, func(i item) bool { return i.ID != "" && i.ID == p.Data[0].ID }); {
	case n == 0 && total > 1:
		differs("page", "it repeats the first element of the first page")
	case n == 2 && (a.op != op.ListsList || newest(before.page.Data[1], before.page.Data[2]) != 0):
		differs("page", "it is the third: pages count from 0")
	}
}

// judgeOrder judges whether elements come in the documented order, or in the one that was asked for. Of texts, it compares first letters
// that are capitals: the service need not sort anything else as this program would.
func (r *Run) judgeOrder(a ask, all []item) {
	field, order, ok := strings.Cut(a.order, " ")
	right, wrong, last := 0, 0, ""
	ids := map[string]bool{}
	for _, i := range all {
		ids[i.ID] = true
		value := map[string]string{"createdAt": i.CreatedAt, "firstName": i.FirstName, "name": i.Name}[field]
		if kindOf(value) != "timestamp" {
			if value == "" || value[0] < 'A' || value[0] > 'Z' {
				continue
			}
			value = value[:1]
		}
		switch sign := strings.Compare(value, last); {
		case last == "" || sign == 0:
		case sign > 0 == (order == "asc"):
			right++
		default:
			wrong++
		}
		last = value
	}
	switch {
	case !ok || all == nil || len(ids) < len(all): // without ids, or with elements twice, there is no order
	case wrong > 0 && right > 0:
		r.differs(a.op.Name, "order", "%s: it is not %s", a.name, a.order)
	case wrong > 0:
		r.differs(a.op.Name, "order", "%s: it is the opposite of %s", a.name, a.order)
	case right == 0:
		r.untold(a.op.Name, "order: too few different values of "+field, len(all))
	}
}

// judgeFilter judges whether the filter that was asked for was heeded.
func (r *Run) judgeFilter(a ask, e *exchange) {
	key, _, _ := strings.Cut(a.query, "=")
	value, n, others := e.asked.Get(key), 0, false
	for _, i := range e.page.items() {
		text := map[string]string{"entityType": i.EntityType, "type": i.Type, "folderId": i.FolderID, "search": i.Name}[key]
		switch {
		case text == value, key == "search" && strings.Contains(strings.ToLower(text), strings.ToLower(value)):
			n++
		case key == "folderId", key == "search" && text != "", slices.Contains(vocabularies[1], text): // what is missing or unknown is told by the body
			others = true
		}
	}
	switch {
	case !slices.Contains([]string{"entityType", "type", "folderId", "search"}, key):
	case others:
		r.differs(a.op.Name, "filter", "%s: others are returned, too", a.name)
	case n == 0 && a.id == "name":
		r.differs(a.op.Name, "filter", "%s: it is not found", a.name)
	case n == 0 && key != "search":
		r.untold(a.op.Name, a.name+": this workspace has none")
	}
}

// judgeKind judges whether rows name the kind of their list, and are counted as such.
func (r *Run) judgeKind(a ask, p page) {
	if !slices.Contains(vocabularies[0], a.id) {
		return
	}
	if p.EntityType != a.id && slices.Contains(vocabularies[0], p.EntityType) {
		r.differs(a.op.Name, "filter", "rows of a %s name the other kind", a.id)
	}
	for _, i := range r.named(allLists).page.Data {
		own, other := i.ContactsCount, i.CompaniesCount
		if a.id == "companyList" {
			own, other = other, own
		}
		if total := p.Pagination.TotalRecords; i.ID == r.got.ids[a.id][0] && own == 0 && other == total && total > 0 {
			r.differs(op.ListsList.Name, "value", "a %s counts its rows as the other kind", a.id)
		}
	}
}

// judgeLimits judges what the headers say of the limits, and of how long to wait.
func (r *Run) judgeLimits() {
	const minute, day, slack, epoch = 60, 86_400, 2, 900_000_000 // seconds; slack is for rounding, and epoch is in 1998
	last, pairs, falls := map[string]*exchange{}, map[string]int{}, map[string]int{}
	for i, a := range plan {
		e, limits, surface := r.got.to[i], op.DocumentedLimits[a.op.Surface], "limits of "+string(a.op.Surface)
		if e == nil || limits == (op.Limits{}) || a.noKey {
			continue
		}
		limit, left, reset, window := e.rate("Limit"), e.rate("Remaining"), e.rate("Reset"), int64(day)
		switch {
		case limit == int64(limits.PerMinute):
			window = minute
		case limit == int64(limits.PerDay) && left > int64(limits.PerMinute):
			r.differs(surface, "window", "the headers describe the day, although the minute has less left")
		case limit >= 0 && limit != int64(limits.PerDay):
			r.differs(surface, "limit", "it is %d instead of %d a minute and %d a day", limit, limits.PerMinute, limits.PerDay)
		}
		switch {
		case reset >= epoch:
			r.differs(surface, "window", "RateLimit-Reset is an instant instead of seconds from now")
		case reset > window+slack:
			r.differs(surface, "window", "RateLimit-Reset is more seconds than the window has: it is longer, or these are milliseconds")
		}
		if b := last[surface]; b != nil && b.rate("Limit") == limit && b.rate("Remaining") > 0 && left >= 0 && int64(e.at.Sub(b.at)/time.Second) < b.rate("Reset")-slack {
			pairs[surface]++ // within one window
			if left < b.rate("Remaining") {
				falls[surface]++
			}
		}
		last[surface] = e
	}
	for surface, n := range pairs {
		if n > 2 && falls[surface] == 0 {
			r.differs(surface, "window", "RateLimit-Remaining does not fall from request to request")
		}
	}
	refused := slices.DeleteFunc(slices.Clone(r.got.log), func(e *exchange) bool { return !e.is(429) })
	for _, e := range refused {
		if _, problem := e.retryAfter(); problem != "" {
			r.differs(errorsOf, "header", "Retry-After %s", problem)
		}
		if e.code() != "RATE_LIMITED" {
			r.differs(errorsOf, "code", "a 429: %s instead of RATE_LIMITED", cmp.Or(e.code(), "no code in the documented place"))
		}
	}
	if len(refused) == 0 {
		r.untold(errorsOf, "Retry-After: no request was refused by a rate limit")
	}
}

// rate is the number of a rate header, or -1.
func (e *exchange) rate(name string) int64 { return number(e.header.Get("RateLimit-" + name)) }
