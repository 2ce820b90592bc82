package prospectkit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/go-querystring/query"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/outbound"
)

// buildURL builds the URL: base, path with escaped ids, query.
func (c *call) buildURL() {
	in, bad := &c.in, &c.bad
	template := c.route
	if c.opts.path != "" {
		template = c.opts.path
		c.useSuppliedRoute()
	}
	if template == "" {
		bad.add("route", "is undocumented: set it with WithRoute")
		return
	}
	rest := cmp.Or(c.route, template)
	for _, id := range in.ids {
		var name string
		if name, rest = cutParameter(rest); name != "" {
			bad.id(name, id)
		}
	}
	u := &c.url
	*u = *c.client.conf.base
	escaped, ok := op.ExpandBelow(u.EscapedPath(), template, in.ids...)
	if !ok {
		if n := strings.Count(template, "{"); n != len(in.ids) || len(*bad) == 0 {
			bad.add("path", "has %d parameters, the call has %d ids", n, len(in.ids))
		}
		return
	}
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		bad.add("path", "has an invalid escape")
		return
	}
	if u.Path = plain; plain != escaped || u.RawPath != "" {
		u.RawPath = escaped
	}
	u.RawQuery = c.queryString(in.query)
}

// useSuppliedRoute applies WithRoute. It rejects a method that differs from the documented
// one.
func (c *call) useSuppliedRoute() {
	switch method := c.opts.method; {
	case c.method == "":
		oneOf(&c.bad, "method", method, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete)
		c.method, c.route = method, c.opts.path
	case method != "" && method != c.method:
		c.bad.add("WithRoute", "has the method %s, must have %s", method, c.method)
	}
}

// cutParameter returns the first parameter of a path template, and the rest of the template.
func cutParameter(template string) (name, rest string) {
	_, rest, _ = strings.Cut(template, "{")
	name, rest, _ = strings.Cut(rest, "}")
	return name, rest
}

func (c *call) queryString(params any) string {
	if params != nil && reflect.ValueOf(params).IsZero() {
		params = nil // all of it would be left out
	}
	if params == nil && len(c.opts.query) == 0 {
		return ""
	}
	encoded := url.Values{}
	if params != nil {
		var err error
		if encoded, err = query.Values(params); err != nil {
			c.bad.add("query", "cannot be encoded: %v", err)
			return ""
		}
	}
	for _, kv := range c.opts.query {
		encoded.Set(kv[0], kv[1])
	}
	for key, all := range encoded {
		c.bad.text(key, key)
		c.bad.text(key, all...)
	}
	return encoded.Encode()
}

var (
	acceptJSON = []string{"application/json"}
	acceptGzip = []string{"gzip"}
)

// commonHeader is the header of all requests of a client.
func (c *config) commonHeader() http.Header {
	h := http.Header{"Authorization": c.auth(), "Accept": acceptJSON, "User-Agent": c.userAgent}
	if c.compressed { // net/http would also ask for it, but use more memory to decompress
		h["Accept-Encoding"] = acceptGzip
	}
	return h
}

// encode makes header and body.
func (c *call) encode() {
	in, bad, conf := &c.in, &c.bad, c.client.conf
	plain := in.upload == nil && in.body == nil && len(c.opts.fields) == 0 && len(c.opts.header) == 0
	if plain && conf.direct { // another transport might write to a shared header
		c.header = conf.shared()
		return
	}
	c.header = conf.commonHeader()
	for _, kv := range c.opts.header {
		c.header.Set(kv[0], kv[1])
	}
	if in.upload != nil {
		c.header["Content-Type"] = []string{in.upload.contentType}
		if len(c.opts.fields) > 0 {
			bad.add("WithField", "cannot be used with an upload: it has form fields of its own")
		}
		return
	}
	if in.body == nil && len(c.opts.fields) == 0 {
		return
	}
	if c.method == http.MethodGet {
		bad.add("WithField", "cannot be used with a GET request")
		return
	}
	value := in.body
	if fields, ok := value.(Fields); value == nil || ok && fields == nil {
		value = Fields{}
	}
	body, err := outbound.Encode(value, c.opts.fields)
	bad.invalid(body.Invalid)
	if err != nil {
		bad.add("body", "cannot be encoded: %v", err)
	}
	contentType := "application/json"
	if c.body = body.Text; in.form {
		c.body, contentType = outbound.Form(c.body)
	}
	c.header["Content-Type"] = []string{contentType}
}

// checks collects violations of arguments and options, found before anything is sent.
type checks []Violation

func (c *checks) add(param, format string, args ...any) {
	*c = append(*c, Violation{Param: param, Problem: fmt.Sprintf(format, args...)})
}

// must adds a violation unless ok.
func (c *checks) must(ok bool, param, format string, args ...any) {
	if !ok {
		c.add(param, format, args...)
	}
}

// text refuses text that is not valid UTF-8: encoding would change it, so it would name something
// else.
func (c *checks) text(param string, texts ...string) {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			c.add(strings.ToValidUTF8(param, "\uFFFD"), "is not valid UTF-8")
			return
		}
	}
}

// invalid refuses the texts of a body at some paths.
func (c *checks) invalid(paths []string) {
	for _, path := range paths {
		c.add(cmp.Or(path, "body"), "is not valid UTF-8")
	}
}

const emptyFilter = "is empty, which could mean everything: leave it out if you mean that"

// filled refuses null and empty arrays and objects anywhere in a filter. The service may treat them
// as no filter, with a longer or more expensive response.
func (c *checks) filled(param, text string) {
	for _, path := range outbound.Empty(param, text) {
		c.add(path, emptyFilter)
	}
}

// filledIn is filled for a value. If it cannot be encoded, encode reports that.
func (c *checks) filledIn(param string, v any) {
	if text, err := json.Marshal(v); err == nil {
		c.filled(param, string(text))
	}
}

// id requires 24 hexadecimal digits, of either case.
func (c *checks) id(param, value string) {
	if !isID(value) {
		c.add(param, "must be 24 hexadecimal digits")
	}
}

func isID(s string) bool {
	if len(s) != 24 {
		return false
	}
	for i := range len(s) {
		switch b := s[i]; {
		case '0' <= b && b <= '9', 'a' <= b && b <= 'f', 'A' <= b && b <= 'F':
		default:
			return false
		}
	}
	return true
}

// sameID reports whether ids are equal, whatever their case.
func sameID(a, b string) bool { return strings.EqualFold(a, b) }

// optionalID is id, or the zero value.
func (c *checks) optionalID(param, value string) {
	if value != "" {
		c.id(param, value)
	}
}

// between requires low <= value <= high, or zero, the default.
func (c *checks) between(param string, value, low, high int) {
	if value != 0 && (value < low || value > high) {
		c.add(param, "is %d, must be %d to %d", value, low, high)
	}
}

// atLeast requires value >= low, or zero, the default.
func (c *checks) atLeast(param string, value, low int) {
	if value != 0 && value < low {
		c.add(param, "is %d, must be at least %d", value, low)
	}
}

// length requires low to high characters, counted as code points.
func (c *checks) length(param, value string, low, high int) {
	if n := utf8.RuneCountInString(value); n < low || n > high {
		c.add(param, "has %d characters, must have %d to %d", n, low, high)
	}
}

// optionalLength is length, or the zero value.
func (c *checks) optionalLength(param, value string, low, high int) {
	if value != "" {
		c.length(param, value, low, high)
	}
}

// oneOf requires one of the documented values, or the zero value, the default.
func oneOf[T ~string](c *checks, param string, value T, allowed ...T) {
	if value == "" {
		return
	}
	if !slices.Contains(allowed, value) {
		c.add(param, "is %q, must be one of %q", value, allowed)
	}
}
