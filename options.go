package prospectkit

import (
	"net/http"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/outbound"
)

// ClientOption configures a [Client]; see [New] and [Client.With].
type ClientOption interface{ applyClient(*config, *checks) }

// PageOption configures an iterator. Every [CallOption] is one and then holds for each page's call.
type PageOption interface {
	applyPage(*pageConfig, *checks)
}

// CallOption configures one call.
type CallOption interface {
	PageOption
	applyCall(*callConfig, *checks)
}

// Option configures a client or one call.
type Option interface {
	ClientOption
	CallOption
}

type clientOption func(*config, *checks)

func (f clientOption) applyClient(c *config, bad *checks) { f(c, bad) }

type callOption func(*callConfig, *checks)

func (f callOption) applyCall(c *callConfig, bad *checks) { f(c, bad) }
func (f callOption) applyPage(c *pageConfig, _ *checks)   { c.calls = append(c.calls, f) }

// pageOptions hands the options of a call to an iterator.
func pageOptions(opts []CallOption) []PageOption {
	all := make([]PageOption, len(opts))
	for i, o := range opts {
		all[i] = o
	}
	return all
}

// sharedOptions keeps the options that hold for any call: a field or a route is meant for one call alone.
func sharedOptions[O PageOption](opts []O) []CallOption {
	var shared []CallOption
	for _, o := range opts {
		if o, ok := any(o).(sharedOption); ok {
			shared = append(shared, o)
		}
	}
	return shared
}

type pageOption func(*pageConfig, *checks)

func (f pageOption) applyPage(c *pageConfig, bad *checks) { f(c, bad) }

type sharedOption func(*settings, *checks)

func (f sharedOption) applyClient(c *config, bad *checks)   { f(&c.settings, bad) }
func (f sharedOption) applyCall(c *callConfig, bad *checks) { f(&c.settings, bad) }
func (f sharedOption) applyPage(c *pageConfig, _ *checks)   { c.calls = append(c.calls, f) }

// settings are what a client sets and a call may override.
type settings struct {
	retry   RetryPolicy
	maxWait time.Duration
	timeout time.Duration // 0: the operation's own

	priority Priority

	readOnly, noSpend, noSend bool
}

// callConfig is what the options of one call add up to.
type callConfig struct {
	settings
	info   *Info
	method string // of a route that the caller gave, with the path
	path   string
	query  [][2]string
	header [][2]string
	fields []outbound.Field

	repeatDoubt bool
}

// WithRetry bounds the repetitions of calls; [NoRetry] forbids them.
func WithRetry(p RetryPolicy) Option {
	return sharedOption(func(s *settings, bad *checks) {
		p.check(bad)
		s.retry = p.withDefaults()
	})
}

// WithMaxWait bounds any single wait for a rate limit; default 2 minutes. A longer wait is refused at once: with the
// service's own error after a 429, with [WaitError] before anything was sent. Zero refuses every wait.
func WithMaxWait(d time.Duration) Option {
	return sharedOption(func(s *settings, bad *checks) {
		if d < 0 {
			bad.add("WithMaxWait", "is %s, must not be negative", d)
		}
		s.maxWait = d
	})
}

// NoWait refuses every wait for a rate limit: a call is made now or not at all. It is WithMaxWait(0). The first request on a surface
// goes alone, to find out what is left: until it is answered, other calls with NoWait are refused.
func NoWait() Option { return WithMaxWait(0) }

// WithPriority says who goes first when calls wait in line for a rate limit; default [PriorityInteractive].
func WithPriority(p Priority) Option {
	return sharedOption(func(s *settings, bad *checks) {
		oneOf(bad, "WithPriority", p, PriorityInteractive, PriorityBatch)
		s.priority = p
	})
}

// WithAttemptTimeout bounds one attempt until the headers of the response, and again each 64 KiB of its body. Default: 75 s for
// agents, because the service itself gives up after 60 s, 10 minutes for uploads, 30 s for everything else.
//
// It bounds silence, not slowness: 32 MiB at 64 KiB every 29 s take four hours. Bound the whole call with the context. Both hold
// for a transport, a response body or an uploaded file that heeds neither: the call returns a fifth of a second later, and leaves behind
// the goroutine that is stuck there.
func WithAttemptTimeout(d time.Duration) Option {
	return sharedOption(func(s *settings, bad *checks) {
		if d <= 0 {
			bad.add("WithAttemptTimeout", "is %s, must be positive", d)
		}
		s.timeout = d
	})
}

// WithHTTPClient sends through a copy of h: its transport, cookie jar and timeout count, its redirect policy does not,
// because redirects are never followed. The client itself is left alone.
func WithHTTPClient(h *http.Client) ClientOption {
	return clientOption(func(c *config, bad *checks) {
		if h == nil {
			bad.add("WithHTTPClient", "got nil")
			return
		}
		c.httpClient = h
	})
}

// WithTransport sends through rt: a transport with a private certificate authority, a recorder, the sandbox, a mock.
// It sees every attempt. Proof that a failed call was never sent needs a transport that passes the request's context on
// to net/http; with any other, a failed write counts as unknown. A transport that sends a request again by itself sends writes
// again, too, and nobody notices: let this package decide what is sent again.
//
// In a browser a transport of net/http's is refused, see [New].
func WithTransport(rt http.RoundTripper) ClientOption {
	return clientOption(func(c *config, bad *checks) {
		if rt == nil {
			bad.add("WithTransport", "got nil")
			return
		}
		c.httpClient = &http.Client{Transport: rt}
	})
}

// WithBudget shares what is known about the workspace's rate limits with other clients of the same workspace.
func WithBudget(b *Budget) ClientOption {
	return clientOption(func(c *config, bad *checks) {
		if b == nil || b.pools == nil {
			bad.add("WithBudget", "needs a budget made by NewBudget")
			return
		}
		*bad = append(*bad, b.bad...)
		c.budget = b
	})
}

// WithUserAgent puts your application's name and version before this package's in the User-Agent header.
func WithUserAgent(app string) ClientOption {
	return clientOption(func(c *config, bad *checks) {
		if app = strings.TrimSpace(app); app == "" || hasControl(app) {
			bad.add("WithUserAgent", "must not be empty or hold control characters")
			return
		}
		c.userAgent = []string{app + " " + userAgent}
	})
}

// WithMaxResponseBytes bounds the text of one response, decompressed; default 32 MiB. A longer one is an error, never cut silently. Memory grows with
// what arrives: of a length that is only announced, at most 4 MiB are made ahead.
//
// What is made of a text is bounded, too. Elements of slices, entries of maps and what pointers point to may take 16 MiB and four
// times the length of the text. A page may hold as many elements as were asked for; where nobody asked, it may hold the documented
// maximum, 1000 lists or rows and 100 profiles; any other array may hold 10,000. Beyond that the call ends with an error that says
// "holds too much", and is not sent again. The same allowance holds for [RowsOf], [Object.Decode] and [Client.Call]. To decode
// more than that, pass the text of [Object.Raw] to encoding/json.
func WithMaxResponseBytes(n int64) ClientOption {
	return clientOption(func(c *config, bad *checks) {
		if n < 1 {
			bad.add("WithMaxResponseBytes", "is %d, must be positive", n)
		}
		c.maxBody = n
	})
}

// AllowPlainHTTP accepts a base URL with http to a host that is not this machine. The token then travels unprotected.
func AllowPlainHTTP() ClientOption {
	return clientOption(func(c *config, _ *checks) { c.plainHTTP = true })
}

// WithQuery adds a query parameter that the service's document does not show. One the call sets itself is replaced.
func WithQuery(key, value string) CallOption {
	return callOption(func(c *callConfig, bad *checks) {
		if key == "" {
			bad.add("WithQuery", "needs a key")
		}
		c.query = append(c.query, [2]string{key, value})
	})
}

// WithField adds a body field whose name the service's document does not show. A field that the call has already, or knows by
// that name, is refused. The value is encoded as one of [Fields] is.
func WithField(name string, value any) CallOption {
	return callOption(func(c *callConfig, bad *checks) {
		if name == "" {
			bad.add("WithField", "needs a name")
		}
		c.fields = append(c.fields, outbound.Field{Name: name, Value: value})
	})
}

// WithHeader adds a request header. The headers that carry identity, framing or licence to replay, or that ask for another protocol, are
// refused.
func WithHeader(key, value string) CallOption {
	return callOption(func(c *callConfig, bad *checks) {
		switch canonical := http.CanonicalHeaderKey(key); {
		case !isToken(key) || hasControl(value):
			bad.add("WithHeader", "needs a valid name and value")
		case reservedHeaders[canonical]:
			bad.add("WithHeader", "must not set %s", canonical)
		default:
			c.header = append(c.header, [2]string{canonical, value})
		}
	})
}

// An idempotency key would make net/http resend a POST that the service has processed already, and the service documents none.
var reservedHeaders = map[string]bool{
	"Authorization": true, "Cookie": true, "Host": true, "Content-Length": true, "Content-Type": true, "Transfer-Encoding": true,
	"Connection": true, "Accept-Encoding": true, "Proxy-Authorization": true, "Idempotency-Key": true, "X-Idempotency-Key": true,
	"Upgrade": true, "Te": true, "Trailer": true, "Expect": true, "Keep-Alive": true, "Proxy-Connection": true, "Http2-Settings": true,
}

// WithRoute sets method and path of the call, for an operation whose route is assumed or undocumented, as in
// WithRoute("POST /business/agents/{agentId}/pause"). Parameters in braces are filled with the call's ids, in order. A method that
// the operation has already cannot be changed.
func WithRoute(route string) CallOption {
	return callOption(func(c *callConfig, bad *checks) {
		method, path, _ := strings.Cut(route, " ")
		if !isToken(method) || strings.ToUpper(method) != method || !op.ValidPath(path) || strings.Count(path, "{") != strings.Count(path, "}") {
			bad.add("WithRoute", "must be a method and a path like POST /lists/{listId}, without query, fragment, dot segment, control character or open brace")
		}
		c.method, c.path = method, path
	})
}

// isToken reports whether s can be the name of a header. One that cannot would fail below us, too late to be sure that nothing
// was sent.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	})
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// SafetyRule names a rule that refused a call before anything was sent.
type SafetyRule string

// The safety rules.
const (
	RuleReadOnly SafetyRule = "read-only: the operation may change something"
	RuleNoSpend  SafetyRule = "no-spend: the operation may spend credits"
	RuleNoSend   SafetyRule = "no-send: the operation may send messages or write into a CRM"
	RuleClosed   SafetyRule = "the client is closed"
	RuleRepeat   SafetyRule = "an operation that may spend, send or add twice is never repeated by itself"

	// RulePaidPages comes when an iterator has read as many pages as MaxPaidPages allows.
	RulePaidPages SafetyRule = "the range has read as many paid pages as it may"
)

// ReadOnly refuses every operation that may change something, before the network. For notebooks, dashboards and automated agents.
// A client derived by [Client.With], or a call, can add such a rule, but never lift one.
func ReadOnly() Option {
	return sharedOption(func(s *settings, _ *checks) { s.readOnly = true })
}

// NoSpend refuses every operation that spends credits, or of which the service's document does not say that it spends none.
func NoSpend() Option {
	return sharedOption(func(s *settings, _ *checks) { s.noSpend = true })
}

// NoSend refuses every operation that sends messages to prospects, which is approving a campaign, or writes into a CRM. It does not refuse to
// fill a list: if an active campaign uses that list, whether people who are added to it get messages is undocumented.
func NoSend() Option {
	return sharedOption(func(s *settings, _ *checks) { s.noSend = true })
}

// AllowRetryUnknown allows this one call to be retried after it may have been delivered, as a read is. It is meant for
// operations that leave the same state when repeated, such as moving a list or editing a fact, and for those that a unique name
// guards; for operations that may spend, send or add twice it is refused. Once an attempt is in doubt, the call ends as
// applied or as unknown: a later refusal, such as [CodeListNameTaken], proves nothing.
func AllowRetryUnknown() CallOption {
	return callOption(func(c *callConfig, _ *checks) { c.repeatDoubt = true })
}

// forbids returns the rule that refuses the call, if there is one.
func (c *callConfig) forbids(o *op.Op, in args) (SafetyRule, bool) {
	spends := o.Spends.Possible() && !in.free
	outside := o.Sends.Possible() || o.Writes.Possible()
	switch {
	case c.readOnly && o.Write():
		return RuleReadOnly, true
	case c.noSpend && spends:
		return RuleNoSpend, true
	case c.noSend && outside:
		return RuleNoSend, true
	case c.repeatDoubt && o.Class != op.Read && (spends || outside || o.Class != op.Idempotent && o.Class != op.GuardedByName):
		return RuleRepeat, true
	}
	return "", false
}
