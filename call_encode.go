package prospectkit

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-querystring/query"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/outbound"
)

// buildURL builds the URL: base, path with escaped ids, query.
func (c *call) buildURL() {
	in, bad := &c.in, &c.bad
	template := cmp.Or(c.template, c.route)
	if template == "" {
		bad.Add("route", "is undocumented: set it with WithRoutes")
		return
	}
	rest := cmp.Or(c.route, template)
	for _, id := range in.ids {
		var name string
		if name, rest = op.NextParameter(rest); name != "" {
			bad.ID(name, id)
		}
	}
	u := &c.url
	*u = *c.conf.base
	escaped, ok := op.Expand(u.EscapedPath(), template, in.ids...)
	if !ok {
		if n := strings.Count(template, "{"); n != len(in.ids) || len(*bad) == 0 {
			bad.Add("path", "has %d parameters, the call has %d ids", n, len(in.ids))
		}
		return
	}
	plain, err := url.PathUnescape(escaped)
	bad.Must(err == nil, "path", "has an invalid escape")
	if u.Path = plain; plain != escaped || u.RawPath != "" {
		u.RawPath = escaped
	}
	u.RawQuery = c.queryString(in.query)
}

func (c *call) queryString(params any) string {
	if params != nil && reflect.ValueOf(params).IsZero() {
		params = nil // all of it would be left out
	}
	if params == nil && len(c.opts.query) == 0 {
		return ""
	}
	encoded, err := query.Values(params)
	if err != nil {
		c.bad.Add("query", "cannot be encoded: %v", err)
		return ""
	}
	for _, kv := range c.opts.query {
		encoded.Set(kv[0], kv[1])
	}
	for key, all := range encoded {
		c.bad.Text(key, key)
		c.bad.Text(key, all...)
	}
	return encoded.Encode()
}

func (c *call) encode() {
	in, bad, more := &c.in, &c.bad, len(c.opts.fields) > 0
	if in.upload == nil && in.body == nil && !more && c.opts.evidence == nil {
		c.header = c.conf.sharedHeader()
		return
	}
	c.header = c.conf.commonHeader()
	if c.opts.evidence != nil {
		c.header["Cache-Control"] = []string{"no-cache"}
	}
	switch {
	case in.upload != nil && more:
		bad.Add("WithField", "cannot be used with an upload: it has form fields of its own")
	case in.upload != nil:
		c.header["Content-Type"] = []string{in.upload.ContentType}
	case in.body == nil && !more:
	case c.op.NoBody:
		bad.Add("WithField", "cannot be used: this call has no body")
	case c.method == http.MethodGet && in.body != nil:
		bad.Add("body", "cannot be sent with a GET request")
	case c.method == http.MethodGet:
		bad.Add("WithField", "cannot be used with a GET request")
	default:
		c.encodeBody()
	}
}

func (c *call) encodeBody() {
	in, bad, value := &c.in, &c.bad, c.in.body
	if fields, ok := value.(Fields); value == nil || ok && fields == nil {
		value = Fields{}
	}
	body, err := outbound.Encode(value, append(c.extraFields(), c.opts.fields...))
	bad.InvalidText(body.Invalid)
	if err != nil {
		bad.Add("body", "cannot be encoded: %v", err)
	}
	contentType := "application/json"
	c.given = body.Text
	if c.body = body.Text; in.form {
		c.body, contentType = outbound.Form(c.body)
	}
	c.header["Content-Type"] = []string{contentType}
}

// extraFields are the fields beside those of the body, in the order of their names. A name that differs from one of the body's in letter case
// only is refused.
func (c *call) extraFields() (extra []outbound.Field) {
	for _, fields := range c.in.extra {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			c.bad.Must(name != "", "body", "has a field without a name")
			if !c.bad.OtherCase("", name, outbound.Names(c.in.body)...) {
				extra = append(extra, outbound.Field{Name: name, Value: fields[name]})
			}
		}
	}
	return extra
}
