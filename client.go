package prospectkit

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/credential"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/novelty"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/internal/redact"
)

// Version is the version of this package. It follows version 1.0.0 of the API description.
const Version = "0.1.0"

// The variables that [FromEnv] reads.
const (
	EnvBaseURL = "PROSPECTKIT_BASE_URL"
	EnvToken   = "PROSPECTKIT_TOKEN"
)

var userAgent = "prospectkit/" + Version + " (" + runtime.Version() + "; " + runtime.GOOS + "/" + runtime.GOARCH + ")"

// Client calls the service, with one field for each part of the API. It is immutable and safe for
// concurrent use.
type Client struct {
	Account   *AccountService   // who the key belongs to, credits
	Lists     *ListsService     // lists, their rows, folders, CRM push
	Agents    *AgentsService    // agents that deliver people or companies into a list
	Campaigns *CampaignsService // campaigns, their steps and scheduled sends
	Facts     *FactsService     // learned facts, knowledge hubs
	Search    *SearchService    // prospects, companies, saved searches, filter options
	Contacts  *ContactsService  // finding contacts, their activities
	Imports   *ImportsService   // files into lists

	conf   *config
	closed atomic.Bool
}

// New returns a client for the service at baseURL, which ends in /api/v1, with an API token, which may
// be empty beside [WithTokenSource]. The token is the text of an API key: where this package speaks of
// a key, it means what the token stands for, with its owner and scopes. New makes no request, starts no
// goroutine and reads no environment variable. Invalid arguments and options are returned together, in
// one [RefusedError].
//
// The base URL must be https, except for this machine or with [AllowPlainHTTP]. Its host must be in
// ASCII: other letters may only look like those of the service.
//
// This package is not for browsers: everybody who opens a web page can read its token, and a
// browser follows redirects. There, New requires a transport other than net/http's, such as the
// sandbox's.
func New(baseURL, token string, opts ...ClientOption) (*Client, error) {
	c := &config{
		settings: settings{retry: RetryPolicy{}.withDefaults(), maxWait: 2 * time.Minute},
		maxBody:  32 << 20,
		reported: new(novelty.Memory),

		headersSeen: new(ratehdr.Seen),
		clock:       new(clock.Service),
		agentPolls:  newAgentPolls(),
	}
	var bad, badOptions check.Violations
	c.apply(opts, &badOptions)
	if token != "" || c.source == nil {
		check.Token(&bad, token)
	}
	c.setKeys(credential.New(token, c.source))
	bad = append(bad, badOptions...)
	if c.base = check.BaseURL(&bad, baseURL, "/api/v1"); c.base != nil {
		c.checkScheme(&bad)
	}
	c.checkTransport(&bad)
	if c.budget == nil {
		c.budget = NewBudget(BudgetConfig{})
	}
	if len(bad) > 0 {
		return nil, refusal(&op.Op{Name: "client.new"}, bad)
	}
	c.build()
	return newClient(c), nil
}

// FromEnv is [New] with base URL and token from PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN,
// surrounding space removed. It reads no other variable; the default transport reads the usual
// proxy variables. No variable leads to the sandbox.
func FromEnv(opts ...ClientOption) (*Client, error) {
	baseURL, token := strings.TrimSpace(os.Getenv(EnvBaseURL)), strings.TrimSpace(os.Getenv(EnvToken))
	var bad check.Violations
	bad.Must(baseURL != "", EnvBaseURL, "is not set")
	bad.Must(token != "", EnvToken, "is not set")
	if len(bad) > 0 {
		return nil, refusal(&op.Op{Name: opFromEnv}, bad)
	}
	return New(baseURL, token, opts...)
}

// With returns a client with the options applied. It shares everything else: host, token,
// connections and budget.
func (c *Client) With(opts ...ClientOption) (*Client, error) {
	conf := *c.conf
	before := conf.httpClient
	var bad check.Violations
	conf.source = nil
	conf.apply(opts, &bad)
	if conf.source != nil {
		conf.setKeys(conf.keys().With(conf.source))
		conf.agentPolls = newAgentPolls() // the key may be of another workspace
	}
	conf.checkTransport(&bad)
	if len(bad) > 0 {
		return nil, refusal(&op.Op{Name: "client.with"}, bad)
	}
	if conf.httpClient != before {
		conf.headersSeen, conf.clock, conf.agentPolls = new(ratehdr.Seen), new(clock.Service), newAgentPolls()
		conf.build()
	}
	return newClient(&conf), nil
}

func newClient(conf *config) *Client {
	conf.userAgent = []string{strings.TrimSpace(conf.app + " " + userAgent)}
	header := conf.commonHeader()
	conf.sharedHeader = func() http.Header { return header }
	c := &Client{conf: conf}
	s := service{c}
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

// Close closes the idle connections of the default transport, but not of your own one. Later
// calls are refused with [RuleClosed]; calls in flight and clients derived by [Client.With]
// continue. A client that lives as long as the program need not be closed.
func (c *Client) Close() error {
	if !c.closed.Swap(true) && c.conf.ownTransport != nil {
		c.conf.ownTransport.CloseIdleConnections()
	}
	return nil
}

// BaseURL returns the base URL of the service.
func (c *Client) BaseURL() string { return c.conf.base.String() }

// Budget returns what the client knows about the workspace's rate limits.
func (c *Client) Budget() *Budget { return c.conf.budget }

// String names the client without its token.
func (c *Client) String() string { return fmt.Sprintf("prospectkit.Client(%s)", c.conf.base.Host) }

// Format prints [Client.String] for every verb.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) }

// LogValue names the client without its token.
func (c *Client) LogValue() slog.Value { return slog.StringValue(c.String()) }

func (c *config) apply(opts []ClientOption, bad *check.Violations) {
	eachOption(opts, bad, func(option ClientOption) { option.applyClient(c, bad) })
}

// setKeys keeps the keys in a closure, so that no dump of a client shows one. commonHeader puts the key
// into the header of a request, send replaces it for each attempt if there is a token source, and
// secrets hides all of them in quotes of responses.
func (c *config) setKeys(k *credential.Keys) { c.keys = func() *credential.Keys { return k } }

// secrets are hidden in quotes of responses.
func (c *config) secrets() redact.Secrets { return c.keys().Secrets() }

func (c *config) checkScheme(bad *check.Violations) {
	bad.Must(c.base.Scheme == "https" || c.plainHTTP || check.IsLoopback(c.base.Hostname()),
		"base URL", "would send the token unprotected: use https, or AllowPlainHTTP if you mean it")
}

func (c *config) checkTransport(bad *check.Violations) {
	if !exchange.InBrowser() {
		return
	}
	std := c.httpClient == nil || c.httpClient.Transport == nil
	if !std {
		_, std = c.httpClient.Transport.(*http.Transport)
	}
	bad.Must(!std, "transport", "is net/http's, which in a browser follows redirects with the token: see WithTransport")
}

var (
	acceptJSON = []string{"application/json"}
	acceptGzip = []string{"gzip"}
)

// commonHeader is the header of all requests of a client.
func (c *config) commonHeader() http.Header {
	h := http.Header{"Authorization": c.keys().Current().Header(), "Accept": acceptJSON, "User-Agent": c.userAgent}
	if c.compressed { // net/http would also ask for it, but use more memory to decompress
		h["Accept-Encoding"] = acceptGzip
	}
	return h
}

// build copies the HTTP client of the options, if there is one, and wraps its transport in ours.
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
	c.direct, c.compressed = ok, ok && !std.DisableCompression
	h.Transport = transport{h.Transport}
	// net/http would count the waits for rate limits.
	c.wholeAttempt, h.Timeout = h.Timeout, 0
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.httpClient, c.loop = &h, newLoop(&h)
}

// AccountService reads the owner of the key and the credit balance. Every valid key may call it.
type AccountService struct{ service }

// User is the owner of a key.
type User struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
	record
}

// String returns the user as JSON, for fmt. It holds personal data: keep it out of logs.
func (u User) String() string { return textOf(Object{}, u) }

// Me returns the owner of the key. It works as a health check of address, key and network.
//
// GET /business/me, scope any.
func (s *AccountService) Me(ctx context.Context, opts ...CallOption) (*User, error) {
	return do[User](ctx, s.client, op.AccountMe, args{}, opts)
}

// Credits returns the credit balance of the workspace. The response is undocumented; the sandbox
// sends credits.balance (assumed). Read it with [Object.IntOK] or [Object.Find], so that a wrong
// guess does not read as 0 credits.
//
// GET /business/credits, scope any.
func (s *AccountService) Credits(ctx context.Context, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.AccountCredits, args{}, opts)
}

func (u *User) validate() error { return errorIf(u.ID == "", "the user has no id") }
