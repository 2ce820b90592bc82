package prospectkit

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/go-querystring/query"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/outbound"
)

// prepare makes a plan of arguments and options, or returns a refusal: all violations at once, or a rule. It looks into the
// file of an upload. It fills as much of the plan as observers of a refused call need.
func (c *call) prepare(ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption) error {
	c.conf, c.op, c.in, c.ctx = conf, o, in, ctx
	c.method, c.route, c.template = o.Method, o.Path, in.path
	c.opts.settings, c.began, c.attempts = conf.settings, time.Now(), c.first[:0]
	if ctx == nil {
		c.bad.Add("context", "must not be nil")
		c.ctx = context.Background() // for observers
	}
	if route, ok := conf.routes[o]; ok {
		c.method, c.route, c.template = route[0], route[1], route[1]
	}
	eachOption(opts, &c.bad, func(option CallOption) { option.applyCall(&c.opts, &c.bad) })
	c.timeout = cmp.Or(max(c.opts.timeout, 0), o.Timeout)
	c.checkArguments()
	c.buildURL()
	c.encode()
	c.checkMeaning()
	if info := c.opts.info; info != nil {
		*info = Info{Op: o.Name, Surface: string(o.Surface), MaxBody: info.MaxBody} // not the values of an earlier call
	}
	if len(c.bad) > 0 {
		return c.withRoute(refusal(o, c.bad))
	}
	if rule := safetyRule(o, c.spends, c.sends, &c.opts); rule != "" {
		return c.refuse(rule, nil)
	}
	c.surface = conf.limits.surface(o.Surface)
	return nil
}

// withRoute completes a refusal of the call, whose route may be the caller's.
func (c *call) withRoute(e *RefusedError) *RefusedError {
	e.Method, e.Route = c.method, c.route
	return e
}

// refuse makes the refusal of the call by a rule.
func (c *call) refuse(rule SafetyRule, cause error) *RefusedError {
	refused := c.withRoute(ruleRefusal(c.op, rule, cause))
	refused.Earlier = c.earlierCall
	return refused
}

// checkArguments checks what is documented of the arguments, and the options that need something of them.
func (c *call) checkArguments() {
	in, bad := &c.in, &c.bad
	bad.Must(!c.conf.closed.Load(), "client", "is closed: use another one")
	if in.check != nil {
		in.check(bad)
	}
	if in.upload != nil {
		in.upload.Check(c.ctx, c.timeout, bad)
	}
	bad.Must(c.opts.once == "" || c.op.Write() && c.conf.journal != nil, "Once", "is for writes, of a client with WithJournal")
	bad.Must(!c.opts.allowResume || in.lookup.Digest != "", "AllowResume", "is for Approve")
	for _, part := range []any{in.query, in.body} {
		if self, ok := part.(interface{ check(*check.Violations) }); ok {
			self.check(bad)
		}
	}
}

// checkMeaning finds out what the call may do, where its URL leads, and whether the options allow that.
func (c *call) checkMeaning() {
	o, bad := c.op, &c.bad
	c.spends, c.sends = consequences(o, c.in)
	c.spends = c.spends || !c.in.free && c.conf.guard.Priced(o.Name)
	for _, other := range c.leadsTo() { // the class decides what is retried, noted and refused; the name, what a lookup or a review finds
		bad.Must(!other.Write(), "route", "is that of another operation, which has a method: %s", other.Name)
		bad.Must(!o.FreeRead() || other.FreeRead() || other.Write(), "route", "leads to an operation of a stricter class: %s", other.Name)
		c.spends = c.spends || other.Spends.Possible() // it is a read
	}
	repeatable := o.FreeRead() || (o.Class == op.Idempotent || o.Class == op.GuardedByName) && !c.spends && !c.sends
	bad.Must(!c.opts.allowRetryUnknown || repeatable, "AllowRetryUnknown",
		"is not for this operation, whose effect a second request may repeat: omit it, and resolve an unknown outcome")
}

// consequences reports whether a call may spend credits, and whether it may send messages or write into a
// CRM.
func consequences(o *op.Op, in args) (spends, sends bool) {
	return o.Spends.Possible() && !in.free, o.Sends.Possible() || o.WritesOutside.Possible()
}

// leadsTo are the other operations to which a route of the caller's may lead.
func (c *call) leadsTo() (others []*op.Op) {
	if c.template == "" {
		return nil
	}
	path := strings.TrimPrefix(c.url.Path, c.conf.base.Path)
	for _, o := range op.All() {
		if o != c.op && o.Method == c.method && op.Leads(o.Path, path) {
			others = append(others, o)
		}
	}
	return others
}

// safetyRule returns the rule that refuses a call, or "".
func safetyRule(o *op.Op, spends, sends bool, opts *callConfig) SafetyRule {
	switch {
	case opts.readOnly && o.Write():
		return RuleReadOnly
	case opts.noSpend && spends:
		return RuleNoSpend
	case opts.noSend && sends:
		return RuleNoSend
	}
	return ""
}

// buildURL builds the URL: base, path with escaped ids, query.
func (c *call) buildURL() {
	in, bad := &c.in, &c.bad
	template := cmp.Or(c.template, c.route)
	if template == "" {
		bad.Add("route", "is undocumented: set it with WithRoutes")
		return
	}
	rest := cmp.Or(c.op.Path, template)
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
	plain, _ := url.PathUnescape(escaped) // only Expand and the base have escapes
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
	encoded, _ := query.Values(params) // a struct cannot fail
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
	c.given = encoded(value, in.extra, c.opts.fields, bad)
	contentType := "application/json"
	if c.body = c.given; in.form {
		c.body, contentType = outbound.Form(c.body)
	}
	c.header["Content-Type"] = []string{contentType}
}

// encoded is the JSON of a body with the fields beside it, in the order of their names, and those of options.
func encoded(body any, beside []Fields, added []outbound.Field, bad *check.Violations) []byte {
	var more []outbound.Field
	for _, fields := range beside {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			bad.Must(name != "", "body", "has a field without a name")
			more = append(more, outbound.Field{Name: name, Value: fields[name]})
		}
	}
	text, invalid, err := outbound.Encode(body, append(more, added...))
	bad.InvalidText(invalid)
	if err != nil {
		bad.Add("body", "cannot be encoded: %v", err)
	}
	return text
}
