package prospectkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/journal"
)

// mayLeave asks whoever may keep the call back before its first attempt. The first refusal counts.
func (c *call) mayLeave() error {
	if err := c.checkActor(); err != nil {
		return err
	}
	for _, gate := range c.conf.gates {
		if err := c.askGate(gate); err != nil {
			return err
		}
	}
	if err := c.onceBefore(); err != nil || c.in.lastLook == nil {
		return err
	}
	var err error
	c.evidence, err = c.in.lastLook(c.ctx)
	return err
}

// checkActor refuses an actor that no journal keeps as it is. An observer may have named it.
func (c *call) checkActor() error {
	var bad check.Violations
	if bad.Text("WithActor", actorOf(c.ctx)); len(bad) > 0 && c.journaled() {
		return c.withRoute(refusal(c.op, bad))
	}
	return nil
}

var errGatePanicked error = redact.OwnError("the gate panicked")

// askGate returns the refusal of a gate, if it refuses the call.
func (c *call) askGate(gate func(context.Context, Intent) error) (err error) {
	defer func() {
		if recover() != nil {
			err = errGatePanicked
		}
		if err != nil {
			err = c.refuse(RuleGate, err)
		}
	}()
	return gate(c.ctx, Intent{
		Op: c.op.Name, IDs: slices.Clone(c.in.ids), Actor: actorOf(c.ctx), Writes: c.op.Write(), Spends: c.spends, Sends: c.sends, Digest: c.in.lookup.Digest,
	})
}

// ticket returns the ticket of the call, and draws its id the first time.
func (c *call) ticket() journal.Ticket {
	if c.ticketID == "" {
		c.ticketID = chance.Text(c.ctx)
	}
	longer := time.Duration(0)
	if c.timeout > c.op.Timeout {
		longer = c.timeout
	}
	return journal.Ticket{
		Version: journal.Version, ID: c.ticketID, Op: c.op.Name, IDs: c.in.ids, Lookup: c.in.lookup,
		Service: c.conf.base.String(), Workspace: c.conf.workspace(), Actor: actorOf(c.ctx), Once: c.onceKey(), Body: c.bodyMark(c.ticketID),
		FirstSent: c.firstSent, LastSent: c.lastSent, Timeout: longer, ServiceAhead: c.conf.clock.Ahead(),
		Open: c.open,
	}
}

// journaled reports whether the call needs a ticket before it is sent.
func (c *call) journaled() bool {
	return c.conf.journal != nil && !c.op.FreeRead()
}

// bodyMark is what a ticket tells of what the caller gave: enough to tell it from something else, and not to find out what it was.
func (c *call) bodyMark(ticket string) string {
	if c.sum == nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(ticket+"\x00"), c.sum...))
	return hex.EncodeToString(sum[:8])
}

// effectOnly are the writes of which the caller is owed nothing but the effect. What they return is what the caller knows, or undocumented.
var effectOnly = []*op.Op{
	op.ListsCRMPush, op.ListsAddMembers, op.ListsAddContacts, op.ListsSave, op.SearchSave, op.ListsMove, op.AgentsActivate, op.AgentsPause,
}

// onceKey is the key of [Once], or empty. A path of the caller has no ids that tell it from another, and is a part of it.
func (c *call) onceKey() string {
	if c.opts.once == "" || c.in.path == "" {
		return c.opts.once
	}
	return c.opts.once + " " + c.in.path
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
	return c.refuse(c.ruleAgainst(e, err))
}

// ruleAgainst says why a call is not sent whose key an earlier one has.
func (c *call) ruleAgainst(e *journal.Entry, err error) (SafetyRule, error) {
	if err != nil {
		return RuleJournal, err
	}
	c.earlierCall = e
	switch {
	case !c.sameBody(e):
		return RuleOtherBody, fmt.Errorf("of ticket %s, %s", e.Ticket.ID, e.Outcome)
	case e.Outcome == journal.Applied:
		return ErrAlreadyDone, fmt.Errorf("by ticket %s", e.Ticket.ID)
	}
	return RuleInProgress, noOutcomeYet(e.Ticket)
}

func noOutcomeYet(t journal.Ticket) error { return fmt.Errorf("ticket %s has no outcome yet", t.ID) }

// another is a call with the key of [Once], other than this one, that was applied, or else may have been. One under another base URL, which may
// be a second name of the same service, is an error.
func (c *call) another() (found *journal.Entry, err error) {
	key := c.onceKey()
	for e, err := range c.conf.journal.Calls(c.ctx, c.op.Name) {
		t := e.Ticket
		switch {
		case err != nil:
			return nil, err
		case e.Outcome == journal.NotApplied, t.Once != key, t.ID == c.ticketID, t.Workspace != c.conf.workspace(), !slices.EqualFunc(t.IDs, c.in.ids, sameID):
		case !c.conf.owns(t):
			return nil, errOtherService
		case found == nil || e.Outcome == journal.Applied:
			found = &e
		}
	}
	return found, nil
}

var errOtherService = errors.New("it has the key under another base URL: use the same URL, or, for another service, another journal")

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

// sent returns the calls of an operation about the same that were applied, or may have been, in the order of their first attempts, as far as
// the journal knows. See calls.
func (c *config) sent(ctx context.Context, o *op.Op, ids []string) (all []journal.Entry, err error) {
	for e, err := range c.calls(ctx, o.Name) {
		if err != nil {
			return nil, err
		}
		if e.Outcome != journal.NotApplied && slices.EqualFunc(e.Ticket.IDs, ids, sameID) {
			all = append(all, e)
		}
	}
	return all, nil
}

// calls yields what the journal knows of the calls of an operation, except those of another service. It yields none without a journal.
func (c *config) calls(ctx context.Context, operation string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		if c.journal == nil {
			return
		}
		for e, err := range c.journal.Calls(ctx, operation) {
			if (err != nil || c.owns(e.Ticket)) && !yield(e, err) {
				return
			}
		}
	}
}

// workspace is that of the journal, or empty.
func (c *config) workspace() string {
	if c.journal == nil {
		return ""
	}
	return c.journal.Workspace()
}

// owns reports whether a ticket is of this service and workspace.
func (c *config) owns(t journal.Ticket) bool {
	return t.Workspace == c.workspace() && t.Service == c.base.String()
}
