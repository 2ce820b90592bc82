package gateways

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// paces are how long the service takes for each response.
var paces = []time.Duration{0, 2 * time.Second}

// TestSlowServiceBehindGateways makes every kind of call, all at once, of a service that takes its time: each succeeds.
func TestSlowServiceBehindGateways(t *testing.T) {
	t.Parallel()
	behind(t, every(), func(t *testing.T, g gateway) {
		s := start(t, g)
		client := s.steady(t)
		require.NoError(t, second(client.Account.Me(t.Context()))) // which learns what the gateway does to headers
		before := map[string]int{"account.me": 1}
		s.set(slices.Max(paces), nil)
		errs := make([]error, len(calls))
		var all sync.WaitGroup
		for i, call := range calls {
			all.Go(func() { errs[i] = call.do(t.Context(), s, client, i) })
		}
		all.Wait()
		for i, call := range calls {
			require.NoError(t, errs[i], call.op)
			require.Equal(t, 1, s.served(call.op)-before[call.op], call.op)
		}
	})
}

// write is a write, and what a teammate does while its first response is being lost, and afterwards.
type write struct {
	op        string
	do        func(ctx context.Context, c *prospectkit.Client, id string, opts ...prospectkit.CallOption) error
	activates time.Duration // how long the lock is held
	make      func(tx *sandbox.Tx) string
	reviewed  bool
	meanwhile func(tx *sandbox.Tx, id string)
	afterward func(tx *sandbox.Tx, id string)
}

func ready(tx *sandbox.Tx) string { return tx.CreateCampaign(sandbox.ReadyCampaign("Q1", listID)) }

func draft(tx *sandbox.Tx) string {
	return tx.CreateAgent(sandbox.Agent{Name: "Rounds", Type: sandbox.WebMonitor, Config: []byte(`{"listName":"x","entityType":"person","prompt":"raised a round"}`)})
}

func stop(tx *sandbox.Tx, id string) { tx.StopCampaign(id) }

func approveUnreviewed(ctx context.Context, c *prospectkit.Client, id string, opts ...prospectkit.CallOption) error {
	return second(c.Campaigns.ApproveUnreviewed(ctx, id, opts...))
}

// approve takes the id of a campaign and the digest of its review. It needs no key.
func approve(ctx context.Context, c *prospectkit.Client, reviewed string, _ ...prospectkit.CallOption) error {
	id, digest, _ := strings.Cut(reviewed, " ")
	return second(c.Campaigns.Approve(ctx, id, digest))
}

func activate(ctx context.Context, c *prospectkit.Client, id string, opts ...prospectkit.CallOption) error {
	return second(c.Agents.Activate(ctx, id, opts...))
}

// writes are those without a body, which some gateways repeat, at each conflict that their own effect may have; and some with one.
var writes = map[string]write{
	"ApproveUnreviewed, busy":       {op: "campaigns.approve", do: approveUnreviewed, make: ready, activates: time.Minute},
	"ApproveUnreviewed, approvable": {op: "campaigns.approve", do: approveUnreviewed, make: ready, activates: time.Millisecond, afterward: stop},
	"Approve, busy":                 {op: "campaigns.approve", do: approve, make: ready, reviewed: true, activates: time.Minute},
	"Approve, approvable":           {op: "campaigns.approve", do: approve, make: ready, reviewed: true, activates: time.Millisecond, afterward: stop},
	"Activate, processing":          {op: "agents.activate", do: activate, make: draft},
	"Activate, a draft": {
		op: "agents.activate", do: activate, make: draft,
		meanwhile: func(tx *sandbox.Tx, id string) { tx.Put("agents", sandbox.Row{"id": id, "status": "active"}) },
	},
	"Create": {op: "lists.create", do: func(ctx context.Context, c *prospectkit.Client, _ string, opts ...prospectkit.CallOption) error {
		return second(c.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"}, opts...))
	}},
	"AddContacts": {op: "lists.add-contacts", do: func(ctx context.Context, c *prospectkit.Client, _ string, opts ...prospectkit.CallOption) error {
		return second(c.Lists.AddContacts(ctx, listID, prospectkit.Fields{"contacts": []prospectkit.Fields{{"firstName": "Eve"}}}, opts...))
	}},
	"PushToCRM": {op: "lists.crm-push", do: func(ctx context.Context, c *prospectkit.Client, _ string, opts ...prospectkit.CallOption) error {
		return second(c.Lists.PushToCRM(ctx, listID, prospectkit.CRMPush{CRM: "crm-1", All: true}, opts...))
	}},
	"Upload": {op: "imports.create", do: func(ctx context.Context, c *prospectkit.Client, _ string, opts ...prospectkit.CallOption) error {
		return second(c.Imports.Upload(ctx, file(1), opts...))
	}},
}

// file is one of so many rows of 50 bytes.
func file(rows int) prospectkit.Upload {
	text := []byte("email,firstName\n" + strings.Repeat("ada@engines.example,Ada Augusta of Lovelace-Byron\n", rows))
	return prospectkit.UploadFrom("people.csv", int64(len(text)), bytes.NewReader(text))
}

// TestLostResponseBehindGateways loses the response of one write, on a connection that has served others, after the work of a service that
// is fast, or takes its time: it is never said not to be applied, and what runs again after a restart, with the same journal, sends
// nothing, whatever a teammate did meanwhile.
func TestLostResponseBehindGateways(t *testing.T) {
	t.Parallel()
	behind(t, every(), func(t *testing.T, g gateway) {
		if g.repeats {
			return // as it is told to
		}
		for name, w := range writes {
			for _, pace := range paces {
				t.Run(fmt.Sprint(name, " ", pace), func(t *testing.T) {
					t.Parallel()
					s := start(t, g, sandbox.ActivatesFor(max(w.activates, time.Millisecond)))
					s.losing(t, w, pace)
				})
			}
		}
	})
}

func (s *stage) losing(t *testing.T, w write, pace time.Duration) {
	t.Helper()
	var id string
	if w.make != nil {
		s.sb.Do(func(tx *sandbox.Tx) { id = w.make(tx) })
	}
	argument := id
	if w.reviewed {
		review, err := s.steady(t).Campaigns.Review(t.Context(), id)
		require.NoError(t, err)
		argument += " " + review.Digest()
	}
	path := filepath.Join(t.TempDir(), "journal")
	run := func(pace time.Duration, lost func()) error {
		j, err := journal.Open(path, "main")
		require.NoError(t, err)
		defer func() { require.NoError(t, j.Close()) }()
		client := s.steady(t, prospectkit.WithJournal(j))
		for range 2 {
			require.NoError(t, second(client.Account.Me(t.Context()))) // the way is known, and each connection kept that can be
		}
		s.set(pace, lost)
		defer s.set(0, nil)
		return w.do(t.Context(), client, argument, prospectkit.Once("monday"))
	}
	err := run(pace, func() {
		time.Sleep(10 * time.Millisecond) // until the activation is over, if it is a short one
		if w.meanwhile != nil {
			s.sb.Do(func(tx *sandbox.Tx) { w.meanwhile(tx, id) })
		}
	})
	require.Equal(t, 1, s.served(w.op), "%v", err)
	require.NotEqual(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "%v", err)
	t.Logf("%d requests: %v", s.sb.Calls(w.op), err)

	if w.afterward != nil {
		s.sb.Do(func(tx *sandbox.Tx) { w.afterward(tx, id) })
		time.Sleep(10 * time.Millisecond) // until the lock of a stop is over
	}
	sent, people := s.sb.Calls(w.op), len(s.sb.Outbox())
	again := run(0, nil)
	require.Equal(t, sent, s.sb.Calls(w.op), "then: %v", again)
	require.Equal(t, 1, s.served(w.op))
	require.Len(t, s.sb.Outbox(), people)
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown && !w.reviewed { // that one may find that it is done
		require.ErrorIs(t, again, prospectkit.ErrOutcomeUnknown)
	}
}
