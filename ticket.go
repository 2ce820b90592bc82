package prospectkit

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/errtext"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// WithJournal stores a ticket of every write and every paid read before it is sent, and notes its
// outcome afterwards. If the ticket cannot be stored, the call is refused with [RuleJournal], and
// nothing is sent. After a restart, [Client.InDoubt] yields the calls whose outcome is unknown.
//
// The journal is also the audit trail: see [WithActor]. A call that is retried is stored again before
// each attempt.
func WithJournal(j journal.Journal) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Must(j != nil, "WithJournal", "got nil")
		c.journal = j
	})
}

// WithSpendGuard reserves the most that a call can cost before its ticket is stored. A call that does
// not fit is refused with [ErrSpendCap], one whose price is unknown or that cannot be reserved with
// [RuleSpendGuard], and nothing is sent. Calls that cost nothing (documented) need no price.
//
// A call whose outcome is unknown counts until [OutcomeUnknownError.Resolve] or [Client.Resolve] finds a
// final verdict. The start of an agent counts all its runs, since later ones happen without a call: see
// [spend.Price]. [Client.With] cannot replace a guard.
func WithSpendGuard(g *spend.Guard) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		if err := g.Err(); err != nil {
			bad.Add("WithSpendGuard", "got a guard that cannot be used: %s", err)
		}
		bad.Must(c.guard == nil || c.guard == g, "WithSpendGuard", "must not replace another guard")
		c.guard = g
	})
}

// WithWorkspace names the workspace of the key in tickets: the service does not. [Client.Resolve]
// refuses a ticket of another workspace.
func WithWorkspace(name string) ClientOption {
	return clientOption(func(c *config, bad *check.Violations) {
		bad.Must(name != "" && !check.HasControl(name), "WithWorkspace", "must not be empty or hold control characters")
		c.workspace = name
	})
}

type actorKey struct{}

// WithActor names who makes the calls with the returned context, in the tickets of [WithJournal]
// and for a [Gate]. It is never sent.
func WithActor(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, actorKey{}, who)
}

func actorOf(ctx context.Context) string {
	who, _ := ctx.Value(actorKey{}).(string)
	return who
}

// InDoubt yields the tickets of the journal whose outcome is unknown, oldest first: calls that ended
// with an unknown outcome, and calls that an earlier process left unfinished. Tickets of another
// service or workspace are left out. Pass each to [Client.Resolve].
//
// A ticket whose outcome cannot be read stays in doubt. Once you have found out, settle it with
// the journal's Ended. Without [WithJournal], the only element is a [RefusedError].
func (c *Client) InDoubt(ctx context.Context) iter.Seq2[journal.Ticket, error] {
	return func(yield func(journal.Ticket, error) bool) {
		if c.conf.journal == nil {
			yield(journal.Ticket{}, refusal(&op.Op{Name: "client.in-doubt"}, check.One("WithJournal", "is required")))
			return
		}
		for t, err := range c.conf.journal.InDoubt(ctx) {
			if (err != nil || c.owns(t)) && !yield(t, err) {
				return
			}
		}
	}
}

// owns reports whether a ticket is of this client's service and workspace.
func (c *Client) owns(t journal.Ticket) bool {
	return t.Service == c.BaseURL() && t.Workspace == c.conf.workspace
}

// Resolve finds out the outcome of a call by its ticket, as [OutcomeUnknownError.Resolve] does, also
// in another process or on another machine. It sends reads only, never the call itself. The key may be
// another one of the workspace.
//
// The age of the call comes from the clock of the service, if the process that made the call had
// heard it, or else from the local clocks, which must agree within two minutes. If the age is not
// certain, Resolve watches for as long as a change may need to show, 10 s or 65 s for agents, before a
// verdict [VerdictNotSeen] is Final.
//
// A ticket of another service or workspace, or of a later version of this package, is refused with a
// [RefusedError].
func (c *Client) Resolve(ctx context.Context, t journal.Ticket, opts ...CallOption) (*Resolution, error) {
	var bad check.Violations
	bad.Must(t.Version >= 1 && t.Version <= journal.Version, "ticket", "has version %d, which this package does not know", t.Version)
	bad.Must(c.owns(t), "ticket", "belongs to another service or workspace")
	o, known := op.ByName(t.Op)
	switch {
	case len(bad) > 0:
		return nil, refusal(&op.Op{Name: "client.resolve"}, bad)
	case !known:
		return &Resolution{Verdict: VerdictUnknowable, Note: "the operation is not in the catalogue"}, nil
	}
	q := newInquiry(c, o, t, false)
	return q.settle(ctx, o.VisibleAfter, opts)
}

// inquiry is the search for the effect of one call.
type inquiry struct {
	client *Client
	op     *op.Op
	ticket journal.Ticket
	sent   clock.Sent
	info   Info // of the last read
	undone bool // perhaps, by somebody else: what the last read shows does not prove that the call had no effect
}

func newInquiry(c *Client, o *op.Op, t journal.Ticket, local bool) *inquiry {
	return &inquiry{client: c, op: o, ticket: t, sent: clock.Sent{First: t.FirstSent, Last: t.LastSent, Ahead: t.ServiceAhead, Local: local}}
}

func (q *inquiry) overdue() bool { return q.sent.Overdue(q.op.VisibleAfter, q.info.Header) }

// settle finds out the outcome, and tells a final one to the guard and the journal.
func (q *inquiry) settle(ctx context.Context, patience time.Duration, opts []CallOption) (*Resolution, error) {
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
	err = q.client.conf.guard.Settle(ctx, q.ticket.ID, string(outcome), -1)
	if j := q.client.conf.journal; j != nil && err == nil { // or the ticket stays in doubt, for the guard
		err = j.Ended(ctx, q.ticket.ID, outcome)
	}
	return r, err
}

// watch reads until the change shows or patience is over.
func (q *inquiry) watch(ctx context.Context, patience time.Duration, opts []CallOption) (*Resolution, error) {
	began, looks := time.Now(), 0
	opts = append(slices.Clip(opts), WithInfo(&q.info))
	var r Resolution
	err := waits.Until(ctx, patience, func() (done bool, err error) {
		r, err = q.look(ctx, opts)
		r.AsOf, looks = time.Now(), looks+1
		return r.Verdict != VerdictNotSeen || r.Final || !q.sent.Local && q.overdue(), err
	})
	if err != nil {
		return nil, err
	}
	r.Note = cmp.Or(r.Note, q.op.Verify, "no documented read would tell")
	shows := q.overdue() || !q.sent.Local && clock.Since(began) >= q.op.VisibleAfter
	if shows && q.undone && r.Verdict == VerdictNotSeen {
		r.Verdict = VerdictUnknowable
	}
	switch {
	case r.Verdict == VerdictUnknowable:
		r.AsOf = time.Time{}
	case r.Verdict == VerdictNotSeen && !r.Final:
		r.Final = shows
		r.Note = fmt.Sprintf("%s; looked %s, at last %s after the call",
			r.Note, errtext.Plural(looks, "time"), clock.Since(q.ticket.LastSent).Round(time.Millisecond))
	}
	return &r, nil
}

// look reads the state once. A new write whose effect a read can show needs a case here.
func (q *inquiry) look(ctx context.Context, opts []CallOption) (Resolution, error) {
	c := q.client
	if len(q.ticket.IDs) == 0 && q.ticket.Lookup.Name == "" {
		return Resolution{Verdict: VerdictUnknowable}, nil
	}
	switch q.op {
	case op.ListsCreate:
		return c.Lists.lookForNew(ctx, q, opts)
	case op.ListsMove:
		return c.Lists.lookForFolder(ctx, q, opts)
	case op.AgentsCreateDiscovery, op.AgentsCreateWatcher, op.AgentsCreateMonitor:
		return c.Agents.lookForNew(ctx, q, opts)
	case op.AgentsActivate:
		return c.Agents.lookAtStatus(ctx, q, AgentStatus.started, opts)
	case op.AgentsPause:
		return c.Agents.lookAtStatus(ctx, q, func(now AgentStatus) bool { return now == AgentStatusPaused }, opts)
	case op.CampaignsApprove:
		return c.Campaigns.lookForApproval(ctx, q, opts)
	}
	return Resolution{Verdict: VerdictUnknowable}, nil
}

// id is the only id in the path of the call. Anything else is not an id, and the read is refused.
func (q *inquiry) id() string { return strings.Join(q.ticket.IDs, "/") }

// unknowable is the result of a read that lacks the evidence.
func unknowable(object any, note string) (Resolution, error) {
	return Resolution{Verdict: VerdictUnknowable, Object: object, Note: note}, nil
}

// ruledOut is the result of a read that shows something the call cannot have made.
func ruledOut(object any, note string) (Resolution, error) {
	return Resolution{Verdict: VerdictNotSeen, Object: object, Final: true, Note: note}, nil
}

// ticket returns the ticket of the call. Its time of sending is that of the first attempt whose
// outcome is unknown so far.
func (c *call) ticket() journal.Ticket {
	if c.ticketID == "" {
		c.ticketID = rand.Text()
	}
	return journal.Ticket{
		Version: journal.Version, ID: c.ticketID, Op: c.op.Name, IDs: c.in.ids, Lookup: c.in.lookup,
		Service: c.client.BaseURL(), Workspace: c.client.conf.workspace, Actor: actorOf(c.ctx),
		FirstSent: c.firstSent, LastSent: c.lastSent, ServiceAhead: c.client.conf.clock.Ahead(),
	}
}

// journaled reports whether the call needs a ticket before it is sent.
func (c *call) journaled() bool {
	return c.client.conf.journal != nil && c.op.Class != op.Read
}

// reserve reserves the credits of the call before its first attempt.
func (c *call) reserve() error {
	if spends, _ := consequences(c.op, c.in); c.client.conf.guard == nil || c.reserved || !spends {
		return nil
	}
	cost := c.in.cost
	cost.Agent = cmp.Or(cost.Agent, c.opts.starts)
	cost.ID, cost.Op, cost.IDs, cost.Body, cost.Repeats = c.ticket().ID, c.op.Name, c.in.ids, c.body, c.op.FreeRead()
	err := c.client.conf.guard.Reserve(c.ctx, cost)
	c.reserved = err == nil
	return c.refuse(RuleSpendGuard, err)
}

// reserveAndJournal reserves the credits of the call and stores its ticket before an attempt.
func (c *call) reserveAndJournal(now time.Time) error {
	if c.unknown == nil { // no earlier attempt can have had an effect
		c.firstSent = now
	}
	c.lastSent = now
	if err := c.reserve(); err != nil || !c.journaled() {
		return err
	}
	return c.refuse(RuleJournal, c.client.conf.journal.Sending(c.ctx, c.ticket()))
}

// noteEnd notes the outcome of the call. A guard or a journal that fails to do so keeps it in doubt. The
// guard is first: a crash in between leaves the ticket.
func (c *call) noteEnd(err error) {
	outcome := journal.Outcome(OutcomeOf(err))
	if c.reserved && c.client.conf.guard.Settle(c.ctx, c.ticketID, string(outcome), c.response.results()) != nil {
		outcome = journal.Unknown
	}
	if c.ticketID == "" || !c.journaled() {
		return
	}
	_ = c.client.conf.journal.Ended(context.WithoutCancel(c.ctx), c.ticketID, outcome)
}
