package sim

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// alone is the saturated surface of the goals: 120 a minute, 10,000 a day, ten minutes.
func alone(seed uint64, m Model, workers int) Config {
	return Config{
		Seed: seed, Model: m, PerMinute: 120, PerDay: 10_000, Documents: true, Run: 10 * time.Minute, Workers: workers,
	}
}

// seeds multiplies the runs of a kind.
var seeds = flag.Uint64("seeds", 1, "how many times as many runs of a kind")

func TestAlone(t *testing.T) {
	calls := 0
	for _, m := range Models {
		for _, workers := range []int{1, 8, 50, 200} {
			for _, latency := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, time.Second} {
				for seed := range 2 * *seeds {
					c := alone(seed, m, workers)
					c.Latency, c.RoundDown = latency, seed%2 == 1
					r := Run(t, c)
					name := fmt.Sprintf("%s, %d workers, %s, seed %d: %s", m, workers, latency, seed, r)
					require.Zero(t, r.Refused, name)
					require.GreaterOrEqual(t, r.Jain, 0.98, name)
					slack := 0.5
					if m == Counter { // it serves nobody while the first minute's requests weigh as much as they did
						slack = 0.75
					}
					windows := float64(workers/c.PerMinute + 1)
					require.Less(t, r.LongestWait.Minutes(), windows+slack, name)
					if workers >= 8 && latency < time.Second {
						require.GreaterOrEqual(t, r.Use, 0.99, name)
					}
					if m == Bucket && workers <= 8 && latency < time.Second { // it is used as it refills: nobody waits for a whole minute
						require.Greater(t, float64(r.Calls), 0.98*float64(r.Servable), name)
						require.Less(t, r.LongestWait, 15*time.Second, name)
					}
					calls += r.Calls
				}
			}
		}
	}
	require.Greater(t, calls, 100_000*int(*seeds))
}

func TestEverySurface(t *testing.T) {
	for _, limits := range [][2]int{{20, 1000}, {30, 1000}, {30, 2000}, {60, 5000}, {7, 50}} {
		for _, m := range Models {
			for _, documents := range []bool{true, false} {
				c := alone(3, m, 50)
				c.PerMinute, c.PerDay, c.Documents = limits[0], limits[1], documents
				r := Run(t, c)
				require.Zero(t, r.Refused, "%v %s, documented %v: %s", limits, m, documents, r)
				require.GreaterOrEqual(t, r.Use, 0.97, "%v %s, documented %v: %s", limits, m, documents, r)
			}
		}
	}
}

func TestBothWindowsOverTwoDays(t *testing.T) {
	for _, m := range []Model{Aligned, First, Sliding} {
		c := alone(5, m, 8)
		c.PerMinute, c.PerDay, c.Run = 20, 1000, 48*time.Hour
		r := Run(t, c)
		require.Zero(t, r.Refused, "%s: %s", m, r)
		require.GreaterOrEqual(t, r.Calls, 1990, "%s: %s", m, r)
	}
}

func TestColdBurst(t *testing.T) {
	for whole, want := range map[bool]int{false: 102, true: 119} {
		c := alone(6, First, 200)
		c.Whole, c.Run = whole, 20*time.Second
		require.GreaterOrEqual(t, Run(t, c).Early, want)
	}
}

func TestHerd(t *testing.T) {
	for seed := range 10 * *seeds {
		c := alone(seed, Aligned, 200)
		c.Drained = true
		require.Equal(t, 1, Run(t, c).Refused, "seed %d", seed)
	}
}

// A refusal that no window explains costs its pause, and no more: the figures before and after it say that there is room.
func TestStrayRefusal(t *testing.T) {
	for _, m := range Models {
		for _, workers := range []int{1, 8, 50} {
			c := alone(8, m, workers)
			c.Run, c.Latency = 5*time.Minute, 20*time.Millisecond
			var without Result
			for i, stray := range []time.Duration{time.Second, 3 * time.Second, 20 * time.Second, 65 * time.Second, 200 * time.Second} {
				if i == 1 {
					c.Latency = 200 * time.Millisecond
				}
				if c.Stray = 0; i <= 1 {
					without = Run(t, c)
				}
				c.Stray = stray
				r := Run(t, c)
				name := fmt.Sprintf("%s, %d workers, stray at %s: %s, without it: %s", m, workers, stray, r, without)
				require.Zero(t, r.Refused, name)
				require.GreaterOrEqual(t, r.Calls, without.Calls-8, name)
			}
		}
	}
}

// Where the refusals of the service have no figures, those that others caused cost us hardly more than with figures. With fewer seeds, chance
// decides.
func TestUntoldRefusals(t *testing.T) {
	for _, m := range Models {
		for _, mate := range []Mate{{PerSecond: 1}, {Burst: 60, Every: 90 * time.Second}} {
			refused := map[bool]int{}
			for _, untold := range []bool{false, true} {
				for seed := range uint64(30) {
					c := alone(seed, m, 8)
					c.Mate, c.Untold = mate, untold
					refused[untold] += Run(t, c).Refused
				}
			}
			require.LessOrEqual(t, refused[true], refused[false]+refused[false]/10+1, "%s, %+v", m, mate)
		}
	}
}

func TestRestarts(t *testing.T) {
	for _, m := range []Model{Aligned, First, Sliding} {
		c := alone(7, m, 100)
		c.Restart, c.Whole = 20*time.Second, true
		r := Run(t, c)
		require.LessOrEqual(t, r.Refused, 30, "%s: %s", m, r) // at most one for each start
	}
}

func TestLostAnswers(t *testing.T) {
	for _, m := range Models {
		for seed := range 6 * *seeds {
			c := alone(seed, m, 50)
			c.Lost = 0.05
			r := Run(t, c)
			require.Zero(t, r.Refused, "%s, seed %d: %s", m, seed, r)
			require.GreaterOrEqual(t, r.Use, 0.88, "%s, seed %d: %s", m, seed, r)
		}
	}
}

func TestNoHeaders(t *testing.T) {
	for _, m := range Models {
		c := alone(9, m, 50)
		c.Bare = true
		r := Run(t, c)
		require.Zero(t, r.Refused, "%s: %s", m, r)
		require.GreaterOrEqual(t, r.Use, 0.97, "%s: %s", m, r)
	}
}

// A teammate costs us few refusals. One who sends at an even rate is refused seldom; one who sends bursts, as often as the window is
// used up when they come, as nothing is kept for a burst.
func TestTeammates(t *testing.T) {
	for _, mate := range []Mate{{PerSecond: 1}, {PerSecond: 0.2}, {Burst: 60, Every: 90 * time.Second}, {Burst: 40, Every: time.Minute}} {
		for _, m := range Models {
			for _, workers := range []int{1, 50} {
				if raced && workers > 1 {
					continue
				}
				c := alone(0, m, workers)
				c.Mate, c.Run = mate, 30*time.Minute
				r := average(t, c, 4)
				name := fmt.Sprintf("%+v %s, %d workers: %s", mate, m, workers, r)
				require.Less(t, r.Refused*50, r.Calls, name)
				require.GreaterOrEqual(t, r.Use, 0.9, name)
				if mate.Burst == 0 {
					require.Less(t, r.Refused*500, r.Calls, name)
					require.Less(t, r.refusedMates(), 23.0, name)
				}
			}
		}
	}
}

// A teammate who comes late, after minutes in which nobody was there, is seen within one window of the service.
func TestATeammateArrives(t *testing.T) {
	for _, m := range []Model{Aligned, First} {
		c := alone(0, m, 50)
		c.Mate, c.Run = Mate{PerSecond: 1, From: 3 * time.Minute}, 6*time.Minute
		r := average(t, c, 20)
		require.Less(t, r.refusedMates(), 40.0, "%s: %s", m, r)
		require.LessOrEqual(t, r.Refused, 2, "%s: %s", m, r)
	}
}

// Processes that do not share a budget take each other for teammates.
func TestProcesses(t *testing.T) {
	for _, m := range []Model{Aligned, First, Sliding} {
		c := alone(10, m, 40)
		c.Processes = 4
		r := Run(t, c)
		require.Less(t, r.Refused*40, r.Calls, "%s: %s", m, r)
	}
}
