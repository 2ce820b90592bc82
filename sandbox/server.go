package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
)

var (
	rulePathFirst   = assumed("paths.first", "an unknown path or method returns 404 even without a valid key")
	rulePathEscaped = assumed("paths.escaped", "an escaped character in a path stands for itself")
	rulePassword    = assumed("auth.password", "a password makes the credentials malformed")
	ruleTwoKeys     = assumed("auth.repeated", "the first of several Authorization headers counts")
	ruleOrder       = assumed("order", "if a request has several errors, the first is returned, in this order: path, key, scope, limits, id in the path, query and body, names, existence, number of agents, state, prompt, credits")
	ruleBodyTooLong = assumed("body.size", "a body of more than 12 MiB returns 400 INVALID_REQUEST")
)

const (
	basePath    = "/api/v1"
	docsURL     = "https://" + invalidHost + "/docs/errors/"
	longestBody = 12 << 20
)

// Handler serves the sandbox below /api/v1 in any HTTP server. It accepts only the host names 127.0.0.1, [::1] and localhost, so that
// no web page reaches it by its own name. Any other name gets a 421. [AllowRemote] makes it accept every name.
func (sb *Sandbox) Handler() http.Handler { return http.HandlerFunc(sb.serveHTTP) }

// serveHTTP serves a connection, which faults may cut.
func (sb *Sandbox) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if !sb.remote && !check.IsLoopback((&url.URL{Host: r.Host}).Hostname()) {
		http.Error(w, "This sandbox accepts the host names 127.0.0.1, [::1] and localhost only. AllowRemote makes it accept others.", http.StatusMisdirectedRequest)
		return
	}
	body, err := readBody(r)
	if err != nil {
		panic(http.ErrAbortHandler) // the client went away while it was sending
	}
	sb.exchange(r, body).write(w, r, sb.clock)
}

// readBody reads one byte more than is allowed, to detect the excess.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	longest := int64(longestBody)
	if isUpload(r) {
		longest = largestUpload
	}
	return io.ReadAll(io.LimitReader(r.Body, longest+1))
}

// exchange handles a request from its arrival to the response, which is not delivered yet.
func (sb *Sandbox) exchange(r *http.Request, body []byte) *delivery {
	if isUpload(r) {
		return sb.store(r, body)
	}
	t := sb.route(r)
	sb.runHooks(t, r)
	d, problems := sb.process(t, body, sb.fits(t.op, r, body))
	for _, p := range problems {
		sb.problem(p)
	}
	return d
}

// process is the part that happens at one time.
func (sb *Sandbox) process(t *target, body []byte, fits []*Fault) (d *delivery, problems []string) {
	now := sb.enter()
	defer sb.mu.Unlock()
	d = &delivery{fault: cmp.Or(sb.trip(fits), noFault)}
	if f, planted := t.req.Context().Value(plantedKey{}).(*Fault); planted {
		d.fault = f
	}
	for range d.fault.again { // their responses are lost
		problems = append(problems, sb.serve(t, body, now, &delivery{fault: d.fault})...)
	}
	return d, append(problems, sb.serve(t, body, now, d)...)
}

// serve serves a request once.
func (sb *Sandbox) serve(t *target, body []byte, now time.Time, d *delivery) (problems []string) {
	c := &call{sb: sb, op: t.op, takes: t.serves, req: t.req, sent: body, now: now, header: http.Header{}, cap: d.fault.cap}
	c.checks.c = c
	c.id = sb.journal.requestID()
	c.key = sb.findKey(t.req, now)
	if d.fault.serves() {
		d.response, problems = sb.response(c)
		d.processed = d.response.status < 300
	}
	switch {
	case d.fault.instead != nil:
		d.response = d.fault.response(c)
	case d.fault.serves():
		d.fault.transform(&d.response)
	default:
		d.response.header = http.Header{} // cut before there was a response
	}
	d.response.header.Set("X-Sandbox-Request", c.id)
	sb.journal.add(c, d)
	sb.servedHooks(c.op, c.ws, d.response.status)
	return problems
}

// response applies the rules and checks the invariants.
func (sb *Sandbox) response(c *call) (a response, problems []string) {
	a, err := func() (a response, err error) {
		defer func() {
			switch p := recover().(type) {
			case nil:
			case stopped:
				err = p.error
			default:
				err = fmt.Errorf("the rules panicked: %v", p)
			}
		}()
		c.enter()
		c.before = &books{len(c.ws.ledger), c.ws.version, c.ws.Credits}
		c.decode()
		return c.takes.handle(c), nil
	}()
	if err == nil {
		c.showsLimits()
	}
	var refused *refusal
	switch {
	case c.refused():
		a = strictAnswer(c)
	case errors.As(err, &refused):
		a = refused.response(c)
	case err != nil:
		problems = append(problems, fmt.Sprintf("request %s: %v", c.id, err))
		a = (&refusalInternal).response(c)
	}
	if c.before != nil {
		problems = append(problems, c.audit(a.status)...)
	}
	c.finish(&a)
	return a, problems
}

var refusalInternal = refusal{code: "UNEXPECTED_ERROR", message: "Something went wrong."}

func strictAnswer(c *call) response {
	const code = "SANDBOX_STRICT"
	message := "This request depends on undocumented behavior: " + strings.Join(c.assumed, ", ") + "."
	return response{status: http.StatusNotImplemented, code: code, body: envelope(code, message, "", c.id)}
}

// enter makes the checks of every operation: path, key, scope, limits.
func (c *call) enter() {
	if len(c.req.Header.Values("Authorization")) > 1 {
		c.uses(ruleTwoKeys)
	}
	if c.op == nil {
		if c.key == nil {
			c.uses(rulePathFirst)
		}
		deny("ENDPOINT_NOT_FOUND", "No endpoint has this path and method.")
	}
	if strings.Contains(c.req.URL.EscapedPath(), "%") {
		c.uses(rulePathEscaped)
	}
	if c.key == nil {
		if _, password, _ := c.req.BasicAuth(); password != "" && c.sb.keyOf(c.req, c.now) != nil {
			c.uses(rulePassword)
		}
		deny("UNAUTHORIZED", "The API key is missing, malformed, expired or revoked.")
	}
	c.ws = c.key.ws
	quota := c.sb.quota(c.ws, c.op.Surface)
	quota.update(c.now)
	retryAt, full := quota.fullUntil()
	if !c.key.allows(string(c.op.Scope)) {
		if full {
			c.uses(ruleOrder)
		}
		deny("INSUFFICIENT_SCOPE", "The API key has no access to this surface.")
	}
	if !full {
		quota.take(c.now)
	}
	quota.describe(c.header, c.now)
	if full {
		c.showsLimits()
		c.header.Set("Retry-After", strconv.Itoa(seconds(retryAt.Sub(c.now))))
		deny("RATE_LIMITED", "The rate limit is exceeded.")
	}
	if len(c.sent) > longestBody && c.op != op.ImportsCreate { // which has a word for it
		c.uses(ruleBodyTooLong)
		deny("INVALID_REQUEST", "The body is too long.")
	}
	c.readQuery()
	if len(c.sent) > 0 && (c.takes.noBody || c.op.Method == http.MethodGet) {
		c.uses(ruleBodyUnasked)
	}
}

func (c *call) finish(a *response) {
	if c.sb.limits.successOnly && a.status >= 400 {
		for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
			c.header.Del(name)
		}
	}
	if len(c.assumed) > 0 {
		c.header.Set("X-Sandbox-Assumed", strings.Join(c.assumed, ", "))
	}
	c.header.Set("Content-Type", "application/json")
	c.header.Set("Date", c.now.UTC().Format(http.TimeFormat)) // by the clock of the sandbox, so that clients can compute with it
	a.header = c.header
}
