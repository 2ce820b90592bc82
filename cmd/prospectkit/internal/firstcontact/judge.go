package firstcontact

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"example.com/prospectkit/cmd/prospectkit/internal/shapes"
	"example.com/prospectkit/internal/op"
)

// Verdict is what a run found out about one expectation.
type Verdict string

// The verdicts.
const (
	Held    Verdict = "held"
	Differs Verdict = "differs"
	Untold  Verdict = "could not tell"
)

// Finding is the verdict about one expectation.
type Finding struct {
	Check       string   `json:"check"`
	Operation   string   `json:"operation,omitempty"`
	Source      Source   `json:"source"`
	Rules       []string `json:"rules,omitempty"`    // assumptions of the sandbox that it is about
	Question    string   `json:"question,omitempty"` // that the documentation leaves open
	Verdict     Verdict  `json:"verdict"`
	Differences []string `json:"differences,omitempty"`
	Why         string   `json:"why,omitempty"`    // it could not be told
	Learnt      string   `json:"learnt,omitempty"` // beside the verdict
}

// judge collects findings.
type judge struct {
	*Run
	static bool
	report *Report
	moves  map[string]string // of errors: see [shapes.Comparison]
}

// finish makes a verdict of differences: held if there is none.
func (j *judge) finish(f Finding, differences []string, why string) {
	f.Verdict, f.Differences, f.Why = Held, differences, why
	count := &j.report.Held
	switch {
	case len(differences) > 0:
		f.Verdict, f.Why, count = Differs, "", &j.report.Differ
	case why != "":
		f.Verdict, count = Untold, &j.report.Untold
	}
	*count++
	j.report.Findings = append(j.report.Findings, f)
}

// finishUnread finishes where nothing was read: what differs settles no question then.
func (j *judge) finishUnread(f Finding, differences []string, why string) {
	if len(differences) > 0 {
		f.Question = ""
	}
	j.finish(f, differences, why)
}

// Report compares what was received with what is expected.
func (r *Run) Report() *Report {
	j := &judge{Run: r, report: &Report{Format: Format, Requests: r.Sent()}}
	j.static = j.findsAll() || j.pagesAlike() // what is asked makes no difference
	for i := range descriptions {
		d := &descriptions[i]
		j.route(d)
		j.response(d)
	}
	if j.static {
		j.failures()
		j.finish(Finding{Check: "everything else", Source: Documented}, nil, "this server responds alike whatever is asked, as a static mock does")
	} else {
		j.errors()
		j.paging()
		j.filters()
		j.failures()
		j.headers()
		j.windows()
	}
	return j.report
}

// pagesAlike reports whether no key is needed and all pages are the same.
func (j *judge) pagesAlike() bool {
	first := j.named("lists").last
	return j.named("no key").last.succeeded() && first != nil &&
		!slices.ContainsFunc([]string{"lists, page 2", "lists, past the end", "limit over 1000"}, func(name string) bool {
			e := j.named(name).last
			return !e.succeeded() || !bytes.Equal(e.body, first.body)
		})
}

// findsAll reports whether all unknown ids are found.
func (j *judge) findsAll() bool {
	asked := 0
	for _, a := range j.asks {
		if a.fails == nil || a.fails.status != http.StatusNotFound || a.ids == nil || a.last == nil {
			continue
		}
		if asked++; !a.last.succeeded() {
			return false
		}
	}
	return asked > 1
}

// asked returns the results of the asks of an operation that expect a success: the successes, the first response of all, and the
// reason if there are none.
func (j *judge) asked(o *op.Op) (successes []*exchange, first *exchange, why string) {
	for _, a := range j.asks {
		switch e := a.last; {
		case a.op != o || a.fails != nil:
		case e == nil:
			why = cmp.Or(why, a.why)
		default:
			first = cmp.Or(first, e)
			if e.succeeded() {
				successes = append(successes, e)
			}
		}
	}
	return successes, first, cmp.Or(why, first.refusal())
}

// route judges where an operation is.
func (j *judge) route(d *description) {
	o := d.op
	f := Finding{Check: o.Name + ": path", Operation: o.Name, Source: Documented}
	if o.Provenance != op.Documented {
		f.Source = Assumed
	}
	successes, first, why := j.asked(o)
	reached := len(successes) > 0
	found, moved := j.routes[o]
	switch {
	case j.missing[o]:
		difference := fmt.Sprintf("%s leads nowhere", o.Route())
		if j.guessed[o] {
			difference += ", and so do similar paths; -route sets the right one"
		}
		j.finish(f, []string{difference}, "")
	case moved && reached && found != o.Path && o.Path != "":
		j.finish(f, []string{fmt.Sprintf("%s leads nowhere: found at GET %s", o.Route(), found)}, "")
	case reached:
		if o.Path == "" {
			f.Learnt = "found at GET " + found
		}
		j.finish(f, nil, "")
	case first != nil && !j.static && first.status < 500 && o.Path != "" && (first.status != http.StatusForbidden || o.Scope == op.ScopeAny):
		j.finish(f, nil, "") // it is there, and refuses
	default:
		j.finish(f, nil, why)
	}
}

// refusal says why a response is unsuccessful.
func (e *exchange) refusal() string {
	switch {
	case e == nil:
		return "it was not asked"
	case e.status == http.StatusForbidden && e.ask.op.Scope != op.ScopeAny:
		return fmt.Sprintf("the key has no access (403): it may lack the scope %s", e.ask.op.Scope)
	case e.status == http.StatusTooManyRequests:
		return "the rate limit was used up (429)"
	}
	return strings.TrimSpace(fmt.Sprintf("the response was %d %s", e.status, e.code()))
}

// response judges the successes of an operation: status, type and content.
func (j *judge) response(d *description) {
	o := d.op
	f := Finding{Check: o.Name + ": response", Operation: o.Name, Source: d.source, Rules: d.rules, Question: d.asks}
	successes, first, why := j.asked(o)
	if len(successes) == 0 {
		j.finishUnread(f, j.unsuccessful(o, first), why)
		return
	}
	var differences []string
	if !j.static {
		differences = append(outside(successes), j.refusals(o)...)
	}
	seen := j.bodies[o]
	empty := seen.IsEmpty()
	if slices.ContainsFunc(successes, (*exchange).isGarbled) {
		j.finishUnread(f, append(differences, "the response is no JSON"), "")
		return
	}
	switch {
	case empty && (d.source == Assumed || j.static):
		j.finish(f, differences, "the response is empty")
		return
	case seen == nil && len(bytes.TrimSpace(successes[0].body)) == 0:
		j.finishUnread(f, append(differences, "the response is empty"), "")
		return
	}
	c := j.compare(described()[o], seen, j.static)
	if j.static && d.source == Assumed {
		j.finish(f, nil, "its content is undocumented, and this server responds alike whatever is asked")
		return
	}
	if why = ""; len(c.Untold) > 0 {
		why = strings.Join(c.Untold, ", ") + " has no element in this workspace"
	}
	j.finish(f, append(differences, c.Differences...), why)
}

// unsuccessful judges an operation without a success.
func (j *judge) unsuccessful(o *op.Op, e *exchange) []string {
	switch {
	case j.missing[o] || j.static || e == nil:
	case e.status == http.StatusTooManyRequests, e.status >= http.StatusInternalServerError && !j.fails(o): // by chance, it may be
	case e.status == http.StatusForbidden && o.Scope == op.ScopeAny:
		return []string{fmt.Sprintf("responds with %d, although every valid key has access", e.status)}
	case e.isOdd():
		return []string{fmt.Sprintf("responds with %d instead of 200", e.status)}
	case e.status >= http.StatusInternalServerError:
		return []string{fmt.Sprintf("responds with %d to every request", e.status)}
	}
	return nil
}

// fails reports whether an operation failed whenever it was asked, more than once.
func (j *judge) fails(o *op.Op) bool {
	return j.always5xx(func(a *ask) bool { return a.op == o && !a.noKey })
}

// failsAt reports whether a request failed whenever it was sent, more than once.
func (j *judge) failsAt(a *ask) bool {
	return j.always5xx(func(other *ask) bool { return other == a })
}

func (j *judge) always5xx(of func(*ask) bool) bool {
	asked := slices.DeleteFunc(slices.Clone(j.log), func(e *exchange) bool { return !of(e.ask) })
	return len(asked) > 1 && !slices.ContainsFunc(asked, func(e *exchange) bool { return e.status < http.StatusInternalServerError })
}

// failures judges whether requests fail by chance.
func (j *judge) failures() {
	f := Finding{Check: "requests: failures", Source: Documented}
	failed, status := 0, 0
	for _, e := range j.log {
		if e.status >= http.StatusInternalServerError && !e.isOdd() && !j.fails(e.ask.op) && !j.failsAt(e.ask) {
			failed, status = failed+1, e.status
		}
	}
	text := fmt.Sprintf("%d of %d requests got a %d, others for the same did not", failed, len(j.log), status)
	switch failed {
	case 0:
		j.finish(f, nil, "")
	case 1:
		j.finish(f, nil, text+": it may be chance")
	default:
		j.finish(f, []string{text}, "")
	}
}

// refusals are valid requests that were refused, although others were not.
func (j *judge) refusals(o *op.Op) (all []string) {
	for _, a := range j.asks {
		e := a.last
		if a.op != o || a.fails != nil || e == nil || e.succeeded() {
			continue
		}
		v := &view{value: e.value}
		if a.asks("limit=1000") && v.text(v.value, "", "error.param") == "limit" {
			all = append(all, fmt.Sprintf("limit=1000, documented as the largest, is refused with a %d", e.status))
			continue
		}
		if e.isOdd() || j.failsAt(a) || e.status == http.StatusUnprocessableEntity && e.code() == "VALIDATION_FAILED" {
			all = append(all, fmt.Sprintf("a valid request for %s gets a %d", a.likes, e.status))
		}
	}
	return all
}

// isOdd reports whether an unsuccessful response to a valid request contradicts the documentation.
func (e *exchange) isOdd() bool {
	o, code := e.ask.op, e.code()
	switch {
	case e.status == http.StatusNotImplemented: // which does not pass
		return true
	case e.status == http.StatusForbidden:
		return o.Scope == op.ScopeAny
	case e.status >= 500, e.status == http.StatusTooManyRequests, e.status == http.StatusConflict:
		return false
	case slices.Contains(o.Codes, code), slices.Contains(o.Likely, code):
		return false
	}
	return true
}

// outside judges status and content type.
func outside(successes []*exchange) []string {
	all := map[string]bool{}
	for _, e := range successes {
		if e.status != http.StatusOK {
			all[fmt.Sprintf("the status is %d instead of 200", e.status)] = true
		}
		if len(e.body) > 0 && e.mediaType() != "application/json" {
			all["the content type is not application/json"] = true
		}
		if bytes.HasPrefix(e.body, byteOrder) {
			all["the response begins with a byte order mark"] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// errors judges the errors that were expected.
func (j *judge) errors() {
	differences, why := j.envelope()
	j.finish(Finding{Check: "errors: envelope", Source: Documented}, differences, why)
	for _, a := range j.asks {
		if a.fails != nil {
			differences, why := j.failure(a)
			j.finish(Finding{Check: "errors: " + a.name, Operation: a.op.Name, Source: a.fails.source, Rules: a.fails.rules}, differences, why)
		}
	}
}

// envelope judges the body of all errors together.
func (j *judge) envelope() (differences []string, why string) {
	body := &shapes.Shape{}
	n, marked, other := 0, false, false
	for _, a := range j.asks {
		e := a.last
		if e == nil || e.status < 400 || e.status >= 500 {
			continue
		}
		n++
		if !e.isJSON {
			differences = append(differences, fmt.Sprintf("the error for %q is no JSON", a.name))
			continue
		}
		j.observer.See(body, e.value)
		marked = marked || bytes.HasPrefix(e.body, byteOrder)
		other = other || e.mediaType() != "application/json"
	}
	if n == 0 {
		return nil, "there was no error"
	}
	if marked {
		differences = append(differences, "errors begin with a byte order mark")
	}
	if other {
		differences = append(differences, "the content type is not application/json")
	}
	if body.Kinds != nil {
		c := j.compare(described()[nil], body, false)
		j.moves = c.Moves
		differences = append(differences, c.Differences...)
	}
	return differences, ""
}

// failure judges one expected error.
func (j *judge) failure(a *ask) (differences []string, why string) {
	e := a.last
	switch {
	case e == nil, e.status == http.StatusForbidden && a.op.Scope != op.ScopeAny, e.status == http.StatusTooManyRequests,
		e.status >= 500 && !a.noKey && (j.fails(a.op) || !j.failsAt(a)):
		return nil, a.reason()
	}
	code := e.code()
	if e.succeeded() {
		return []string{fmt.Sprintf("responds with %d instead of %d %s", e.status, a.fails.status, a.fails.code)}, ""
	}
	if e.status != a.fails.status {
		differences = append(differences, fmt.Sprintf("the status is %d instead of %d", e.status, a.fails.status))
	}
	if code != a.fails.code && !e.isGarbled() {
		differences = append(differences, fmt.Sprintf("the code is %s instead of %s", cmp.Or(code, "missing"), a.fails.code))
	}
	if a.fails.param != "" && code == a.fails.code {
		differences = append(differences, j.param(a, e)...)
	}
	return differences, ""
}

// param judges which field an error names.
func (j *judge) param(a *ask, e *exchange) []string {
	v := &view{e.value, j.moves}
	param := v.text(v.value, "", "error.param")
	switch {
	case param == a.fails.param, v.text(v.value, "", "error.code") == "", // the envelope tells that it has no such place
		param == "" && v.at(v.value, "", "error.param") != nil: // or another type
		return nil
	case param == "":
		return []string{fmt.Sprintf("the error does not name %s", a.fails.param)}
	case !shapes.IsName(param):
		return []string{fmt.Sprintf("the error names another field than %s", a.fails.param)}
	}
	return []string{fmt.Sprintf("the error names %s instead of %s", param, a.fails.param)}
}
