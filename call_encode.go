package prospectkit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-querystring/query"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/outbound"
)

// locate builds the URL: base, path with escaped ids, query.
func (c *call) locate() {
	in, bad := &c.in, &c.bad
	template := c.route
	if c.conf.path != "" {
		template = c.conf.path
		c.takeRoute()
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

// takeRoute puts the caller's route in place of an undocumented one, and refuses another method than a documented one.
func (c *call) takeRoute() {
	switch method := c.conf.method; {
	case c.method == "":
		oneOf(&c.bad, "method", method, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete)
		c.method, c.route = method, c.conf.path
	case method != "" && method != c.method:
		c.bad.add("WithRoute", "has the method %s, must have %s", method, c.method)
	}
}

// cutParameter returns the first name in the braces of a path template, and the rest of the template.
func cutParameter(template string) (name, rest string) {
	_, rest, _ = strings.Cut(template, "{")
	name, rest, _ = strings.Cut(rest, "}")
	return name, rest
}

func (c *call) queryString(params any) string {
	if params != nil && reflect.ValueOf(params).IsZero() {
		params = nil // what is required is not zero, and everything else is left out then
	}
	if params == nil && len(c.conf.query) == 0 {
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
	for _, kv := range c.conf.query {
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

// commonHeader is the header that all requests of a client share.
func (c *config) commonHeader() http.Header {
	h := http.Header{"Authorization": c.auth(), "Accept": acceptJSON, "User-Agent": c.userAgent}
	if c.compressed { // net/http would ask for it, too, but decompress with more memory
		h["Accept-Encoding"] = acceptGzip
	}
	return h
}

// encode builds header and body.
func (c *call) encode() {
	in, bad, conf := &c.in, &c.bad, c.client.conf
	plain := in.upload == nil && in.body == nil && in.form == nil && len(c.conf.fields) == 0 && len(c.conf.header) == 0
	if plain && conf.direct { // another transport might write to what all calls share
		c.header = conf.shared()
		return
	}
	c.header = conf.commonHeader()
	for _, kv := range c.conf.header {
		c.header.Set(kv[0], kv[1])
	}
	if in.upload != nil {
		c.header["Content-Type"] = []string{in.upload.contentType}
		if len(c.conf.fields) > 0 {
			bad.add("WithField", "cannot be used with an upload: it has form fields of its own")
		}
		return
	}
	if in.body == nil && in.form == nil && len(c.conf.fields) == 0 {
		return
	}
	if c.method == http.MethodGet {
		bad.add("WithField", "cannot be used with a GET request")
		return
	}
	sent := outbound.Inspect(in.body, "")
	for _, field := range c.conf.fields {
		name, _ := field[0].(string)
		bad.text(name, name)
		more := outbound.Inspect(field[1], name)
		sent.Invalid, sent.Times = append(sent.Invalid, more.Invalid...), append(sent.Times, more.Times...)
	}
	bad.invalid(sent)
	value := in.body
	if in.form != nil {
		value = in.form
	}
	body, err := encodeBody(value, c.conf.fields)
	if err != nil {
		bad.add("body", "cannot be encoded: %v", err)
		return
	}
	c.body, c.header["Content-Type"] = sent.Rewrite(body), []string{"application/json"}
	if in.form != nil {
		var kind string
		c.body, kind = multipartForm(c.body)
		c.header["Content-Type"] = []string{kind}
	}
}

// multipartForm makes a form of a JSON object: strings as they are, anything else as JSON.
func multipartForm(object []byte) (form []byte, contentType string) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(object, &fields) // it was just made
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text := string(fields[name])
		_ = json.Unmarshal(fields[name], &text) // anything else leaves it as it is
		_ = w.WriteField(name, text)            // a buffer takes everything
	}
	_ = w.Close()
	return b.Bytes(), w.FormDataContentType()
}

// encodeBody marshals in and merges extra fields into it; one that in has, or knows by that name, is an error.
func encodeBody(in any, extra [][2]any) ([]byte, error) {
	if fields, ok := in.(Fields); in == nil || ok && fields == nil {
		in = Fields{}
	}
	body, err := json.Marshal(in)
	if err != nil || len(extra) == 0 {
		return body, err
	}
	var merged map[string]json.RawMessage
	if err := json.Unmarshal(body, &merged); err != nil || merged == nil {
		return nil, errors.New("WithField needs a body that is an object")
	}
	taken := jsonNames(reflect.TypeOf(in))
	for _, field := range extra {
		name, _ := field[0].(string)
		if _, exists := merged[name]; exists || taken[name] {
			return nil, fmt.Errorf("field %q is set by the call itself", name)
		}
		if merged[name], err = json.Marshal(field[1]); err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
	}
	return json.Marshal(merged)
}

// jsonNames lists the names that a struct type gives its fields.
func jsonNames(t reflect.Type) map[string]bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	names := make(map[string]bool)
	if t.Kind() != reflect.Struct {
		return names
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		names[name] = true
	}
	return names
}
