package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// does is an option without a mistake to make, in words.
func does(words string, change func(*Fault)) FaultOption {
	return func(f *Fault) error {
		change(f)
		f.words = append(f.words, words)
		return nil
	}
}

// sole is an option that may not be given twice.
func sole(given func(*Fault) bool, twice string, opt FaultOption) FaultOption {
	return func(f *Fault) error {
		if given(f) {
			return errors.New(twice)
		}
		return opt(f)
	}
}

// mistake is an option that cannot be.
func mistake(format string, args ...any) FaultOption {
	return func(*Fault) error { return fmt.Errorf(format, args...) }
}

func positive[N int | int64](what string, n N, opt FaultOption) FaultOption {
	if n > 0 {
		return opt
	}
	return mistake("%s(%d): has to be at least 1", what, n)
}

func turns(words string, turn func(n int) bool) FaultOption {
	return sole(func(f *Fault) bool { return f.turn != nil }, "two options say which requests are affected",
		does(words, func(f *Fault) { f.turn = turn }))
}

// Nth affects only the nth matching request after [Sandbox.Fail], counted from one, of all keys and workspaces together.
func Nth(n int) FaultOption {
	return positive("Nth", n, turns(fmt.Sprintf("request %d", n), func(i int) bool { return i == n }))
}

// First affects the first n matching requests after [Sandbox.Fail].
func First(n int) FaultOption {
	return positive("First", n, turns(fmt.Sprintf("the first %d", n), func(i int) bool { return i <= n }))
}

// Every affects each nth matching request.
func Every(n int) FaultOption {
	return positive("Every", n, turns(fmt.Sprintf("every %d", n), func(i int) bool { return i%n == 0 }))
}

// Always affects every matching request. It is the default.
func Always() FaultOption { return turns("always", func(int) bool { return true }) }

// When affects requests that meet a condition. The condition may read the body, and may call the sandbox.
func When(condition func(*http.Request) bool) FaultOption {
	if condition == nil {
		return mistake("When: no condition")
	}
	return func(f *Fault) error {
		f.when = append(f.when, condition)
		return nil
	}
}

// instead is a response in place of the service's.
func instead(words string, a response) FaultOption {
	return sole(func(f *Fault) bool { return f.instead != nil }, "two options set the response",
		does(words, func(f *Fault) { f.instead = &a }))
}

// Status returns an error in place of the service, which applies nothing. The code has to be documented with this status. An
// empty code, with a status of 500 or more, gives an envelope without a message.
func Status(status int, code string) FaultOption {
	known, documented := op.CodeByName(code)
	switch {
	case code == "" && (status < 500 || status > 599):
		return mistake("Status(%d): only 500 to 599 may be without a code", status)
	case code == "":
		header := http.Header{"Content-Type": {"application/json"}}
		return instead(strconv.Itoa(status), response{status, "UNEXPECTED_ERROR", header, envelope("UNEXPECTED_ERROR", "", "", "")})
	case !documented:
		return mistake("the code %s is undocumented: use FutureCode", code)
	case !slices.Contains(known.Statuses, status):
		return mistake("%s has the status %v, not %d", code, known.Statuses, status)
	}
	return refusing(status, code)
}

// FutureCode returns an undocumented error code, as a later version of the service may.
func FutureCode(status int, code string) FaultOption {
	if _, known := op.CodeByName(code); known || code == "" || status < 400 || status > 599 {
		return mistake("FutureCode(%d, %q): needs an error status and an undocumented code", status, code)
	}
	return refusing(status, code)
}

func refusing(status int, code string) FaultOption {
	return instead(fmt.Sprintf("%d %s", status, code), response{status: status, code: code})
}

// RawBody returns this status and body, declared as JSON, in place of the service.
func RawBody(status int, body string) FaultOption { return raw(status, "application/json", body) }

// HTML returns a page, as a proxy in front of the service does when it fails.
func HTML(status int) FaultOption {
	page := fmt.Sprintf("<html><head><title>%d %s</title></head><body><h1>%[1]d %[2]s</h1></body></html>\n", status, http.StatusText(status))
	return raw(status, "text/html; charset=utf-8", page)
}

func raw(status int, contentType, body string) FaultOption {
	switch {
	case status < 200 || status > 599:
		return mistake("no response has the status %d", status)
	case body != "" && !bodyAllowed(status):
		return mistake("a response %d has no body", status)
	}
	header := http.Header{"Content-Type": {contentType}}
	return instead(fmt.Sprintf("%d %s", status, contentType), response{status: status, header: header, body: []byte(body)})
}

// Redirect sends the client to another location.
func Redirect(status int, location string) FaultOption {
	if status < 300 || status > 399 || status == http.StatusNotModified {
		return mistake("Redirect(%d): is not a redirect", status)
	}
	header := http.Header{"Location": {location}, "Content-Type": {"text/plain"}}
	return instead(fmt.Sprintf("%d to %s", status, location), response{status: status, header: header, body: []byte{}})
}

// RetryAfter sets the header to a number of seconds, however absurd.
func RetryAfter(seconds int) FaultOption { return Header("Retry-After", strconv.Itoa(seconds)) }

// Header sets a header of the response to anything.
func Header(name, value string) FaultOption {
	return edit(name+": "+value, func(a *response) { a.header.Set(name, value) })
}

func duration(what string, d time.Duration, set func(*Fault)) FaultOption {
	if d > 0 {
		return does(fmt.Sprintf("%s %v", what, d), set)
	}
	return mistake("%s(%v): has to be positive", what, d)
}

// Latency delays the response, or the cut. The service applies the request on arrival: a client that gives up meanwhile cannot
// know.
func Latency(d time.Duration) FaultOption {
	return duration("latency", d, func(f *Fault) { f.latency = d })
}

// Stall pauses between the headers and the body.
func Stall(d time.Duration) FaultOption {
	return duration("stall", d, func(f *Fault) { f.stall = d })
}

func cutting(words string, at drop) FaultOption {
	return sole(func(f *Fault) bool { return f.drop != dropNever }, "two options say how the connection ends",
		does(words, func(f *Fault) { f.drop = at }))
}

// DropBefore cuts the connection when the request has arrived and before it is applied.
func DropBefore() FaultOption { return cutting("dropped before", dropBefore) }

// DropAfter cuts the connection after the request was applied: the response is lost.
func DropAfter() FaultOption { return cutting("dropped after", dropAfter) }

// Applied lets the service apply the request before the fault responds in its place. With HTML(504), for example, it is a gateway
// that gives up too early.
func Applied() FaultOption { return does("applied", func(f *Fault) { f.applied = true }) }

// Refuse refuses the connection: nothing is sent. A real socket, which is already connected, is reset.
func Refuse() FaultOption { return cutting("refused", dropRefuse) }

// Reset makes a cut a reset by the peer. Alone, it cuts before anything is applied.
func Reset() FaultOption { return does("reset", func(f *Fault) { f.reset = true }) }

// Truncate cuts the connection after n bytes of the body. The service has applied the request.
func Truncate(n int) FaultOption {
	if n < 0 {
		return mistake("Truncate(%d): is negative", n)
	}
	return does(fmt.Sprintf("truncated after %d", n), func(f *Fault) { f.truncate = func(int64) int64 { return int64(n) } })
}

// halved cuts the connection in the middle of the body.
var halved = does("truncated in the middle", func(f *Fault) { f.truncate = func(length int64) int64 { return length / 2 } })

// Oversized lengthens the body to n bytes, with white space at its end.
func Oversized(n int64) FaultOption {
	return positive("Oversized", n, does(fmt.Sprintf("oversized to %d", n), func(f *Fault) { f.oversize = n }))
}

// Resent lets the request arrive twice: a gateway has lost the first response, forwards the second one, and tells of itself by Via.
func Resent() FaultOption {
	return func(f *Fault) error {
		f.again = 1
		return edit("sent twice", func(a *response) { a.header.Set("Via", "1.1 gateway") })(f)
	}
}

// CapTotals lets the totals of lists and rows count at most n records. The pages beyond them are there.
func CapTotals(n int) FaultOption {
	return positive("CapTotals", n, does(fmt.Sprintf("totals of at most %d", n), func(f *Fault) { f.cap = &n }))
}

// cappedHere lets the totals count up to the end of the first page that it affects.
var cappedHere = does("totals that end with this page", func(f *Fault) { f.cap = new(int) })

// EmptyPage leaves a page without its records, and sets its totals to zero.
func EmptyPage() FaultOption {
	return edit("empty page", func(a *response) {
		for path, value := range map[string]any{"data": []any{}, "pagination.totalPages": 0, "pagination.totalRecords": 0} {
			a.body = edited(a.body, func(v any) any { return assign(v, strings.Split(path, "."), value) })
		}
	})
}

// EmptyBody omits the body.
func EmptyBody() FaultOption {
	return edit("empty body", func(a *response) { a.body = []byte{} })
}

// ExtraFields puts undocumented fields into every object of the response.
func ExtraFields() FaultOption {
	return edit("extra fields", func(a *response) {
		a.body = edited(a.body, func(v any) any {
			walk(v, func(o object) {
				o["sandboxExtra"] = object{"nested": []any{1, "two", nil}}
				o["sandboxExtraNull"] = nil
			})
			return v
		})
	})
}

// NullField sets a field to null. The path is dotted; numbers and * stand for elements of arrays: "data.*.folderId".
func NullField(path string) FaultOption { return setField(path, nil, "null") }

// EnumValue sets a field to an undocumented value. The path is that of [NullField].
func EnumValue(path, value string) FaultOption { return setField(path, value, strconv.Quote(value)) }

func setField(path string, value any, words string) FaultOption {
	if path == "" {
		return mistake("a field needs a path")
	}
	return edit(path+" = "+words, func(a *response) {
		a.body = edited(a.body, func(v any) any { return assign(v, strings.Split(path, "."), value) })
	})
}

func edit(words string, change func(*response)) FaultOption {
	return does(words, func(f *Fault) { f.edits = append(f.edits, change) })
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

func walk(v any, visit func(object)) {
	switch v := v.(type) {
	case object:
		for _, inner := range v {
			walk(inner, visit)
		}
		visit(v)
	case []any:
		for _, e := range v {
			walk(e, visit)
		}
	}
}

// assign sets what a path names, where the path exists.
func assign(v any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch v := v.(type) {
	case object:
		if _, there := v[path[0]]; there || len(path) == 1 {
			v[path[0]] = assign(v[path[0]], path[1:], value)
		}
	case []any:
		for i := range v {
			if path[0] == "*" || path[0] == strconv.Itoa(i) {
				v[i] = assign(v[i], path[1:], value)
			}
		}
	}
	return v
}
