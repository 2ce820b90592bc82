// Package firstcontact asks a service what it is like: with GET requests that change nothing and cost nothing. It
// compares the responses with what is documented and assumed, and keeps names and types, never a value.
package firstcontact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/catalogue"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/shapes"
	"example.com/prospectkit/ratelimit"
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
	ids      map[string]string
	asks     []*ask
	got      map[string]*exchange // the last of each ask
	log      []sample             // all
	broken   map[string]bool      // asks that got no response
	left     int                  // asks that come after the one at hand
	views    map[string]*view
	why      map[string]string // no response, by the name of the ask
	bodies   map[*op.Op]*shapes.Shape
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

// UnusableError says why a run could not start, for the person who started it.
type UnusableError struct{ Text string }

// Error returns the text.
func (e *UnusableError) Error() string { return e.Text }

// Start checks the configuration.
func Start(cfg Config) (*Run, error) {
	r := &Run{
		recorder: &recorder{next: cfg.Transport, key: redact.Secrets{}.Key(cfg.Token), most: MaxRequests()}, routes: map[*op.Op]string{}, missing: map[*op.Op]bool{}, guessed: map[*op.Op]bool{},
		ids: map[string]string{}, asks: plan(), got: map[string]*exchange{}, views: map[string]*view{}, why: map[string]string{},
		bodies: map[*op.Op]*shapes.Shape{}, broken: map[string]bool{}, pace: newPace(cfg),
	}
	if err := r.setRoutes(cfg.Routes); err != nil {
		return nil, err
	}
	opts := []prospectkit.ClientOption{
		prospectkit.WithTransport(r.recorder), prospectkit.ReadOnly(), prospectkit.NoSpend(), prospectkit.NoSend(),
		prospectkit.WithRetry(prospectkit.NoRetry), prospectkit.WithUserAgent("prospectkit-check"),
		prospectkit.WithObserver(func(_ context.Context, e prospectkit.Event) { r.waited += e.Wait }),
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
		case !ok || !harmless(o):
			return &UnusableError{fmt.Sprintf("%q is not an operation that this command asks", name)}
		case method != http.MethodGet || !op.ValidRoute(path) || strings.Count(path, "{") != parametersOf(o):
			return &UnusableError{fmt.Sprintf("the route of %s must be GET and a path with the same parameters", name)}
		}
		r.routes[o] = path
	}
	return nil
}

func parametersOf(o *op.Op) int {
	if o == op.ContactsTimeline {
		return 1
	}
	return strings.Count(o.Path, "{")
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
				r.why[a.name] = "the run ended before it was asked"
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
	return slices.ContainsFunc(r.log, func(s sample) bool { return isSuccess(s.exchange.status) })
}

// usable says why nothing more has to be asked: after the first request, after the second, and after all.
func (r *Run) usable(asked int) error {
	e := r.got[r.asks[0].name]
	switch {
	case asked == 0 && e == nil:
		return &UnusableError{"the service cannot be reached: " + r.why[r.asks[0].name]}
	case e == nil, asked > 0 && r.Found():
		return nil
	case asked == 0 && e.status == http.StatusUnauthorized:
		return &UnusableError{"the service rejects the key (401): it may be mistyped, expired or revoked, or belong to another service"}
	case asked == 0 && isSuccess(e.status) && isPage(e), asked == 1 && e.status != http.StatusForbidden, asked == len(r.asks):
		return &UnusableError{adviceFor(e)}
	}
	return nil
}

// isPage reports whether a response is what a server for people sends.
func isPage(e *exchange) bool {
	return isGarbled(e) && (mediaType(e) != "application/json" || bytes.HasPrefix(bytes.TrimSpace(e.body), []byte("<")))
}

// adviceFor says what to do about a response after which there is nothing to check.
func adviceFor(e *exchange) string {
	text, seen := "the service sent a response that cannot be used: check "+prospectkit.EnvBaseURL, ""
	switch {
	case isSuccess(e.status):
		seen = ", " + cmp.Or(mediaType(e), "without a content type")
	case e.status < http.StatusBadRequest:
		text = "the service redirects to another address: check " + prospectkit.EnvBaseURL
	case e.status == http.StatusForbidden:
		text = "the service refuses every request: check the key in " + prospectkit.EnvToken + ", and " + prospectkit.EnvBaseURL
	case e.status == http.StatusNotFound, e.status == http.StatusMethodNotAllowed, e.status == http.StatusGone:
		text = "the service does not know the address that was asked for: check " + prospectkit.EnvBaseURL
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
		var why string
		if ids, why = a.ids(r); why != "" {
			r.why[a.name] = why
			return nil
		}
	}
	template := a.op.Path
	if found, ok := r.routes[a.op]; ok {
		template = found
	}
	if r.missing[a.op] {
		r.why[a.name] = "the service has no endpoint for " + a.op.Name
		return nil
	}
	if template != "" {
		if err := r.send(ctx, a, template, ids); err != nil {
			return err
		}
		if e := r.got[a.name]; e == nil || a.fails != nil || !r.leadsNowhere(a, e) {
			return nil
		}
		r.missing[a.op] = true
	}
	if _, set := r.routes[a.op]; set || a.fails != nil {
		return nil
	}
	return r.guess(ctx, a, ids)
}

// guess tries other paths.
func (r *Run) guess(ctx context.Context, a *ask, ids []string) error {
	before := r.got[a.name]
	r.guessed[a.op] = true
	for _, template := range guesses(a.op) {
		if strings.Count(template, "{") != len(ids) {
			continue
		}
		if err := r.send(ctx, a, template, ids); err != nil {
			return err
		}
		if e := r.got[a.name]; e != nil && isSuccess(e.status) && e != before {
			r.routes[a.op] = template
			delete(r.missing, a.op)
			return nil
		}
	}
	if before != nil {
		r.got[a.name] = before
	} else if e := r.got[a.name]; e != nil {
		delete(r.got, a.name)
		r.why[a.name] = "its path is undocumented, and no guess was right; -route sets it"
	}
	return nil
}

// leadsNowhere reports whether a response says that there is no such endpoint.
func (r *Run) leadsNowhere(a *ask, e *exchange) bool {
	if r.bodies[a.op] != nil {
		return false // it has led somewhere before
	}
	if e.status != http.StatusNotFound && e.status != http.StatusMethodNotAllowed && e.status != http.StatusGone {
		return false
	}
	code := codeOf(e.body)
	return a.ids == nil || code == "ENDPOINT_NOT_FOUND" || code == ""
}

// send sends a request, and once more after a failure that may pass. It returns only the error of the context.
func (r *Run) send(ctx context.Context, a *ask, template string, ids []string) error {
	path, ok := op.Expand("", template, ids...)
	if !ok {
		r.why[a.name] = "an id cannot stand in a path"
		return nil
	}
	opts := []prospectkit.CallOption{prospectkit.WithMaxWait(max(0, MaxWaits-r.waited))}
	for pair := range strings.SplitSeq(a.query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			opts = append(opts, prospectkit.WithQuery(name, value))
		}
	}
	o := catalogue.Operation{
		Name: a.op.Name, Method: a.op.Method, Path: path, Surface: ratelimit.Surface(a.op.Surface),
		Class: catalogue.ClassRead, Spends: catalogue.EffectNo, Sends: catalogue.EffectNo, WritesOutside: catalogue.EffectNo,
	}
	if err := r.pace.wait(ctx, a.op.Surface); err != nil {
		return err
	}
	for range 2 {
		r.recorder.last, r.recorder.noKey = nil, a.noKey
		err := r.client.Call(ctx, o, nil, nil, opts...)
		if err := ctx.Err(); err != nil {
			return err
		}
		e := r.recorder.last
		if e == nil {
			r.why[a.name] = reasonOf(err)
			if errors.Is(err, errTooMany) || r.got[a.name] != nil {
				return nil
			}
			_, waits := errors.AsType[*prospectkit.RateLimitWaitError](err)
			r.broken[a.name] = !waits
			continue
		}
		r.got[a.name] = e
		r.log = append(r.log, sample{a.op, a, e})
		if e.status != http.StatusTooManyRequests && e.status < http.StatusInternalServerError || r.Sent()+r.left >= MaxRequests() {
			break
		}
	}
	if e := r.got[a.name]; e != nil {
		delete(r.why, a.name)
		delete(r.broken, a.name)
		r.learn(a, e)
	}
	return nil
}

// reasonOf says why there is no response, without addresses and texts of others.
func reasonOf(err error) string {
	var wait *prospectkit.RateLimitWaitError
	switch {
	case errors.Is(err, errTooMany):
		return fmt.Sprintf("the %d requests of a run were used up", MaxRequests())
	case errors.As(err, &wait):
		return "the rate limit would have to be waited for too long"
	case err == nil:
		return "there was no response"
	}
	return "no response: " + err.Error()
}

// learn reads a successful response: its shape, and ids for later requests.
func (r *Run) learn(a *ask, e *exchange) {
	if !isSuccess(e.status) || a.fails != nil {
		return
	}
	value, ok := decode(e.body)
	if !ok {
		return
	}
	if r.bodies[a.op] == nil {
		r.bodies[a.op] = &shapes.Shape{}
	}
	r.observer.See(r.bodies[a.op], value)
	var single shapes.Shape
	r.observer.See(&single, value)
	want := described()[a.op]
	r.observer.Finish(&single, want)
	var c shapes.Comparison
	c.Compare(want, &single)
	v := &view{value, c.Moves}
	r.views[a.name] = v
	r.harvest(a.op, v)
}

// byteOrder is a mark that some programs write before a text. JSON must not begin with it.
var byteOrder = []byte("\ufeff")

func decode(body []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, byteOrder)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return nil, false
	}
	return v, true
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }

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
	keep := func(kind, id string) {
		if r.ids[kind] == "" {
			r.ids[kind] = id
		}
	}
	// best keeps the id of the first element of the highest rank.
	best := func(kind, array string, rank func(item any) int64) {
		var id string
		top := int64(-1)
		for _, item := range v.items(array) {
			if n := rank(item); n > top {
				if this := v.text(item, array+"[]", "id"); this != "" {
					id, top = this, n
				}
			}
		}
		keep(kind, id)
	}
	is := func(item any, context, path, value string) int64 {
		if v.text(item, context, path) == value {
			return 1
		}
		return 0
	}
	switch o {
	case op.ListsList:
		for _, kind := range [][2]string{{"contact list", "contactsCount"}, {"company list", "companiesCount"}} {
			best(kind[0], "data", func(item any) int64 {
				companies := strings.Contains(strings.ToLower(v.text(item, "data[]", "entityType")), "company")
				if companies != (kind[0] == "company list") {
					return -1
				}
				n, _ := v.number(item, "data[]", kind[1])
				return max(n, 0)
			})
		}
	case op.AgentsList:
		best("agent", "agents", func(item any) int64 { return int64(min(1, len(v.text(item, "agents[]", "listId")))) })
		for _, item := range v.items("agents") {
			keep("contact list", v.text(item, "agents[]", "listId"))
		}
	case op.CampaignsList:
		best("campaign", "campaigns", func(item any) int64 { return is(item, "campaigns[]", "status", "active") })
	case op.HubsList:
		best("hub", "knowledgeHubs", func(item any) int64 { return 1 - is(item, "knowledgeHubs[]", "status", "processing") })
	case op.ListsRows:
		if v.text(v.value, "", "entityType") != "companyList" {
			best("contact", "data", func(any) int64 { return 0 })
		}
	}
}

var codePattern = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)

// codeOf finds the code of an error, wherever it stands: a text that is a known code, or else one that looks like one
// and stands under a key that says so.
func codeOf(body []byte) string {
	value, _ := decode(body)
	known, likely := codesIn("", value)
	return cmp.Or(known, likely)
}

func codesIn(key string, value any) (known, likely string) {
	add := func(key string, item any) {
		more, maybe := codesIn(key, item)
		known, likely = cmp.Or(known, more), cmp.Or(maybe, likely)
	}
	switch v := value.(type) {
	case string:
		if _, ok := op.CodeByName(v); ok {
			return v, ""
		}
		if strings.Contains(strings.ToLower(key), "code") && len(v) <= 60 && codePattern.MatchString(v) {
			return "", v
		}
	case []any:
		for _, item := range v {
			add(key, item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			add(name, v[name])
		}
	}
	return known, likely
}
