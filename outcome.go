package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/errtext"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
)

// OutcomeUnknownError is a write, or a read that costs credits, that was sent, and whose outcome no
// response proves: the connection was cut, the time ran out, or the service failed. It may have
// happened. It was not sent again, except by [AllowRetryUnknown] or by a method that looks first, such as
// [ListsService.Ensure].
//
// Make the call again only if Resolve says [VerdictNotSeen], and that is Final. It reads the state, where the API can tell; in another
// process, [Client.Resolve] does with its Ticket. It matches [ErrOutcomeUnknown], and errors.As finds
// the *[Error] of the response, if there was one.
type OutcomeUnknownError struct {
	Op       string
	Method   string
	Route    string
	SentAt   time.Time // when the attempt began whose outcome is unknown
	Attempts []Attempt

	// Resolution is for fakes in tests: if set, Resolve returns it and reads nothing. This package
	// never sets it.
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
type look func(ctx context.Context, q *resolver, opts []CallOption) (Resolution, error)

// Error says in one line why the outcome is unknown.
func (e *OutcomeUnknownError) Error() string {
	return errtext.Line(e.Op, "outcome unknown, it may have happened", errtext.Cause(e.cause, e.Op))
}

// Is matches [ErrOutcomeUnknown].
func (e *OutcomeUnknownError) Is(target error) bool { return target == error(ErrOutcomeUnknown) }

// Unwrap returns why the outcome is unknown: a transport error, the end of the context, or the
// *[Error] of the response.
func (e *OutcomeUnknownError) Unwrap() error { return e.cause }

// Outcome returns [OutcomeUnknown].
func (e *OutcomeUnknownError) Outcome() Outcome { return OutcomeUnknown }

// LogValue groups the fields that are safe to log, as that of [Error] does.
func (e *OutcomeUnknownError) LogValue() slog.Value { return logValue(e.Op, e) }

func (e *OutcomeUnknownError) tried() []Attempt { return e.Attempts }

// Verdict is what [OutcomeUnknownError.Resolve] or [Client.Resolve] found out.
type Verdict string

// The verdicts.
const (
	VerdictHappened   Verdict = "happened"   // the state is what the call asked for
	VerdictNotSeen    Verdict = "not seen"   // not there now: it may come later, or was undone
	VerdictUnknowable Verdict = "unknowable" // no documented read can show it
)

// Resolution is what is known about a write whose outcome was unknown.
type Resolution struct {
	Verdict Verdict
	Object  any       // what was found, such as a *List; see Resolved
	AsOf    time.Time // when the last read of the state began; zero for VerdictUnknowable
	Note    string    // what remains uncertain, and why

	// Final of VerdictNotSeen says that the call had no effect (assumed: see Resolve), so that it may be made again; of
	// VerdictUnknowable, that nobody has to find out.
	Final bool
}

// String returns verdict and note, without the object.
func (r Resolution) String() string {
	if r.Note == "" {
		return string(r.Verdict)
	}
	return string(r.Verdict) + ": " + r.Note
}

// Resolved returns the object of a resolution, if it is a *T.
func Resolved[T any](r *Resolution) (*T, bool) {
	if r == nil {
		return nil, false
	}
	v, _ := r.Object.(*T)
	return v, v != nil
}

// Ticket returns what [Client.Resolve] needs to resolve the outcome in another process. It has a
// stable JSON form, and holds no key, no header and nothing of the body but
// what its Lookup names: the name, kind and start of a new list or agent, the id of a folder, the digest of a review, or a kind of CRM. The
// ticket of an error that was built by hand, as in a test, has no ID.
func (e *OutcomeUnknownError) Ticket() journal.Ticket {
	if e.ticket == nil {
		return journal.Ticket{Version: journal.Version, Op: e.Op, FirstSent: e.SentAt, LastSent: e.SentAt}
	}
	t := e.ticket()
	t.FirstSent, t.LastSent = e.SentAt, e.SentAt.Add(t.LastSent.Sub(t.FirstSent))
	return t
}

// Resolve reads the state and returns the outcome of the call. It sends reads only, on the same
// surface, and never the call itself. A read that fails is an error.
//
// Resolve reports a change at once. Otherwise it reads again, with growing pauses,
// until 10 s after the call, or 65 s for agents, whose service may work that long, and in the process of the call until 10 s after its last
// attempt ended, or would have if neither its context nor a shorter [WithAttemptTimeout] had ended it. A change has shown by then (assumed:
// no such time is documented), so [VerdictNotSeen] is Final. It is not final, and a person has to look, if
//
//   - the call was more than 15 minutes ago: somebody may have renamed, moved or deleted what it made. Two things remain proof: an
//     older list has the name, or the agent to start or pause is still a draft (assumed: no documented move leads back to one).
//   - a list or an agent that the call names by its id is gone: it was deleted.
//   - the call is an approval, whose activation runs in the background.
//   - the context ended first, or a transport of yours did not return when the context of the call ended.
//   - a success was not believed, because it named something else or did not prove itself: it may be that of the call, rewritten on the way.
//   - what was read comes from a cache (with an Age), and may be from before the call. The reads ask for no cache (Cache-Control); one
//     that ignores that and sets no Age goes unnoticed.
//
// If no documented read can show the change, the verdict is [VerdictUnknowable], with the reason. That is Final for the adjustment of a
// draft by [AgentsService.Ensure] once it cannot come late, because Ensure adjusts the draft again before it starts it. Its ticket stays
// in doubt, for a person.
//
// With [WithJournal] or [WithSpendGuard], [VerdictHappened] and a final [VerdictNotSeen] are noted
// there. An error of either is returned beside the resolution.
func (e *OutcomeUnknownError) Resolve(ctx context.Context, opts ...CallOption) (*Resolution, error) {
	switch {
	case e.Resolution != nil:
		return e.Resolution, nil
	case e.conf == nil:
		return &Resolution{Verdict: VerdictUnknowable, Note: e.note()}, nil
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
		cause:  fmt.Errorf("this call was not sent, because an earlier one is in doubt: Resolve it, or settle ticket %s, as prospectkit settle does", t.ID),
		ticket: func() journal.Ticket { return t },
		conf:   func() *config { return c },
	}
}

func (e *OutcomeUnknownError) note() string {
	const notOurs = "no call of this process made this error: if a journal has its ticket, resolve that"
	if o, ok := op.ByName(e.Op); ok {
		return notOurs + "; what tells: " + cmp.Or(o.Verify, "nothing")
	}
	return notOurs
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
	looks    int           // so far
	read     time.Time     // when the last look began, which may take many responses: one that comes late may show an earlier state
	evidence readEvidence  // of the last look

	// What it proves if the change is not seen.
	stopped        bool // nothing: what the call has started may have been stopped since
	proofAtAnyTime bool // that it was not applied, whenever: what the last look found is no work of somebody who has undone it since
	madeAgain      bool // nothing, and no later change depends on it: the method that made the call makes it again first
	neverFinal     bool // nothing for good: it may still show, it may have been undone, or the clocks disagree
}

func newResolver(c *config, o *op.Op, t journal.Ticket, l look, local bool) *resolver {
	if len(t.IDs) == 0 && t.Lookup.Name == "" {
		l = nil
	}
	sent := clock.Sent{First: t.FirstSent, Last: t.LastSent, Ahead: t.ServiceAhead, Local: local}
	return &resolver{conf: c, op: o, ticket: t, look: l, info: new(Info), sent: sent, neverFinal: o.Background || t.Open}
}

// assumedKept is how long after a call nobody is assumed to have undone it. It covers the restart of a killed program by a
// supervisor, a wait of two minutes for the rate limit, and the 65 s until an agent shows. What a teammate undoes sooner
// counts as done at the same moment.
const assumedKept = 15 * time.Minute

// mayBeUndone reports whether somebody may have undone the change before the last look ended, so that not seeing it proves nothing.
func (q *resolver) mayBeUndone() bool {
	return !q.proofAtAnyTime && !q.sent.Recent(assumedKept, time.Now(), q.info.Header)
}

// shows is how long after the call left its change shows at the latest (assumed): also 10 s after its last attempt ended, because a service
// that was silent until then is slow. What another process has sent may have left just before it ended, and nobody waited for a response.
func (q *resolver) shows() time.Duration {
	if q.sent.Local {
		return max(q.op.VisibleAfter, q.lasted+op.UsuallyVisibleAfter)
	}
	return q.op.VisibleAfter + q.op.Timeout
}

// patience is how long a change may yet take to show. Of what another process sent, one clock alone does not tell how long ago that was.
func (q *resolver) patience() time.Duration {
	if q.sent.Local {
		return q.shows() - clock.Since(q.sent.Last)
	}
	return q.shows()
}

// hasHadTime reports whether the change would have shown in the last look.
func (q *resolver) hasHadTime() bool {
	within := q.shows()
	if !q.sent.Local { // its ticket was stored before the request left, which takes an attempt at most
		within = max(within, q.op.VisibleAfter+min(q.ticket.Timeout, assumedKept))
	}
	return !q.evidence.cached && q.sent.Overdue(within, q.read, q.info.Header)
}

// resolve finds out the outcome, and settles a final one.
func (q *resolver) resolve(ctx context.Context, patience time.Duration, opts []CallOption) (*Resolution, error) {
	r, err := q.watch(ctx, patience, opts)
	if err != nil || q.ticket.ID == "" {
		return r, err
	}
	outcome := journal.NotApplied
	switch {
	case r.Verdict == VerdictHappened:
		outcome = journal.Applied
	case r.Verdict != VerdictNotSeen || !r.Final:
		return r, nil
	}
	return r, q.conf.settle(ctx, q.ticket, outcome)
}

// until looks for the effect of a call with growing pauses, as [waits.Until] does, and tells observers of them.
func (c *config) until(ctx context.Context, o *op.Op, patience time.Duration, look func() (done bool, err error)) (enough bool, err error) {
	return waits.Until(ctx, patience, func(n int, pause time.Duration) {
		c.emit(ctx, o, Event{Kind: EventWait, Attempt: n, Start: time.Now(), Wait: pause, Reason: "polling: its effect does not show yet"})
	}, look)
}

// watch looks until the change shows or patience is over.
func (q *resolver) watch(ctx context.Context, patience time.Duration, opts []CallOption) (*Resolution, error) {
	began := time.Now()
	q.info = cmp.Or(settings{}.with(opts, new(check.Violations)).info, q.info)
	opts = append(slices.Clip(opts), WithInfo(q.info), q.evidence.option())
	var r Resolution
	_, err := q.conf.until(ctx, q.op, patience, func() (done bool, err error) {
		r, done, err = q.lookOnce(ctx, opts)
		return done, err
	})
	if err != nil {
		return nil, err
	}
	watched := !q.sent.Local && q.read.Sub(began) >= q.shows() && !q.evidence.cached
	q.conclude(&r, watched || q.hasHadTime())
	return &r, nil
}

// lookOnce reads the state, and reports whether no further look would tell more. What a cache shows may be what was there before the
// call, so it shows no change.
func (q *resolver) lookOnce(ctx context.Context, opts []CallOption) (r Resolution, done bool, err error) {
	q.read, q.evidence.cached, q.proofAtAnyTime = time.Now(), false, false
	if r = (Resolution{Verdict: VerdictUnknowable}); q.look != nil {
		r, err = q.look(ctx, q, opts)
	}
	q.looks++
	r.AsOf = q.read
	if q.evidence.cached && r.Verdict != VerdictUnknowable {
		r.Verdict, r.Final = VerdictNotSeen, false
	}
	return r, r.Verdict != VerdictNotSeen || r.Final || !q.sent.Local && q.hasHadTime(), err
}

// conclude says what the last look proves, given whether the change has had time to show.
func (q *resolver) conclude(r *Resolution, hadTime bool) {
	if hadTime && (q.stopped || q.madeAgain) && r.Verdict == VerdictNotSeen {
		r.Verdict, r.Final = VerdictUnknowable, q.madeAgain && !q.neverFinal
	}
	if sought, _, _ := strings.Cut(q.op.Verify, ";"); r.Verdict == VerdictNotSeen {
		r.Note = cmp.Or(r.Note, "looked for "+sought)
	}
	r.Note = cmp.Or(r.Note, q.op.Verify, "no documented read would tell")
	if q.evidence.cached {
		r.Note += "; the state came from a cache"
	}
	switch r.Verdict {
	case VerdictHappened:
	case VerdictUnknowable:
		r.AsOf = time.Time{}
	case VerdictNotSeen:
		if !r.Final {
			r.Final = hadTime
			r.Note = fmt.Sprintf("%s; looked %s, at last %s after the call",
				r.Note, errtext.Plural(q.looks, "time"), max(0, q.read.Sub(q.ticket.LastSent)).Round(time.Millisecond))
		}
		if q.ticket.Open {
			r.Note += "; it may show in another form, or later: a person has to look"
		}
		if r.Final && !q.neverFinal && q.mayBeUndone() {
			q.neverFinal = true
			if !q.sent.Local && q.sent.Ahead == nil {
				r.Note += "; it was sent before its program had a response, so that only one clock tells how long ago that was"
			}
			r.Note += "; somebody may have undone it since: a person has to look"
		}
		r.Final = r.Final && !q.neverFinal
	}
}

// id is the only id in the path of the call. With none or several, the result is no id, and the read is refused.
func (q *resolver) id() string { return strings.Join(q.ticket.IDs, "/") }

// missing is the result of a read by its id of something that is not there.
func (q *resolver) missing(what string) (Resolution, error) {
	q.neverFinal = true
	return Resolution{Verdict: VerdictNotSeen, Note: what + " is not there: somebody may have deleted it since, or the key is of another workspace; a person has to look"}, nil
}

// unknowable is the result of a read that lacks the evidence.
func unknowable(object any, note string) (Resolution, error) {
	return Resolution{Verdict: VerdictUnknowable, Object: object, Note: note}, nil
}

// ruledOut is the result of a read that shows something the call cannot have made.
func ruledOut(object any, note string) (Resolution, error) {
	return Resolution{Verdict: VerdictNotSeen, Object: object, Final: true, Note: note}, nil
}

// settle tells a final outcome that was read later to the guard and the journal.
func (c *config) settle(ctx context.Context, t journal.Ticket, outcome journal.Outcome) error {
	err := c.guard.Settle(ctx, t.ID, string(outcome), -1)
	if c.journal != nil && err == nil { // or the ticket stays in doubt, for the guard
		err = c.journal.Ended(ctx, t.ID, journal.End{Outcome: outcome})
	}
	return err
}

// Unwrap returns why the journal, the spend guard, the token source or the gate refused, or which other call keeps this one back, as far as
// Violations do not say it, and nil for the other rules. The outcome and the code of a call of their own do not match: this one was not sent.
func (e *RefusedError) Unwrap() error {
	if deciding(e.cause) != nil {
		return otherCallError{e.cause}
	}
	return e.cause
}

// otherCallError hides an outcome and a code: whoever branched on them would take them for those of their own call.
type otherCallError struct{ error }

func (e otherCallError) Is(target error) bool {
	switch target.(type) {
	case Code, ErrorClass, SafetyRule:
		return false
	}
	return errors.Is(e.error, target)
}

func (e otherCallError) As(target any) bool {
	return !reflect.TypeOf(target).Elem().Implements(reflect.TypeFor[marked]()) && errors.As(e.error, target)
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

// hadNoEffect reports whether the change did not show, and would have by now.
func (r *Resolution) hadNoEffect() bool { return r != nil && r.Verdict == VerdictNotSeen && r.Final }
