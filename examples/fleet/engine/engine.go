// Package engine maps the errors of a call to what a job engine should do with its job. It knows no engine: River and Temporal use it
// in the same way.
package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/spend"
)

// Verdict is what an engine should do with a job.
type Verdict struct {
	Done   bool          // there is nothing left to do, also if somebody has done it before
	Person bool          // no repetition helps: somebody has to change something first
	After  time.Duration // when to run the job again; zero leaves it to the engine, which backs off
}

const (
	soon       = time.Second      // for what passes within seconds, such as a lock
	resolvable = 2 * time.Second  // when the ticket of a call whose outcome is unknown may be looked at: an attempt has ended by then
	shows      = 10 * time.Second // when an approval that has happened would show (assumed): if the campaign is stopped then, by a teammate
)

// Later is the error of a job that has to look again after a while.
func Later(after time.Duration) error { return judged{Verdict{After: after}, errors.New("not yet")} }

// judged is an error that says itself what to do.
type judged struct {
	Verdict
	error
}

// Settle looks at the outcome of a write if err says that it is unknown, and returns other errors as they are. It returns nil if the write
// happened. If no read can tell, or none has for as long as patience since the write was sent, or the campaign that it approved is stopped, a
// person has to settle its ticket.
func Settle(ctx context.Context, err error, patience time.Duration) error {
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	if !ok {
		return err
	}
	t := unknown.Ticket()
	r, failed := unknown.Resolve(ctx)
	if failed != nil {
		r = &prospectkit.Resolution{Outcome: prospectkit.OutcomeUnknown, Note: failed.Error(), Again: time.Now().Add(soon)}
	}
	c, _ := r.Object.(*prospectkit.Campaign)
	stopped := c != nil && c.Status == prospectkit.CampaignStopped && time.Since(t.LastSent) > shows
	switch {
	case r.Outcome == prospectkit.OutcomeApplied:
		return nil
	case r.Outcome == prospectkit.OutcomeNotApplied: // the next attempt makes the call
		return Later(soon)
	case r.Again.IsZero(), stopped, time.Since(t.LastSent) > patience:
		return judged{Verdict{Person: true}, fmt.Errorf("nobody can read whether %s of %s happened (%s): look there, "+
			"settle ticket %s as applied or not applied with Settle of the journal, and run the job again", t.Op, t.IDs, r.Note, t.ID)}
	}
	return Later(max(resolvable, time.Until(r.Again))) // ever more rarely: others need the quota, too
}

// Judge says what to do after a job. A job that runs again must look into the journal before it writes: an outcome that is unknown is no
// reason to repeat a call.
func Judge(err error) Verdict {
	if err == nil {
		return Verdict{Done: true}
	}
	if v, ok := errors.AsType[judged](err); ok {
		return v.Verdict
	}
	switch prospectkit.OutcomeOf(err) {
	case prospectkit.OutcomeApplied:
		if errors.Is(err, prospectkit.ErrAlreadyDone) { // by an earlier attempt
			return Verdict{Done: true}
		}
		return Verdict{After: resolvable} // only its response was lost: the next attempt finds what it made
	case prospectkit.OutcomeUnknown:
		if errors.Is(err, prospectkit.ErrOutcomeUnknown) { // and not an error of another package
			return Verdict{After: resolvable}
		}
	case prospectkit.OutcomeNotApplied:
	}
	if after, ok := prospectkit.RetryAfter(err); ok {
		return Verdict{After: max(after, soon)}
	}
	is := func(target error) bool { return errors.Is(err, target) }
	switch {
	case is(prospectkit.ErrSpendCap), is(spend.ErrUnknownPrice):
		return Verdict{Person: true}
	case is(prospectkit.RuleJournal), is(prospectkit.RuleSpendGuard), is(prospectkit.RuleToken), is(prospectkit.RuleInProgress):
		return Verdict{} // a store that failed, or another worker
	case errors.As(err, new(*prospectkit.RefusedError)), prospectkit.CodeOf(err).Outcome() == prospectkit.OutcomeNotApplied:
		return Verdict{Person: true} // refused, for a documented reason
	default: // a read that failed, the network, or another package, such as the database's
		return Verdict{}
	}
}
