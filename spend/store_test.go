package spend_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/spend"
)

// What the store took is settled once: the same call may be reserved again, and then counts.
func TestGuard_LateSettlementCountsOnce(t *testing.T) {
	store, away := new(shelf), errors.New("the store is away")
	g := spend.NewSharedGuard(100, perCall, store)
	store.after = away
	require.ErrorIs(t, g.Reserve(t.Context(), call("1", "b")), away)
	store.after = nil
	require.NoError(t, g.Reserve(t.Context(), call("1", "b")), "sent at the second attempt")
	require.NoError(t, g.Reserve(t.Context(), call("2", "a")))
	require.Equal(t, spend.Book{InDoubt: 35, Released: 25}, booksOf(t, g).Total)
}

// A settlement waits until a store takes it, however many changes fail before.
func TestGuard_LateSettlementsSurviveFailures(t *testing.T) {
	store, away := new(shelf), errors.New("the store is away")
	g := spend.NewSharedGuard(100, perCall, store)
	for _, id := range []string{"1", "2"} {
		require.NoError(t, g.Reserve(t.Context(), call(id, "b")))
	}
	store.before = away
	require.ErrorIs(t, g.Release(t.Context(), "1"), away)
	require.ErrorIs(t, g.Commit(t.Context(), "2"), away)
	require.ErrorIs(t, g.Reserve(t.Context(), call("3", "a")), away)
	store.before = nil
	require.NoError(t, g.Reserve(t.Context(), call("4", "free")))
	require.Equal(t, spend.Book{Committed: 25, Released: 25}, booksOf(t, spend.NewSharedGuard(100, perCall, store)).Total)
}

// A settlement that comes while the store takes an earlier one waits for its own turn.
func TestGuard_LateSettlementDuringAnother(t *testing.T) {
	store, away := new(shelf), errors.New("the store is away")
	g := spend.NewSharedGuard(100, perCall, store)
	store.after = away
	require.ErrorIs(t, g.Reserve(t.Context(), call("1", "b")), away)
	store.after, store.stored = nil, func() {
		store.stored = nil
		require.NoError(t, g.Reserve(t.Context(), call("1", "b")), "sent at the second attempt")
		store.before = away
		require.ErrorIs(t, g.Commit(t.Context(), "1"), away)
		store.before = nil
	}
	require.NoError(t, g.Reserve(t.Context(), call("2", "free")))
	require.NoError(t, g.Reserve(t.Context(), call("3", "free")))
	require.Equal(t, spend.Book{Committed: 25, Released: 25}, booksOf(t, g).Total)
}

// locking is a store with one row, which another update would wait for.
type locking struct {
	shelf
	locked bool
}

func (l *locking) Update(ctx context.Context, change func([]byte) ([]byte, error)) error {
	if l.locked {
		return errors.New("it waits for itself")
	}
	l.locked = true
	defer func() { l.locked = false }()
	return l.shelf.Update(ctx, change)
}

// A price may take its time, read from the service, or ask the guard how much is left.
func TestGuard_PricesAreAskedWhileNothingIsLocked(t *testing.T) {
	var g *spend.Guard
	g = spend.NewSharedGuard(100, spend.Prices{"a": {WorstCase: func(spend.Call) (int64, error) {
		books, err := g.Books(t.Context())
		return books.Left / 2, err
	}}}, new(locking))
	require.NoError(t, g.Check(t.Context(), call("1", "a")))
	require.NoError(t, g.Reserve(t.Context(), call("1", "a")))
	require.NoError(t, g.Reserve(t.Context(), call("2", "a")))
	require.EqualValues(t, 25, booksOf(t, g).Left)
}

// noting tells whether the context of the last update has ended.
type noting struct {
	shelf
	ended func() error
}

func (n *noting) Update(ctx context.Context, change func([]byte) ([]byte, error)) error {
	n.ended = ctx.Err
	return n.shelf.Update(ctx, change)
}

func TestGuard_NoTimerOutlivesASettlement(t *testing.T) {
	store := new(noting)
	g := spend.NewSharedGuard(100, perCall, store)
	require.NoError(t, g.Reserve(t.Context(), call("1", "a")))
	require.NoError(t, g.Release(t.Context(), "1"))
	require.ErrorIs(t, store.ended(), context.Canceled)
}

func TestGuard_RefusesAStateWithNegativeNumbers(t *testing.T) {
	for _, state := range []string{
		`{"version":1,"books":{"a":{"released":-1}}}`,
		`{"version":1,"reserved":{"1":{"op":"a","credits":5,"each":-1}}}`,
		`{"version":1,"reserved":{"1":{"op":"a","credits":5,"results":-1}}}`,
	} {
		g := spend.NewSharedGuard(100, perCall, &shelf{state: []byte(state)})
		_, err := g.Books(t.Context())
		require.ErrorContains(t, err, "no state that this version understands", state)
	}
}

// A call that is settled stays so, also while the store has not taken it: its credits do not come back.
func TestGuard_TheFirstSettlementStays(t *testing.T) {
	store, away := new(shelf), errors.New("the store is away")
	g := spend.NewSharedGuard(100, perCall, store)
	require.NoError(t, g.Reserve(t.Context(), call("1", "b")))
	store.before = away
	require.ErrorIs(t, g.Settle(t.Context(), "1", "applied", -1), away)
	store.before = nil
	require.NoError(t, g.Release(t.Context(), "1"))
	require.Equal(t, spend.Book{Committed: 25}, booksOf(t, g).Total)
}
