package prospectkit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/credential"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/mismatch"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
)

// Version is the version of this package, for version 1.0.0 of the API description.
const Version = "0.1.0"

const (
	envBaseURL = "PROSPECTKIT_BASE_URL"
	envToken   = "PROSPECTKIT_TOKEN"
)

var userAgent = "prospectkit/" + Version + " (" + runtime.Version() + "; " + runtime.GOOS + "/" + runtime.GOARCH + ")"

// Client calls the service, with one field for each part of the API. It is safe for concurrent use.
type Client struct {
	Account   *AccountService   // who the key belongs to, credits
	Lists     *ListsService     // lists, their rows, folders, CRM push
	Agents    *AgentsService    // agents that deliver people or companies into a list
	Campaigns *CampaignsService // campaigns, their steps and scheduled sends
	Facts     *FactsService     // learned facts, knowledge hubs
	Search    *SearchService    // prospects, companies, saved searches, filter options
	Contacts  *ContactsService  // finding contacts, their activities
	Imports   *ImportsService   // files into lists

	conf *config
}

// New returns a client for the service at baseURL, with an API token. It makes no request and starts no goroutine. The error is a
// [RefusedError] with all invalid arguments and options.
//
// The base URL ends in /api/v1, and is https, except for this machine or with [AllowPlainHTTP]. The token may be empty beside
// [WithTokenSource]. In a browser, where everybody can read it, New requires a transport other than net/http's.
func New(baseURL, token string, opts ...ClientOption) (*Client, error) {
	c := &config{
		settings: settings{retry: RetryPolicy{}.withDefaults(), maxWait: 2 * time.Minute},
		maxBody:  32 << 20,
		limits:   newLimits(),
	}
	var bad, badOptions check.Violations
	c.apply(opts, &badOptions)
	if token != "" || c.source == nil {
		check.Token(&bad, token)
	}
	c.setKeys(credential.New(token, c.source))
	bad = append(bad, badOptions...)
	if c.base = check.BaseURL(&bad, baseURL, "/api/v1"); c.base != nil {
		bad.Must(c.base.Scheme == "https" || c.plainHTTP || check.IsLoopback(c.base.Hostname()),
			"base URL", "would send the token unprotected: use https, or AllowPlainHTTP if you mean it")
	}
	c.checkTransport(&bad)
	if len(bad) > 0 {
		return nil, refusal(&op.Op{Name: "client.new"}, bad)
	}
	c.build()
	return newClient(c), nil
}

// FromEnv returns a client as [New] does, with PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN. Both must be set: no variable leads to the sandbox.
func FromEnv(opts ...ClientOption) (*Client, error) {
	baseURL, token := strings.TrimSpace(os.Getenv(envBaseURL)), strings.TrimSpace(os.Getenv(envToken))
	var bad check.Violations
	bad.Must(baseURL != "", envBaseURL, "is not set (prospectkit sandbox prints one to try, and a token)")
	bad.Must(token != "", envToken, "is not set")
	if len(bad) > 0 {
		return nil, refusal(&op.Op{Name: "client.from-env"}, bad)
	}
	return New(baseURL, token, opts...)
}

// With returns a client with the options applied. It shares all else: host, token, connections, rate limiter.
func (c *Client) With(opts ...ClientOption) (*Client, error) {
	conf := *c.conf
	var bad check.Violations
	conf.source, conf.through = nil, ""
	conf.apply(opts, &bad)
	if conf.source != nil {
		conf.setKeys(conf.keys().With(conf.source))
		conf.polls = newAgentPolls() // the key may be of another workspace
	}
	conf.checkTransport(&bad)
	if len(bad) > 0 {
		return nil, refusal(&op.Op{Name: "client.with"}, bad)
	}
	if conf.httpClient != c.conf.httpClient {
		conf.build()
	}
	return newClient(&conf), nil
}

func newClient(conf *config) *Client {
	conf.userAgent = []string{strings.TrimSpace(conf.app + " " + userAgent)}
	header := conf.commonHeader()
	conf.sharedHeader = func() http.Header { return header }
	c := &Client{conf: conf}
	conf.closed = new(atomic.Bool)
	s := service{conf}
	c.Account = &AccountService{s}
	c.Lists = &ListsService{s}
	c.Agents = &AgentsService{s}
	c.Campaigns = &CampaignsService{s}
	c.Facts = &FactsService{s}
	c.Search = &SearchService{s}
	c.Contacts = &ContactsService{s}
	c.Imports = &ImportsService{s}
	return c
}

// Close closes the idle connections of the default transport, and refuses later calls. Calls in flight and clients derived by [Client.With]
// continue.
func (c *Client) Close() error {
	if !c.conf.closed.Swap(true) && c.conf.ownTransport != nil {
		c.conf.ownTransport.CloseIdleConnections()
	}
	return nil
}

// Operation is one that this package has no method for: see [Client.Call]. Name, Method, Path and Surface are required. What else is left
// out counts as the worst.
type Operation struct {
	Name           string // in events, errors, tickets and logs
	Method         string
	Path           string        // below the base URL, with the ids in it
	Surface        string        // whose rate limits count: a word of [RateLimit]
	Reads          bool          // it changes and sends nothing
	Free           bool          // it spends no credits
	SendsNothing   bool          // to prospects, or into a CRM
	Repeatable     bool          // a second call changes nothing more
	AttemptTimeout time.Duration // default 30 s
}

// Call calls an operation that this package has no method for, with the limits, retries, checks and errors of all others. in becomes the
// JSON body, unless it is nil, as it must be for GET. out is a pointer for encoding/json, an [*Object], or nil.
//
// Errors of every operation: [CodeUnauthorized], [CodeInsufficientScope], [CodeEndpointNotFound], [CodeRateLimited],
// [CodeUnexpectedError].
func (c *Client) Call(ctx context.Context, o Operation, in, out any, opts ...CallOption) error {
	row, bad := rowOf(o)
	if v := reflect.ValueOf(out); out != nil && (v.Kind() != reflect.Pointer || v.IsNil()) {
		bad.Add("out", "must be a pointer that is not nil, or plain nil")
	}
	if len(bad) > 0 {
		return refusal(row, bad)
	}
	raw := new(Object)
	take := func() error {
		if object, ok := out.(*Object); ok {
			*object = *raw // also if the response is empty
			return nil
		}
		if out == nil || raw.IsZero() {
			return nil
		}
		if err := jsonscan.Unmarshal(raw.raw, out); err != nil {
			return mismatch.New("the response", reflect.TypeOf(out).Elem(), raw.raw, err)
		}
		return nil
	}
	_, err := doExpecting(ctx, c.conf, row, args{body: in, path: o.Path}, opts, raw, expected{take: take})
	return err
}

// rowOf makes a row of an operation of the caller.
func rowOf(o Operation) (row *op.Op, bad check.Violations) {
	class := op.Unsafe
	switch {
	case o.Reads && o.Free:
		class = op.Read
	case o.Reads:
		class = op.PaidRead
	case o.Repeatable:
		class = op.Idempotent
	}
	none := map[bool]op.Effect{true: op.No, false: op.Assumed}
	row = &op.Op{
		Name: o.Name, Method: o.Method, Path: redact.Route(o.Path), Surface: op.Surface(o.Surface), Class: class,
		Spends: none[o.Free], Sends: none[o.Reads || o.SendsNothing], WritesOutside: op.No,
		Provenance: op.CallerSupplied, Shape: op.Raw, Timeout: cmp.Or(o.AttemptTimeout, op.UsualTimeout),
	}
	check.Operation(&bad, row, o.Path)
	return row, bad
}

// Resolve is [OutcomeUnknownError.Resolve] for the call of a ticket, also in another process and with another key of the workspace. It reads
// for up to 40 s, for agents 140 s. It refuses a ticket of another service or workspace, or of a later version of this package.
func (c *Client) Resolve(ctx context.Context, t journal.Ticket, opts ...CallOption) (*Resolution, error) {
	q, known, err := c.asked(t)
	if q == nil {
		return known, err
	}
	r, err := q.resolve(ctx, q.patience(), opts)
	c.remember(q, r)
	return r, err
}

// asked begins to look for the effect of a call, unless a look would tell nothing now.
func (c *Client) asked(t journal.Ticket) (q *resolver, known *Resolution, err error) {
	var bad check.Violations
	bad.Must(t.Version >= 1 && t.Version <= journal.Version, "ticket", "has version %d, which this package does not know", t.Version)
	bad.Must(c.conf.owns(t), "ticket", "belongs to another service or workspace")
	o, exists := op.ByName(t.Op)
	switch {
	case len(bad) > 0:
		return nil, nil, refusal(&op.Op{Name: "client.resolve"}, bad)
	case !exists:
		return nil, &Resolution{Outcome: OutcomeUnknown, Note: "the operation is not in the catalogue"}, nil
	case t.Workspace == "" && len(t.IDs) == 0 && o.Resolves:
		return nil, &Resolution{Outcome: OutcomeUnknown, Note: "the call had no journal, which names the workspace: this key may be of another one, so a person has to look"}, nil
	}
	r, read, began, left := c.conf.resting.Recall(restingKey(t))
	if left > 0 {
		r.Note += "; read at " + read.UTC().Format(time.RFC3339)
		return nil, &r, nil
	}
	q = newResolver(c.conf, o, t, c.lookOf(o), false)
	if t.ID != "" && q.look != nil {
		q.began = began
	}
	return q, nil, nil
}

// restingKey names a call in memory: one that was sent again is another.
func restingKey(t journal.Ticket) string { return t.ID + t.LastSent.UTC().Format(time.RFC3339Nano) }

// remember notes what looks did not settle, unless another one may tell at once.
func (c *Client) remember(q *resolver, r *Resolution) {
	switch {
	case r == nil || q.ticket.ID == "" || q.look == nil || r.Outcome != OutcomeUnknown:
	case q.found.sure || q.hasHadTime():
		found := *r
		found.Object = nil // it may be large
		c.conf.resting.Note(restingKey(q.ticket), found, r.Again)
	}
}

// lookOf finds the function that stands beside the method of an operation.
func (c *Client) lookOf(o *op.Op) look {
	for _, s := range []interface{ looks() map[*op.Op]look }{c.Lists, c.Agents, c.Campaigns} {
		if found := s.looks()[o]; found != nil {
			return found
		}
	}
	return nil
}

// InDoubt yields the tickets of the journal whose outcome is unknown, oldest first, and changes nothing: see [Client.Recover].
func (c *Client) InDoubt(ctx context.Context) iter.Seq2[journal.Ticket, error] {
	return func(yield func(journal.Ticket, error) bool) {
		if err := c.conf.readsJournal(ctx, &op.Op{Name: "client.in-doubt"}); err != nil {
			yield(journal.Ticket{}, err)
			return
		}
		for t, err := range c.conf.journal.InDoubt(ctx) {
			if (err != nil || c.conf.owns(t)) && !yield(t, err) {
				return
			}
		}
	}
}

// Calls yields the calls of an operation that the journal knows, such as "imports.create", with their outcomes, oldest first. InProgress
// tells an unknown outcome from a call in progress.
func (c *Client) Calls(ctx context.Context, operation string) iter.Seq2[journal.Entry, error] {
	if err := c.conf.readsJournal(ctx, &op.Op{Name: "client.calls"}); err != nil {
		return func(yield func(journal.Entry, error) bool) { yield(journal.Entry{}, err) }
	}
	return c.conf.calls(ctx, operation)
}

// readsJournal refuses what begins with the journal, without one or without a context.
func (c *config) readsJournal(ctx context.Context, o *op.Op) error {
	var bad check.Violations
	bad.Must(c.journal != nil, "WithJournal", "is required")
	if bad.Must(ctx != nil, "context", "must not be nil"); len(bad) > 0 {
		return refusal(o, bad)
	}
	return nil
}

// BaseURL returns the base URL of the service.
func (c *Client) BaseURL() string { return c.conf.base.String() }

// String names the client without its token.
func (c *Client) String() string { return fmt.Sprintf("prospectkit.Client(%s)", c.conf.base.Host) }

// Format prints [Client.String] for every verb.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) }

// LogValue names the client without its token.
func (c *Client) LogValue() slog.Value { return slog.StringValue(c.String()) }

func (c *config) apply(opts []ClientOption, bad *check.Violations) {
	eachOption(opts, bad, func(option ClientOption) { option.applyClient(c, bad) })
}

func (c *config) checkTransport(bad *check.Violations) {
	std := c.httpClient == nil || c.httpClient.Transport == nil
	if std && c.base != nil && !check.IsLoopback(c.base.Hostname()) {
		name := exchange.UnreadableProxy(c.base)
		bad.Must(name == "", name, "cannot be read as the URL of a proxy, so that none would be used: percent-encode user name and password")
	}
	if !std {
		_, std = c.httpClient.Transport.(*http.Transport)
	}
	bad.Must(!std || !exchange.InBrowser(), "transport", "must not be net/http's in a browser, where everybody can read the token: see New")
}

// build copies the HTTP client of the options, if there is one, or makes one.
func (c *config) build() {
	h := http.Client{}
	if c.httpClient != nil {
		h = *c.httpClient
	}
	c.ownTransport = nil
	if h.Transport == nil {
		c.ownTransport = exchange.NewTransport()
		h.Transport = c.ownTransport
	}
	std, ok := h.Transport.(*http.Transport)
	c.compressed = ok && !std.DisableCompression
	// net/http would count the waits for rate limits.
	c.wholeAttempt, h.Timeout = h.Timeout, 0
	c.httpClient = &h
	if c.timeLimits = nil; ok {
		c.timeLimits = new(exchange.TimeLimits)
	}
	// Another transport may lead to another server.
	c.headersSeen, c.clock, c.idle, c.relayed, c.responds = new(ratehdr.Seen), new(clock.Service), new(exchange.Idle), new(exchange.Relayed), new(atomic.Bool)
	c.polls, c.resting = newAgentPolls(), new(waits.Rests[Resolution])
}
