package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A reset that is as far away as it takes to refill what is missing is evidence of a bucket, and another one refutes it.
func TestEvidenceOfABucket(t *testing.T) {
	for name, c := range map[string]struct {
		limit, left int64
		reset       Instant
		window      Window
		before      int8
		want        int8
	}{
		"fits":                   {60, 30, 30 * second, Minute, 3, 4},
		"a second later":         {60, 30, 31 * second, Minute, 3, 4},
		"later":                  {60, 30, 31*second + 1, Minute, 3, 0},
		"two seconds before":     {60, 30, 28 * second, Minute, 3, 4},
		"earlier":                {60, 30, 28*second - 1, Minute, 3, 0},
		"nearly full, any would": {60, 55, 5 * second, Minute, 3, 3},
		"nearly full, but not":   {60, 55, 7 * second, Minute, 3, 0},
		"more is missing":        {60, 54, 6 * second, Minute, 3, 4},
		"enough evidence":        {60, 30, 30 * second, Minute, refillsMost, refillsMost},
		"a small limit":          {20, 10, 30 * second, Minute, 3, 4},
		"a smaller one":          {15, 5, 40 * second, Minute, 3, 3},
		"of the day":             {60, 30, 12 * 60 * minute, Day, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewState(Config{PerMinute: int(c.limit), PerDay: int(c.limit)})
			s.Refills = c.before
			o := Observation{Limit: int(c.limit), HasReset: true, Reset: c.reset.Duration()}
			s.learnRefilling(&Permit{}, &o, c.window, c.left)
			require.Equal(t, c.want, s.Refills)
			o.HasReset = false
			s.learnRefilling(&Permit{}, &o, c.window, c.left)
			require.Equal(t, c.want, s.Refills)
		})
	}
}

// Resets that come and give back next to nothing, again and again, tell of the next token of a bucket.
func TestWhatDrips(t *testing.T) {
	for name, c := range map[string]struct {
		before      int8
		left        int64
		reset, sent Instant
		want        int8
	}{
		"the told reset is over":  {1, 10, second, 30 * second, 2},
		"it is not, yet":          {1, 10, second, 30*second - 1, 1},
		"another one, later":      {1, 10, 2 * second, 30 * second, 2},
		"another one, much later": {2, 10, 2*second + 1, 30 * second, 0},
		"nearly full":             {2, 55, 5 * second, 30 * second, 2},
		"enough of them":          {drips, 10, second, 30 * second, drips},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewState(Config{PerMinute: 60})
			s.Drips, s.Figures = c.before, Figures{Valid: true, Window: Minute, HasReset: true, ResetBy: 30 * second}
			learn := func() {
				s.learnRefilling(&Permit{At: c.sent}, &Observation{Limit: 60, HasReset: true, Reset: c.reset.Duration()}, Minute, c.left)
			}
			learn()
			require.Equal(t, c.want, s.Drips)
			if c.want > c.before {
				for _, f := range []Figures{{Window: Minute, HasReset: true}, {Valid: true, Window: Day, HasReset: true}, {Valid: true, Window: Minute}} {
					s.Figures = f
					learn()
					require.Equal(t, c.want, s.Drips)
				}
			}
		})
	}
}

// An edge is one once five seconds of the full rate did not move it, if responses are younger than that.
func TestWhenAnEdgeIsSettled(t *testing.T) {
	s := NewState(Config{PerMinute: 60})
	s.Edges[Minute].Since = 100
	for more, want := range map[int64]bool{0: false, 5: false, 6: true, 50: true} {
		s.Completed = 100 + more
		for i := range s.Open {
			s.Open[i].Trip = settled - 1
			require.Equal(t, want, s.settled(Minute), "after %d", more)
			s.Open[i].Trip = settled
			require.False(t, s.settled(Minute))
			s.Open[i].Trip = 0
		}
	}
}
