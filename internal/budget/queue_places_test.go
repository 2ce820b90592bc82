package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// How many go before a call in the queue is how many do, if nobody else comes.
func TestPlacesInTheQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queue := Queue{State: *opened(Config{}, told(1000, 999, time.Minute)), streak: rapid.IntRange(0, streakMax).Draw(t, "streak")}
		var all []*Waiter
		for _, p := range rapid.SliceOfN(rapid.IntRange(0, 1), 1, 20).Draw(t, "priorities") {
			all = append(all, &Waiter{Priority: Priority(p)})
			queue.Join(all[len(all)-1])
		}
		if len(queue.queues[Batch]) == 0 || len(queue.queues[Interactive]) == 0 {
			queue.streak = 0
		}
		var want [2]int
		for _, w := range all {
			want[w.Priority]++
		}
		require.Equal(t, want[Interactive], queue.Ahead(Interactive))
		require.Equal(t, len(all), queue.Ahead(Batch))
		before := make(map[*Waiter]int)
		for _, w := range all {
			before[w] = queue.before(w)
		}
		var granted []*Waiter
		queue.Pump(second, func(w *Waiter) { granted = append(granted, w) })
		require.Len(t, granted, len(all))
		for n, w := range granted {
			require.Equal(t, n, before[w], "waiter of priority %d", w.Priority)
		}
	})
}

// What is reserved for interactive calls lets them pass the batch call whose turn it is. Nobody passes who waits for the same.
func TestPumpLeavesTheReserve(t *testing.T) {
	s := opened(Config{PerMinute: 20, Reserve: 5}, told(20, 3, time.Minute))
	l := Limiter{queue: Queue{State: *s, streak: streakMax}, start: time.Unix(0, 0)}
	queue := &l.queue
	batch, one, two := &Waiter{Priority: Batch}, &Waiter{}, &Waiter{}
	for _, w := range []*Waiter{batch, one, two} {
		queue.Join(w)
	}
	var granted []*Waiter
	d := queue.Pump(second, func(w *Waiter) { granted = append(granted, w) })
	require.Equal(t, []*Waiter{one, two}, granted)
	require.False(t, d.News)
	require.Equal(t, 1, queue.Waiting())
	require.True(t, one.Permit.Valid())
	require.NotEqual(t, Permit{}, two.Permit)
	var p Permit
	require.False(t, l.Take(time.Unix(1, 0), Interactive, &p), "somebody waits")
	queue.Leave(batch)
	queue.Leave(batch)
	require.Zero(t, queue.Waiting())
	require.True(t, l.Take(time.Unix(1, 0), Interactive, &p))
	granted = nil
	d = queue.Pump(second, func(w *Waiter) { granted = append(granted, w) })
	require.Empty(t, granted)
	require.Zero(t, d)
}

// Requests in a row count only while a batch call waits.
func TestStreak(t *testing.T) {
	queue := Queue{State: *opened(Config{}, told(1000, 999, time.Minute))}
	for range 5 {
		queue.Join(&Waiter{})
	}
	queue.Pump(second, func(*Waiter) {})
	require.Zero(t, queue.streak)
	batch := &Waiter{Priority: Batch}
	queue.Join(batch)
	for range streakMax {
		queue.Join(&Waiter{})
	}
	var granted []*Waiter
	queue.Pump(second, func(w *Waiter) { granted = append(granted, w) })
	require.Same(t, batch, granted[streakMax])
	require.Zero(t, queue.streak)
}
