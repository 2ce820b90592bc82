package prospectkit

import (
	"net/http"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/outbound"
)

// ClientOption configures a [Client]; see [New] and [Client.With].
type ClientOption interface {
	applyClient(*config, *check.Violations)
}

// PageOption configures an iterator. Every [CallOption] is one, and applies to the call of each
// page.
type PageOption interface {
	applyPage(*pageConfig, *check.Violations)
}

// CallOption configures one call.
type CallOption interface {
	PageOption
	applyCall(*callConfig, *check.Violations)
}

// Option configures a client or one call.
type Option interface {
	ClientOption
	CallOption
}

type clientOption func(*config, *check.Violations)

func (f clientOption) applyClient(c *config, bad *check.Violations) { f(c, bad) }

type callOption func(*callConfig, *check.Violations)

func (f callOption) applyCall(c *callConfig, bad *check.Violations) { f(c, bad) }
func (f callOption) applyPage(c *pageConfig, _ *check.Violations)   { c.calls = append(c.calls, f) }

// pageOptions makes page options of call options.
func pageOptions(opts []CallOption) []PageOption {
	all := make([]PageOption, len(opts))
	for i, o := range opts {
		all[i] = o
	}
	return all
}

// sharedOptions returns the options that are valid for every call: not those for one, such as a
// field or a route.
func sharedOptions[O PageOption](opts []O) []CallOption {
	var shared []CallOption
	for _, o := range opts {
		if o, ok := any(o).(sharedOption); ok {
			shared = append(shared, o)
		}
	}
	return shared
}

type pageOption func(*pageConfig, *check.Violations)

func (f pageOption) applyPage(c *pageConfig, bad *check.Violations) { f(c, bad) }

type sharedOption func(*settings, *check.Violations)

func (f sharedOption) applyClient(c *config, bad *check.Violations)   { f(&c.settings, bad) }
func (f sharedOption) applyCall(c *callConfig, bad *check.Violations) { f(&c.settings, bad) }
func (f sharedOption) applyPage(c *pageConfig, _ *check.Violations)   { c.calls = append(c.calls, f) }

// settings are set by a client, and a call may override them.
type settings struct {
	retry   RetryPolicy
	maxWait time.Duration
	timeout time.Duration // 0: the operation's own

	priority Priority

	readOnly, noSpend, noSend bool
}

// callConfig is the result of the options of one call.
type callConfig struct {
	settings
	info   *Info
	method string // of WithRoute, with the path
	path   string
	query  [][2]string
	header [][2]string
	fields []outbound.Field

	allowRetryUnknown bool
}

// WithRetry sets how often and when calls are retried; [NoRetry] turns retries off.
func WithRetry(p RetryPolicy) Option {
	return sharedOption(func(s *settings, bad *check.Violations) {
		p.check(bad)
		s.retry = p.withDefaults()
	})
}

// WithMaxWait bounds each wait for a rate limit; default 2 minutes. A longer wait is refused at
// once: with the service's error after a 429, with a [WaitError] before anything was sent. Zero
// refuses every wait.
func WithMaxWait(d time.Duration) Option {
	return sharedOption(func(s *settings, bad *check.Violations) {
		if d < 0 {
			bad.Add("WithMaxWait", "is %s, must not be negative", d)
		}
		s.maxWait = d
	})
}

// NoWait refuses every wait for a rate limit. It is WithMaxWait(0). The first request on a surface
// is sent alone, to learn what is left: until its response, other calls with NoWait are refused.
func NoWait() Option { return WithMaxWait(0) }

// WithPriority sets which calls go first when calls are queued for a rate limit; default
// [PriorityInteractive].
func WithPriority(p Priority) Option {
	return sharedOption(func(s *settings, bad *check.Violations) {
		check.OneOf(bad, "WithPriority", p, PriorityInteractive, PriorityBatch)
		s.priority = p
	})
}

// WithAttemptTimeout bounds the time of one attempt until the response headers, and of each 64 KiB
// of its body. Default: 75 s for agents, because the service itself gives up after 60 s, 10 minutes
// for uploads, 30 s for everything else.
//
// It bounds silence, not the whole call: 32 MiB at 64 KiB every 29 s take four hours. Bound the
// whole call with the context. If a transport, a response body or an uploaded file ignores both,
// the call returns a fifth of a second later, and leaks the goroutine that hangs there.
func WithAttemptTimeout(d time.Duration) Option {
	return sharedOption(func(s *settings, bad *check.Violations) {
		if d <= 0 {
			bad.Add("WithAttemptTimeout", "is %s, must be positive", d)
		}
		s.timeout = d
	})
}

// WithHTTPClient sends through a copy of h, with its transport and cookie jar. Its Timeout bounds
// one attempt. Its redirect policy is ignored: redirects are never followed.
func WithHTTPClient(h *http.Client) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Must(h != nil, "WithHTTPClient", "got nil")
		c.httpClient = h
	})
}

// WithTransport sends through rt, such as a transport with a private certificate authority, a
// recorder, the sandbox or a mock. It sees every attempt. Proof that a failed call was never sent
// needs a transport that passes the request's context on to net/http; with any other, the outcome
// of a failed write is unknown. Do not use a transport that retries: it would silently repeat
// writes.
//
// In a browser, a transport of net/http is refused: see [New].
func WithTransport(rt http.RoundTripper) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Must(rt != nil, "WithTransport", "got nil")
		c.httpClient = &http.Client{Transport: rt}
	})
}

// WithBudget shares a budget, and so what is known about the rate limits, between clients of one
// workspace.
func WithBudget(b *Budget) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		if b == nil || b.surfaces == nil {
			bad.Add("WithBudget", "needs a budget made by NewBudget")
			return
		}
		*bad = append(*bad, b.bad...)
		c.budget = b
	})
}

// WithUserAgent puts your application's name and version before this package's in the User-Agent
// header.
func WithUserAgent(app string) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		app = strings.TrimSpace(app)
		bad.Must(app != "" && !check.HasControl(app), "WithUserAgent", "must not be empty or hold control characters")
		c.userAgent = []string{app + " " + userAgent}
	})
}

// WithMaxResponseBytes bounds the decompressed length of a response; default 32 MiB. A longer one
// is an error, never cut. Memory grows with what arrives: for an announced length, at most 4 MiB
// are allocated ahead.
//
// The decoded values are also bounded. Elements of slices, entries of maps and what pointers point
// to may take 16 MiB and four times the length of the response. A page may have as many elements as
// were requested, by default the documented maximum of 1000 lists or rows and 100 profiles; any
// other array 10,000. Beyond that the call is not retried, and its error says "holds too much".
// [RowsOf], [Object.Decode] and [Client.Call] have the same bounds. To decode more, pass
// [Object.Raw] to encoding/json.
func WithMaxResponseBytes(n int64) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Must(n >= 1, "WithMaxResponseBytes", "is %d, must be positive", n)
		c.maxBody = n
	})
}

// AllowPlainHTTP accepts an http base URL of a host other than this machine. The token is then sent
// unprotected.
func AllowPlainHTTP() ClientOption {
	return clientOption(func(c *config, _ *check.Violations) { c.plainHTTP = true })
}

// WithQuery adds an undocumented query parameter. It replaces one that the call sets.
func WithQuery(key, value string) CallOption {
	return callOption(func(c *callConfig, bad *check.Violations) {
		bad.Must(key != "", "WithQuery", "needs a key")
		c.query = append(c.query, [2]string{key, value})
	})
}

// WithField adds an undocumented body field. A field that the call sets, or has a parameter for, is
// refused. The value is encoded as one of [Fields] is.
func WithField(name string, value any) CallOption {
	return callOption(func(c *callConfig, bad *check.Violations) {
		bad.Must(name != "", "WithField", "needs a name")
		c.fields = append(c.fields, outbound.Field{Name: name, Value: value})
	})
}

// WithHeader sets a request header. Headers that carry credentials, frame the message, permit
// replays or switch the protocol are refused.
func WithHeader(key, value string) CallOption {
	return callOption(func(c *callConfig, bad *check.Violations) {
		c.header = append(c.header, [2]string{check.Header(bad, "WithHeader", key, value), value})
	})
}

// WithRoute sets method and path of an operation whose route is assumed or undocumented, as in
// WithRoute("POST /business/agents/{agentId}/pause"). Parameters in braces take the call's ids, in
// order. The method of an operation that has one cannot be changed.
func WithRoute(route string) CallOption {
	return callOption(func(c *callConfig, bad *check.Violations) {
		method, path, _ := strings.Cut(route, " ")
		if !check.IsToken(method) || strings.ToUpper(method) != method || !op.ValidPath(path) {
			bad.Add("WithRoute", "must be a method and a path like POST /lists/{listId}, "+
				"without query, fragment, dot segment, control character or open brace")
		}
		c.method, c.path = method, path
	})
}

// SafetyRule is a rule that refused a call before anything was sent.
type SafetyRule string

// The safety rules.
const (
	RuleReadOnly SafetyRule = "read-only: the operation may change something"
	RuleNoSpend  SafetyRule = "no-spend: the operation may spend credits"
	RuleNoSend   SafetyRule = "no-send: the operation may send messages or write into a CRM"
	RuleClosed   SafetyRule = "the client is closed"
	RuleRepeat   SafetyRule = "an operation that may spend, send or add twice is never retried automatically"

	// RulePaidPages: an iterator has read as many pages as MaxPaidPages allows.
	RulePaidPages SafetyRule = "the range has read as many paid pages as it may"
)

// ReadOnly refuses every operation that may change something, before anything is sent. It is for
// notebooks, dashboards and automated agents. [Client.With] and call options can add such a rule,
// but never lift one.
func ReadOnly() Option {
	return sharedOption(func(s *settings, _ *check.Violations) { s.readOnly = true })
}

// NoSpend refuses every operation that spends credits, or is not documented to spend none.
func NoSpend() Option {
	return sharedOption(func(s *settings, _ *check.Violations) { s.noSpend = true })
}

// NoSend refuses every operation that sends messages to prospects, which is approving a campaign,
// or writes into a CRM. It does not refuse to fill a list: whether people who are added to a list
// of an active campaign get messages is undocumented.
func NoSend() Option {
	return sharedOption(func(s *settings, _ *check.Violations) { s.noSend = true })
}

// AllowRetryUnknown lets this call be retried after it may have been delivered, as a read is. It is
// for operations that leave the same state when retried, such as moving a list or editing a fact,
// and for those that a unique name guards. It is refused for operations that may spend, send or add
// twice. Once the outcome of an attempt is unknown, the call ends as applied or as unknown: a later
// refusal, such as [CodeListNameTaken], proves nothing.
func AllowRetryUnknown() CallOption {
	return callOption(func(c *callConfig, _ *check.Violations) { c.allowRetryUnknown = true })
}

// forbids returns the rule that refuses a call, or "".
func (c *Client) forbids(o *op.Op, in args, conf *callConfig) SafetyRule {
	spends := o.Spends.Possible() && !in.free
	outside := o.Sends.Possible() || o.Writes.Possible()
	sameState := o.Class == op.Read || o.Class == op.Idempotent || o.Class == op.GuardedByName
	switch {
	case c.closed.Load():
		return RuleClosed
	case conf.readOnly && o.Write():
		return RuleReadOnly
	case conf.noSpend && spends:
		return RuleNoSpend
	case conf.noSend && outside:
		return RuleNoSend
	case conf.allowRetryUnknown && (!sameState || o.Class != op.Read && (spends || outside)):
		return RuleRepeat
	}
	return ""
}
