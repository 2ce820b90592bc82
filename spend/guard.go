// Package spend caps the credits that calls spend. A [Guard] reserves the most that a call can cost before the call is sent. It commits
// what the call has spent, releases the credits of a call that was not applied, and keeps those of a call whose outcome is unknown until
// that is resolved.
//
//	guard := spend.NewGuard(500, spend.Prices{"search.prospects": {PerResult: 1}})
//	client, err := prospectkit.New(baseURL, token, prospectkit.WithSpendGuard(guard))
//
// This guard forgets with its process: a program that is started again may spend as much again. With a [Store], the cap holds for several
// processes together, and survives them: see [NewSharedGuard]. The keys of [Prices] are the names of operations, which docs/operations.md
// lists.
//
// The guard counts calls, and the runs of the agents that they start. It does not see what teammates spend, nor runs of agents that were
// started without it. It counts nothing for calls that spend nothing by docs/operations.md, unless you give them a price.
package spend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/exchange"
)

// ErrCap says that a call could cost more than the cap leaves, of which [Guard.Books] tells the figures. Nothing was reserved. Match it
// with [errors.Is]; the error of a call that a client has refused for it also matches prospectkit.ErrSpendCap.
var ErrCap = errors.New("spend: the cap is reached")

// capError has the figures.
type capError struct{ credits, left, most int64 }

func (e *capError) Error() string {
	return fmt.Sprintf("the call can cost %d credits, and %d of %d are left", e.credits, e.left, e.most)
}

func (e *capError) Is(target error) bool { return target == ErrCap }

// Words is the text that may be logged: it quotes nobody.
func (e *capError) Words() string { return e.Error() }

// Guard keeps what all calls can cost within a cap. A response with more results than were asked for is booked in full. It is safe for
// concurrent use. It starts no goroutine and no timer that outlives a call.
type Guard struct {
	most   int64
	prices Prices
	store  Store
	err    error

	mu   sync.Mutex
	late map[string]*end // what the store has not taken yet
}

// NewGuard returns a guard with a cap in credits. Its state ends with the process. A client refuses
// a guard with a negative cap or price. Changing the map later has no effect.
func NewGuard(credits int64, prices Prices) *Guard {
	return NewSharedGuard(credits, prices, new(memory))
}

// NewSharedGuard returns a guard whose state is in a store. Each reservation is stored before its call is sent; if it cannot be, the call
// is refused. Give all guards of one store the same cap: they count the same credits. The cap is for the life of the state: for a cap per
// month, use another state each month.
//
// A process that is killed leaves its reservations. Each counts until its ticket is resolved, or you settle it with [Guard.Commit] or
// [Guard.Release].
func NewSharedGuard(credits int64, prices Prices, store Store) *Guard {
	g := &Guard{most: credits, prices: maps.Clone(prices), store: store, late: map[string]*end{}}
	if credits < 0 {
		g.err = errors.Join(g.err, fmt.Errorf("the cap of %d credits is negative", credits))
	}
	if check.IsNil(store) {
		g.err = errors.Join(g.err, errors.New("the store is nil"))
	}
	for _, name := range slices.Sorted(maps.Keys(prices)) {
		if err := prices[name].check(); err != nil {
			g.err = errors.Join(g.err, fmt.Errorf("the price of %s %w", name, err))
		}
	}
	return g
}

// Err returns what is wrong with the cap, the prices or the store, and nil if the guard can be used.
func (g *Guard) Err() error {
	if g == nil || g.store == nil && g.err == nil {
		return errors.New("it was not made by NewGuard")
	}
	return g.err
}

// Priced reports whether an operation has a price that is not free. A client asks it. A nil guard has no prices.
func (g *Guard) Priced(op string) bool { return g != nil && g.prices[op].costs() }

// Reserve reserves the most that a call can cost. It fails with [ErrCap] if that does not fit, with
// [ErrUnknownPrice], or with an error of the store. The call must then not be sent. A client calls it.
func (g *Guard) Reserve(ctx context.Context, c Call) error {
	if c.ID == "" {
		return errors.New("spend: the call has no ID")
	}
	credits, each, err := g.price(c)
	if err != nil {
		return err
	}
	tried, reserved := false, false
	defer func() { // also if the store panics
		if tried && !reserved {
			g.postpone(c.ID, end{}) // it may be stored, and the call is not sent
		}
	}()
	err = g.update(ctx, func(s *state) error {
		if err := g.fits(s, c, credits); err != nil {
			return err
		}
		made := claim{Op: c.Op, Credits: credits, Each: each, Since: time.Now()}
		if each != 0 {
			made.Results = c.Results
		}
		tried = true
		s.Reserved[c.ID] = made
		return nil
	})
	reserved = err == nil
	return err
}

// Check fails as [Guard.Reserve] would now, and reserves nothing. A nil guard refuses nothing.
func (g *Guard) Check(ctx context.Context, c Call) error {
	if g == nil {
		return nil
	}
	credits, _, err := g.price(c)
	if err != nil {
		return err
	}
	return g.view(ctx, func(s *state) error { return g.fits(s, c, credits) })
}

// price is what a call can cost. It is asked before the store, because a WorstCase may take its time, or ask the guard.
func (g *Guard) price(c Call) (credits, each int64, err error) {
	if err := g.Err(); err != nil {
		return 0, 0, err
	}
	return g.prices.of(c)
}

// fits fails unless the cap has room for a call.
func (g *Guard) fits(s *state, c Call, credits int64) error {
	delete(s.Reserved, c.ID) // of an earlier attempt to store it
	if left := g.most - min(g.most, s.held()); credits > left {
		return &capError{credits, left, g.most}
	}
	return nil
}

// Commit says that a call was applied: all that was reserved for it counts as spent. Call it once you have found out what no read of the
// API tells.
func (g *Guard) Commit(ctx context.Context, id string) error {
	return g.settle(ctx, id, end{applied: true, results: -1})
}

// Release says that a call was not applied: a failed request never consumes credits (documented). It
// does nothing if the call is settled.
func (g *Guard) Release(ctx context.Context, id string) error {
	return g.settle(ctx, id, end{})
}

// Settle tells the outcome of a call: "applied" commits, "not applied" releases, and any other keeps what is reserved. results is how many
// results the response had, or negative if it does not tell: if the price counts them, those are what was spent. A client calls it.
func (g *Guard) Settle(ctx context.Context, id, outcome string, results int) error {
	switch {
	case g != nil && outcome == "applied":
		return g.settle(ctx, id, end{applied: true, results: results})
	case g != nil && outcome == "not applied":
		return g.Release(ctx, id)
	}
	return nil
}

// How long the end of a call waits for the store: from its beginning, and after its context has ended.
const (
	settleTimeout = 5 * time.Second
	settleWithin  = time.Second / 2
)

// settle ends a reservation. What the store does not take now, it gets with the next change.
func (g *Guard) settle(ctx context.Context, id string, e end) error {
	if err := g.Err(); err != nil {
		return err
	}
	g.postpone(id, e) // first, because a store that hangs is abandoned
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	var err error
	if !exchange.Finish(ctx, settleWithin, func(ctx context.Context) {
		err = g.update(ctx, func(*state) error { return nil })
	}) {
		return context.Cause(ctx)
	}
	return err
}

func (g *Guard) postpone(id string, e end) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.late[id] == nil { // the first one stays
		g.late[id] = &e
	}
}

// update changes the state, and settles what the store has not taken before.
func (g *Guard) update(ctx context.Context, change func(*state) error) error {
	if err := g.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	late := maps.Clone(g.late)
	g.mu.Unlock()
	err := g.store.Update(ctx, func(data []byte) ([]byte, error) {
		s, err := decode(data)
		if err != nil {
			return nil, err
		}
		for id, e := range late {
			s.settle(id, *e)
		}
		if err := change(s); err != nil {
			return nil, err
		}
		return s.encode()
	})
	if err == nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		maps.DeleteFunc(g.late, func(id string, e *end) bool { return e == late[id] }) // another may have come meanwhile
	}
	return err
}

// errView ends an update without a change.
var errView = errors.New("spend: nothing to store")

// view reads the state.
func (g *Guard) view(ctx context.Context, look func(*state) error) error {
	err := g.update(ctx, func(s *state) error { return cmp.Or(look(s), errView) })
	if errors.Is(err, errView) {
		return nil
	}
	return err
}

// Book is what happened to the credits that were reserved.
type Book struct {
	Committed int64 // spent, as far as is known
	InDoubt   int64 // of calls in progress, of unknown outcomes, and of processes that ended in the middle of a call
	Released  int64 // given back
}

// Reservation is the credits of a call whose outcome is not known.
type Reservation struct {
	ID      string // of its ticket
	Op      string
	Credits int64
	Since   time.Time
}

// Books is the state of a guard.
type Books struct {
	Cap   int64
	Left  int64 // of the cap: what is neither committed nor in doubt
	Total Book
	Ops   map[string]Book // by operation
	Open  []Reservation   // what is in doubt, oldest first
}

// Books returns the books. They include what other processes did with the same store.
func (g *Guard) Books(ctx context.Context) (Books, error) {
	if err := g.Err(); err != nil {
		return Books{}, err
	}
	b := Books{Cap: g.most, Ops: map[string]Book{}}
	err := g.view(ctx, func(s *state) error {
		b.Left = g.most - min(g.most, s.held())
		for op, settled := range s.Books {
			b.add(op, Book{Committed: settled.Committed, Released: settled.Released})
		}
		for id, c := range s.Reserved {
			b.add(c.Op, Book{InDoubt: c.Credits})
			b.Open = append(b.Open, Reservation{id, c.Op, c.Credits, c.Since})
		}
		return nil
	})
	slices.SortFunc(b.Open, func(x, y Reservation) int {
		return cmp.Or(x.Since.Compare(y.Since), cmp.Compare(x.ID, y.ID))
	})
	return b, err
}

func (b *Books) add(op string, more Book) {
	b.Total, b.Ops[op] = b.Total.plus(more), b.Ops[op].plus(more)
}

func (b Book) plus(more Book) Book {
	return Book{plus(b.Committed, more.Committed), plus(b.InDoubt, more.InDoubt), plus(b.Released, more.Released)}
}
