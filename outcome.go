package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
)

// OutcomeUnknownError is a write, or a read that costs credits, that may have happened: no response proves its outcome. Make the call again
// only if Resolve says [OutcomeNotApplied]. It matches [ErrOutcomeUnknown]; errors.As finds the [*Error] of the response, if any.
type OutcomeUnknownError struct {
	Op       string
	Method   string
	Route    string
	SentAt   time.Time // when that attempt began
	Attempts []Attempt

	// Resolution is for fakes in tests: if set, Resolve returns it and reads nothing.
	Resolution *Resolution `json:",omitzero"`

	op     *op.Op
	cause  error
	other  bool                  // another call made it, perhaps on another machine
	gaveUp bool                  // its last attempt had no response when this side ended it
	ticket func() journal.Ticket // a closure, so that no dump shows it
	look   look                  // nil: no documented read shows the effect
	conf   func() *config        // a closure, too; nil: no call of this process made the error
}

// look reads the state once, for the effect of one call.
type look func(ctx context.Context, q *resolver, opts []CallOption) (finding, error)

// Error says in one line why the outcome is unknown.
func (e *OutcomeUnknownError) Error() string {
	unknown := "outcome unknown, it may have happened"
	if e.other {
		unknown = "outcome unknown" // its cause says of which call
	}
	return errorLine(e.Op, unknown, causeText(e.cause, e.Op))
}

// Is matches [ErrOutcomeUnknown].
func (e *OutcomeUnknownError) Is(target error) bool { return target == error(ErrOutcomeUnknown) }

// Unwrap returns why the outcome is unknown.
func (e *OutcomeUnknownError) Unwrap() error { return e.cause }

// Outcome returns [OutcomeUnknown].
func (e *OutcomeUnknownError) Outcome() Outcome { return OutcomeUnknown }

// LogValue groups what is safe to log.
func (e *OutcomeUnknownError) LogValue() slog.Value { return logValue(e.Op, e) }

func (e *OutcomeUnknownError) tried() []Attempt { return e.Attempts }

// Resolution is what reads tell about a call whose outcome was unknown.
type Resolution struct {
	Outcome Outcome   // make the call again only if it is [OutcomeNotApplied]
	Object  any       // what was found: list, ok := r.Object.(*List)
	Note    string    // what remains uncertain, and why
	Again   time.Time // when another read may tell; zero if only a person can, or the outcome is known
}

// String returns everything but the object.
func (r Resolution) String() string {
	text := string(r.Outcome)
	if r.Note != "" {
		text += ": " + r.Note
	}
	if !r.Again.IsZero() {
		text += "; to be read again at " + r.Again.UTC().Format(time.RFC3339)
	}
	return text
}

// Ticket returns what [Client.Resolve] needs in another process, in a stable JSON form, without key and header.
func (e *OutcomeUnknownError) Ticket() journal.Ticket {
	if e.ticket == nil {
		return journal.Ticket{Version: journal.Version, Op: e.Op, FirstSent: e.SentAt, LastSent: e.SentAt}
	}
	t := e.ticket()
	t.FirstSent, t.LastSent = e.SentAt, e.SentAt.Add(t.LastSent.Sub(t.FirstSent))
	return t
}

// Resolve reads whether the call has happened, until that shows: at most until 10 s after the last attempt, for agents 65 s after the call
// (assumed). It sends free reads only, and tells a known outcome to the journal and the spend guard.
//
// The outcome stays unknown if no documented read shows the change, if the call was more than 15 minutes ago, so that somebody may have
// undone it, or of an approval, which runs in the background. A person has to look once Again is zero.
func (e *OutcomeUnknownError) Resolve(ctx context.Context, opts ...CallOption) (*Resolution, error) {
	switch {
	case e.Resolution != nil:
		return e.Resolution, nil
	case e.conf == nil:
		return &Resolution{Outcome: OutcomeUnknown, Note: e.note()}, nil
	}
	q := e.resolver()
	return q.resolve(ctx, q.patience(), opts)
}

func (e *OutcomeUnknownError) resolver() *resolver {
	q := newResolver(e.conf(), e.op, e.Ticket(), e.look, !e.other)
	if n := len(e.Attempts); n > 0 {
		last := e.Attempts[n-1]
		q.lasted = last.At.Add(last.Duration).Sub(q.sent.Last)
		if e.gaveUp {
			q.lasted = max(q.lasted, q.op.Timeout)
		}
	}
	return q
}

// earlierUnknown is the error of a call that is not sent, because the outcome of another one is unknown: its Resolve is about that one.
func earlierUnknown(c *config, o *op.Op, t journal.Ticket, l look) *OutcomeUnknownError {
	return &OutcomeUnknownError{
		Op: o.Name, Method: o.Method, Route: o.Path, SentAt: t.FirstSent, op: o, other: true, look: l,
		cause:  fmt.Errorf("this call was not sent, but an earlier one may have happened: %s", whatTells(o, t.ID)),
		ticket: func() journal.Ticket { return t },
		conf:   func() *config { return c },
	}
}

// whatTells is what the user does about a call in doubt: Resolve only where a read may tell.
func whatTells(o *op.Op, ticket string) string {
	look := "look yourself"
	switch {
	case o.Resolves:
		look = "Resolve reads it; if that does not tell, " + look
	case o.Verify != "":
		look += " (" + o.Verify + ")"
	}
	return look + fmt.Sprintf(", then run prospectkit settle %s applied|not-applied, or call Settle of the journal", ticket)
}

func (e *OutcomeUnknownError) note() string {
	const notOurs = "no call of this process made this error: if a journal has its ticket, resolve that"
	if o, ok := op.ByName(e.Op); ok {
		return notOurs + "; what tells: " + cmp.Or(o.Verify, "nothing")
	}
	return notOurs
}

// sight is whether a look shows the effect of a call.
type sight string

const (
	untold sight = ""       // it does not tell
	shown  sight = "shown"  // the state is what the call asked for
	absent sight = "absent" // it is not: the change may yet come, or was undone
)

// finding is what one look shows.
type finding struct {
	sight  sight
	object any
	note   string
	sure   bool // no later look shows more: if absent, the change will not come
	kept   bool // absent, and not by somebody who has undone it: proof at any time
}

// doesNotTell is the result of a read that lacks the evidence, and will.
func doesNotTell(object any, note string) (finding, error) {
	return finding{object: object, note: note, sure: true}, nil
}

// gone is the result of a read by its id of something that is not there.
func gone(what string) (finding, error) {
	return finding{note: what + " is not there: somebody may have deleted it since, or the key is of another workspace; a person has to look"}, nil
}

// resolver is the search for the effect of one call.
type resolver struct {
	conf     *config
	op       *op.Op
	ticket   journal.Ticket
	look     look // nil: there is nothing to read
	sent     clock.Sent
	info     *Info         // of the last response
	lasted   time.Duration // how long after it left the last attempt ended, or would have
	began    time.Time     // when it was first asked for, by this client
	looks    int           // so far
	read     time.Time     // when the last look began, which may take many responses: one that comes late may show an earlier state
	evidence readEvidence  // of the last look
	found    finding       // by the last look
}

func newResolver(c *config, o *op.Op, t journal.Ticket, l look, local bool) *resolver {
	if len(t.IDs) == 0 && t.Lookup.Name == "" {
		l = nil
	}
	sent := clock.Sent{First: t.FirstSent, Last: t.LastSent, Ahead: t.ServiceAhead, Made: c.clock.MadeAhead(), Local: local}
	q := &resolver{conf: c, op: o, ticket: t, look: l, info: new(Info), sent: sent, began: time.Now()}
	if local {
		q.began = sent.Last
	}
	return q
}

// assumedKept is how long after a call nobody is assumed to have undone it, and a change in the background may take. It covers the restart of a
// killed program by a supervisor, a wait of two minutes for the rate limit, and the 65 s until an agent shows. What a teammate undoes sooner
// counts as done at the same moment.
const assumedKept = 15 * time.Minute

// mayBeUndone reports whether somebody may have undone the change before the last look ended, so that not seeing it proves nothing.
func (q *resolver) mayBeUndone() bool {
	return !q.found.kept && !q.sent.Recent(assumedKept, time.Now(), q.evidence.header(q.info))
}

// mayComeLate reports whether a change may show after any time: it works in the background, or nobody knows in which form or when.
func (q *resolver) mayComeLate() bool { return q.op.Background || q.ticket.Open }

// shows is how long after the call left its change shows at the latest (assumed): also 10 s after its last attempt ended, because a service
// that was silent until then is slow. What another process has sent may have left just before it ended, and nobody waited for a response.
func (q *resolver) shows() time.Duration {
	if q.sent.Local {
		return max(q.op.VisibleAfter, q.lasted+op.UsuallyVisibleAfter)
	}
	return q.op.VisibleAfter + q.op.Timeout
}

// patience is how long a change may yet take to show. Of what another process sent, one clock alone does not tell how long ago that was, so
// it counts from when this client was first asked for it.
func (q *resolver) patience() time.Duration { return q.shows() - clock.Since(q.began) }

// hasHadTime reports whether the change would have shown in the last look.
func (q *resolver) hasHadTime() bool {
	within := q.shows()
	if q.evidence.cached {
		return false
	}
	if !q.sent.Local { // its ticket was stored before the request left, which takes an attempt at most
		if q.read.Sub(q.began) >= within {
			return true
		}
		within = max(within, q.op.VisibleAfter+min(q.ticket.Timeout, assumedKept))
	}
	return q.sent.Overdue(within, q.read, q.evidence.header(q.info))
}

// resolve finds out the outcome, and settles a known one.
func (q *resolver) resolve(ctx context.Context, patience time.Duration, opts []CallOption) (*Resolution, error) {
	q.info = cmp.Or(settings{}.with(opts, new(check.Violations)).info, q.info)
	look := func() (done bool, err error) { return q.lookOnce(ctx, opts) }
	enough, err := q.conf.until(ctx, q.op, patience, look)
	if err == nil && enough && !q.evidence.cached && q.evidence.older > 0 && !q.hasHadTime() { // what it showed last is so much older than the look
		_, err = q.conf.until(ctx, q.op, q.evidence.older, look)
	}
	if err != nil {
		return nil, err
	}
	return q.conclude(ctx)
}

// until looks for the effect of a call with growing pauses, as [waits.Until] does, and tells observers of them.
func (c *config) until(ctx context.Context, o *op.Op, patience time.Duration, look func() (done bool, err error)) (enough bool, err error) {
	return waits.Until(ctx, patience, func(n int, pause time.Duration) {
		c.emit(ctx, o, Event{Kind: EventWait, Attempt: n, Start: time.Now(), Wait: pause, Reason: "polling: its effect does not show yet"})
	}, look)
}

// lookOnce reads the state, and reports whether no further look would tell more. What a cache shows may be what was there before the
// call, so it shows no change.
func (q *resolver) lookOnce(ctx context.Context, opts []CallOption) (done bool, err error) {
	q.read, q.evidence, q.found = time.Now(), readEvidence{}, finding{sure: true}
	if q.look != nil {
		q.found, err = q.look(ctx, q, append(slices.Clip(opts), WithInfo(q.info), q.evidence.option()))
	}
	q.read = q.read.Add(-q.evidence.older)
	q.looks++
	if q.evidence.cached {
		q.found.sure = false
		if q.found.sight == shown {
			q.found.sight = absent
		}
	}
	return q.found.sight == shown || q.found.sure || !q.sent.Local && q.hasHadTime(), err
}

// conclude says what the last look proves, and settles a known outcome.
func (q *resolver) conclude(ctx context.Context) (*Resolution, error) {
	r := &Resolution{Outcome: OutcomeUnknown, Object: q.found.object, Note: q.found.note}
	undone := false
	switch {
	case q.found.sight == shown:
		r.Outcome = OutcomeApplied
	case q.found.sight == absent && !q.mayComeLate() && (q.found.sure || q.hasHadTime()):
		if undone = q.mayBeUndone(); !undone {
			r.Outcome = OutcomeNotApplied
		}
	}
	if r.Outcome == OutcomeUnknown {
		r.Again = q.again()
	}
	q.explain(r, undone)
	if r.Outcome == OutcomeUnknown || q.ticket.ID == "" {
		return r, nil
	}
	end := journal.End{Outcome: r.Outcome}
	if r.Outcome == OutcomeApplied {
		end.ResultID = madeID(q.ticket, r.Object)
	}
	return r, q.conf.settle(ctx, q.ticket, end)
}

// madeID is the id of an object that a read has found, if the call made it.
func madeID(t journal.Ticket, object any) string {
	if made, ok := object.(interface{ resultID() string }); ok && len(t.IDs) == 0 {
		return made.resultID()
	}
	return ""
}

// again is when another look may tell more than the last one. The pauses grow, and end.
func (q *resolver) again() time.Time {
	now, end := time.Now(), time.Time{}
	switch {
	case q.found.sure:
		return end
	case q.evidence.cached: // by then, it is that of a cache for good
		end = q.began.Add(assumedKept)
	case !q.hasHadTime():
		if end = q.began.Add(q.shows()); !end.After(now) {
			end = now.Add(time.Second)
		}
	case !q.mayComeLate():
		return end
	case q.sent.Last.Before(q.began):
		end = q.sent.Last.Add(assumedKept)
	default: // a clock by which it lies ahead tells nothing
		end = q.began.Add(assumedKept)
	}
	if !end.After(now) {
		return time.Time{}
	}
	if next := now.Add(max(time.Second, now.Sub(q.began))); next.Before(end) {
		return next
	}
	return end
}

// explain adds to the note of a look what remains uncertain.
func (q *resolver) explain(r *Resolution, undone bool) {
	if sought, _, _ := strings.Cut(q.op.Verify, ";"); q.found.sight == absent {
		r.Note = cmp.Or(r.Note, "looked for "+sought)
	}
	r.Note = cmp.Or(r.Note, q.op.Verify, "no documented read would tell")
	if q.evidence.cached {
		r.Note += "; the state may be old, by its Age"
	}
	if q.found.sight != absent {
		return
	}
	if !q.found.sure {
		r.Note += fmt.Sprintf("; looked %s, at last %s after the call",
			redact.Plural(q.looks, "time"), max(0, q.read.Sub(q.ticket.LastSent)).Round(time.Millisecond))
	}
	if q.ticket.Open {
		r.Note += "; it may show in another form, or later: a person has to look"
	}
	if undone {
		if !q.sent.Local && q.sent.Ahead == nil {
			r.Note += "; it was sent before its program had a response, so that only one clock tells how long ago that was"
		}
		r.Note += "; somebody may have undone it since: a person has to look"
	}
}

// id is the only id in the path of the call. With none or several, the result is no id, and the read is refused.
func (q *resolver) id() string { return strings.Join(q.ticket.IDs, "/") }

// settle tells a known outcome that was read later to the guard and the journal.
func (c *config) settle(ctx context.Context, t journal.Ticket, e journal.End) error {
	err := c.guard.Settle(ctx, t.ID, string(e.Outcome), -1)
	if c.journal != nil && err == nil { // or the ticket stays in doubt, for the guard
		err = c.journal.Ended(ctx, t.ID, e)
	}
	return err
}

// repeatableWrite is a write that may be sent again, because a unique name or a state guards it.
type repeatableWrite struct {
	unknown *OutcomeUnknownError // the first unknown outcome: a later refusal does not make it known
}

// repeat sends the write. While its outcome is unknown and look sees no effect, it sends it again, three times in all.
// It returns the error of the last time, and that of look.
func (w *repeatableWrite) repeat(send func() error, look func(*OutcomeUnknownError) (again bool, err error)) (sent, looked error) {
	for range 3 {
		sent = send()
		unknown, ok := errors.AsType[*OutcomeUnknownError](sent)
		if !ok || OutcomeOf(sent) != OutcomeUnknown { // that of another call, in the cause of this one
			return sent, nil
		}
		w.unknown = cmp.Or(w.unknown, unknown)
		if again, err := look(unknown); err != nil || !again {
			return sent, err
		}
	}
	return sent, nil
}

// err adds what repeat returned to the first unknown outcome, if there is one.
func (w *repeatableWrite) err(sent, looked error) error {
	switch {
	case w.unknown == nil:
		return sent
	case looked != nil:
		return fmt.Errorf("%w (and it could not be resolved: %w)", w.unknown, looked)
	case errors.Is(sent, ErrOutcomeUnknown):
		return w.unknown
	}
	return fmt.Errorf("%w (and since: %w)", w.unknown, sent)
}
