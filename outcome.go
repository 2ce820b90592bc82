package prospectkit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"example.com/prospectkit/internal/op"
)

// OutcomeUnknownError is a write, or a read that costs credits, that was sent, and whose outcome no
// response proves: the connection was cut, the time ran out, or the service failed. It may have
// happened. It was not retried after that, unless [AllowRetryUnknown] allowed it.
//
// Read the state before you retry the call. Resolve does, where the API can tell. It matches
// [ErrOutcomeUnknown], and errors.As finds the *[Error] of the response, if there was one.
type OutcomeUnknownError struct {
	Op       string
	Method   string
	Route    string
	SentAt   time.Time // when the attempt began whose outcome is unknown
	Attempts []Attempt

	// Resolution is for fakes in tests: if set, Resolve returns it and reads nothing. This package
	// never sets it.
	Resolution *Resolution `json:",omitzero"`

	op    *op.Op
	cause error
	look  lookup // nil where nothing can be read
}

// Error says in one line why the outcome is unknown.
func (e *OutcomeUnknownError) Error() string {
	return describe(e.Op, "outcome unknown, it may have happened", causeText(e.cause, e.Op))
}

// Is matches [ErrOutcomeUnknown].
func (e *OutcomeUnknownError) Is(target error) bool { return target == error(ErrOutcomeUnknown) }

// Unwrap returns why the outcome is unknown: a transport error, the end of the context, or the
// *[Error] of the response.
func (e *OutcomeUnknownError) Unwrap() error { return e.cause }

// Outcome returns [OutcomeUnknown].
func (e *OutcomeUnknownError) Outcome() Outcome { return OutcomeUnknown }

// Advice returns [ActionVerifyFirst].
func (e *OutcomeUnknownError) Advice() Advice {
	return Advice{Action: ActionVerifyFirst, Hint: "read the state before you retry the call"}
}

// LogValue groups the fields that are safe to log.
func (e *OutcomeUnknownError) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("op", e.Op), slog.String("outcome", string(OutcomeUnknown)), slog.Int("attempts", len(e.Attempts)),
	)
}

// Verdict is what [OutcomeUnknownError.Resolve] found out.
type Verdict string

// The verdicts.
const (
	VerdictHappened   Verdict = "happened"   // the state is what the call asked for
	VerdictNotSeen    Verdict = "not seen"   // the state does not show it, so far
	VerdictUnknowable Verdict = "unknowable" // no documented read can show it
)

// Resolution is what is known about a write whose outcome was unknown.
type Resolution struct {
	Verdict Verdict
	Object  any       // what was found, such as a *List; see Resolved
	AsOf    time.Time // when the state was read last; zero for VerdictUnknowable
	Final   bool      // of VerdictNotSeen: the change would have shown by now
	Note    string    // what remains uncertain, and why
}

// Resolved returns the object of a resolution, if it is a *T.
func Resolved[T any](r *Resolution) (*T, bool) {
	if r == nil {
		return nil, false
	}
	v, ok := r.Object.(*T)
	return v, ok && v != nil
}

// lookup reads the state once. VerdictUnknowable ends the search.
type lookup func(ctx context.Context, e *OutcomeUnknownError, opts []CallOption) (Resolution, error)

// Resolve reads the state and returns the outcome of the call. It sends reads only, on the same
// surface, and never the call itself.
//
// A change that shows is reported at once. Otherwise Resolve reads again, with growing pauses,
// until 10 s after the call, or 65 s for agents, whose service may work that long. If the context
// ends first, the verdict is [VerdictNotSeen] and not Final. If no documented read can show the
// change, the verdict is [VerdictUnknowable], with the reason.
func (e *OutcomeUnknownError) Resolve(ctx context.Context, opts ...CallOption) (*Resolution, error) {
	if e.Resolution != nil {
		return e.Resolution, nil
	}
	if e.look == nil {
		return &Resolution{Verdict: VerdictUnknowable, Note: e.note()}, nil
	}
	return e.lookFor(ctx, e.op.VisibleAfter-since(e.SentAt), opts)
}

// lookFor reads until the change shows or patience is over.
func (e *OutcomeUnknownError) lookFor(ctx context.Context, patience time.Duration, opts []CallOption) (*Resolution, error) {
	began := time.Now()
	for looks, pause := 1, time.Second; ; looks, pause = looks+1, 2*pause {
		r, err := e.look(ctx, e, opts)
		if err != nil {
			return nil, err
		}
		if r.Note == "" {
			r.Note = e.note()
		}
		if r.Verdict == VerdictUnknowable {
			return &r, nil
		}
		r.AsOf = time.Now()
		if r.Verdict == VerdictHappened || r.Final {
			return &r, nil
		}
		pause = min(pause, patience-r.AsOf.Sub(began))
		if pause <= 0 || !sleepBeforeDeadline(ctx, pause) {
			age := since(e.SentAt)
			r.Final = age >= e.op.VisibleAfter
			r.Note = fmt.Sprintf("%s; looked %s, at last %s after the call",
				r.Note, plural(looks, "time"), age.Round(time.Millisecond))
			return &r, nil
		}
	}
}

// since is the time since an instant, by the monotonic clock if the instant is of this process, so
// clock changes do not affect it. It is never negative: an instant from elsewhere may lie ahead.
func since(t time.Time) time.Duration { return max(0, time.Since(t)) }

func (e *OutcomeUnknownError) note() string {
	o := e.op
	if o == nil {
		o, _ = op.ByName(e.Op)
	}
	const stranger = "this error was not made by a call of this process, so it cannot read the state"
	if o == nil {
		return stranger
	}
	note := cmp.Or(o.Verify, "no documented read would tell")
	if e.op == nil {
		return stranger + "; what tells: " + note
	}
	return note
}
