package sandbox

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// checks collects everything that is wrong with a request.
type checks struct {
	c        *call  // nil outside of a request
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
}

func (c *call) params() *params { return &params{c.query, &c.checks} }

var (
	ruleQueryIgnored = assumed("query.unknown", "unknown query parameters are ignored")
	ruleQueryTwice   = assumed("query.repeated", "the first of several query parameters of the same name counts")
	ruleQueryForm    = assumed("query.malformed", "an unreadable part of a query is ignored, and text that is not UTF-8 is taken unchanged")
)

// readQuery reads the query, and records what is undocumented in it.
func (c *call) readQuery() {
	query, err := url.ParseQuery(c.req.URL.RawQuery)
	c.query = query
	if err != nil {
		c.uses(ruleQueryForm)
	}
	for name, values := range query {
		if !c.takes.anyQuery && !slices.Contains(c.takes.query, name) {
			c.uses(ruleQueryIgnored)
		}
		if len(values) > 1 {
			c.uses(ruleQueryTwice)
		}
		if slices.ContainsFunc(values, func(v string) bool { return !utf8.ValidString(v) }) {
			c.uses(ruleQueryForm)
		}
	}
}

// number reads an integer of at least 1 from the query. A maximum of zero means no bound.
func (q *params) number(name string, largest, fallback int) int64 {
	if !q.Has(name) {
		return int64(fallback)
	}
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	if err == nil && strconv.FormatInt(n, 10) != q.Get(name) || errors.Is(err, strconv.ErrRange) {
		q.c.uses(ruleIntegers)
	}
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
	if n <= longest && units(s) > longest {
		v.c.uses(ruleCharacters)
	}
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
