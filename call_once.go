package prospectkit

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
)

// effectOnly are the writes of which the caller is owed nothing but the effect. What they return is what the caller knows, or undocumented.
var effectOnly = []*op.Op{
	op.ListsCRMPush, op.ListsAddMembers, op.ListsAddContacts, op.ListsSave, op.SearchSave, op.ListsMove, op.AgentsActivate, op.AgentsPause,
}

// onceBefore returns an error if a call with the key of [Once] was applied, or may have been, or had another body.
func (c *call) onceBefore() error {
	if c.opts.once == "" {
		return nil
	}
	if err := c.sumUp(); err != nil {
		return err
	}
	e, err := c.another()
	switch {
	case err == nil && e == nil:
		return nil
	case err == nil && e.Outcome == journal.Unknown && !e.InProgress && c.sameBody(e):
		return earlierUnknown(c.conf, c.op, e.Ticket, c.in.look)
	}
	c.rule, c.ruleErr = c.keptBy(e, err)
	return c.ruleRefused()
}

// keptBy says why a call with the key of another one is not sent.
func (c *call) keptBy(e *journal.Entry, err error) (SafetyRule, error) {
	if err != nil {
		return RuleJournal, err
	}
	c.keeper = e
	switch {
	case !c.sameBody(e):
		return RuleOtherBody, fmt.Errorf("of ticket %s, %s", e.Ticket.ID, e.Outcome)
	case e.Outcome == journal.Applied:
		return ErrAlreadyDone, fmt.Errorf("by ticket %s", e.Ticket.ID)
	}
	return RuleInProgress, noOutcomeYet(e.Ticket)
}

func noOutcomeYet(t journal.Ticket) error { return fmt.Errorf("ticket %s has no outcome yet", t.ID) }

// another is a call with the key of [Once], other than this one, that was applied, or else may have been.
func (c *call) another() (found *journal.Entry, err error) {
	known, err := c.conf.sent(c.ctx, c.op, c.in.ids)
	for i, e := range known {
		if e.Ticket.Once == c.opts.once && e.Ticket.ID != c.ticketID && (found == nil || e.Outcome == journal.Applied) {
			found = &known[i]
		}
	}
	return found, err
}

// owesNothing reports whether the error says that what the caller is owed has happened: then there is none.
func (c *call) owesNothing(err error) bool {
	return alreadyDone(err) && c.in.path == "" && slices.Contains(effectOnly, c.op)
}

// alreadyDone reports whether a call was refused because an earlier one had its effect. An error of the caller's that says so does not count.
func alreadyDone(err error) bool {
	refused, ok := err.(*RefusedError) //nolint:errorlint // it is that of this call
	return ok && refused.Rule == ErrAlreadyDone
}

// sumUp hashes what the caller gave: the method, which [Client.Call] takes, the query, the JSON of the body, and an upload, of which it
// reads the file. Never the text of a form: its boundary is random.
func (c *call) sumUp() error {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %q", c.method, c.url.RawQuery, c.given)
	if c.in.upload != nil {
		err := c.in.upload.Sum(c.ctx, c.timeout, h)
		switch {
		case c.ctx.Err() != nil:
			return withoutEffect(c.op, contextEnd(c.ctx, "before it was sent"))
		case err != nil:
			return c.withRoute(refusal(c.op, check.One("file", err.Error())))
		}
	}
	c.sum = h.Sum(nil)
	return nil
}

// sameBody reports whether a call with the key was given the same.
func (c *call) sameBody(e *journal.Entry) bool { return e.Ticket.Body == c.bodyMark(e.Ticket.ID) }

// resultID is the id of what the call made, for the journal. One that looks like no id, or holds a secret, is none.
func (c *call) resultID() string {
	if !c.done || c.want.resultID == nil {
		return ""
	}
	id := c.want.resultID()
	if len(id) > maxName || check.HasControl(id) || c.secrets().Hide(id) != id {
		return ""
	}
	return id
}
