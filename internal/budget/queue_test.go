package budget

import (
	"testing"

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
