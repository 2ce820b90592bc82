package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/fleet/engine"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// crew is an engine in a few lines: it takes the two jobs, and takes them again as it is told.
type crew struct {
	campaignID, digest string // that a person has said yes to
	done               bool
	store              *journal.MemoryJournal
	look               func() journal.Outcome // of the campaign, by a person
}

func (c *crew) work(ctx context.Context, client *prospectkit.Client) error {
	w := &workspace{"acme", client, c.store, time.Minute}
	for !c.done {
		err := c.take(ctx, w)
		v := engine.Judge(err)
		if v.Done {
			continue
		}
		if ctx.Err() != nil || v.Person && !c.settle(ctx) {
			return err
		}
		time.Sleep(max(v.After, 20*time.Second)) // of the bubble
	}
	return nil
}

func (c *crew) take(ctx context.Context, w *workspace) (err error) {
	if c.digest == "" {
		c.campaignID, c.digest, err = w.prepare(ctx)
		return err
	}
	err = w.approve(ctx, c.campaignID, c.digest)
	c.done = engine.Judge(err).Done
	return err
}

// settle is a person, who settles the open tickets. It reports whether there were any.
func (c *crew) settle(ctx context.Context) (settled bool) {
	for ticket, err := range c.store.InDoubt(ctx) {
		if err == nil {
			settled = c.store.Ended(ctx, ticket.ID, journal.End{Outcome: c.look()}) == nil
		}
	}
	return settled
}

var contacts = sandbox.List{Name: "Conference", Rows: sandbox.Rows(sandbox.Row{"email": "ada@example.org"})}

var writes = []string{"campaigns.create", "campaigns.approve"}

func processed(sb *sandbox.Sandbox, op string) (n int) {
	for _, e := range sb.Journal() {
		if e.Op == op && e.Processed {
			n++
		}
	}
	return n
}

// Whatever fails, and wherever the program is stopped and starts again, everything is done once, and no ticket stays open. A person helps where
// no read tells whether the campaign was approved.
func TestJobs_EveryFailure(t *testing.T) {
	var c *crew
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()),
			prospectkit.WithJournal(c.store))
		require.NoError(run, err)
		return c.work(run.Context(), client)
	}, func(run *sandbox.Run) error {
		for _, op := range writes {
			if n := processed(run.Sandbox, op); n != 1 {
				return fmt.Errorf("%s: %d", op, n)
			}
		}
		for _, e := range c.store.Entries() {
			if e.Outcome == journal.Unknown {
				return fmt.Errorf("open: %s", e.Ticket.Op)
			}
		}
		return run.Err()
	}, sandbox.RestartAfter(10*time.Minute), sandbox.Setup(func(run *sandbox.Run) {
		c = &crew{store: new(journal.MemoryJournal), look: func() journal.Outcome {
			if run.Campaigns()[0].Status == string(prospectkit.CampaignActive) {
				return journal.Applied
			}
			return journal.NotApplied
		}}
		run.Do(func(tx *sandbox.Tx) {
			tx.ConnectAccount("email")
			tx.CreateList(contacts)
		})
	}))
}

// together is a journal that makes two calls meet twice: before either has stored its ticket, and after both have.
type together struct {
	*journal.MemoryJournal

	meet          bool
	before, after sync.WaitGroup
}

func (g *together) Sending(ctx context.Context, t journal.Ticket) error {
	if !g.meet {
		return g.MemoryJournal.Sending(ctx, t)
	}
	g.before.Done()
	g.before.Wait()
	defer g.after.Wait()
	defer g.after.Done()
	return g.MemoryJournal.Sending(ctx, t)
}

// twice makes a call twice at once.
func (g *together) twice(do func() error) (failures []error) {
	g.meet, failures = true, make([]error, 2)
	g.before.Add(2)
	g.after.Add(2)
	var both sync.WaitGroup
	for i := range failures {
		both.Go(func() { failures[i] = do() })
	}
	both.Wait()
	g.meet = false
	return failures
}

// An engine that runs a job twice at once gets no second approval, not even of a campaign that a teammate stops in between: neither run
// sends one while it sees the ticket of the other.
func TestJobs_TwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.ActivatesFor(0), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
			Name: "acme", Accounts: []string{"email"}, Lists: []sandbox.List{contacts},
		}}}))
		sb.Between("campaigns.approve", func(tx *sandbox.Tx) { tx.StopCampaign(sb.Campaigns()[0].ID) })
		store := &together{MemoryJournal: new(journal.MemoryJournal)}
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()),
			prospectkit.WithJournal(store))
		require.NoError(t, err)
		w := &workspace{"acme", client, store, time.Minute}
		var campaignID string
		sb.Do(func(tx *sandbox.Tx) {
			campaignID = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", sb.Lists()[0].ID))
		})
		review, err := client.Campaigns.Review(t.Context(), campaignID)
		require.NoError(t, err)

		failures := store.twice(func() error { return w.approve(t.Context(), campaignID, review.Digest()) })
		require.Error(t, errors.Join(failures...))
		for _, err := range failures {
			require.False(t, err != nil && engine.Judge(err).Person, "it is to be taken again")
		}
		require.NoError(t, w.approve(t.Context(), campaignID, review.Digest()))
		require.Equal(t, 1, processed(sb, "campaigns.approve"))
	})
}

// late is a way to the service on which a creation is still in flight after its connection was cut.
type late struct {
	http.RoundTripper

	by time.Duration
}

func (l late) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPost {
		return l.RoundTripper.RoundTrip(req)
	}
	req = req.Clone(context.WithoutCancel(req.Context()))
	body, err := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(body))
	time.AfterFunc(l.by, func() {
		if resp, err := l.RoundTripper.RoundTrip(req); err == nil {
			_ = resp.Body.Close()
		}
	})
	return nil, errors.Join(err, io.ErrUnexpectedEOF)
}

// creation is a workspace whose job makes the campaign.
type creation struct {
	sb       *sandbox.Sandbox
	store    *journal.MemoryJournal
	patience time.Duration
}

func newCreation(t *testing.T) *creation {
	c := &creation{sandbox.New(t), new(journal.MemoryJournal), time.Minute}
	c.sb.Do(func(tx *sandbox.Tx) { tx.CreateList(contacts) })
	return c
}

// take makes an attempt of the job in a new process.
func (c *creation) take(t *testing.T, transport http.RoundTripper) error {
	client, err := prospectkit.New(c.sb.BaseURL(), c.sb.Token(), prospectkit.WithTransport(transport), prospectkit.WithJournal(c.store))
	require.NoError(t, err)
	_, err = (&workspace{"acme", client, c.store, c.patience}).campaign(t.Context())
	return err
}

// A listing from before the end of a lost creation does not say that there is no campaign, however late its response comes.
func TestJobs_SlowListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCreation(t)
		c.patience = time.Second // longer than this request takes
		require.Error(t, c.take(t, late{c.sb.Transport(), 900 * time.Millisecond}))
		time.Sleep(500 * time.Millisecond)
		c.sb.Fail("campaigns.list", sandbox.Nth(1), sandbox.EmptyPage(), sandbox.Latency(time.Second))
		require.Error(t, c.take(t, c.sb.Transport()))
		require.NoError(t, c.take(t, c.sb.Transport()))
		require.Len(t, c.sb.Campaigns(), 1)
		require.Equal(t, 1, c.sb.Calls("campaigns.create"))
	})
}

// A creation that takes effect long after its connection was cut, and after its lease, stays the only one.
func TestJobs_SlowService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCreation(t)
		err := c.take(t, late{c.sb.Transport(), 35 * time.Second})
		for ; err != nil; err = c.take(t, c.sb.Transport()) {
			time.Sleep(5 * time.Second)
		}
		time.Sleep(time.Minute) // whatever is on its way has arrived
		require.Len(t, c.sb.Campaigns(), 1)
		require.Equal(t, 1, c.sb.Calls("campaigns.create"))
	})
}
