package tests

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// Notebook is a journal in memory that shows what it was told.
type Notebook struct {
	mu        sync.Mutex
	Sent      []journal.Ticket // of every Sending
	Noted     map[string]journal.Outcome
	Broken    error // of Sending, if set
	OnSending func()
	kept      journal.MemoryJournal
}

// Sending notes a ticket.
func (n *Notebook) Sending(ctx context.Context, t journal.Ticket) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.OnSending != nil {
		n.OnSending()
	}
	if n.Broken != nil {
		return n.Broken
	}
	n.Sent = append(n.Sent, t)
	return n.kept.Sending(context.WithoutCancel(ctx), t)
}

// Workspace returns a name.
func (n *Notebook) Workspace() string { return n.kept.Workspace() }

// Ended notes an outcome.
func (n *Notebook) Ended(ctx context.Context, id string, e journal.End) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.Noted == nil {
		n.Noted = map[string]journal.Outcome{}
	}
	n.Noted[id] = e.Outcome
	return cmp.Or(ctx.Err(), n.Broken, n.kept.Ended(ctx, id, e))
}

// Settle notes what a person found out.
func (n *Notebook) Settle(ctx context.Context, id string, s journal.Settlement) error {
	return n.kept.Settle(ctx, id, s)
}

// Calls yields the tickets of an operation.
func (n *Notebook) Calls(ctx context.Context, op string) iter.Seq2[journal.Entry, error] {
	return n.kept.Calls(ctx, op)
}

// InDoubt yields the tickets whose outcome is unknown.
func (n *Notebook) InDoubt(ctx context.Context) iter.Seq2[journal.Ticket, error] {
	return n.kept.InDoubt(ctx)
}

// Outcomes lists the operations with the outcome that was noted.
func (n *Notebook) Outcomes() map[string]journal.Outcome {
	all := map[string]journal.Outcome{}
	for _, t := range n.Sent {
		all[t.Op] = n.Noted[t.ID]
	}
	return all
}

// Journaled is a client's journal in memory, of the same workspace as others.
func Journaled() prospectkit.ClientOption { return prospectkit.WithJournal(new(journal.MemoryJournal)) }

// Written returns a ticket as another process reads it.
func Written(t *testing.T, from journal.Ticket) journal.Ticket {
	t.Helper()
	var back journal.Ticket
	require.NoError(t, json.Unmarshal([]byte(JSONText(from)), &back))
	return back
}

// Booked is what a guard has in its books.
func Booked(t *testing.T, g *spend.Guard) spend.Book {
	t.Helper()
	books, err := g.Books(t.Context())
	require.NoError(t, err)
	return books.Total
}

// PerProfile is the price of a search.
var PerProfile = spend.Prices{"search.prospects": {PerResult: 1}}

// CreditStore is a store that fails when it is told to.
type CreditStore struct {
	state  []byte
	Err    error
	Before func() // each update
}

// Update changes the state.
func (s *CreditStore) Update(_ context.Context, change func([]byte) ([]byte, error)) error {
	if s.Before != nil {
		s.Before()
	}
	if s.Err != nil {
		return s.Err
	}
	next, err := change(s.state)
	if err == nil {
		s.state = next
	}
	return err
}
