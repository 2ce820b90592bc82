package prospectkit

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// EventKind says what an [Event] reports.
type EventKind string

// The kinds of events.
const (
	EventStart   EventKind = "start"   // a call begins; it may still be refused
	EventAttempt EventKind = "attempt" // an attempt has ended, and what follows is decided
	EventWait    EventKind = "wait"    // a wait begins: for a rate limit, a retry, or the next poll
	EventEnd     EventKind = "end"     // the call has ended
)

// Event is one step of a call. It holds no key, id, query or URL; Err may hold personal data.
type Event struct {
	Kind     EventKind
	Op       string // name of the operation, as in docs/operations.md
	Method   string
	Route    string
	Host     string // of the base URL
	Surface  string // whose rate limits count: a word of [RateLimit]
	Attempt  int    // from 1; of an EventEnd how many there were
	Start    time.Time
	Duration time.Duration // of the attempt or the whole call, waits included
	Status   int           // 0 when no response arrived
	Code     Code
	Delivery string        // of an attempt, as in [Attempt]
	Wait     time.Duration // of a wait, as expected
	Waited   time.Duration // of the call, for rate limits and before retries
	Reason   string        // of a wait, or of an unsuccessful attempt
	Next     string        // of an unsuccessful attempt: what follows
	Rate     RateLimit     // by the last rate headers
	Outcome  Outcome       // of the call
	Err      error         // of the attempt or the call

	// ErrorType says in a word what went wrong: a code that is [Code.Known], a status, or refused_locally, wait_too_long, canceled,
	// deadline_exceeded, unreadable_response, not_sent, no_response or, in logs, not_started.
	ErrorType string
}

// Intent is what a call is about to do, without key, body and query.
type Intent struct {
	Op     string   // name of the operation, such as "campaigns.approve"
	IDs    []string // in the path of the call, in order
	Actor  string   // of WithActor
	Writes bool     // may change something
	Spends bool     // may spend credits
	Sends  bool     // may send messages to prospects or write into a CRM
	Digest string   // of the review that [CampaignsService.Approve] approves; else empty
}

func logEvent(ctx context.Context, l *slog.Logger, e Event) {
	level := levelOf(e)
	if e.Kind == EventStart || !l.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("op", e.Op)}
	if e.Kind == EventEnd {
		attrs = append(attrs, slog.Int("attempts", e.Attempt))
	} else {
		attrs = append(attrs, slog.Int("attempt", e.Attempt))
	}
	if e.Kind == EventAttempt || e.Kind == EventEnd {
		attrs = append(attrs, slog.String("error.type", e.ErrorType), slog.String("reason", reasonOf(e.Err)),
			slog.Int("status", e.Status), slog.String("code", plain(string(e.Code))),
			slog.String("delivery", e.Delivery), slog.String("outcome", string(e.Outcome)))
	}
	why := "reason"
	if e.Kind == EventAttempt { // which has two
		why = "failure"
	}
	attrs = append(attrs, slog.String(why, e.Reason), slog.String("next", e.Next),
		milliseconds("wait_ms", e.Wait), milliseconds("duration_ms", e.Duration), milliseconds("waited_ms", e.Waited))
	l.LogAttrs(ctx, level, "prospectkit "+string(e.Kind), notEmpty(attrs)...)
}

// levelOf is the level of an event, as [WithLogger] documents it.
func levelOf(e Event) slog.Level {
	switch {
	case e.Kind == EventEnd && e.Err != nil && concernsProgramOnly(e):
		return slog.LevelInfo
	case e.Kind == EventEnd && e.Err != nil:
		return slog.LevelWarn
	case e.Kind == EventWait, e.Next != "", e.Err != nil:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// concernsProgramOnly reports whether a call that failed is the business of the program alone, not of who operates it.
func concernsProgramOnly(e Event) bool {
	rejected := errors.Is(e.Err, ErrNotFound) || errors.Is(e.Err, ErrConflict) || errors.Is(e.Err, ErrInvalid)
	refusal, refused := errors.AsType[*RefusedError](e.Err)
	refused = refused && !refusal.Rule.forOperators()
	already := errors.Is(e.Err, errAlready) || refused && refusal.Rule == ErrAlreadyDone
	return already || e.Outcome == OutcomeNotApplied && (rejected && CodeOf(e.Err).Known() || refused || e.ErrorType == "canceled")
}

// Info is what happened on the wire during a call: see [WithInfo].
type Info struct {
	Op        string
	Surface   string
	Status    int
	Header    http.Header // of the last response, without secrets
	RequestID string      // of the last unsuccessful response
	Rate      RateLimit   // by the last rate headers
	Attempts  []Attempt
	Duration  time.Duration
	Already   bool // nothing was sent: an earlier call with the key has done it

	Body    []byte // the beginning of the last response, without secrets; it may hold personal data
	BodyCut bool   // there was more
	MaxBody int    // set it before the call: how many bytes of Body to keep, at most 64 KiB
}

// tell calls an observer, and ignores any panic in it.
func tell(ctx context.Context, f func(context.Context, Event) context.Context, e Event) (next context.Context) {
	next = ctx
	defer func() { _ = recover() }()
	if derived := f(ctx, e); derived != nil && e.Kind == EventStart {
		next = derived
	}
	return next
}
