package prospectkit

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/credential"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/outbound"
	"example.com/prospectkit/internal/pagewalk"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// ClientOption configures a [Client]; see [New] and [Client.With].
type ClientOption interface {
	applyClient(*config, *check.Violations)
}

// PageOption configures an iterator. Every [CallOption] is one, and applies to the call of each page.
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

// RetryPolicy sets how often and when a call is retried, if it may be. Zero means the default.
type RetryPolicy struct {
	MaxAttempts int           // including the first; 1 to 10, default 3; 1 turns retries off; see [WithMaxWait] for reads after a 429
	BaseDelay   time.Duration // backoff before the first retry, with jitter; default 500 ms
	MaxDelay    time.Duration // bounds the backoff, which doubles; default 8 s
	NoPaidRetry bool          // no retry of a read that may cost credits after a 500 of the service
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	p.MaxAttempts = cmp.Or(p.MaxAttempts, 3)
	p.BaseDelay = cmp.Or(p.BaseDelay, 500*time.Millisecond)
	p.MaxDelay = cmp.Or(p.MaxDelay, 8*time.Second)
	return p
}

type clientOption func(*config, *check.Violations)

func (f clientOption) applyClient(c *config, bad *check.Violations) { f(c, bad) }

type callOption func(*callConfig, *check.Violations)

func (f callOption) applyCall(c *callConfig, bad *check.Violations) { f(c, bad) }

func (f callOption) applyPage(c *pageConfig, _ *check.Violations) { c.calls = append(c.calls, f) }

type pageOption func(*pageConfig, *check.Violations)

func (f pageOption) applyPage(c *pageConfig, bad *check.Violations) { f(c, bad) }

type sharedOption func(*settings, *check.Violations)

func (f sharedOption) applyClient(c *config, bad *check.Violations) { f(&c.settings, bad) }

func (f sharedOption) applyCall(c *callConfig, bad *check.Violations) { f(&c.settings, bad) }

func (f sharedOption) applyPage(c *pageConfig, _ *check.Violations) { c.calls = append(c.calls, f) }

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

// eachOption applies options of any kind, and refuses nil.
func eachOption[O any](opts []O, bad *check.Violations, apply func(O)) {
	for i, option := range opts {
		if any(option) == nil {
			bad.Add("option "+strconv.Itoa(i+1), "is nil")
			continue
		}
		apply(option)
	}
}

// with is the sum of the options of a call, and of settings that they may override.
func (s settings) with(opts []CallOption, bad *check.Violations) callConfig {
	c := callConfig{settings: s}
	eachOption(opts, bad, func(o CallOption) { o.applyCall(&c, bad) })
	return c
}

// config is what the calls of a client share: the result of its options, and what is made of them. It does
// not change once a client has it.
type config struct {
	settings
	base         *url.URL
	keys         func() *credential.Keys // a closure, so that no dump of a client shows one
	source       credential.Source       // of these options
	sharedHeader func() http.Header      // of calls that add nothing; a closure, because it holds the key
	app          string                  // of WithUserAgent
	userAgent    []string
	httpClient   *http.Client  // of the options, until build copies it; its transport is that of every attempt
	through      string        // of these options, the one that gave it
	wholeAttempt time.Duration // http.Client.Timeout of WithHTTPClient; 0: none

	ownTransport *http.Transport // nil if the options gave one
	compressed   bool            // below is net/http's own transport, and compressed responses are allowed

	maxBody   int64   // of WithMaxResponseBytes
	plainHTTP bool    // of AllowPlainHTTP
	limits    *limits // shared by With
	observers []func(context.Context, Event) context.Context
	dump      *redact.Dump // of WithDebugWriter; nil: none

	journal journal.Journal // nil: none
	guard   *spend.Guard    // nil: none
	gates   []func(context.Context, Intent) error
	routes  map[*op.Op][2]string // method and path of WithRoutes

	// Of one client, not shared by With.
	closed *atomic.Bool

	// Shared by With, unless the transport is another.
	clock       *clock.Service
	idle        *exchange.Idle
	relayed     *exchange.Relayed
	responds    *atomic.Bool         // the last attempt had a response
	timeLimits  *exchange.TimeLimits // nil: each attempt has a timer of its own
	headersSeen *ratehdr.Seen
	polls       *waits.Shared[Agent]     // of WaitEach; not shared with another source of keys either
	resting     *waits.Rests[Resolution] // what Resolve cannot settle
}

// setKeys keeps the keys in a closure, so that no dump of a client shows one. commonHeader puts the key
// into the header of a request, prepareRequest replaces it for each attempt if there is a token source, and
// secrets hides all of them in quotes of responses.
func (c *config) setKeys(k *credential.Keys) { c.keys = func() *credential.Keys { return k } }

func (c *config) secrets() redact.Secrets { return c.keys().Secrets() }

var (
	acceptJSON = []string{"application/json"}
	acceptGzip = []string{"gzip"}
)

func (c *config) commonHeader() http.Header {
	h := http.Header{"Authorization": c.keys().Current().Header(), "Accept": acceptJSON, "User-Agent": c.userAgent}
	if c.compressed { // net/http would also ask for it, but use more memory to decompress
		h["Accept-Encoding"] = acceptGzip
	}
	return h
}

// settings are set by a client, and a call may override them.
type settings struct {
	retry   RetryPolicy
	maxWait time.Duration
	timeout time.Duration // 0: the operation's own

	batch bool // of Batch
	begun bool // what its operation has sent before, such as a review, would be for nothing if it were refused

	readOnly, noSpend, noSend bool
}

// callConfig is the result of the options of one call.
type callConfig struct {
	settings
	info   *Info
	query  [][2]string
	fields []outbound.Field

	inWalk            bool          // a loop over pages needs its response, or will
	starts            *spend.Agent  // the draft, if this call created it
	evidence          *readEvidence // what its responses tell of the state that they show
	allowRetryUnknown bool
	allowResume       bool
	once              string
}

// readEvidence is what the responses of some reads tell of the state that they show.
type readEvidence struct {
	cached    bool          // one came from a cache
	older     time.Duration // than its request may what one shows be
	began     time.Time     // the first of the reads
	responses int
}

// header is that of the last response, if none came from a cache.
func (s *readEvidence) header(info *Info) http.Header {
	if s.cached {
		return nil
	}
	return info.Header
}

// option makes the responses of a call evidence, and asks caches for what the service has now.
func (s *readEvidence) option() callOption {
	return func(c *callConfig, _ *check.Violations) { c.evidence = s }
}

// begun makes a call one of an operation that has sent others.
var begun = sharedOption(func(s *settings, _ *check.Violations) { s.begun = true })

// pageConfig is the sum of the options of an iterator.
type pageConfig struct {
	calls      []CallOption // for the call of each page
	progress   *pagewalk.Progress
	checkpoint string
	paidPages  int  // limit of an iterator that spends credits
	sequential bool // no page is read ahead
}

// emit tells the observers, and returns the context that they make of it, which matters at the start of a call.
func (c *config) emit(ctx context.Context, o *op.Op, e Event) context.Context {
	e.Op, e.Surface, e.Host = o.Name, string(o.Surface), c.base.Host
	e.Method, e.Route = cmp.Or(e.Method, o.Method), cmp.Or(e.Route, o.Path)
	for _, f := range c.observers {
		ctx = tell(ctx, f, e) //nolint:fatcontext // each observer gets the context of the one before it
	}
	return ctx
}
