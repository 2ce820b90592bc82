package prospectkit

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// OutcomeUnknownError says that a write, or a read that costs credits, left this machine and no answer proves what became of
// it: the connection was cut, the time ran out, or the service failed. It may have happened. Nothing was sent a second time.
//
// Look at the state before you repeat the call. errors.Is(err, ErrOutcomeUnknown) matches it, and errors.As finds the
// *[Error] of the answer, if there was one.
type OutcomeUnknownError struct {
	Op       string
	Method   string
	Route    string
	SentAt   time.Time // when the attempt in doubt began
	Attempts []Attempt

	cause error
}

// Error describes the doubt in one line.
func (e *OutcomeUnknownError) Error() string {
	return fmt.Sprintf("prospectkit: %s: outcome unknown, it may have happened: %s", e.Op, causeText(e.cause, e.Op))
}

// Is matches [ErrOutcomeUnknown].
func (e *OutcomeUnknownError) Is(target error) bool { return target == error(ErrOutcomeUnknown) }

// Unwrap returns why the outcome is unknown: a transport error, the end of the context, or the *[Error] of the answer.
func (e *OutcomeUnknownError) Unwrap() error { return e.cause }

// Outcome returns [Unknown].
func (e *OutcomeUnknownError) Outcome() Outcome { return Unknown }

// Advice returns [ActionVerifyFirst].
func (e *OutcomeUnknownError) Advice() Advice {
	return Advice{Action: ActionVerifyFirst, Hint: "read the state before you repeat the call"}
}

// LogValue groups the fields that are safe to log.
func (e *OutcomeUnknownError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("op", e.Op), slog.String("outcome", string(Unknown)), slog.Int("attempts", len(e.Attempts)))
}

// AnswerLostError says that the service accepted a call, with a 2xx status, but that the answer could not be read: the call
// had its effect (or was billed), and only what it returned is missing. Never repeat it; read the state instead.
type AnswerLostError struct {
	Op       string
	Method   string
	Route    string
	Status   int
	Attempts []Attempt

	cause error
}

// Error describes the loss in one line.
func (e *AnswerLostError) Error() string {
	return fmt.Sprintf("prospectkit: %s: applied (status %d), but the answer was lost: %s", e.Op, e.Status, causeText(e.cause, e.Op))
}

// Unwrap returns why the answer could not be read.
func (e *AnswerLostError) Unwrap() error { return e.cause }

// Outcome returns [Applied].
func (e *AnswerLostError) Outcome() Outcome { return Applied }

// Advice returns [ActionVerifyFirst].
func (e *AnswerLostError) Advice() Advice {
	return Advice{Action: ActionVerifyFirst, Hint: "it happened; read the state to see the result"}
}

// LogValue groups the fields that are safe to log.
func (e *AnswerLostError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("op", e.Op), slog.Int("status", e.Status), slog.String("outcome", string(Applied)))
}

// causeText drops the prefix of an error of ours that repeats the operation.
func causeText(err error, opName string) string {
	if err == nil {
		return "no cause known"
	}
	text := err.Error()
	if _, ok := errors.AsType[*Error](err); ok {
		prefix := "prospectkit: " + opName + ": "
		if len(text) > len(prefix) && text[:len(prefix)] == prefix {
			text = text[len(prefix):]
		}
	}
	return oneLine(text)
}
