package budget

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A weighed count is the highest for any instant at which the window may have begun, as counting each request for each of them tells.
func TestWeighedIsTheHighestOfAllBeginnings(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var l WindowCount
		now := Instant(0)
		for range 5 + random.IntN(200) { // the slots are used again and again
			now += Instant(random.IntN(12)) * second
			l.expire(now, minute)
			l.add(now, minute, 1+random.Int64N(9))
		}
		now += Instant(random.IntN(40)) * second
		l.expire(now, minute)
		from := now - Instant(random.IntN(60))*second
		to := min(now, from+Instant(random.IntN(30))*second)
		want := 0.0
		for began := from; began <= to; began += second / 2 { // all requests are at whole seconds
			var current, before int64
			for i := -l.Past; i < l.Used; i++ {
				switch at, n := l.At[l.slot(i)], l.N[l.slot(i)]; {
				case at >= began:
					current += n
				case at >= began-minute:
					before += n
				}
			}
			want = max(want, float64(current)+float64(before)*(1-float64(now-began)/float64(minute)))
		}
		require.InDelta(t, want, l.weighed(now, minute, from, to), 1e-6)
	}
}
