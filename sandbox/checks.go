package sandbox

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// checks collects everything that is wrong with a request.
type checks struct {
	param    string // the first offender
	messages []string
}

func (v *checks) fail(param, format string, args ...any) {
	if len(v.messages) == 0 {
		v.param = param
	}
	v.messages = append(v.messages, param+" "+fmt.Sprintf(format, args...))
}

func (v *checks) err() error {
	if len(v.messages) == 0 {
		return nil
	}
	return &refusal{code: "VALIDATION_FAILED", message: strings.Join(v.messages, "; ") + ".", param: v.param}
}

// valid ends the request if anything is wrong with it.
func (v *checks) valid() { stop(v.err()) }

// params are a query that is being read, and its errors.
type params struct {
	url.Values
	*checks

	cap *int // see Fault
}

func (c *call) params() *params { return &params{c.query, &c.checks, c.cap} }

// number reads an integer of at least 1 from the query. A maximum of zero means no bound.
func (q *params) number(name string, largest, fallback int) int64 {
	if !q.Has(name) {
		return int64(fallback)
	}
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	switch {
	case err != nil:
		q.fail(name, "has to be an integer")
	case n < 1:
		q.fail(name, "has to be at least 1")
	case largest > 0 && n > int64(largest):
		q.fail(name, "has to be at most %d", largest)
	}
	return n
}

// text reads a string with bounds, in characters, from the query. Without one it is empty.
func (q *params) text(name string, longest int) string {
	s := q.Get(name)
	if q.Has(name) {
		q.length(name, s, longest)
	}
	return s
}

func (v *checks) length(name, s string, longest int) {
	n := runes(s)
	if n < 1 || n > longest {
		v.fail(name, "has to be 1 to %d characters long", longest)
	}
}

func (v *checks) needs(name string, sent bool) {
	if !sent {
		v.fail(name, "is required")
	}
}

func (v *checks) id(name, s string) {
	if !isID(s) {
		v.fail(name, wantID)
	}
}

const wantID = "has to be 24 hexadecimal digits"

// choice reads one of several values from the query. Without one it is empty.
func (q *params) choice(name string, choices ...string) string {
	return q.among(name, q.Get(name), q.Has(name), choices)
}

func (v *checks) among(name, s string, sent bool, choices []string) string {
	if sent && !slices.Contains(choices, s) {
		v.fail(name, "has to be one of %s", strings.Join(choices, ", "))
	}
	return s
}
