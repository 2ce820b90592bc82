// Package firstcontact asks a service what it is like. It sends GET requests that change nothing and cost nothing, each free read and
// what tells more about pages, order and errors, and compares the responses with what is documented and assumed.
//
// It keeps types, and names that a programmer gave, never a value of the workspace. It guesses nothing: what it cannot tell, it says so,
// and why. With -write, it also makes up to six lists, and measures what the verdicts of the client rest on: see write.go.
package firstcontact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/service"
	network "example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

// Config is what a run needs. Client options are added to those of the run.
type Config struct {
	BaseURL, Token string
	Transport      http.RoundTripper
	Routes         map[string]string // of operations, by name, as in "GET /business/agents": where to ask
	Write          bool              // it may make lists: see [Run.Write]
	Options        []prospectkit.ClientOption
}

// Run is one run.
type Run struct {
	cfg    Config
	client *prospectkit.Client
	wire   *recorder
	routes map[*op.Op]string
	ids    map[string]string
	asks   []*ask
	log    []*exchange
	waited time.Duration
	report Report
}

// MaxWaits bounds what a run waits for rate limits, all together. What would take longer is not asked.
const MaxWaits = 4 * time.Minute

// Start checks the configuration.
func Start(cfg Config) (*Run, error) {
	r := &Run{
		cfg:    cfg,
		wire:   &recorder{next: cfg.Transport, key: redact.Secrets{}.Key(cfg.Token)},
		routes: map[*op.Op]string{}, ids: map[string]string{}, asks: plan(), report: Report{Format: Format, Differs: []Difference{}, Untold: []Untold{}},
	}
	for name, route := range cfg.Routes {
		o, ok := op.ByName(name)
		method, path, _ := strings.Cut(route, " ")
		switch {
		case !ok || !o.FreeRead():
			return nil, fmt.Errorf("%q is not an operation that this command asks", name)
		case method != http.MethodGet || !op.ValidRoute(path) || strings.Count(path, "{") != strings.Count(cmp.Or(o.Path, "{contactId}"), "{"):
			return nil, fmt.Errorf("the route of %s must be GET and a path with the same parameters", name)
		}
		r.routes[o] = path
	}
	opts := []prospectkit.ClientOption{
		prospectkit.WithTransport(r.wire), prospectkit.NoSpend(), prospectkit.NoSend(), prospectkit.Batch(),
		prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}), prospectkit.WithUserAgent("prospectkit-check"),
		prospectkit.WithObserver(func(_ context.Context, e prospectkit.Event) context.Context {
			r.waited += e.Wait
			return nil
		}),
	}
	if !cfg.Write {
		opts = append(opts, prospectkit.ReadOnly())
	}
	var err error
	r.client, err = prospectkit.New(cfg.BaseURL, cfg.Token, append(opts, cfg.Options...)...)
	return r, err
}

// Sent returns how many requests were sent. It may be called while the run works.
func (r *Run) Sent() int { return int(r.wire.sent.Load()) }

// Ask sends the requests of the plan. If the context ends before, a report tells what was found so far.
func (r *Run) Ask(ctx context.Context) error {
	for i, a := range r.asks {
		a.why = "the run ended before it was asked"
		if ctx.Err() != nil {
			continue
		}
		r.ask(ctx, a)
		if last := i == len(r.asks)-1; ctx.Err() == nil && !r.found() && (i == 1 || last || i == 0 && a.got.is(http.StatusUnauthorized)) {
			if first := r.asks[0]; last || first.got == nil || first.got.status != http.StatusForbidden {
				return unusable(first)
			}
		}
	}
	return ctx.Err()
}

func (r *Run) found() bool {
	for _, a := range r.asks {
		if a.got.succeeded() && a.fails.status == 0 && (a.got.isJSON || len(a.got.body) == 0) {
			return true
		}
	}
	return false
}

// unusable says why nothing more has to be asked.
func unusable(first *ask) error {
	e := first.got
	if e == nil {
		return errors.New("the service cannot be reached: " + first.why)
	}
	text, seen := "the service sent a response that cannot be used: check "+service.EnvBaseURL, ""
	switch {
	case e.succeeded():
		seen = ", " + cmp.Or(e.mediaType(), "without a content type")
	case e.status < 400:
		text = "the service redirects to another address: check " + service.EnvBaseURL
	case e.is(http.StatusUnauthorized):
		text = "the service rejects the key (401): it may be mistyped, expired or revoked, or belong to another service"
		return errors.New(text)
	case e.is(http.StatusForbidden):
		text = "the service refuses every request: check the key in " + service.EnvToken + ", and " + service.EnvBaseURL
	case e.is(http.StatusTooManyRequests):
		text = "the workspace has used up its requests for now: try again later"
	case e.status < 500:
		text = "the service does not know the address that was asked for: check " + service.EnvBaseURL
	default:
		text = "the service failed: try again later"
	}
	return fmt.Errorf("%s (status %d%s)", text, e.status, seen)
}

// ask sends a request, and up to twice more after a failure that may pass.
func (r *Run) ask(ctx context.Context, a *ask) {
	id, given := strings.CutPrefix(a.id, "=")
	if !given && a.id != "" {
		if id = r.ids[a.id]; id == "" {
			a.why = "no " + a.id + " was found before"
			return
		}
	}
	var ids []string
	if a.id != "" {
		ids = []string{id}
	}
	template := cmp.Or(r.routes[a.op], a.op.Path)
	path, ok := op.Expand("", template, ids...)
	if !ok {
		a.why = "its path is undocumented: -route sets it"
		return
	}
	var opts []prospectkit.CallOption
	for pair := range strings.SplitSeq(a.query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			opts = append(opts, prospectkit.WithQuery(name, value))
		}
	}
	o := prospectkit.Operation{Name: a.op.Name, Method: a.op.Method, Path: path, Surface: string(a.op.Surface), Reads: true, Free: true}
	for range 3 {
		a.why = ""
		e, err := r.send(ctx, o, nil, a.noKey, opts...)
		if e == nil {
			if a.why = "no response: " + err.Error(); errors.Is(err, prospectkit.RuleRateLimit) {
				a.why = "the rate limit would have to be waited for too long"
				return
			}
			continue
		}
		e.ask, a.got = a, e
		r.log = append(r.log, e)
		if !e.is(http.StatusTooManyRequests) && e.status < 500 {
			break
		}
	}
	if a.got.succeeded() && a.fails.status == 0 {
		r.harvest(a)
	}
}

// send makes one request.
func (r *Run) send(ctx context.Context, o prospectkit.Operation, body any, noKey bool, opts ...prospectkit.CallOption) (*exchange, error) {
	r.wire.last, r.wire.noKey = nil, noKey
	err := r.client.Call(ctx, o, body, nil, append(opts, prospectkit.WithMaxWait(max(0, MaxWaits-r.waited)))...)
	return r.wire.last, err
}

// harvest keeps the ids that later requests need: of the list with the most rows of its kind, and of the first of all else.
func (r *Run) harvest(a *ask) {
	keep := func(kind string, item any) {
		if id := text(item, "id"); id != "" && r.ids[kind] == "" {
			r.ids[kind] = id
		}
	}
	first := map[*op.Op][2]string{op.AgentsList: {"agents", "agent"}, op.CampaignsList: {"campaigns", "campaign"}, op.HubsList: {"knowledgeHubs", "hub"}}
	switch a.op {
	case op.ListsList:
		for _, kind := range []string{"contactList", "companyList"} {
			best, most := any(nil), int64(-1)
			for _, item := range items(a.got.value, "data") {
				rows := max(number(item, "contactsCount"), number(item, "companiesCount"), 0)
				if text(item, "entityType") == kind && rows > most {
					best, most = item, rows
				}
			}
			keep(kind, best)
			keep("list", best)
		}
	case op.ListsRows:
		if text(a.got.value, "entityType") == "contactList" {
			for _, row := range items(a.got.value, "data") {
				keep("contact", row)
			}
		}
	default:
		for _, item := range items(a.got.value, first[a.op][0]) {
			keep(first[a.op][1], item)
		}
	}
}

// exchange is a response, in which the key is hidden.
type exchange struct {
	ask    *ask
	status int
	header http.Header
	body   []byte
	value  any // of a body that is JSON
	isJSON bool
	at     time.Time // by the header Date, or else by the clock here
}

func (e *exchange) is(status int) bool { return e != nil && e.status == status }
func (e *exchange) succeeded() bool    { return e != nil && e.status >= 200 && e.status < 300 }

// mediaType is the content type without parameters.
func (e *exchange) mediaType() string {
	kind, _, _ := strings.Cut(e.header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// recorder is the transport of a run, and keeps the last response.
type recorder struct {
	next  http.RoundTripper
	key   redact.Secrets
	noKey bool
	last  *exchange
	sent  atomic.Int32 // also what got no response
}

const longestBody = 32 << 20

// RoundTrip sends a request and keeps its response.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.noKey {
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
	}
	r.sent.Add(1)
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	e, body, err := r.read(resp)
	if err != nil {
		return nil, err
	}
	r.last = e
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// read reads a response to its end, and returns its body as it came, too.
func (r *recorder) read(resp *http.Response) (e *exchange, body []byte, err error) {
	defer resp.Body.Close()
	if body, err = io.ReadAll(io.LimitReader(resp.Body, longestBody)); err != nil {
		return nil, nil, err
	}
	e = &exchange{status: resp.StatusCode, header: r.key.Header(resp.Header, body), body: []byte(r.key.Hide(string(body))), at: time.Now()}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		e.at = at
	}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(e.body, byteOrder)))
	d.UseNumber()
	e.isJSON = d.Decode(&e.value) == nil && !d.More()
	return e, body, nil
}

// byteOrder is a mark that some programs write before a text. JSON must not begin with it.
var byteOrder = []byte("\ufeff")

// NewTransport returns the transport of the command: a connection for each request, so that net/http repeats none.
func NewTransport() http.RoundTripper {
	t := network.NewTransport()
	t.DisableKeepAlives = true
	return t
}

// at returns a value below an object, or nil.
func at(v any, names ...string) any {
	for _, name := range names {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}

func items(v any, names ...string) []any {
	all, _ := at(v, names...).([]any)
	return all
}

func text(v any, names ...string) string {
	s, _ := at(v, names...).(string)
	return s
}

// number is a whole number, or -1.
func number(v any, names ...string) int64 {
	if n, ok := at(v, names...).(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return i
		}
	}
	return -1
}
