package waits_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/waits"
)

func TestShared_OneReadForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := waits.NewShared[int](time.Minute, 3)
		reads := 0
		list := func(context.Context) ([]int, int, error) {
			reads++
			time.Sleep(time.Second)
			return []int{reads}, 1, nil
		}
		now := time.Now()
		got := make(chan string, 10)
		for range cap(got) {
			go func() {
				items, began, err := s.Read(t.Context(), now, list)
				got <- fmt.Sprint(items, began.Sub(now), err)
			}()
		}
		time.Sleep(2 * time.Second)
		for range cap(got) {
			require.Equal(t, "[1] 0s <nil>", <-got)
		}
		require.Equal(t, 1, reads)
		// One that asks later gets a later one.
		items, began, err := s.Read(t.Context(), time.Now(), list)
		require.NoError(t, err)
		require.Equal(t, []int{2}, items)
		require.Equal(t, now.Add(2*time.Second), began)
	})
}

// Pages and reads beside the listing count, and whoever is too early waits.
func TestShared_Pace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := waits.NewShared[int](time.Minute, 4)
		start := time.Now()
		var at []time.Duration
		list := func(context.Context) ([]int, int, error) {
			at = append(at, time.Since(start))
			return nil, 2, nil
		}
		for range 4 {
			_, _, err := s.Read(t.Context(), time.Now(), list)
			require.NoError(t, err)
			time.Sleep(time.Nanosecond)
		}
		for i := range at {
			at[i] = at[i].Truncate(time.Second)
		}
		require.Equal(t, []time.Duration{0, 0, time.Minute, 3 * time.Minute}, at)
		s.Charge(3)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		_, _, err := s.Read(ctx, time.Now(), list)
		require.Equal(t, ctx.Err(), err, "as it is: not wrapped")
		require.Len(t, at, 4)
	})
}

// Whoever is content with the last listing does not wait for the next one.
func TestShared_TheLastListingAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := waits.NewShared[int](time.Minute, 1)
		began := time.Now()
		list := func(context.Context) ([]int, int, error) { return []int{7}, 1, nil }
		_, _, err := s.Read(t.Context(), began, list)
		require.NoError(t, err)
		time.Sleep(time.Second)
		go func() { _, _, _ = s.Read(t.Context(), time.Now(), list) }() // it is too early for that
		synctest.Wait()
		items, at, err := s.Read(t.Context(), began, nil)
		require.NoError(t, err)
		require.Equal(t, []int{7}, items)
		require.Equal(t, began, at)
		require.Equal(t, time.Second, time.Since(began))
		time.Sleep(time.Minute)
	})
}

// The failure, the end and the panic of one waiter are not those of the others.
func TestShared_FailuresAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := waits.NewShared[int](time.Minute, 10)
		wrong := errors.New("wrong")
		for _, fail := range []func() error{func() error { return wrong }, func() error { panic("wrong") }} {
			now := time.Now()
			go func() {
				defer func() { _ = recover() }()
				_, _, err := s.Read(t.Context(), now, func(context.Context) ([]int, int, error) {
					time.Sleep(time.Second)
					return nil, 1, fail()
				})
				if !errors.Is(err, wrong) {
					t.Error(err)
				}
			}()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, _, err := s.Read(ctx, now, nil)
			cancel()
			require.Equal(t, ctx.Err(), err, "as it is: not wrapped")
			items, _, err := s.Read(t.Context(), now, func(context.Context) ([]int, int, error) { return []int{7}, 1, nil })
			require.NoError(t, err)
			require.Equal(t, []int{7}, items)
			time.Sleep(time.Second)
		}
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	require.Positive(t, waits.Backoff(t.Context(), math.MaxInt64/2+2, math.MaxInt64, 2))
	for n, most := range map[int]time.Duration{1: 100, 2: 200, 3: 400, 4: 500, 90: 500} {
		least, longest := most, time.Duration(0)
		for range 500 {
			d := waits.Backoff(t.Context(), 100, 500, n)
			least, longest = min(least, d), max(longest, d)
			require.GreaterOrEqual(t, d, most/2)
			require.LessOrEqual(t, d, most)
		}
		require.Less(t, least, most*6/10)
		require.Greater(t, longest, most*9/10, "the jitter is over the whole upper half")
	}
}

func TestSleep_EndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		require.ErrorIs(t, waits.Sleep(ctx, 0), context.Canceled)
	}
}

// A wait that ends with the deadline leaves no time for what comes after it.
func TestEndsWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.True(t, waits.EndsWithin(ctx, time.Second))
		require.False(t, waits.EndsWithin(ctx, time.Second-time.Nanosecond))
		require.False(t, waits.EndsWithin(t.Context(), time.Hour))
	})
}

func TestUntil_BeforeTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for limit, want := range map[time.Duration]time.Duration{time.Second: 0, time.Second + 1: time.Second, 3 * time.Second: time.Second, 3*time.Second + 1: 3 * time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			began := time.Now()
			enough, err := waits.Until(ctx, time.Hour, func(int, time.Duration) {}, func() (bool, error) { return false, nil })
			require.NoError(t, err)
			require.False(t, enough, "another sleep and the context would end at once")
			require.Equal(t, want, time.Since(began))
			cancel()
		}
	})
}
