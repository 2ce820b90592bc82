package prospectkit

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"example.com/prospectkit/catalogue"
	"example.com/prospectkit/event"
	"example.com/prospectkit/ratelimit"
)

// Event is one step of a call. It holds no key, id, query or URL of the call. Of the response it holds the Code, any
// text of at most 64 bytes if it is not [Code.Known], and in Err the fields of an [*Error], of which Message, Param, Body and
// RowID may hold personal data.
type Event struct {
	Kind     event.Kind
	Op       string // name in the operation catalogue
	Method   string
	Route    string
	Host     string // of the base URL
	Surface  ratelimit.Surface
	Attempt  int // 1 for the first; of event.KindCall how many there were, of an event.KindWait between polls the number of the poll
	Start    time.Time
	Duration time.Duration // of the attempt or the whole call, waits included
	Status   int           // 0 when no response arrived
	Code     Code
	Delivery event.Delivery    // of an attempt
	Wait     time.Duration     // of a wait: how long it is expected to take, as far as the service is known when it begins
	Waited   time.Duration     // of the whole call: the time waited for rate limits and before retries
	Reason   string            // of a wait or a decision
	Next     string            // of a decision: what follows
	Rate     ratelimit.Headers // by the last response that had rate headers; At is zero without one
	Outcome  Outcome           // of the call
	Err      error             // of the attempt or the call

	// ErrorType says in a word what went wrong with the attempt or the call: the code if it is [Code.Known], else the
	// status of an unsuccessful response, or else refused_locally, wait_too_long, canceled, deadline_exceeded,
	// unreadable_response, not_sent or no_response. It is empty for a success. The logger of [WithLogger] and LogValue of
	// an error call it error.type; there, not_started is a draft that a method needs started.
	ErrorType string
}

// Observer receives events, in the goroutine of the call, which it holds until it returns. It must be safe for concurrent use,
// and should be quick. A panic in it is ignored, so that it cannot break a call. Make no call from it with a client of the same
// budget: the call whose event it gets may hold the permit that the other one waits for.
type Observer func(ctx context.Context, e Event)

// CallHook sees a call before it begins. The context that it returns must derive from the one it
// gets; transport and observers get it, with the span of a tracer for example. The observer that it
// returns gets the events of this call only; it may be nil. It holds the call until it returns.
type CallHook func(ctx context.Context, start Event) (context.Context, Observer)

// Gate says whether a call may leave. It gets the operation and what the call is about to do, and
// refuses it with an error.
type Gate func(ctx context.Context, o catalogue.Operation, in Intent) error

// Intent is what a call is about to do. It holds no key and no value of the body or the query.
type Intent struct {
	IDs    []string // in the path of the call, in order
	Actor  string   // of WithActor
	Writes bool     // may change something
	Spends bool     // may spend credits; false for a draft, although others of its operation may
	Sends  bool     // may send messages to prospects or write into a CRM
	// Digest is that of the review that the call approves, as [CampaignsService.Approve] has it. The campaign still was that
	// review a moment before. It is empty for every other call, also for [CampaignsService.ApproveUnreviewed], which approves whatever is
	// there.
	Digest string
}

func logEvent(ctx context.Context, l *slog.Logger, e Event) {
	level := levelOf(e)
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("op", e.Op)}
	if e.Kind == event.KindCall {
		attrs = append(attrs, slog.Int("attempts", e.Attempt))
	} else {
		attrs = append(attrs, slog.Int("attempt", e.Attempt))
	}
	if e.Kind == event.KindAttempt || e.Kind == event.KindCall {
		attrs = append(attrs, slog.String("error.type", e.ErrorType), slog.String("reason", reasonOf(e.Err)),
			slog.Int("status", e.Status), slog.String("code", e.Code.logged()),
			slog.String("delivery", string(e.Delivery)), slog.String("outcome", string(e.Outcome)))
	}
	attrs = append(attrs, slog.String("reason", e.Reason), slog.String("next", e.Next),
		milliseconds("wait_ms", e.Wait), milliseconds("duration_ms", e.Duration), milliseconds("waited_ms", e.Waited))
	l.LogAttrs(ctx, level, "prospectkit "+string(e.Kind), notEmpty(attrs)...)
}

// levelOf is the level of an event, as [WithLogger] documents it.
func levelOf(e Event) slog.Level {
	switch {
	case e.Kind == event.KindCall && e.Err != nil && concernsProgramOnly(e):
		return slog.LevelInfo
	case e.Kind == event.KindCall && e.Err != nil:
		return slog.LevelWarn
	case e.Kind == event.KindWait, e.Kind == event.KindDecision, e.Err != nil:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// concernsProgramOnly reports whether a call that failed is the business of the program alone, not of who operates it.
func concernsProgramOnly(e Event) bool {
	rejected := errors.Is(e.Err, ErrNotFound) || errors.Is(e.Err, ErrConflict) || errors.Is(e.Err, ErrInvalid)
	refused := errors.Is(e.Err, ErrRefusedLocally) && (AdviceOf(e.Err).Action == ActionNever || errors.Is(e.Err, RuleInProgress))
	return e.Outcome == OutcomeNotApplied && (rejected && CodeOf(e.Err).Known() || refused || e.ErrorType == "canceled")
}

// Info is what happened on the wire during a call, successful or not; see [WithInfo].
type Info struct {
	Op        string
	Surface   ratelimit.Surface
	Status    int
	Header    http.Header       // of the last response; a copy, without what is hidden in Body, and without cookies
	RequestID string            // of the last unsuccessful response; successes have none, as far as documented
	Rate      ratelimit.Headers // by the last response that had rate headers; At is zero without one
	Attempts  []Attempt
	Duration  time.Duration

	// Body is the beginning of the last response, decompressed, without keys, tokens, cursors and the queries of
	// URLs. It may hold personal data: keep it out of logs.
	Body    []byte
	BodyCut bool // there was more than Body holds
	MaxBody int  // set it before the call: how many bytes of Body to keep, at most 64 KiB; 0 for none
}

// notify calls an observer and ignores any panic in it.
func notify(ctx context.Context, f Observer, e Event) {
	defer func() { _ = recover() }()
	f(ctx, e)
}
