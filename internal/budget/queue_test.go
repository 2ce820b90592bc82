package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestLineKeepsOrder: whoever joins, leaves and is admitted, within a priority the order of joining is kept exactly, nobody is
// passed more often than allowed and nobody is forgotten.
func TestLineKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queue := Queue{State: NewState(Config{})}
		var expected [2][]*Waiter
		now, passed, served, left, joined := Instant(1), 0, 0, 0, 0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += second
			switch p := Priority(rapid.IntRange(0, 1).Draw(t, "priority")); rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				w := &Waiter{Priority: p}
				queue.Join(w)
				expected[p] = append(expected[p], w)
				joined++
			case 2:
				if n := len(expected[p]); n > 0 {
					i := rapid.IntRange(0, n-1).Draw(t, "leaver")
					queue.Leave(expected[p][i])
					expected[p] = append(expected[p][:i:i], expected[p][i+1:]...)
					left++
				}
			case 3:
				var granted []*Waiter
				queue.Pump(now, func(w *Waiter) { granted = append(granted, w) })
				for _, w := range granted {
					require.Same(t, expected[w.Priority][0], w)
					expected[w.Priority] = expected[w.Priority][1:]
					served++
					if w.Priority == Batch || len(expected[Batch]) == 0 {
						passed = 0
					} else {
						passed++
					}
					require.LessOrEqual(t, passed, streakMax)
					queue.State.Report(now, w.Permit, told(120, rapid.IntRange(0, 4).Draw(t, "remaining"), 0))
				}
			}
			require.Equal(t, joined-left-served, queue.Waiting())
		}
	})
}

// TestOrderIsThatOfThePump: what is asked of a store for those who wait is what they would be given in turn.
func TestOrderIsThatOfThePump(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queue := Queue{State: *opened(Config{}, told(1000, 999, time.Minute)), streak: rapid.IntRange(0, streakMax).Draw(t, "streak")}
		for _, p := range rapid.SliceOfN(rapid.IntRange(0, 1), 0, 20).Draw(t, "priorities") {
			queue.Join(&Waiter{Priority: Priority(p)})
		}
		if len(queue.queues[Batch]) == 0 {
			queue.streak = 0
		}
		n := rapid.IntRange(0, 25).Draw(t, "most")
		order := queue.order(n)
		var granted []*Waiter
		queue.Pump(second, func(w *Waiter) { granted = append(granted, w) })
		want := []Priority{}
		for _, w := range granted[:min(n, len(granted))] {
			want = append(want, w.Priority)
		}
		require.Equal(t, want, order)
	})
}
