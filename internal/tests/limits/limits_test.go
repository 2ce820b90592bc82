package limits_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// average is the sum of some runs of a kind, with round trips that take more or less equally long.
func (r run) average(t *testing.T, seeds uint64) (sum result) {
	t.Helper()
	for seed := range seeds {
		r.seed = seed
		if r.spread == 0 {
			r.spread = 0.1 * float64(seed)
		}
		sum = sum.plus(r.do(t))
	}
	return sum
}

// steady are the services that give back all that is older than a minute.
var steady = []model{aligned, first, sliding, bucket}

// Alone, a client is never refused, and uses what there is, whatever the headers look like, and how far away the service is.
func TestAlone(t *testing.T) {
	for _, m := range steady {
		for name, r := range map[string]run{
			"two hundred":       {goroutines: 200},
			"two hundred, 30":   {goroutines: 200, campaigns: true},
			"one":               {goroutines: 1, latency: 100 * time.Millisecond},
			"near":              {goroutines: 50, latency: 20 * time.Millisecond},
			"far":               {goroutines: 50, latency: 3 * time.Second, spread: 0.35},
			"far, 30":           {goroutines: 50, latency: 3 * time.Second, spread: 0.35, campaigns: true},
			"rounded down":      {goroutines: 50, spread: 0.35, roundDown: true, nextToken: true},
			"time stamps":       {goroutines: 50, spread: 0.35, stamps: true, skew: 37 * time.Minute},
			"no headers":        {goroutines: 50, spread: 0.35, bare: true},
			"a larger plan":     {goroutines: 50, perMinute: 600, perDay: 100_000},
			"a stray refusal":   {goroutines: 50, spread: 0.35, stray: 65 * time.Second},
			"a stray, headless": {goroutines: 50, spread: 0.35, stray: 65 * time.Second, untold: true},
		} {
			r.model, r.processes = m, 1
			got := r.average(t, 2)
			require.Zero(t, got.refused, "%s, %s: %s", name, m, got)
			require.GreaterOrEqual(t, got.use(), 0.96, "%s, %s: %s", name, m, got)
		}
		for _, r := range []run{{lost: 0.05}, {endless: true}, {perMinute: 7, perDay: 5000}} {
			r.model, r.processes, r.goroutines = m, 1, 50
			got := r.average(t, 2)
			require.Zero(t, got.refused, "%+v: %s", r, got)
			require.GreaterOrEqual(t, got.use(), 0.8, "%+v: %s", r, got)
		}
	}
}

// A day that runs out is waited for.
func TestDayRunsOut(t *testing.T) {
	for _, m := range steady {
		got := run{model: m, processes: 1, goroutines: 8, perMinute: 20, perDay: 300, length: 48 * time.Hour}.do(t)
		require.Zero(t, got.refused, "%s: %s", m, got)
		require.GreaterOrEqual(t, got.use(), 0.99, "%s: %s", m, got)
	}
}

// A service that weighs its last window is not understood: that costs use, and next to no refusals.
func TestWeighing(t *testing.T) {
	for _, campaigns := range []bool{false, true} {
		got := run{model: weighing, campaigns: campaigns, processes: 1, goroutines: 50}.average(t, 40)
		require.LessOrEqual(t, got.refusals(), 0.03, got)
		require.GreaterOrEqual(t, got.use(), 0.5, got)
	}
}

// fleets are processes and goroutines.
var fleets = [][2]int{{4, 4}, {8, 8}, {16, 1}}

// Processes of a fleet know of each other by the headers only.
func TestFleets(t *testing.T) {
	for _, m := range steady {
		for _, campaigns := range []bool{false, true} {
			for _, shape := range fleets {
				got := run{model: m, campaigns: campaigns, processes: shape[0], goroutines: shape[1]}.average(t, 9)
				name := fmt.Sprintf("%v, %d a minute, %s: %s", shape, got.quota/90, m, got)
				t.Log(name)
				use, refusals := 0.9, 0.05
				if campaigns { // two requests a minute of a process tell little
					use, refusals = 0.89, 0.11
				}
				require.GreaterOrEqual(t, got.use(), use, name)
				require.LessOrEqual(t, got.refusals(), refusals, name)
				require.Zero(t, got.failed, name)
				require.GreaterOrEqual(t, got.least, 0.2, name)
			}
		}
	}
}

// Processes that come later get their part.
func TestFleetsGrow(t *testing.T) {
	for _, m := range steady {
		for _, campaigns := range []bool{false, true} {
			got := run{model: m, campaigns: campaigns, processes: 4, goroutines: 4, spread: 0.1, late: 3 * time.Minute, length: 20 * time.Minute}.do(t)
			require.GreaterOrEqual(t, got.use(), 0.87, "%s: %s", m, got)
			require.LessOrEqual(t, got.refusals(), 0.02, "%s: %s", m, got)
			require.GreaterOrEqual(t, got.least, 0.12, "%s: %s", m, got)
			require.Zero(t, got.failed)
		}
	}
}

// Without headers, only refusals tell of others.
func TestFleetsWithoutHeaders(t *testing.T) {
	for _, m := range steady {
		for _, campaigns := range []bool{false, true} {
			got := run{model: m, campaigns: campaigns, processes: 4, goroutines: 4, bare: true}.average(t, 2)
			require.GreaterOrEqual(t, got.use(), 0.8, "%s: %s", m, got)
			require.LessOrEqual(t, got.refusals(), 0.2, "%s: %s", m, got)
			require.LessOrEqual(t, got.failed*100, got.sent, "%s: %s", m, got)
		}
	}
}

// A teammate without a limiter, who takes half of the limit at random moments, is seldom refused, and so are we.
func TestTeammate(t *testing.T) {
	for _, m := range steady {
		for _, goroutines := range []int{1, 50} {
			for campaigns, mate := range map[bool]float64{false: 1, true: 0.25} {
				got := run{model: m, campaigns: campaigns, processes: 1, goroutines: goroutines, mate: mate}.average(t, 8)
				name := fmt.Sprintf("%d goroutines, %d a minute, %s: %s", goroutines, got.quota/80, m, got)
				t.Log(name)
				require.LessOrEqual(t, got.mates(), 0.14, name)
				require.LessOrEqual(t, got.refusals(), 0.04, name)
				require.GreaterOrEqual(t, got.use(), 0.8, name)
			}
		}
	}
}

// So do the pages that a walk reads ahead, however long they take.
func TestTeammate_OfAWalk(t *testing.T) {
	for _, m := range steady {
		for _, latency := range []time.Duration{100 * time.Millisecond, time.Second, 2 * time.Second} {
			got := run{model: m, processes: 1, goroutines: 1, walks: true, latency: latency, mate: 1}.average(t, 8)
			name := fmt.Sprintf("pages of %s, %s: %s", latency, m, got)
			t.Log(name)
			require.LessOrEqual(t, got.mates(), 0.1, name)
			require.LessOrEqual(t, got.refusals(), 0.04, name)
			require.Zero(t, got.failed, name)
		}
	}
}

// A burst of calls does not wait for teammates who are not there, but for the last ones.
func TestColdBurst(t *testing.T) {
	require.GreaterOrEqual(t, run{model: first, processes: 1, goroutines: 200, length: 20 * time.Second}.do(t).early, 102)
}
