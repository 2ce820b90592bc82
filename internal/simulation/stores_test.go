package simulation

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/prospectkit/internal/sim"
	"example.com/prospectkit/spend"
)

// store is a database that processes share, and that survives them all.
type store struct {
	mu    sync.Mutex
	spend []byte
	read  []byte // of spend, for the books
	books spend.Books
}

// change is a transaction: a step.
func (s *store) change(ctx context.Context, u *user, what string, do func() error) error {
	var err error
	dead := u.Do(ctx, "store", what, func(t *sim.Turn) string {
		if t.Fault != "" {
			u.laws.note(func() { u.laws.shaky = true })
		}
		switch t.Fault { //nolint:exhaustive // the engine sees to the others
		case hangs:
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
			}
			err = errAway
			return "hung"
		case awayBefore:
			err = errAway
			return "away"
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.Fault == forgets {
			s.spend = nil
			u.laws.note(func() { u.laws.empties++ })
		}
		if err = do(); err == nil && t.Fault == awayAfter {
			err = errAway
		}
		return fmt.Sprint(err)
	})
	if dead != nil {
		return dead
	}
	return err
}

// guardStore holds the state of spend guards.
type guardStore struct {
	*store

	user *user
}

func (g guardStore) Update(ctx context.Context, change func([]byte) ([]byte, error)) error {
	owed, stored := g.user.laws.owes(g.user.Start), false
	var before, after spend.Books
	err := g.change(ctx, g.user, "spend", func() error {
		before, _ = g.user.books()
		next, err := change(g.spend)
		if err == nil {
			g.spend, stored = next, true
			after, _ = g.user.books()
		}
		return err
	})
	switch {
	case !g.user.Alive():
	case err == nil:
		g.user.laws.returned(owed, after.Open)
	case stored: // the guard refuses the call
		g.user.laws.refusedBy(g.user.Start, before.Open, after.Open)
	}
	return err
}

// peek reads the state of the guards, and changes nothing.
type peek struct{ *store }

func (p peek) Update(_ context.Context, change func([]byte) ([]byte, error)) error {
	_, err := change(p.spend)
	return err
}

// books are those of the guards, by the store.
func (r *run) books() (spend.Books, error) {
	if s := r.store; s.read == nil || !bytes.Equal(s.read, s.spend) {
		books, err := spend.NewSharedGuard(r.laws.credits, nil, peek{s}).Books(context.Background())
		if err != nil {
			return books, err
		}
		s.read, s.books = s.spend, books
	}
	return r.store.books, nil
}
