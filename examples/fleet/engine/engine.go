// Package engine maps the errors of a call to what a job engine should do with its job. It knows no engine: River and Temporal use it
// in the same way.
package engine

import (
	"errors"
	"time"

	"example.com/prospectkit"
)

// Verdict is what an engine should do with a job that failed.
type Verdict struct {
	// Person is true if no repetition helps: somebody has to change something first.
	Person bool
	// After is when to run the job again. Zero leaves it to the engine, which backs off.
	After time.Duration
}

const (
	// soon is for what passes within seconds, such as a lock.
	soon = time.Second
	// resolvable is when the ticket of a call whose outcome is unknown may be looked at: an attempt has ended by then.
	resolvable = 2 * time.Second
)

// Later is the error of a job that has to look again after a while.
func Later(after time.Duration) error {
	return &judgedError{Verdict{After: after}, errors.New("not yet")}
}

// Person is the error of a job that nobody can finish but a person.
func Person(err error) error { return &judgedError{Verdict{Person: true}, err} }

// judgedError is an error that says itself what to do.
type judgedError struct {
	Verdict

	cause error
}

func (v *judgedError) Error() string { return v.cause.Error() }
func (v *judgedError) Unwrap() error { return v.cause }

// Judge says what to do after an error that is not nil. A job that runs again must look into the journal before it writes: an outcome
// that is unknown is no reason to repeat a call.
func Judge(err error) Verdict {
	if v, ok := errors.AsType[*judgedError](err); ok {
		return v.Verdict
	}
	if errors.Is(err, prospectkit.ErrOutcomeUnknown) {
		return Verdict{After: resolvable}
	}
	if wait, ok := errors.AsType[*prospectkit.RateLimitWaitError](err); ok {
		return Verdict{After: max(wait.Wait, soon)}
	}
	if refused, ok := errors.AsType[*prospectkit.RefusedError](err); ok {
		return Verdict{Person: refused.Rule != prospectkit.RuleJournal} // the database may be away
	}
	switch advice := prospectkit.AdviceOf(err); advice.Action {
	case prospectkit.ActionAfterDelay, prospectkit.ActionAfterState:
		return Verdict{After: max(advice.After, soon)}
	case prospectkit.ActionNever, prospectkit.ActionFixInput, prospectkit.ActionNewKey, prospectkit.ActionBuyCredits:
		return Verdict{Person: true}
	default: // a read that failed, the network, or another package, such as the database's
		return Verdict{}
	}
}
