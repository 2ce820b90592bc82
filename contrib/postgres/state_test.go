package prospectpg

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/spend"
)

// A process that stops while it holds a row blocks the others for a moment only, and changes nothing when it continues.
func TestState_StoppedHolder(t *testing.T) {
	server, name := workspace(t)
	usual := idle
	idle = "100"
	defer func() { idle = usual }()
	stopped, other := server.store(t, name).Spend("cap"), server.store(t, name).Spend("cap")
	err := stopped.Update(t.Context(), func([]byte) ([]byte, error) {
		idle = usual // of the other one, which does not stop, and may be slow
		require.NoError(t, other.Update(t.Context(), func(state []byte) ([]byte, error) {
			require.Empty(t, state)
			return []byte("other"), nil
		}))
		return []byte("stopped"), nil
	})
	require.Error(t, err)
	require.Equal(t, "other", stateOf(t, other))
}

func stateOf(t *testing.T, s spend.Store) (text string) {
	t.Helper()
	none := errors.New("nothing to store")
	require.ErrorIs(t, s.Update(t.Context(), func(state []byte) ([]byte, error) { text = string(state); return nil, none }), none)
	return text
}

func TestSpend_Update(t *testing.T) {
	server, name := workspace(t)
	store := server.store(t, name)
	november := store.Spend("2026-11")
	require.Empty(t, stateOf(t, november))
	add := func(s spend.Store) error {
		return s.Update(t.Context(), func(state []byte) ([]byte, error) { return append(state, 'x'), nil })
	}
	require.NoError(t, add(november))
	require.NoError(t, add(store.Spend("2026-12")))
	require.EqualValues(t, 1, store.pool.Stat().NewConnsCount(), "a look costs no connection")
	var all sync.WaitGroup
	failures := make([]error, 8)
	for i := range failures {
		other := server.store(t, name).Spend("2026-11")
		all.Go(func() {
			for range 5 {
				failures[i] = errors.Join(failures[i], add(other))
			}
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(failures...))
	require.Len(t, stateOf(t, november), 41)
	require.Len(t, stateOf(t, store.Spend("2026-12")), 1)
	require.ErrorContains(t, add(store.Spend("")), "name")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, november.Update(ctx, func([]byte) ([]byte, error) { return nil, nil }))
	require.Len(t, stateOf(t, november), 41)
	require.Panics(t, func() {
		_ = november.Update(t.Context(), func([]byte) ([]byte, error) { panic("change") })
	})
	require.NoError(t, add(november), "no lock is left")
}

// One cap for a fleet.
func TestSpend_Guard(t *testing.T) {
	server, name := workspace(t)
	prices := spend.Prices{"search.prospects": {PerResult: 1}}
	one := spend.NewSharedGuard(10, prices, server.store(t, name).Spend("cap"))
	two := spend.NewSharedGuard(10, prices, server.store(t, name).Spend("cap"))
	call := func(id string, results int) spend.Call {
		return spend.Call{ID: id, Op: "search.prospects", Results: results}
	}
	require.NoError(t, one.Reserve(t.Context(), call("a", 6)))
	require.ErrorIs(t, two.Reserve(t.Context(), call("b", 6)), spend.ErrCap)
	require.NoError(t, two.Settle(t.Context(), "a", "applied", 3))
	require.NoError(t, two.Reserve(t.Context(), call("b", 6)))
	books, err := one.Books(t.Context())
	require.NoError(t, err)
	require.Equal(t, spend.Book{Committed: 3, InDoubt: 6, Released: 3}, books.Total)
}
