package budget_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/budget"
)

// Calls are served in their order, interactive ones first, and every fourth request goes to a batch call.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := budget.New(budget.Config{PerMinute: 1})
		p, err := l.Acquire(t.Context(), budget.Request{})
		require.NoError(t, err)
		l.Done(time.Now(), &budget.Report{Permit: p, Observation: budget.NoFigures})
		order := make(chan int, 10)
		for i := range 10 {
			want := budget.Request{MaxWait: time.Hour}
			if i%2 == 0 {
				want.Priority = budget.Batch
			}
			go func() {
				p, err := l.Acquire(t.Context(), want)
				assert.NoError(t, err)
				order <- i
				l.Done(time.Now(), &budget.Report{Permit: p, Observation: budget.NoFigures})
			}()
			synctest.Wait()
		}
		time.Sleep(11 * time.Minute)
		var got []int
		for range 10 {
			got = append(got, <-order)
		}
		require.Equal(t, []int{1, 3, 5, 0, 7, 9, 2, 4, 6, 8}, got)
	})
}

// A wait that cannot fit is refused at once, and one that is cancelled leaves no permit behind.
func TestAcquire_Refuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := budget.New(budget.Config{PerMinute: 1})
		p, err := l.Acquire(t.Context(), budget.Request{})
		require.NoError(t, err)
		l.Done(time.Now(), &budget.Report{Permit: p, Observation: budget.NoFigures})
		began := time.Now()
		_, err = l.Acquire(t.Context(), budget.Request{MaxWait: 59 * time.Second})
		var full *budget.WaitTooLongError
		require.ErrorAs(t, err, &full)
		require.Equal(t, began.Add(time.Minute), full.FitsAt)
		require.Equal(t, began, time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = l.Acquire(ctx, budget.Request{MaxWait: time.Hour})
		require.ErrorIs(t, err, context.Canceled)
		inFlight, _, _ := l.Own()
		require.Zero(t, inFlight)
		require.Panics(t, func() {
			_, _ = l.Acquire(t.Context(), budget.Request{MaxWait: time.Hour, Told: func(time.Duration) { panic("told") }})
		})
		inFlight, _, _ = l.Own()
		require.Zero(t, inFlight)
		require.True(t, func() bool { time.Sleep(time.Minute); return l.Take(time.Now(), &budget.Request{}, &p) }())
	})
}

// An observer that takes long holds its own call, and not those behind it.
func TestAcquire_SlowToldHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := budget.New(budget.Config{PerMinute: 2})
		for range 2 {
			p, err := l.Acquire(t.Context(), budget.Request{})
			require.NoError(t, err)
			l.Done(time.Now(), &budget.Report{Permit: p, Observation: budget.NoFigures})
		}
		began := time.Now()
		told := make(chan time.Duration, 2)
		go func() {
			p, err := l.Acquire(t.Context(), budget.Request{MaxWait: time.Hour, Told: func(time.Duration) { time.Sleep(10 * time.Minute) }})
			assert.NoError(t, err)
			told <- time.Since(began)
			l.Done(time.Now(), &budget.Report{Permit: p, Observation: budget.NoFigures})
		}()
		synctest.Wait()
		p, err := l.Acquire(t.Context(), budget.Request{MaxWait: time.Hour})
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(began), 2*time.Minute)
		l.Done(time.Now(), &budget.Report{Permit: p, Observation: budget.NoFigures})
		require.Equal(t, 10*time.Minute, <-told)
	})
}

// A call that is cancelled just as it is admitted returns its permit once: what Acquire hands out with an error is no permit.
func TestAcquire_CancelledWhileAdmitted(t *testing.T) {
	l := budget.New(budget.Config{PerMinute: 1})
	var all sync.WaitGroup
	for i := range 2000 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%500)*10*time.Microsecond)
			defer cancel()
			p, err := l.Acquire(ctx, budget.Request{MaxWait: time.Hour})
			if err != nil {
				assert.Zero(t, p)
				return
			}
			l.Done(time.Now(), &budget.Report{Permit: p, Observation: budget.Observation{NotSent: true}})
		})
	}
	all.Wait()
	inFlight, _, _ := l.Own()
	require.Zero(t, inFlight)
}

// A wait without a bound is one, however long the client has been there.
func TestAcquire_WaitsWithoutBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := budget.New(budget.Config{PerMinute: 1})
		for range 3 {
			p, err := l.Acquire(t.Context(), budget.Request{MaxWait: math.MaxInt64})
			require.NoError(t, err)
			l.Done(time.Now(), &budget.Report{Permit: p, Observation: budget.NoFigures})
		}
	})
}
