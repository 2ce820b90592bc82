package spend_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/spend"
)

var perCall = spend.Prices{"a": {PerCall: 10}, "b": {PerCall: 25}, "free": {}, "s": {PerCall: 1, PerResult: 2}, "one": {PerResult: 1}}

func call(id, op string) spend.Call { return spend.Call{ID: id, Op: op} }

func booksOf(t *testing.T, g *spend.Guard) spend.Books {
	t.Helper()
	b, err := g.Books(t.Context())
	require.NoError(t, err)
	return b
}

func TestGuard_ReservesCommitsReleasesAndKeepsDoubts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := spend.NewGuard(100, perCall)
		require.NoError(t, g.Err())
		began := time.Now()
		require.NoError(t, g.Reserve(t.Context(), call("1", "a")))
		time.Sleep(time.Second)
		require.NoError(t, g.Reserve(t.Context(), call("2", "b")))
		require.NoError(t, g.Reserve(t.Context(), call("3", "a")))
		require.NoError(t, g.Reserve(t.Context(), call("4", "free")))
		require.NoError(t, g.Settle(t.Context(), "1", "applied", -1))
		require.NoError(t, g.Settle(t.Context(), "3", "not applied", -1))
		require.NoError(t, g.Settle(t.Context(), "2", "unknown", -1))
		require.NoError(t, g.Settle(t.Context(), "4", "applied", 3))
		require.Equal(t, spend.Books{
			Cap: 100, Left: 65,
			Total: spend.Book{Committed: 10, InDoubt: 25, Released: 10},
			Ops:   map[string]spend.Book{"a": {Committed: 10, Released: 10}, "b": {InDoubt: 25}, "free": {}},
			Open:  []spend.Reservation{{ID: "2", Op: "b", Credits: 25, Since: began.Add(time.Second).UTC()}},
		}, utc(booksOf(t, g)))

		for range 2 { // once counts
			require.NoError(t, g.Commit(t.Context(), "2"))
			require.NoError(t, g.Release(t.Context(), "2"))
			require.NoError(t, g.Release(t.Context(), "1"))
		}
		require.NoError(t, g.Commit(t.Context(), "nobody"))
		b := booksOf(t, g)
		require.Equal(t, spend.Book{Committed: 35, Released: 10}, b.Total)
		require.Empty(t, b.Open)
		require.NotContains(t, b.Ops, "", "nobody has no book")

		for _, id := range []string{"9", "7", "8"} {
			require.NoError(t, g.Reserve(t.Context(), call(id, "a")))
			time.Sleep(time.Second)
		}
		var open []string
		for _, reservation := range booksOf(t, g).Open {
			open = append(open, reservation.ID)
		}
		require.Equal(t, []string{"9", "7", "8"}, open, "oldest first")
	})
}

func utc(b spend.Books) spend.Books {
	for i := range b.Open {
		b.Open[i].Since = b.Open[i].Since.UTC()
	}
	return b
}

func TestGuard_RefusesWhatDoesNotFit(t *testing.T) {
	g := spend.NewGuard(35, perCall)
	require.NoError(t, g.Reserve(t.Context(), call("1", "b")))
	require.NoError(t, g.Check(t.Context(), call("", "a")))
	require.NoError(t, g.Reserve(t.Context(), call("2", "a")), "exactly what is left")
	err := g.Reserve(t.Context(), call("3", "a"))
	require.ErrorIs(t, err, spend.ErrCap)
	require.ErrorIs(t, g.Check(t.Context(), call("3", "a")), spend.ErrCap)
	require.Equal(t, "the call can cost 10 credits, and 0 of 35 are left", err.Error())
	require.NoError(t, g.Reserve(t.Context(), call("4", "free")))
	require.NoError(t, g.Reserve(t.Context(), call("2", "a")), "the same call counts once")
	require.NoError(t, g.Release(t.Context(), "2"))
	require.NoError(t, g.Reserve(t.Context(), call("5", "a")))
	require.EqualError(t, g.Reserve(t.Context(), call("", "free")), "spend: the call has no ID")
}

func TestGuard_CommitsTheResultsThatArrived(t *testing.T) {
	for name, c := range map[string]struct {
		op      string
		results int
		want    spend.Book
	}{
		"none":                                  {"s", 0, spend.Book{Committed: 1, Released: 20}},
		"some":                                  {"s", 3, spend.Book{Committed: 7, Released: 14}},
		"all":                                   {"s", 10, spend.Book{Committed: 21}},
		"more":                                  {"s", 15, spend.Book{Committed: 31}},
		"without word":                          {"s", -1, spend.Book{Committed: 21}},
		"a credit for each, as any other price": {"one", 3, spend.Book{Committed: 3, Released: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			g := spend.NewGuard(21, perCall)
			require.NoError(t, g.Reserve(t.Context(), spend.Call{ID: "1", Op: c.op, Results: 10}))
			require.NoError(t, g.Settle(t.Context(), "1", "applied", c.results))
			require.Equal(t, c.want, booksOf(t, g).Total)
		})
	}
}

func TestGuard_ManyAtOnceNeverPassTheCap(t *testing.T) {
	g := spend.NewGuard(500, perCall)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			id := strconv.Itoa(i)
			if g.Reserve(t.Context(), call(id, "a")) == nil && i%2 == 0 {
				_ = g.Commit(t.Context(), id)
			}
		})
	}
	all.Wait()
	b := booksOf(t, g)
	require.Equal(t, int64(500), b.Total.Committed+b.Total.InDoubt)
	require.Zero(t, b.Left)
}

// shelf is a store that fails when it is told to.
type shelf struct {
	state  []byte
	before error // nothing is stored
	after  error // it is stored nevertheless
	wait   func()
	stored func()
}

func (s *shelf) Update(_ context.Context, change func([]byte) ([]byte, error)) error {
	if s.wait != nil {
		s.wait()
	}
	if s.before != nil {
		return s.before
	}
	next, err := change(s.state)
	if err == nil {
		s.state, err = next, s.after
	}
	if s.stored != nil {
		s.stored()
	}
	return err
}

func TestGuard_ASharedCapSurvivesTheProcess(t *testing.T) {
	store := new(shelf)
	first := spend.NewSharedGuard(35, perCall, store)
	require.NoError(t, first.Reserve(t.Context(), call("1", "b")))
	second := spend.NewSharedGuard(35, perCall, store)
	require.ErrorIs(t, second.Reserve(t.Context(), call("2", "b")), spend.ErrCap)
	require.Equal(t, spend.Book{InDoubt: 25}, booksOf(t, second).Total)
	require.NoError(t, second.Release(t.Context(), "1"))
	require.NoError(t, first.Reserve(t.Context(), call("3", "b")))
}

func TestGuard_StoreThatFails(t *testing.T) {
	store, away := new(shelf), errors.New("the store is away")
	g := spend.NewSharedGuard(35, perCall, store)
	store.before = away
	require.ErrorIs(t, g.Reserve(t.Context(), call("1", "b")), away)
	_, err := g.Books(t.Context())
	require.ErrorIs(t, err, away)

	// It was stored, but the call was refused, so its credits come back.
	store.before, store.after = nil, away
	require.ErrorIs(t, g.Reserve(t.Context(), call("2", "b")), away)
	store.after = nil
	require.NoError(t, g.Reserve(t.Context(), call("3", "b")))
	require.Equal(t, spend.Book{InDoubt: 25, Released: 25}, booksOf(t, g).Total)

	// What could not be settled counts, until the store takes it with the next change.
	store.before = away
	require.ErrorIs(t, g.Release(t.Context(), "3"), away)
	store.before = nil
	require.Equal(t, spend.Book{InDoubt: 25, Released: 25}, booksOf(t, spend.NewSharedGuard(35, perCall, store)).Total)
	require.NoError(t, g.Reserve(t.Context(), call("4", "b")))
	require.Equal(t, spend.Book{InDoubt: 25, Released: 50}, booksOf(t, g).Total)

	// Settled twice, because the first error was wrong.
	store.after = away
	require.ErrorIs(t, g.Commit(t.Context(), "4"), away)
	store.after = nil
	require.NoError(t, g.Reserve(t.Context(), call("5", "a")))
	require.Equal(t, spend.Book{Committed: 25, InDoubt: 10, Released: 50}, booksOf(t, g).Total)
}

// hanging waits for the end of the context.
type hanging struct{}

func (hanging) Update(ctx context.Context, _ func([]byte) ([]byte, error)) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestGuard_StoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := spend.NewSharedGuard(35, perCall, hanging{})
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		time.AfterFunc(time.Second, cancel)
		require.Error(t, g.Commit(ctx, "1"))
		require.Equal(t, 1400*time.Millisecond, time.Since(began), "the end of a call outlives its context, but not for long")
		require.ErrorIs(t, g.Reserve(ctx, call("1", "a")), context.Canceled)
		began = time.Now()
		require.Error(t, g.Commit(t.Context(), "1"))
		require.Equal(t, 5400*time.Millisecond, time.Since(began))
		require.ErrorIs(t, spend.NewGuard(35, perCall).Reserve(ctx, call("1", "a")), context.Canceled)
	})
}

// A store that ignores its context holds no settlement for long. What it was told counts once it returns, or with the next change.
func TestGuard_StoreThatIgnoresItsContext(t *testing.T) {
	for _, dies := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store, hang := new(shelf), make(chan struct{})
			g := spend.NewSharedGuard(35, perCall, store)
			require.NoError(t, g.Reserve(t.Context(), call("1", "b")))
			store.wait = func() { <-hang }
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			began := time.Now()
			require.ErrorIs(t, g.Release(ctx, "1"), context.Canceled)
			require.LessOrEqual(t, time.Since(began), time.Second/2)
			if dies {
				store.before = errors.New("connection lost")
			}
			close(hang)
			synctest.Wait()
			store.before = nil
			require.NoError(t, g.Reserve(t.Context(), call("2", "b")))
			require.Equal(t, spend.Book{InDoubt: 25, Released: 25}, booksOf(t, g).Total)
		})
	}
}

// A reservation whose store panics is of a call that is not sent.
func TestGuard_StoreThatPanics(t *testing.T) {
	store := new(shelf)
	g := spend.NewSharedGuard(35, perCall, store)
	store.stored = func() { panic("in the store") }
	require.Panics(t, func() { _ = g.Reserve(t.Context(), call("1", "b")) })
	store.stored = nil
	require.NoError(t, g.Reserve(t.Context(), call("2", "b")))
	require.Equal(t, spend.Book{InDoubt: 25, Released: 25}, booksOf(t, g).Total)
}

func TestGuard_RefusesAStateThatItDoesNotKnow(t *testing.T) {
	for _, state := range []string{
		"null", "{}", "[]", "{", `{"version":2}`, `{"version":1,"more":0}`, `{"version":1} {}`, `{"version":1,"books":{"a":null}}`,
		`{"version":1,"books":{"a":{"committed":-1}}}`, `{"version":1,"reserved":{"1":{"op":"a","credits":-1}}}`,
		`{"version":1,"reserved":{"1":{"op":"a","credits":1,"each":1,"results":2}}}`,
	} {
		store := &shelf{state: []byte(state)}
		g := spend.NewSharedGuard(100, perCall, store)
		require.Error(t, g.Reserve(t.Context(), call("1", "free")), state)
		require.Equal(t, state, string(store.state))
	}
}

func TestGuard_Invalid(t *testing.T) {
	require.EqualError(t, spend.NewGuard(-1, spend.Prices{"a": {PerCall: -1}, "b": {PerItem: 1}, "c": {ItemsIn: "x"}}).Err(),
		"the cap of -1 credits is negative\nthe price of a is negative\n"+
			"the price of b has only one of PerItem and ItemsIn\nthe price of c has only one of PerItem and ItemsIn")
	for _, price := range []spend.Price{{PerItem: -1, ItemsIn: "x"}, {PerResult: -1}, {Runs: -1}} {
		require.EqualError(t, spend.NewGuard(0, spend.Prices{"a": price}).Err(), "the price of a is negative")
	}
	require.NoError(t, spend.NewGuard(0, spend.Prices{"a": {}}).Err(), "nothing but what is free")
	require.EqualError(t, spend.NewSharedGuard(1, nil, nil).Err(), "the store is nil")
	for _, g := range []*spend.Guard{nil, new(spend.Guard)} {
		require.EqualError(t, g.Err(), "it was not made by NewGuard")
		_, err := g.Books(t.Context())
		require.EqualError(t, err, "it was not made by NewGuard")
	}
	require.Error(t, new(spend.Guard).Reserve(t.Context(), call("1", "a")))
	require.Error(t, new(spend.Guard).Release(t.Context(), "1"))
	var none *spend.Guard
	require.NoError(t, none.Check(t.Context(), call("1", "a")))
	for _, outcome := range []string{"applied", "not applied", "unknown"} {
		require.NoError(t, none.Settle(t.Context(), "1", outcome, 1))
	}
}

func TestGuard_CopiesThePrices(t *testing.T) {
	prices := spend.Prices{"a": {PerCall: 10}}
	g := spend.NewGuard(5, prices)
	prices["a"] = spend.Price{}
	require.ErrorIs(t, g.Reserve(t.Context(), call("1", "a")), spend.ErrCap)
}

func TestGuard_HugeNumbers(t *testing.T) {
	g := spend.NewGuard(math.MaxInt64-1, spend.Prices{"a": {PerCall: math.MaxInt64, PerResult: math.MaxInt64}, "b": {PerCall: math.MaxInt64 - 1}})
	require.ErrorIs(t, g.Reserve(t.Context(), spend.Call{ID: "1", Op: "a", Results: 100}), spend.ErrCap)
	require.NoError(t, g.Reserve(t.Context(), call("2", "b")))
	require.ErrorIs(t, g.Reserve(t.Context(), call("3", "b")), spend.ErrCap)
	require.Zero(t, booksOf(t, g).Left)
	g = spend.NewGuard(math.MaxInt64-1, spend.Prices{"a": {PerResult: 1 << 62}})
	for results := 2; results <= 4; results++ {
		require.ErrorIs(t, g.Reserve(t.Context(), spend.Call{ID: "1", Op: "a", Results: results}), spend.ErrCap)
	}
}

// A state from outside never lifts the cap, and never ends the program.
func FuzzGuard_State(f *testing.F) {
	store := new(shelf)
	g := spend.NewSharedGuard(100, perCall, store)
	require.NoError(f, g.Reserve(f.Context(), call("1", "a")))
	require.NoError(f, g.Reserve(f.Context(), spend.Call{ID: "2", Op: "s", Results: 4}))
	require.NoError(f, g.Commit(f.Context(), "1"))
	f.Add(store.state)
	f.Add([]byte(`{"version":1,"books":{"a":{"committed":9223372036854775807}},"reserved":{"2":{"op":"a","credits":9223372036854775807}}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, state []byte) {
		store := &shelf{state: state}
		g := spend.NewSharedGuard(100, perCall, store)
		before, err := g.Books(t.Context())
		if err != nil {
			require.Error(t, g.Reserve(t.Context(), call("new", "free")))
			require.Equal(t, state, store.state)
			return
		}
		require.GreaterOrEqual(t, before.Left, int64(0))
		if g.Reserve(t.Context(), call("new", "a")) == nil {
			after := booksOf(t, g)
			require.LessOrEqual(t, after.Total.Committed+after.Total.InDoubt, int64(100))
		}
		_ = g.Commit(t.Context(), "2")
		booksOf(t, g)
	})
}
