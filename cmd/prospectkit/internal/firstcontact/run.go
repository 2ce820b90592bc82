// Package firstcontact asks a service what it is like: with GET requests that change nothing and cost nothing. It
// compares the responses with what is documented and assumed, and keeps names and types, never a value. Its command is prospectkit
// check, in command.go: see docs/guide.md for the first hour.
package firstcontact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/service"
	"example.com/prospectkit/cmd/prospectkit/internal/shapes"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

// Config is what a run needs. Client options are added to those of the run.
type Config struct {
	BaseURL, Token string
	Transport      http.RoundTripper
	Routes         map[string]string // of operations, by name, as in "GET /business/agents": where to ask
	Options        []prospectkit.ClientOption
	Waits          func(time.Duration) // hears how long the run leaves a surface to others; may be nil
}

// Run is one run.
type Run struct {
	client   *prospectkit.Client
	recorder *recorder
	observer shapes.Observer
	routes   map[*op.Op]string // set, or found by a guess
	missing  map[*op.Op]bool   // no path responds
	guessed  map[*op.Op]bool
	bodies   map[*op.Op]*shapes.Shape
	ids      map[string]string
	asks     []*ask
	log      []*exchange   // all
	left     int           // asks that come after the one at hand
	waited   time.Duration // for rate limits
	pace     pace
}

// MaxWaits bounds what a run waits for rate limits, all together. What would take longer is not asked.
const MaxWaits = 4 * time.Minute

// view is a successful response, decoded, and where its values stand.
type view struct {
	value any
	moves map[string]string
}

// Start checks the configuration.
func Start(cfg Config) (*Run, error) {
	base, err := url.Parse(cfg.BaseURL)
	local := err == nil && check.IsLoopback(base.Hostname())
	r := &Run{
		recorder: &recorder{next: cfg.Transport, key: redact.Secrets{}.Key(cfg.Token), most: MaxRequests()},
		routes:   map[*op.Op]string{}, missing: map[*op.Op]bool{}, guessed: map[*op.Op]bool{}, bodies: map[*op.Op]*shapes.Shape{},
		ids: map[string]string{}, asks: plan(), pace: pace{local, map[op.Surface][]time.Time{}, cfg.Waits},
	}
	if err := r.setRoutes(cfg.Routes); err != nil {
		return nil, err
	}
	opts := []prospectkit.ClientOption{
		prospectkit.WithTransport(r.recorder), prospectkit.ReadOnly(), prospectkit.NoSpend(), prospectkit.NoSend(),
		prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}), prospectkit.WithUserAgent("prospectkit-check"),
		prospectkit.WithObserver(func(ctx context.Context, e prospectkit.Event) context.Context {
			r.waited += e.Wait
			return ctx
		}),
	}
	client, err := prospectkit.New(cfg.BaseURL, cfg.Token, append(opts, cfg.Options...)...)
	r.client = client
	return r, err
}

func (r *Run) setRoutes(routes map[string]string) error {
	for name, route := range routes {
		o, ok := op.ByName(name)
		method, path, _ := strings.Cut(route, " ")
		switch {
		case !ok || !o.FreeRead():
			return fmt.Errorf("%q is not an operation that this command asks", name)
		case method != http.MethodGet || !op.ValidRoute(path) || strings.Count(path, "{") != strings.Count(cmp.Or(o.Path, guesses(o)[0]), "{"):
			return fmt.Errorf("the route of %s must be GET and a path with the same parameters", name)
		}
		r.routes[o] = path
	}
	return nil
}

// Sent returns how many requests were sent. It may be called while [Run.Ask] works.
func (r *Run) Sent() int { return int(r.recorder.sent.Load()) }

// Planned returns how many requests a run sends, if nothing is sent twice.
func (r *Run) Planned() int { return len(r.asks) }

// Ask sends the requests of the plan. If the context ends before, a report tells what was found so far.
func (r *Run) Ask(ctx context.Context) error {
	for i, a := range r.asks {
		r.left = len(r.asks) - i - 1
		if err := r.ask(ctx, a); err != nil {
			for _, a := range r.asks[i:] {
				a.why = "the run ended before it was asked"
			}
			return err
		}
		if err := r.usable(i); err != nil {
			return err
		}
	}
	return r.usable(len(r.asks))
}

// Found reports whether there is something to report.
func (r *Run) Found() bool {
	return slices.ContainsFunc(r.log, (*exchange).succeeded)
}

// usable says why nothing more has to be asked: after the first request, after the second, and after all.
func (r *Run) usable(asked int) error {
	e := r.asks[0].last
	switch {
	case asked == 0 && e == nil:
		return errors.New("the service cannot be reached: " + r.asks[0].why)
	case e == nil, asked > 0 && r.Found():
		return nil
	case asked == 0 && e.status == http.StatusUnauthorized:
		return errors.New("the service rejects the key (401): it may be mistyped, expired or revoked, or belong to another service")
	case asked == 0 && e.succeeded() && isPage(e), asked == 1 && e.status != http.StatusForbidden, asked == len(r.asks):
		return errors.New(adviceFor(e))
	}
	return nil
}

// isPage reports whether a response is what a server for people sends.
func isPage(e *exchange) bool {
	return e.isGarbled() && (e.mediaType() != "application/json" || bytes.HasPrefix(bytes.TrimSpace(e.body), []byte("<")))
}

// adviceFor says what to do about a response after which there is nothing to check.
func adviceFor(e *exchange) string {
	text, seen := "the service sent a response that cannot be used: check "+service.EnvBaseURL, ""
	switch {
	case e.succeeded():
		seen = ", " + cmp.Or(e.mediaType(), "without a content type")
	case e.status < http.StatusBadRequest:
		text = "the service redirects to another address: check " + service.EnvBaseURL
	case e.status == http.StatusForbidden:
		text = "the service refuses every request: check the key in " + service.EnvToken + ", and " + service.EnvBaseURL
	case slices.Contains(noEndpoint, e.status):
		text = "the service does not know the address that was asked for: check " + service.EnvBaseURL
	case e.status == http.StatusTooManyRequests:
		text = "the workspace has used up its requests for now: try again later"
	case e.status >= http.StatusInternalServerError:
		text = "the service failed: try again later"
	}
	return fmt.Sprintf("%s (status %d%s)", text, e.status, seen)
}

// ask sends one request, and others in its place where its path leads nowhere.
func (r *Run) ask(ctx context.Context, a *ask) error {
	var ids []string
	if a.ids != nil {
		if ids, a.why = a.ids(r); a.why != "" {
			return nil
		}
	}
	if r.missing[a.op] {
		a.why = "the service has no endpoint for " + a.op.Name
		return nil
	}
	if template := cmp.Or(r.routes[a.op], a.op.Path); template != "" {
		if err := r.send(ctx, a, template, ids); err != nil {
			return err
		}
		if a.last == nil || a.fails != nil || !r.leadsNowhere(a) {
			return nil
		}
		r.missing[a.op] = true
	}
	if r.routes[a.op] != "" || a.fails != nil {
		return nil
	}
	return r.guess(ctx, a, ids)
}

// guess tries other paths.
func (r *Run) guess(ctx context.Context, a *ask, ids []string) error {
	before := a.last
	r.guessed[a.op] = true
	for _, template := range guesses(a.op) {
		if err := r.send(ctx, a, template, ids); err != nil {
			return err
		}
		if a.last != before && a.last.succeeded() {
			r.routes[a.op] = template
			delete(r.missing, a.op)
			return nil
		}
	}
	if before == nil && a.last != nil {
		a.why = "its path is undocumented, and no guess was right; -route sets it"
	}
	a.last = before
	return nil
}

// leadsNowhere reports whether a response says that there is no such endpoint.
func (r *Run) leadsNowhere(a *ask) bool {
	if r.bodies[a.op] != nil || !slices.Contains(noEndpoint, a.last.status) {
		return false // or it has led somewhere before
	}
	code := a.last.code()
	return a.ids == nil || code == "ENDPOINT_NOT_FOUND" || code == ""
}

// noEndpoint are the statuses of an address that a server does not know.
var noEndpoint = []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone}

// send sends a request, and once more after a failure that may pass. It returns only the error of the context.
func (r *Run) send(ctx context.Context, a *ask, template string, ids []string) error {
	path, ok := op.Expand("", template, ids...)
	if !ok {
		a.why = "an id cannot stand in a path"
		return nil
	}
	opts := []prospectkit.CallOption{prospectkit.WithMaxWait(max(0, MaxWaits-r.waited))}
	for pair := range strings.SplitSeq(a.query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			opts = append(opts, prospectkit.WithQuery(name, value))
		}
	}
	o := prospectkit.Operation{
		Name: a.op.Name, Method: a.op.Method, Path: path, Surface: string(a.op.Surface),
		Reads: true, Free: true,
	}
	if err := r.pace.wait(ctx, a.op.Surface); err != nil {
		return err
	}
	for range 2 {
		r.recorder.last, r.recorder.ask = nil, a
		err := r.client.Call(ctx, o, nil, nil, opts...)
		if err := ctx.Err(); err != nil {
			return err
		}
		e := r.recorder.last
		if e == nil {
			a.why = reasonOf(err)
			if errors.Is(err, errTooMany) || a.last != nil {
				return nil
			}
			continue
		}
		a.last = e
		r.log = append(r.log, e)
		if e.status != http.StatusTooManyRequests && e.status < http.StatusInternalServerError || r.Sent()+r.left >= MaxRequests() {
			break
		}
	}
	if a.last != nil {
		a.why = ""
		r.learn(a)
	}
	return nil
}

// reasonOf says why there is no response, without addresses and texts of others.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, errTooMany):
		return fmt.Sprintf("the %d requests of a run were used up", MaxRequests())
	case errors.Is(err, prospectkit.RuleRateLimit):
		return "the rate limit would have to be waited for too long"
	}
	return "no response: " + err.Error()
}

// learn reads a successful response: its shape, and ids for later requests.
func (r *Run) learn(a *ask) {
	e := a.last
	if !e.succeeded() || !e.isJSON || a.fails != nil {
		return
	}
	if r.bodies[a.op] == nil {
		r.bodies[a.op] = &shapes.Shape{}
	}
	r.observer.See(r.bodies[a.op], e.value)
	var single shapes.Shape
	r.observer.See(&single, e.value)
	c := r.compare(described()[a.op], &single, false)
	a.view = &view{e.value, c.Moves}
	r.harvest(a.op, a.view)
}

// compare completes what was seen, and compares it with what is expected.
func (r *Run) compare(want, seen *shapes.Shape, lenient bool) shapes.Comparison {
	r.observer.Finish(seen, want)
	c := shapes.Comparison{Lenient: lenient}
	c.Compare(want, seen)
	return c
}

// at returns the value at a described path of an object, wherever it stands.
func (v *view) at(object any, context, path string) any {
	place := strings.TrimPrefix(context+"."+path, ".")
	if to, moved := v.moves[place]; moved {
		path = to
	}
	for name := range strings.SplitSeq(path, ".") {
		if path == "" {
			break
		}
		fields, ok := object.(map[string]any)
		if !ok {
			return nil
		}
		object = fields[name]
	}
	return object
}

// items returns the elements of the array at a described path.
func (v *view) items(path string) []any {
	items, _ := v.at(v.value, "", path).([]any)
	return items
}

// text returns a value as text, or nothing.
func (v *view) text(object any, context, path string) string {
	switch value := v.at(object, context, path).(type) {
	case string:
		return value
	case json.Number:
		return string(value)
	}
	return ""
}

// number returns a value as a number.
func (v *view) number(object any, context, path string) (int64, bool) {
	n, ok := v.at(object, context, path).(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// harvest takes the ids that later requests need: of the list with the most rows, of a campaign that sends, and so on.
func (r *Run) harvest(o *op.Op, v *view) {
	type fields func(name string) string // of an element
	keep := func(kind, id string) { r.ids[kind] = cmp.Or(r.ids[kind], id) }
	// best keeps the id of the first element of the highest rank, unless that is negative.
	best := func(kind, array string, rank func(fields) int) {
		id, top := "", -1
		for _, item := range v.items(array) {
			of := func(name string) string { return v.text(item, array+"[]", name) }
			if n := rank(of); n > top && of("id") != "" {
				id, top = of("id"), n
			}
		}
		keep(kind, id)
	}
	one := map[bool]int{true: 1}
	switch o {
	case op.ListsList:
		for kind, counted := range map[string]string{"contact": "contactsCount", "company": "companiesCount"} {
			best(kind+" list", "data", func(of fields) int {
				if companies := strings.Contains(strings.ToLower(of("entityType")), "company"); companies != (kind == "company") {
					return -1
				}
				n, _ := strconv.Atoi(of(counted))
				return max(n, 0)
			})
		}
	case op.AgentsList:
		best("agent", "agents", func(of fields) int { return one[of("listId") != ""] })
		for _, item := range v.items("agents") {
			keep("contact list", v.text(item, "agents[]", "listId"))
		}
	case op.CampaignsList:
		best("campaign", "campaigns", func(of fields) int { return one[of("status") == "active"] })
	case op.HubsList:
		best("hub", "knowledgeHubs", func(of fields) int { return one[of("status") != "processing"] })
	case op.ListsRows:
		if v.text(v.value, "", "entityType") != "companyList" {
			best("contact", "data", func(fields) int { return 0 })
		}
	}
}
