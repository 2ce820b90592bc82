package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
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
	var refused *refusal
	switch {
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

// enter makes the checks of every operation: path, key, scope, limits.
func (c *call) enter() {
	if c.op == nil {
		deny("ENDPOINT_NOT_FOUND", "No endpoint has this path and method.")
	}
	if c.key == nil {
		deny("UNAUTHORIZED", "The API key is missing, malformed, expired or revoked.")
	}
	c.ws = c.key.ws
	quota := c.sb.quota(c.ws, c.op.Surface)
	quota.roll(c.now)
	retryAt, full := quota.fullUntil()
	if !c.key.allows(string(c.op.Scope)) {
		deny("INSUFFICIENT_SCOPE", "The API key has no access to this surface.")
	}
	if !full {
		quota.take(c.now)
	}
	quota.describe(c.header, c.now)
	if full {
		c.header.Set("Retry-After", strconv.Itoa(seconds(retryAt.Sub(c.now))))
		deny("RATE_LIMITED", "The rate limit is exceeded.")
	}
	if len(c.sent) > longestBody && c.op != op.ImportsCreate { // which has a word for it
		deny("INVALID_REQUEST", "The body is too long.")
	}
	c.query, _ = url.ParseQuery(c.req.URL.RawQuery) // what cannot be read is ignored
}

func (c *call) finish(a *response) {
	c.header.Set("Content-Type", "application/json")
	c.header.Set("Date", c.now.UTC().Format(http.TimeFormat)) // by the clock of the sandbox, so that clients can compute with it
	a.header = c.header
}
