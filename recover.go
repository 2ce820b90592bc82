package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/journal"
)

// Recovery is what [Client.Recover] knows of the calls in doubt, oldest first in each group.
type Recovery struct {
	Settled []Recovered // applied or not: the journal and the spend guard know
	Later   []Recovered // another Recover may tell, after Again of the Resolution
	Person  []Recovered // only a person can tell, and settles the ticket in the journal
}

// Recovered is a call that was in doubt.
type Recovered struct {
	Ticket     journal.Ticket
	Resolution *Resolution // never nil
	Err        error       // of a read, the journal or the guard: the outcome may not be noted
}

// Recover finds out what earlier runs have left in doubt, and tells the journal and the spend guard. Call it at the start of a program. It
// reads for each call of [Client.InDoubt], for up to 40 s, agents 140 s, and returns the rest for later and for a person.
//
// It sends no write, spends no credits, and leaves calls in progress alone, also of other processes. If no response has told the time of the
// service, it calls [AccountService.Me]. The error says that a call, which is in Later, could not be read or noted.
func (c *Client) Recover(ctx context.Context, opts ...CallOption) (*Recovery, error) {
	if err := c.conf.readsJournal(ctx, recoverOp); err != nil {
		return nil, err
	}
	r := &recovery{client: c, opts: opts}
	if patience := r.list(ctx); r.pending() > 0 {
		_, _ = c.conf.until(ctx, recoverOp, patience, func() (done bool, err error) {
			r.pass(ctx)
			return r.pending() == 0 || ctx.Err() != nil, nil
		})
	}
	// Tickets of this run are to know the time of the service, and this client whether something removes the rate headers. If this fails,
	// they do not. It leaves the caller's Info to the reads of what is in doubt.
	if (c.conf.clock.Ahead() == nil || c.conf.headersSeen.Nothing()) && ctx.Err() == nil {
		_, _ = c.Account.Me(ctx, append(slices.Clip(opts), WithInfo(new(Info)))...)
	}
	return r.result(ctx)
}

var recoverOp = &op.Op{Name: "client.recover"}

// sideBySide is how many calls Recover reads for at once.
const sideBySide = 4

// recovery is one Recover.
type recovery struct {
	client   *Client
	opts     []CallOption
	all      []*doubt
	unlisted error // why there may be more
	passes   int

	mu       sync.Mutex
	due      map[string]*doubt // to be read for in this pass
	broken   error             // of the journal, in this pass
	panicked any
}

// doubt is one call in doubt.
type doubt struct {
	Recovered

	q       *resolver // nil: there is nothing to read
	settled bool
	pending bool
}

// list asks the journal, and returns how long a change may yet take to show.
func (r *recovery) list(ctx context.Context) (patience time.Duration) {
	for t, err := range r.client.InDoubt(ctx) {
		if err != nil {
			r.unlisted = err
			break
		}
		d := &doubt{Recovered: Recovered{Ticket: t}}
		if d.q, d.Resolution, err = r.client.asked(t); err != nil {
			d.Resolution = &Resolution{Outcome: OutcomeUnknown, Note: "a later version of this package has written its ticket"}
		}
		if d.pending = d.q != nil; d.pending {
			patience = max(patience, d.q.patience())
		}
		r.all = append(r.all, d)
	}
	return patience
}

func (r *recovery) pending() (n int) {
	for _, d := range r.all {
		if d.pending {
			n++
		}
	}
	return n
}

// pass reads once for each call that is pending. What the journal does not yield again is settled, or another worker of a fleet has it: at
// first, perhaps for a moment only.
func (r *recovery) pass(ctx context.Context) {
	r.due, r.broken = map[string]*doubt{}, nil
	for _, d := range r.all {
		if d.pending {
			r.due[d.Ticket.ID] = d
		}
	}
	var readers sync.WaitGroup
	for range min(len(r.due), sideBySide) {
		readers.Go(func() { r.read(ctx) })
	}
	readers.Wait()
	if r.panicked != nil {
		panic(r.panicked)
	}
	if r.passes++; r.passes == 1 || r.broken != nil || ctx.Err() != nil {
		return
	}
	for _, d := range r.due {
		d.pending, d.Resolution = false, unread("another worker has settled it, or reads for it now")
	}
}

// read goes through the journal, which may lease each ticket to the loop, and reads for those that no other reader has.
func (r *recovery) read(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.panicked = p
		}
	}()
	for t, err := range r.client.InDoubt(ctx) {
		if err != nil {
			r.fail(err)
			return
		}
		if d := r.take(t.ID); d != nil {
			d.look(ctx, r.client, r.opts)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

func (r *recovery) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = err
}

func (r *recovery) take(id string) *doubt {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.due[id]
	delete(r.due, id)
	return d
}

// look reads once. A look that the context cuts short tells nothing: the one before it counts.
func (d *doubt) look(ctx context.Context, c *Client, opts []CallOption) {
	found, read, evidence := d.q.found, d.q.read, d.q.evidence
	done, err := d.q.lookOnce(ctx, opts)
	if err != nil {
		if ctx.Err() != nil {
			d.q.found, d.q.read, d.q.evidence = found, read, evidence
		}
		if d.pending = ctx.Err() != nil; !d.pending || d.Resolution == nil {
			d.Err = err
		}
		return
	}
	if d.Resolution, err = d.q.conclude(ctx); err != nil {
		d.Err = withoutEffect(recoverOp, err)
	}
	c.remember(d.q, d.Resolution)
	d.settled, d.pending = d.Resolution.Outcome != OutcomeUnknown && err == nil, !done
}

func unread(why string) *Resolution {
	return &Resolution{Outcome: OutcomeUnknown, Note: why, Again: soon()}
}

func soon() time.Time { return time.Now().Add(time.Minute) }

// result sorts the calls.
func (r *recovery) result(ctx context.Context) (*Recovery, error) {
	all, failed, first := new(Recovery), 0, error(nil)
	for _, d := range r.all {
		switch {
		case d.Resolution == nil:
			d.Resolution = unread("it was not read")
			if d.Err == nil {
				d.Err = withoutEffect(recoverOp, cmp.Or(ctx.Err(), r.broken))
			}
		case d.pending: // since its last read
			d.Resolution.Again = d.q.again()
		}
		if d.Err != nil {
			failed++
			first = cmp.Or(first, d.Err)
			if d.Resolution.Again.IsZero() { // known, and not noted
				d.Resolution.Again = soon()
			}
		}
		group := &all.Later
		switch {
		case d.settled:
			group = &all.Settled
		case d.Resolution.Again.IsZero():
			group = &all.Person
		}
		*group = append(*group, d.Recovered)
	}
	if first != nil {
		first = fmt.Errorf("%w (%d of %s in doubt could not be read or noted)", first, failed, redact.Plural(len(r.all), "call"))
	}
	if r.unlisted != nil {
		first = errors.Join(withoutEffect(recoverOp, r.unlisted), first)
	}
	return all, first
}
