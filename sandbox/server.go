package sandbox

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	return sb.process(t, body, sb.fits(t.op, r, body))
}

// process is the part that happens at one time.
func (sb *Sandbox) process(t *target, body []byte, fits []*Fault) *delivery {
	now := sb.enter()
	defer sb.mu.Unlock()
	f, planted := t.req.Context().Value(plantedKey{}).(*Fault)
	if !planted {
		f = cmp.Or(sb.trip(fits), noFault)
	}
	for range f.again { // their responses are lost
		sb.serve(t, body, now, f)
	}
	return sb.serve(t, body, now, f)
}

// serve serves a request once.
func (sb *Sandbox) serve(t *target, body []byte, now time.Time, f *Fault) *delivery {
	c := &call{sb: sb, op: t.op, endpoint: t.serves, req: t.req, sent: body, now: now, header: http.Header{}, cap: f.cap}
	c.id = sb.journal.requestID()
	c.key = sb.findKey(t.req, now)
	d := &delivery{fault: f}
	if f.serves() {
		d.response = c.response()
		d.processed = d.response.status < 300
	}
	switch {
	case f.instead != nil:
		d.response = f.response(c)
	case f.serves():
		f.transform(&d.response)
	default:
		d.response.header = http.Header{} // cut before there was a response
	}
	d.response.header.Set("X-Sandbox-Request", c.id)
	sb.journal.add(c, d)
	sb.servedHooks(c.op, c.ws, d.response.status)
	return d
}

// response applies the rules.
func (c *call) response() (a response) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case *refusal:
			a = end.response(c)
		default:
			panic(end)
		}
		c.header.Set("Content-Type", "application/json")
		c.header.Set("Date", c.now.UTC().Format(http.TimeFormat)) // by the clock of the sandbox, so that clients can compute with it
		a.header = c.header
	}()
	c.enter()
	c.decode()
	return c.endpoint.handle(c)
}

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

// endpoints are those of all files.
var endpoints = map[*op.Op]endpoint{}

// serves adds the endpoints of a file.
func serves(some map[*op.Op]endpoint) struct{} { //nolint:unparam // a variable needs a value
	maps.Copy(endpoints, some)
	return struct{}{}
}

// target is what the router knows about a request.
type target struct {
	http.ResponseWriter // never called
	op                  *op.Op
	serves              endpoint
	req                 *http.Request // knows the values in the path
}

// muxes are those of all sandboxes, by their routes. Making one takes longer than most tests of a program do.
var muxes sync.Map

func (sb *Sandbox) routes() *http.ServeMux {
	key := fmt.Sprint(sb.paths)
	if mux, ok := muxes.Load(key); ok {
		return mux.(*http.ServeMux)
	}
	mux := sb.register()
	muxes.Store(key, mux)
	return mux
}

// register makes a mux with every operation that has a path. A test checks that each has its endpoint.
func (sb *Sandbox) register() *http.ServeMux {
	mux := http.NewServeMux()
	for _, o := range op.All() {
		pattern := sb.pattern(o)
		if pattern == "" {
			continue
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			t := w.(*target)
			t.op, t.serves, t.req = o, endpoints[o], r
		})
	}
	mux.HandleFunc("/", nothing)
	return mux
}

// pattern is the route of an operation, or empty if it has none.
func (sb *Sandbox) pattern(o *op.Op) string {
	switch route, moved := sb.paths[o]; {
	case moved:
		return route
	case o.Path == "":
		return ""
	}
	return o.Method + " " + basePath + o.Path
}

func (sb *Sandbox) route(r *http.Request) *target {
	t := &target{req: r}
	if routable(r) {
		sb.mux.ServeHTTP(t, r)
	}
	return t
}

// routable keeps from the mux what it would handle itself: HEAD, which it takes for GET, and paths that it would redirect.
func routable(r *http.Request) bool {
	own := r.Method == http.MethodHead || r.Method == http.MethodConnect || r.RequestURI == "*"
	return !own && clean(r.URL.Path) && clean(r.URL.EscapedPath())
}

func clean(p string) bool { return strings.HasPrefix(p, "/") && path.Clean(p) == p }

func nothing(http.ResponseWriter, *http.Request) {}

// WithRoute sets the undocumented path of an operation to the one that your application uses:
//
//	sandbox.WithRoute("agents.pause", "POST /business/agents/{agentId}/pause")
//
// The parameters are agentId for agents.pause, campaignId and stepId for campaigns.preview-step, and contactId for
// contacts.timeline. An assumed path can be changed in the same way.
func WithRoute(opName, route string) Option {
	return func(sb *Sandbox) error {
		o, ok := op.ByName(opName)
		if !ok || o.Provenance == op.Documented {
			return fmt.Errorf("WithRoute: %q is not an operation with an undocumented path", opName)
		}
		method, path, _ := strings.Cut(route, " ")
		if method == "" || o.Method != "" && method != o.Method || !clean(path) {
			return fmt.Errorf("WithRoute: %s: %q has to be a method and a path, such as \"%s /path\"", opName, route, cmp.Or(o.Method, http.MethodPost))
		}
		for _, name := range slices.Concat(endpoints[o].path, op.Parameters(o.Path)) {
			if !slices.Contains(op.Parameters(path), name) {
				return fmt.Errorf("WithRoute: %s: %q lacks {%s}", opName, route, name)
			}
		}
		if err := sb.move(o, method+" "+basePath+path); err != nil {
			return fmt.Errorf("WithRoute: %s: %w", opName, err)
		}
		return nil
	}
}

// move sets the pattern of an operation, if a mux accepts those of all operations together.
func (sb *Sandbox) move(o *op.Op, pattern string) (err error) {
	before := maps.Clone(sb.paths)
	defer func() {
		if p := recover(); p != nil {
			sb.paths, err = before, fmt.Errorf("%q is no pattern of net/http.ServeMux, or another operation is served there", pattern)
		}
	}()
	sb.paths[o] = pattern
	sb.routes()
	return nil
}
