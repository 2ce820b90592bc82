package prospectkit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"example.com/prospectkit/internal/op"
)

// OutcomeUnknownError says that a write, or a read that costs credits, left this machine and no answer proves what became of
// it: the connection was cut, the time ran out, or the service failed. It may have happened. Nothing was sent a second time.
//
// Look at the state before you repeat the call: Resolve does, where the service shows enough. errors.Is(err, ErrOutcomeUnknown)
// matches it, and errors.As finds the *[Error] of the answer, if there was one.
type OutcomeUnknownError struct {
	Op       string
	Method   string
	Route    string
	SentAt   time.Time // when the attempt in doubt began
	Attempts []Attempt

	// Resolution is for fakes in tests: if it is set, Resolve returns it and reads nothing. This package never sets it.
	Resolution *Resolution `json:",omitzero"`

	op    *op.Op
	cause error
	look  lookup // nil where nothing can be read
}

// Error describes the doubt in one line.
func (e *OutcomeUnknownError) Error() string {
	return describe(e.Op, "outcome unknown, it may have happened", causeText(e.cause, e.Op))
}

// Is matches [ErrOutcomeUnknown].
func (e *OutcomeUnknownError) Is(target error) bool { return target == error(ErrOutcomeUnknown) }

// Unwrap returns why the outcome is unknown: a transport error, the end of the context, or the *[Error] of the answer.
func (e *OutcomeUnknownError) Unwrap() error { return e.cause }

// Outcome returns [OutcomeUnknown].
func (e *OutcomeUnknownError) Outcome() Outcome { return OutcomeUnknown }

// Advice returns [ActionVerifyFirst].
func (e *OutcomeUnknownError) Advice() Advice {
	return Advice{Action: ActionVerifyFirst, Hint: "read the state before you repeat the call"}
}

// LogValue groups the fields that are safe to log.
func (e *OutcomeUnknownError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("op", e.Op), slog.String("outcome", string(OutcomeUnknown)), slog.Int("attempts", len(e.Attempts)))
}

// Verdict is what [OutcomeUnknownError.Resolve] found out.
type Verdict string

// The verdicts.
const (
	VerdictHappened   Verdict = "happened"   // the state is what the call asked for
	VerdictNotSeen    Verdict = "not seen"   // the state shows nothing of it, so far
	VerdictUnknowable Verdict = "unknowable" // the service shows nothing that would tell
)

// Resolution is an honest answer about a write in doubt.
type Resolution struct {
	Verdict Verdict
	Object  any       // what was found, such as a *List; see Resolved
	AsOf    time.Time // when the state was read last; zero for VerdictUnknowable
	Final   bool      // of VerdictNotSeen: the time has passed after which the change would surely show, as far as one can know
	Note    string    // what stays open: delays, teammates, why nothing can be known
}

// Resolved returns the object of a resolution, if it is a *T.
func Resolved[T any](r *Resolution) (*T, bool) {
	if r == nil {
		return nil, false
	}
	v, ok := r.Object.(*T)
	return v, ok && v != nil
}

// lookup reads the state once. VerdictUnknowable says that looking again is of no use.
type lookup func(ctx context.Context, e *OutcomeUnknownError, opts []CallOption) (Resolution, error)

// Resolve reads the state and says what became of the write. It sends reads only, of the same surface, and never the write
// itself.
//
// A change that shows is reported at once. One that does not is looked for again, with growing pauses, until it would surely
// show: 10 s after the call, 65 s for agents, whose service may work that long. If the context ends before, the answer is
// [VerdictNotSeen] without Settled. Where the service shows nothing that would tell, the answer is [VerdictUnknowable] with the reason.
func (e *OutcomeUnknownError) Resolve(ctx context.Context, opts ...CallOption) (*Resolution, error) {
	if e.Resolution != nil {
		return e.Resolution, nil
	}
	if e.look == nil {
		return &Resolution{Verdict: VerdictUnknowable, Note: e.note()}, nil
	}
	return e.lookFor(ctx, e.op.VisibleAfter-since(e.SentAt), opts)
}

// lookFor looks until the change shows or patience is over.
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
			r.Note = fmt.Sprintf("%s; looked %s, at last %s after the call", r.Note, plural(looks, "time"), age.Round(time.Millisecond))
			return &r, nil
		}
	}
}

// since is the time that has gone by since an instant of this process: by the monotonic clock, so that nobody who sets the clock
// changes it. An instant that was read back from somewhere may lie ahead of a clock that was set back.
func since(t time.Time) time.Duration { return max(0, time.Since(t)) }

func (e *OutcomeUnknownError) note() string {
	o := e.op
	if o == nil {
		o, _ = op.ByName(e.Op)
	}
	const stranger = "this error was not made by a call of this process, so it cannot look"
	if o == nil {
		return stranger
	}
	note := cmp.Or(o.Verify, "nothing that the service shows would tell")
	if e.op == nil {
		return stranger + "; what tells: " + note
	}
	return note
}
