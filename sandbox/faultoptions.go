package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

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

// Redirect sends the client to another location, in place of the service, with a status of 300 to 399 other than 304.
func Redirect(status int, location string) FaultOption {
	header := http.Header{"Location": {location}, "Content-Type": {"text/plain"}}
	return instead(status >= 300 && status <= 399 && status != http.StatusNotModified, "is not a redirect",
		response{status: status, header: header, body: []byte{}}, "%d to %s", status, location)
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
		for path, value := range map[string]any{"data": []any{}, "pagination.totalPages": 0, "pagination.totalRecords": 0} {
			a.body = edited(a.body, func(v any) any { return assign(v, strings.Split(path, "."), value) })
		}
	}, "empty page")
}

// EmptyBody omits the body.
func EmptyBody() FaultOption {
	return edit(func(a *response) { a.body = []byte{} }, "empty body")
}

// ExtraFields puts undocumented fields into every object of the response.
func ExtraFields() FaultOption {
	return edit(func(a *response) {
		a.body = edited(a.body, func(v any) any {
			walk(v, func(o object) {
				o["sandboxExtra"] = object{"nested": []any{1, "two", nil}}
				o["sandboxExtraNull"] = nil
			})
			return v
		})
	}, "extra fields")
}

// NullField sets a field to null. The path is dotted; numbers and * stand for elements of arrays: "data.*.folderId".
func NullField(path string) FaultOption { return setField(path, nil, "null") }

// EnumValue sets a field to an undocumented value. The path is that of [NullField].
func EnumValue(path, value string) FaultOption { return setField(path, value, strconv.Quote(value)) }

func setField(path string, value any, words string) FaultOption {
	return option(path != "", "a field needs a path", func(f *Fault) {
		f.edits = append(f.edits, func(a *response) {
			a.body = edited(a.body, func(v any) any { return assign(v, strings.Split(path, "."), value) })
		})
	}, "%s = %s", path, words)
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
