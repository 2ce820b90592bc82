package prospectkit

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/novelty"
	"example.com/prospectkit/internal/op"
)

// EventKind says what an [Event] reports.
type EventKind string

// The kinds of events, in the order in which a call emits them.
const (
	EventStart    EventKind = "start"    // the call is about to begin; only a CallHook sees it
	EventAttempt  EventKind = "attempt"  // an attempt has ended
	EventDecision EventKind = "decision" // the attempt was unsuccessful: what follows, and why
	EventWait     EventKind = "wait"     // the call is about to wait: for a rate limit, or before a retry
	EventCall     EventKind = "call"     // the call has ended, or was refused before anything was sent

	// EventUndocumented follows an attempt whose response held something undocumented. A client and
	// those derived from it report each such thing once. They examine the first responses of an
	// operation, and some of the later ones.
	EventUndocumented EventKind = "undocumented"
)

// Event is one step of a call. It holds no key, id, query or URL of the call. Of
// the response it holds the Code, any text of at most 64 bytes if it is not [Code.Known]; plain
// names in Undocumented; and in Err the fields of an [*Error], of which Message, Param, Body and
// RowID may hold personal data.
type Event struct {
	Kind     EventKind
	Op       string // name in the operation catalogue
	Method   string
	Route    string
	Host     string // of the base URL
	Surface  Surface
	Attempt  int // 1 for the first
	Start    time.Time
	Duration time.Duration // of the attempt or the whole call, waits included
	Status   int           // 0 when no response arrived
	Code     Code
	Delivery Delivery      // of an attempt
	Wait     time.Duration // of a wait: how long it is expected to take
	Waited   time.Duration // of the whole call: the time waited for rate limits and before retries
	Reason   string        // of a wait or a decision
	Next     string        // of a decision: what follows
	Rate     RateWindow    // by the last response; At is zero without rate headers
	Outcome  Outcome       // of the call
	Err      error         // of the attempt or the call

	Undocumented Undocumented // what was found
}

// Observer receives events, in the goroutine of the call. It must be safe for concurrent use, and
// should be quick. A panic in it is ignored, so that it cannot break a call.
type Observer func(ctx context.Context, e Event)

// WithObserver calls f for every event of every call. It can be given more than once.
func WithObserver(f Observer) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Must(f != nil, "WithObserver", "got nil")
		c.observers = append(slices.Clip(c.observers), f)
	})
}

// CallHook sees a call before it begins. The context that it returns must derive from the one it
// gets; transport and observers get it, with the span of a tracer for example. The observer that it
// returns gets the events of this call only; it may be nil.
type CallHook func(ctx context.Context, start Event) (context.Context, Observer)

// WithCallHook calls f at the start of every call, to follow each call on its own. It can be given
// more than once. A panic in it is ignored, as in an [Observer].
func WithCallHook(f CallHook) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Must(f != nil, "WithCallHook", "got nil")
		c.hooks = append(slices.Clip(c.hooks), f)
	})
}

// WithLogger logs calls at Debug, waits, retries and undocumented parts of responses at Info,
// failures at Warn. It logs a fixed list of fields: never a key, an id, a query, a body or the
// service's message. A code that is not [Code.Known] is logged if it is a plain name of at most 40
// letters. Without this option this package logs nothing. net/http itself writes unexpected bytes
// of an idle connection to the standard logger, which no transport can turn off.
func WithLogger(l *slog.Logger) ClientOption {
	if l == nil {
		return clientOption(func(_ *config, bad *check.Violations) { bad.Add("WithLogger", "got nil") })
	}
	return WithObserver(func(ctx context.Context, e Event) { logEvent(ctx, l, e) })
}

func logEvent(ctx context.Context, l *slog.Logger, e Event) {
	level := slog.LevelDebug
	switch {
	case e.Kind == EventCall && e.Err != nil:
		level = slog.LevelWarn
	case e.Kind == EventWait, e.Kind == EventDecision, e.Kind == EventUndocumented, e.Err != nil:
		level = slog.LevelInfo
	}
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("op", e.Op), slog.Int("attempt", e.Attempt)}
	switch e.Kind {
	case EventStart: // no observer gets it
	case EventWait:
		attrs = append(attrs, slog.Duration("wait", e.Wait), slog.String("reason", e.Reason))
	case EventDecision:
		attrs = append(attrs, slog.String("reason", e.Reason), slog.String("next", e.Next))
	case EventAttempt:
		attrs = append(attrs, slog.Int("status", e.Status), slog.String("code", e.Code.logged()),
			slog.String("delivery", string(e.Delivery)), slog.Duration("duration", e.Duration))
	case EventUndocumented:
		attrs = append(attrs, slog.String("kind", string(e.Undocumented.Kind)),
			slog.String("name", e.Undocumented.Name), slog.String("value", e.Undocumented.Value))
	case EventCall:
		attrs = append(attrs, slog.Int("status", e.Status), slog.String("code", e.Code.logged()),
			slog.String("outcome", string(e.Outcome)),
			slog.Duration("duration", e.Duration), slog.Duration("waited", e.Waited))
	}
	l.LogAttrs(ctx, level, "prospectkit "+string(e.Kind), attrs...)
}

// Info is what happened on the wire during a call, successful or not; see [WithInfo].
type Info struct {
	Op        string
	Surface   Surface
	Status    int
	Header    http.Header // of the last response; a copy, without the key and the token of a scroll
	RequestID string      // of an error response; the service sends none on success
	Rate      RateWindow  // by the last response; At is zero without rate headers
	Attempts  []Attempt
	Duration  time.Duration
}

// WithInfo fills info at the end of the call. Given to an iterator, it is filled at the end of each
// page.
func WithInfo(info *Info) CallOption {
	return callOption(func(c *callConfig, bad *check.Violations) {
		bad.Must(info != nil, "WithInfo", "got nil")
		c.info = info
	})
}

// runHooks runs the call hooks, each in the context of the one before it.
func (c *call) runHooks() {
	c.observers = c.client.conf.observers
	for _, f := range c.client.conf.hooks {
		c.runHook(f)
	}
}

func (c *call) runHook(f CallHook) {
	defer func() { _ = recover() }()
	ctx, observer := f(c.ctx, c.event(Event{Kind: EventStart, Start: c.began}))
	if ctx != nil {
		c.ctx = ctx
	}
	if observer != nil {
		c.observers = append(slices.Clip(c.observers), observer)
	}
}

// emitCall reports the end of the call.
func (c *call) emitCall(err error) {
	now := time.Now()
	c.countPause(now)
	c.emit(Event{
		Kind: EventCall, Attempt: len(c.attempts), Start: c.began, Duration: now.Sub(c.began), Waited: c.waited,
		Status: c.status, Code: c.errorResponse.Code, Rate: c.rate, Outcome: OutcomeOf(err), Err: err,
	})
}

func (c *call) emit(e Event) {
	if len(c.observers) == 0 {
		return
	}
	e = c.event(e)
	for _, f := range c.observers {
		notify(c.ctx, f, e)
	}
}

func (c *call) event(e Event) Event {
	e.Op, e.Method, e.Route, e.Surface = c.op.Name, c.method, c.route, Surface(c.op.Surface)
	e.Host = c.client.conf.base.Host
	return e
}

// notify calls an observer and ignores any panic in it.
func notify(ctx context.Context, f Observer, e Event) {
	defer func() { _ = recover() }()
	f(ctx, e)
}

// UndocumentedKind says what is undocumented.
type UndocumentedKind string

// The kinds of undocumented things.
const (
	UndocumentedField  = UndocumentedKind(novelty.Field)  // of an object that is fully documented
	UndocumentedValue  = UndocumentedKind(novelty.Value)  // of an enumeration
	UndocumentedCode   = UndocumentedKind(novelty.Code)   // of an error
	UndocumentedHeader = UndocumentedKind(novelty.Header) // about rate limits, or Deprecation or Sunset
)

// Undocumented is something in a response that is not documented for this version of the package: a
// sign that the service has changed. It never holds what users wrote: rows, profiles and partly
// documented objects are not examined for fields.
type Undocumented struct {
	Kind  UndocumentedKind
	Name  string // of a header, a code, or a field with its path, such as "list.entityType"; empty unless plain
	Value string // of an enumeration; empty unless a plain name
}

// emitUndocumented reports what is undocumented in a response. Without observers, it examines
// nothing.
func (c *call) emitUndocumented(a *attempt, resp *http.Response) {
	if len(c.observers) == 0 || resp == nil || a.BodyErr != nil {
		return
	}
	var found []novelty.Found
	if c.errorResponse.Code != "" && !c.errorResponse.Code.Known() {
		found = append(found, novelty.Found{Kind: novelty.Code, Name: novelty.PlainName(string(c.errorResponse.Code))})
	}
	for name := range resp.Header {
		if novelty.IsHeader(name) && len(name) <= maxName {
			found = append(found, novelty.Found{Kind: novelty.Header, Name: name})
		}
	}
	reported := c.client.conf.reported
	if reported.Due(c.op.Name, len(*a.Body), !c.done) {
		switch {
		case c.done:
			found = append(found, c.response.fields().In(*a.Body)...)
		case c.errorResponse.Code != "":
			found = append(found, errorShape.In(*a.Body)...)
		}
	}
	for _, u := range found {
		if text := u.Name + u.Value; c.secrets().Hide(text, false) != text || !reported.Report(c.op.Name, u) {
			continue
		}
		c.emit(Event{
			Kind: EventUndocumented, Attempt: len(c.attempts), Start: time.Now(), Status: c.status,
			Undocumented: Undocumented{UndocumentedKind(u.Kind), u.Name, u.Value},
		})
	}
}

// responseShape is the documented part of the responses that are decoded into a type, or nil.
func (p *plan) responseShape(t reflect.Type, keys ...string) *novelty.Shape {
	if p.op.Entity != "" {
		keys = append(slices.Clip(keys), p.op.Entity)
	}
	typed := p.shape == op.Typed
	return novelty.ResponseShape(p.op.Name, t, reflect.TypeFor[Object](), typed, keys...)
}

var errorShape = novelty.ShapeOf(reflect.TypeFor[errorEnvelope](), nil, true)
