package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// Fault is a rule that makes requests fail. Set one with [Sandbox.Fail].
type Fault struct {
	number int
	setAt  string // in a test
	op     string // "*" is every operation
	words  []string

	when []func(*http.Request) bool
	turn func(n int) bool // whether the nth matching request is hit; nil hits all
	seen int
	hits int

	turns, responses, cuts int // how many options say which requests, which response and how the connection ends

	instead  *response // of the service's response
	applied  bool      // and yet it did its work
	drop     drop
	reset    bool
	latency  time.Duration
	stall    time.Duration
	truncate func(length int64) int64 // nil is off
	oversize int64
	edits    []func(*response)
	again    int  // how often the service gets the request once more
	cap      *int // of the totals of a page; zero is not decided yet
}

// noFault is that of a request to which nothing is done.
var noFault = new(Fault)

// drop says where the connection is cut.
type drop int

const (
	dropNever  drop = iota
	dropRefuse      // before it began
	dropBefore      // before anything was done
	dropAfter       // when everything was done
)

// FaultOption says which requests a fault affects, or what it does to them.
type FaultOption func(*Fault) error

// Fail makes an operation fail: "lists.rows" for example, or "*" for all. Options say what happens, and when; the default is every
// time. If several faults match a request, the one set first is used.
//
// A mistake in the rule is reported at once. A fault that never fired is reported when the test ends.
func (sb *Sandbox) Fail(opName string, opts ...FaultOption) *Fault {
	f, err := newFault(opName, opts)
	if err := errors.Join(sb.checkTarget(opName), err); err != nil {
		sb.misuse("Fail(%q): %v", opName, err)
		return f
	}
	sb.addFault(f)
	return f
}

func newFault(opName string, opts []FaultOption) (*Fault, error) {
	f := &Fault{op: opName}
	for _, opt := range opts {
		if err := opt(f); err != nil {
			return f, err
		}
	}
	return f, f.check()
}

func (sb *Sandbox) addFault(f *Fault) {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	f.number, f.setAt = len(sb.faults)+1, callSite()
	sb.faults = append(sb.faults, f)
}

func (sb *Sandbox) checkTarget(opName string) error {
	if opName == "*" {
		return nil
	}
	o, ok := op.ByName(opName)
	switch {
	case !ok:
		return fmt.Errorf("no operation has the name %q: docs/operations.md lists them", opName)
	case sb.pattern(o) == "":
		return errors.New("the path of this operation is undocumented: set one with WithRoute")
	}
	return nil
}

func (f *Fault) check() error {
	responds := f.instead != nil
	alters := len(f.edits) > 0 || f.truncate != nil || f.stall > 0 || f.oversize > 0 || f.cap != nil
	if f.reset && f.drop == dropNever {
		f.drop = dropBefore
	}
	switch {
	case f.turns > 1:
		return errors.New("two options say which requests are affected")
	case f.responses > 1:
		return errors.New("two options set the response")
	case f.cuts > 1:
		return errors.New("two options say how the connection ends")
	case !responds && !alters && f.drop == dropNever && f.latency == 0:
		return errors.New("the fault does nothing: it lacks an option for what happens, such as DropAfter")
	case f.drop != dropNever && (responds || alters):
		return errors.New("a cut connection has no response, so no option may change it")
	case f.again > 0 && responds:
		return errors.New("Resent is for the service's own responses")
	case f.applied && !responds:
		return errors.New("Applied needs a response in place of the service's")
	case f.drop == dropRefuse && f.reset:
		return errors.New("a refused connection cannot be reset")
	}
	return nil
}

// Hits returns how often the fault fired.
func (sb *Sandbox) Hits(f *Fault) int {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	return f.hits
}

// Clear removes all faults. Those that have not fired are not reported.
func (sb *Sandbox) Clear() {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	sb.faults = nil
}

// String says what the fault does.
func (f *Fault) String() string {
	if f == noFault {
		return ""
	}
	words := strings.Join(f.words, ", ")
	if f.number == 0 { // of EveryFailure
		return f.op + ": " + words
	}
	return fmt.Sprintf("fault %d, %s: %s", f.number, f.op, words)
}

// fits finds the faults whose conditions a request meets. Conditions are code of the test, which must not run under the lock.
func (sb *Sandbox) fits(o *op.Op, r *http.Request, body []byte) []*Fault {
	sb.mu.Lock()
	candidates := slices.Clone(sb.faults)
	sb.mu.Unlock()
	return kept(candidates, func(f *Fault) bool { return f.matches(o, r, body) })
}

func (f *Fault) matches(o *op.Op, r *http.Request, body []byte) bool {
	if f.op != "*" && (o == nil || o.Name != f.op) {
		return false
	}
	for _, when := range f.when {
		seen := r.Clone(r.Context())
		seen.Body = io.NopCloser(bytes.NewReader(body))
		if !when(seen) {
			return false
		}
	}
	return true
}

// trip counts the request for every matching fault and returns the one that affects it.
func (sb *Sandbox) trip(fitting []*Fault) (hit *Fault) {
	for _, f := range fitting {
		f.seen++
		if hit != nil || f.turn != nil && !f.turn(f.seen) {
			continue
		}
		hit = f
		f.hits++
	}
	return hit
}

// serves reports whether the service applies the request.
func (f *Fault) serves() bool {
	return (f.instead == nil || f.applied) && (f.drop == dropNever || f.drop == dropAfter)
}

// response is the fault's response. Unless it is [Applied], the rules never see the request: nothing is applied, counted or billed.
func (f *Fault) response(c *call) response {
	a := *f.instead
	a.header = a.header.Clone()
	if a.header == nil {
		a.header = http.Header{}
	}
	if a.header.Get("Content-Type") == "" && a.body == nil && a.code != "" {
		a.body = envelope(a.code, "Injected by "+f.String()+".", "", c.id)
		a.header.Set("Content-Type", "application/json")
	}
	f.transform(&a)
	return a
}

func (f *Fault) transform(a *response) {
	if f == noFault {
		return
	}
	a.header.Set("X-Sandbox-Fault", strconv.Itoa(f.number))
	for _, edit := range f.edits {
		edit(a)
	}
}

// option changes a fault, in words, if its value is as it has to be.
func option(valid bool, rule string, change func(*Fault), words string, args ...any) FaultOption {
	return func(f *Fault) error {
		said := fmt.Sprintf(words, args...)
		if !valid {
			return fmt.Errorf("%s: %s", said, rule)
		}
		change(f)
		f.words = append(f.words, said)
		return nil
	}
}

// does is an option that is always valid.
func does(change func(*Fault), words string, args ...any) FaultOption {
	return option(true, "", change, words, args...)
}

const atLeast1 = "has to be at least 1"

func turns(valid bool, turn func(n int) bool, words string, args ...any) FaultOption {
	return option(valid, atLeast1, func(f *Fault) {
		f.turn = turn
		f.turns++
	}, words, args...)
}

// Nth affects only the nth matching request after [Sandbox.Fail], counted from 1, of all keys and workspaces together.
func Nth(n int) FaultOption {
	return turns(n > 0, func(i int) bool { return i == n }, "request %d", n)
}

// First affects the first n matching requests after [Sandbox.Fail], with n at least 1.
func First(n int) FaultOption {
	return turns(n > 0, func(i int) bool { return i <= n }, "the first %d", n)
}

// Every affects each nth matching request, with n at least 1.
func Every(n int) FaultOption {
	return turns(n > 0, func(i int) bool { return i%n == 0 }, "every %d", n)
}

// Always affects every matching request. It is the default.
func Always() FaultOption { return turns(true, func(int) bool { return true }, "always") }

// When affects requests that meet a condition. The condition may read the body, and may call the sandbox.
func When(condition func(*http.Request) bool) FaultOption {
	return option(condition != nil, "has no condition", func(f *Fault) { f.when = append(f.when, condition) }, "if a condition holds")
}

// instead is a response in place of the service's.
func instead(valid bool, rule string, a response, words string, args ...any) FaultOption {
	return option(valid, rule, func(f *Fault) {
		f.instead = &a
		f.responses++
	}, words, args...)
}

// Status returns an error in place of the service, which applies nothing. The code has to be documented with this status. An
// empty code, with a status of 500 or more, gives an envelope without a message.
func Status(status int, code string) FaultOption {
	if code == "" {
		header := http.Header{"Content-Type": {"application/json"}}
		sparse := response{status, "UNEXPECTED_ERROR", header, envelope("UNEXPECTED_ERROR", "", "", "")}
		return instead(status >= 500 && status <= 599, "only 500 to 599 may be without a code", sparse, "%d", status)
	}
	known, documented := op.CodeByName(code)
	rule := fmt.Sprintf("%s has the status %v", code, known.Statuses)
	if !documented {
		rule = "the code is undocumented: use FutureCode"
	}
	return instead(slices.Contains(known.Statuses, status), rule, response{status: status, code: code}, "%d %s", status, code)
}

// FutureCode returns an undocumented error code, as a later version of the service may, with a status of 400 to 599.
func FutureCode(status int, code string) FaultOption {
	_, known := op.CodeByName(code)
	return instead(!known && code != "" && status >= 400 && status <= 599, "FutureCode needs an error status and an undocumented code",
		response{status: status, code: code}, "%d %s", status, code)
}

// RawBody returns this status, 200 to 599, and body, declared as JSON, in place of the service. With 204 and 304 there is no body.
func RawBody(status int, body string) FaultOption { return raw(status, "application/json", body) }

// HTML returns a page with a status of 200 to 599, other than 204 and 304, as a proxy in front of the service does when it fails.
func HTML(status int) FaultOption {
	page := fmt.Sprintf("<html><head><title>%d %s</title></head><body><h1>%[1]d %[2]s</h1></body></html>\n", status, http.StatusText(status))
	return raw(status, "text/html; charset=utf-8", page)
}

func raw(status int, contentType, body string) FaultOption {
	return instead(status >= 200 && status <= 599 && (body == "" || bodyAllowed(status)), "there is no such response, or it has no body",
		response{status: status, header: http.Header{"Content-Type": {contentType}}, body: []byte(body)}, "%d %s", status, contentType)
}

// RetryAfter sets the header to a number of seconds, however absurd.
func RetryAfter(seconds int) FaultOption { return Header("Retry-After", strconv.Itoa(seconds)) }

// Header sets a header of the response to anything.
func Header(name, value string) FaultOption {
	return edit(func(a *response) { a.header.Set(name, value) }, "%s: %s", name, value)
}

// Latency delays the response, or the cut. The service applies the request on arrival: a client that gives up meanwhile cannot
// know.
func Latency(d time.Duration) FaultOption {
	return option(d > 0, "has to be positive", func(f *Fault) { f.latency = d }, "latency %v", d)
}

// Stall pauses between the headers and the body. The service has applied the request.
func Stall(d time.Duration) FaultOption {
	return option(d > 0, "has to be positive", func(f *Fault) { f.stall = d }, "stall %v", d)
}

func cutting(at drop, words string) FaultOption {
	return does(func(f *Fault) {
		f.drop = at
		f.cuts++
	}, "%s", words)
}

// DropBefore cuts the connection when the request has arrived and before it is applied.
func DropBefore() FaultOption { return cutting(dropBefore, "dropped before") }

// DropAfter cuts the connection after the request was applied: the response is lost.
func DropAfter() FaultOption { return cutting(dropAfter, "dropped after") }

// Applied lets the service apply the request before the fault responds in its place. With HTML(504), for example, it is a gateway
// that gives up too early.
func Applied() FaultOption { return does(func(f *Fault) { f.applied = true }, "applied") }

// Refuse refuses the connection: nothing is sent. A real socket, which is already connected, is reset.
func Refuse() FaultOption { return cutting(dropRefuse, "refused") }

// Reset makes a cut a reset by the peer. Alone, it cuts before anything is applied.
func Reset() FaultOption { return does(func(f *Fault) { f.reset = true }, "reset") }

// Truncate cuts the connection after n bytes of the body, with n at least 0. The service has applied the request.
func Truncate(n int) FaultOption {
	return option(n >= 0, "is negative", func(f *Fault) { f.truncate = func(int64) int64 { return int64(n) } }, "truncated after %d", n)
}

// halved cuts the connection in the middle of the body.
var halved = does(func(f *Fault) { f.truncate = func(length int64) int64 { return length / 2 } }, "truncated in the middle")

// Oversized lengthens the body to n bytes, at least 1, with white space at its end. A longer one stays.
func Oversized(n int64) FaultOption {
	return option(n > 0, atLeast1, func(f *Fault) { f.oversize = n }, "oversized to %d", n)
}

// Resent lets the request arrive twice: a gateway has lost the first response, forwards the second one, and tells of itself by Via.
func Resent() FaultOption {
	return does(func(f *Fault) {
		f.again = 1
		f.edits = append(f.edits, func(a *response) { a.header.Set("Via", "1.1 gateway") })
	}, "sent twice")
}

// CapTotals lets the totals of lists and rows count at most n records, with n at least 1. The pages beyond them are there.
func CapTotals(n int) FaultOption {
	return option(n > 0, atLeast1, func(f *Fault) { f.cap = &n }, "totals of at most %d", n)
}

// cappedHere lets the totals count up to the end of the first page that it affects.
var cappedHere = does(func(f *Fault) { f.cap = new(int) }, "totals that end with this page")

// EmptyPage leaves a page without its records, and sets its totals to zero.
func EmptyPage() FaultOption {
	return edit(func(a *response) {
		a.body = edited(a.body, func(page any) any {
			assign(page, []string{"pagination", "totalPages"}, 0)
			assign(page, []string{"pagination", "totalRecords"}, 0)
			return assign(page, []string{"data"}, []any{})
		})
	}, "empty page")
}

// EmptyBody omits the body.
func EmptyBody() FaultOption {
	return edit(func(a *response) { a.body = []byte{} }, "empty body")
}

// SetField sets a field of the response. The path is dotted; numbers and * stand for elements of arrays, and ** for any place: "data.*.folderId".
// A field that is missing is added to an object that is there.
func SetField(path string, value any) FaultOption {
	raw, err := json.Marshal(value)
	return option(path != "" && err == nil, "needs a path, and a value of JSON", func(f *Fault) {
		f.edits = append(f.edits, func(a *response) {
			a.body = edited(a.body, func(v any) any { return assign(v, strings.Split(path, "."), value) })
		})
	}, "%s = %s", path, raw)
}

func edit(change func(*response), words string, args ...any) FaultOption {
	return does(func(f *Fault) { f.edits = append(f.edits, change) }, words, args...)
}

// edited decodes, changes and encodes a body. A body that is not JSON stays unchanged.
func edited(body []byte, change func(any) any) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return body
	}
	return must(json.Marshal(change(v)))
}

// assign sets what a path names, where the path exists.
func assign(v any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	name, rest := path[0], path[1:]
	everywhere := name == "**"
	switch v := v.(type) {
	case object:
		for key, inner := range v {
			if everywhere {
				v[key] = assign(inner, path, value)
			} else if key == name {
				v[key] = assign(inner, rest, value)
			}
		}
		if _, there := v[name]; !there && !everywhere && len(rest) == 0 {
			v[name] = value
		}
	case []any:
		for i := range v {
			if everywhere {
				v[i] = assign(v[i], path, value)
			} else if name == "*" || name == strconv.Itoa(i) {
				v[i] = assign(v[i], rest, value)
			}
		}
	}
	if everywhere {
		return assign(v, rest, value)
	}
	return v
}
