package prospectkit

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/outbound"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// WithRetry sets how often and when calls are retried.
func WithRetry(p RetryPolicy) Option {
	return sharedOption(func(s *settings, bad *check.Violations) {
		bad.Between("RetryPolicy.MaxAttempts", p.MaxAttempts, 1, 10)
		bad.Must(p.BaseDelay >= 0 && p.MaxDelay >= 0, "RetryPolicy", "has a negative delay")
		s.retry = p.withDefaults()
	})
}

// WithMaxWait bounds each wait for a rate limit or a Retry-After; default 2 minutes. Zero refuses every wait. A queued call that does not
// fit is refused with [RuleRateLimit], at once if that is foreseeable. A free read after a 429 with a Retry-After above 0 goes again, however often,
// while all its waits fit.
func WithMaxWait(d time.Duration) Option {
	return sharedOption(func(s *settings, bad *check.Violations) {
		bad.Must(d >= 0, "WithMaxWait", "is %s, must not be negative", d)
		s.maxWait = d
	})
}

// Batch lets calls go last when calls are queued for a rate limit: only every fourth request is then one of theirs. They leave a tenth of
// each window to others.
func Batch() Option {
	return sharedOption(func(s *settings, _ *check.Violations) { s.batch = true })
}

// WithAttemptTimeout bounds one attempt until the response headers, and each 64 KiB of its body. Default: 75 s for agents, 10 minutes for
// uploads, else 30 s. The context bounds the whole call.
func WithAttemptTimeout(d time.Duration) Option {
	return sharedOption(func(s *settings, bad *check.Violations) {
		bad.Must(d > 0, "WithAttemptTimeout", "is %s, must be positive", d)
		s.timeout = d
	})
}

// WithHTTPClient sends through a copy of h, with its transport and cookie jar. Its Timeout bounds one attempt. It follows no redirects.
// Beside [WithTransport], it is refused.
func WithHTTPClient(h *http.Client) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Given("WithHTTPClient", h)
		bad.Must(h == nil || h.Transport == nil || !check.IsNil(h.Transport), "WithHTTPClient", "has a transport that is nil")
		c.sendThrough("WithHTTPClient", h, bad)
	})
}

// WithTransport sends every attempt through rt, such as the sandbox, a mock, or a transport with a private certificate authority. Without
// net/http below it, the outcome of a failed write is unknown. rt must not retry, which would repeat writes, nor call this client.
func WithTransport(rt http.RoundTripper) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Given("WithTransport", rt)
		c.sendThrough("WithTransport", &http.Client{Transport: rt}, bad)
	})
}

// sendThrough refuses both options at once: one of the transports would be dropped.
func (c *config) sendThrough(option string, h *http.Client, bad *check.Violations) {
	bad.Must(c.through == "" || c.through == option, option, "contradicts another option: give one of WithHTTPClient and WithTransport")
	c.httpClient, c.through = h, option
}

// WithTokenSource asks source for the API token before the first call if [New] got none, and after a [CodeUnauthorized]. All tokens must be
// of one workspace. A rejected call is resent once with another token, even a write: a 401 means that nothing was done (documented). If a
// gateway may have repeated the write, its outcome is unknown instead.
//
// [WithAttemptTimeout] bounds source. If it fails, the call is refused with [RuleToken].
func WithTokenSource(source func(ctx context.Context) (string, error)) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Given("WithTokenSource", source)
		c.source = source
	})
}

// WithUserAgent puts your application's name and version first in the User-Agent header.
func WithUserAgent(app string) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		app = strings.TrimSpace(app)
		bad.Must(app != "" && !check.HasControl(app), "WithUserAgent", "must not be empty or hold control characters")
		c.app = app
	})
}

// WithMaxResponseBytes bounds the decompressed length of a response; default 32 MiB. A longer one is an error. Decoded values may take four
// times as much, and 16 MiB.
func WithMaxResponseBytes(n int64) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Must(n >= 1, "WithMaxResponseBytes", "is %d, must be positive", n)
		c.maxBody = n
	})
}

// WithObserver calls f for every [Event], in the goroutine of the call, which waits for it. f must be safe for concurrent use, and make no
// call with this client. The context that f returns for an [EventStart], for example with a span, is that of the call; it must derive from
// the one that f got. Each option adds an observer.
func WithObserver(f func(ctx context.Context, e Event) context.Context) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Given("WithObserver", f)
		c.observers = append(slices.Clip(c.observers), f)
	})
}

// WithGate asks gate once before each call, after all other checks: for a person's yes, a freeze, a quota. A page of an iterator is a call,
// too. If gate fails or panics, the call is refused with [RuleGate]. [Client.With] adds gates and lifts none.
func WithGate(gate func(ctx context.Context, in Intent) error) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Given("WithGate", gate)
		c.gates = append(slices.Clip(c.gates), gate)
	})
}

// WithJournal stores a ticket before each attempt of a write or a paid read, and notes the outcome, for [Client.Recover] after a restart. A
// call whose ticket cannot be stored is refused with [RuleJournal]. [Client.With] can add a journal, but not replace it.
//
// A journal belongs to one workspace, and its base URL: what was approved under another name or URL can be approved again, and a key of [Once] that
// was used under another URL is refused.
func WithJournal(j journal.Journal) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		if bad.Given("WithJournal", j); check.IsNil(j) {
			return
		}
		if err := journal.CheckWorkspace(j.Workspace()); err != nil {
			bad.Add("WithJournal", "got one without a workspace: %s", err)
		}
		same := reflect.ValueOf(c.journal).Comparable() && c.journal == j
		bad.Must(c.journal == nil || same, "WithJournal", "must not replace another journal")
		c.journal = j
	})
}

// WithSpendGuard reserves the most that a call can cost, before it is sent. It refuses with [ErrSpendCap] what does not fit, and with
// [RuleSpendGuard] what has no known price. An unknown outcome counts until it is resolved. [Client.With] can add a guard, but not replace
// one.
//
// Free reads, drafts of agents, and writes whose description does not hint at a cost need no price. The start of an agent counts all its
// runs: see [spend.Price]. That of a draft needs a price for agents.activate.
func WithSpendGuard(g *spend.Guard) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		if err := g.Err(); err != nil {
			bad.Add("WithSpendGuard", "got a guard that cannot be used: %s", err)
		}
		bad.Must(c.guard == nil || c.guard == g, "WithSpendGuard", "must not replace another guard")
		c.guard = g
	})
}

type actorKey struct{}

// WithActor names who makes the calls with the returned context, in tickets and for [WithGate]. It is never sent, and must be valid UTF-8.
func WithActor(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, actorKey{}, who)
}

// WithDebugWriter writes every request and response as text, with at most 16 KiB of each body. It hides keys, tokens and cookies, but
// neither ids nor personal data: keep it out of production. Calls wait for w.
func WithDebugWriter(w io.Writer) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Given("WithDebugWriter", w)
		c.dump = redact.NewDump(w)
	})
}

// WithLogger logs one line for each event, except the start of a call, without key, id, query, body or message of the service:
//
//   - Debug: successes.
//   - Info: waits, unsuccessful attempts, and failed calls that are the program's business: canceled, refused, or rejected with a
//     documented [ErrNotFound], [ErrConflict] or [ErrInvalid].
//   - Warn: all other failed calls. Somebody has to look.
func WithLogger(l *slog.Logger) ClientOption {
	if l == nil {
		return clientOption(func(_ *config, bad *check.Violations) { bad.Add("WithLogger", "got nil") })
	}
	return WithObserver(func(ctx context.Context, e Event) context.Context {
		logEvent(ctx, l, e)
		return ctx
	})
}

// AllowPlainHTTP accepts an http base URL of another machine. The token is then sent unprotected.
func AllowPlainHTTP() ClientOption {
	return clientOption(func(c *config, _ *check.Violations) { c.plainHTTP = true })
}

// WithInfo fills info at the end of the call, of each page of an iterator, which then reads none ahead, and of each read of Resolve. Set its
// MaxBody to get the body, too.
func WithInfo(info *Info) CallOption {
	return callOption(func(c *callConfig, bad *check.Violations) {
		bad.Given("WithInfo", info)
		c.info = info
	})
}

// WithQuery adds an undocumented query parameter. It replaces one that the call sets.
func WithQuery(key, value string) CallOption {
	return callOption(func(c *callConfig, bad *check.Violations) {
		bad.Must(key != "", "WithQuery", "needs a key")
		c.query = append(c.query, [2]string{key, value})
	})
}

// WithField adds an undocumented body field, encoded as one of [Fields]. It refuses a field that the call sets or has a parameter for.
func WithField(name string, value any) CallOption {
	return callOption(func(c *callConfig, bad *check.Violations) {
		bad.Must(name != "", "WithField", "needs a name")
		c.fields = append(c.fields, outbound.Field{Name: name, Value: value})
	})
}

// WithRoutes sets routes whose path is assumed or undocumented, as in WithRoutes(map[string]string{"agents.pause": "POST
// /business/agents/{agentId}/pause"}). Parameters in braces take the ids of the call, in order.
func WithRoutes(routes map[string]string) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		all := make(map[*op.Op][2]string)
		maps.Copy(all, c.routes)
		for _, name := range slices.Sorted(maps.Keys(routes)) {
			option := "WithRoutes " + name
			o, ok := op.ByName(name)
			if !ok || o.Provenance == op.Documented {
				bad.Add(option, "is not an operation with an undocumented path")
				continue
			}
			mistakes := len(*bad)
			method, path := check.Route(bad, option, routes[name])
			switch {
			case len(*bad) > mistakes:
			case o.Method == "":
				check.OneOf(bad, option, method, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete)
			default:
				bad.Must(method == o.Method, option, "has the method %s, must have %s", method, o.Method)
			}
			all[o] = [2]string{method, path}
		}
		c.routes = all
	})
}

// ReadOnly refuses what may change something. Searches, Contacts.Resolve and Campaigns.PreviewStep are reads that may spend credits.
// [Client.With] and call options can add such a rule, but never lift one.
func ReadOnly() Option {
	return sharedOption(func(s *settings, _ *check.Violations) { s.readOnly = true })
}

// NoSpend refuses what spends credits, or may: searches, Contacts.Resolve, Campaigns.PreviewStep, the start of an agent, the creation or
// change of a campaign, and whatever fills a list.
func NoSpend() Option {
	return sharedOption(func(s *settings, _ *check.Violations) { s.noSpend = true })
}

// NoSend refuses what sends messages to prospects, which is approving a campaign, or writes into a CRM.
func NoSend() Option {
	return sharedOption(func(s *settings, _ *check.Violations) { s.noSend = true })
}

// AllowRetryUnknown lets this call be retried after it may have been processed, as a read is. A retry may overwrite what a teammate has
// changed since.
//
// It is refused for operations that may spend, send, write into a CRM or add twice, and for those that only a state guards, such as
// approving.
func AllowRetryUnknown() CallOption {
	return callOption(func(c *callConfig, _ *check.Violations) { c.allowRetryUnknown = true })
}

// AllowResume lets [CampaignsService.Approve] resume a campaign that was stopped or approved before, which a teammate may have stopped: pass
// it only if Review.Resumes is true and a person has agreed.
func AllowResume() CallOption {
	return callOption(func(c *callConfig, _ *check.Violations) { c.allowResume = true })
}

// Once sends a write once for a key and a body, in all processes that share the journal of [WithJournal], which it needs. The key is a hash
// of the file, or the number of the job. It counts for one operation and the ids in its path, as long as the journal keeps its ticket.
//
// An earlier call with the key keeps this one back, and is Earlier of the [RefusedError]:
//
//   - It was applied: [ErrAlreadyDone]. What only adds, saves, pushes, moves, activates or pauses returns an empty result instead, and
//     Already of [Info].
//   - It may have been: an [OutcomeUnknownError]. Its text says what to do.
//   - It is in progress: [RuleInProgress]. Call later.
//   - It had another body: [RuleOtherBody].
func Once(key string) CallOption {
	return callOption(func(c *callConfig, bad *check.Violations) {
		bad.Must(key != "", "Once", "needs a key")
		bad.Text("Once", key)
		c.once = key
	})
}

func actorOf(ctx context.Context) string {
	who, _ := ctx.Value(actorKey{}).(string)
	return who
}
