package simulation

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/internal/sim"
)

var (
	seedsFlag = flag.Int("seeds", 100, "how many seeds TestSimulation runs")
	fromFlag  = flag.Uint64("from", 0, "the first of them")
	twiceFlag = flag.Int("twice", 20, "how many seeds TestSimulation_SameSeedSameTrace runs twice")
)

// replayVar holds a seed that was printed.
const replayVar = "SIMULATION_SEED"

// TestSimulation runs seeds until a law breaks. The line that it prints is a command that replays the failure.
func TestSimulation(t *testing.T) {
	if text := os.Getenv(replayVar); text != "" {
		seed, err := sim.ParseSeed(text)
		require.NoError(t, err)
		if r := Run(seed, true); r.Err != nil {
			t.Error(report(t, r))
		}
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // a run holds little, and leaves a lot
	began := time.Now()
	var mu sync.Mutex
	steps, calls, sum, reached := 0, 0, uint64(0), map[string]bool{}
	broken := eachSeed(*fromFlag, *seedsFlag, func(n uint64) bool {
		r := Run(sim.Seed{Number: n}, false)
		mu.Lock()
		defer mu.Unlock()
		steps, calls, sum = steps+len(r.Steps), calls+r.Calls, sum+r.Sum
		maps.Copy(reached, r.Reached)
		return r.Err == nil
	})
	took := time.Since(began)
	t.Logf("%d seeds, %d steps, %d calls, traces %016x, in %v: %.0f a second and core",
		*seedsFlag, steps, calls, sum, took, float64(*seedsFlag)/took.Seconds()/float64(runtime.GOMAXPROCS(0)))
	if broken != nil {
		t.Error(report(t, Shortest(*broken)))
		return
	}
	requireReached(t, reached, *seedsFlag >= 2000)
}

// requireReached demands that enough seeds have shown everything in the file: each row of the decision table, each outcome, resolution and fault.
func requireReached(t *testing.T, reached map[string]bool, enough bool) {
	t.Helper()
	file := filepath.Join("testdata", "reached.txt")
	if *golden.Update {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(slices.Sorted(maps.Keys(reached)), "\n")+"\n"), 0o600))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	if !enough {
		require.NotEmpty(t, reached)
		return
	}
	for line := range strings.Lines(string(text)) {
		require.True(t, reached[strings.TrimSpace(line)], "never reached: %s", line)
	}
}

// report writes the trace to a file, and returns the line.
func report(t *testing.T, r Result) string {
	t.Helper()
	file := filepath.Join(os.TempDir(), fmt.Sprintf("simulation-%d.txt", r.Seed.Number))
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(r.Lines, "\n")+"\n"), 0o600))
	command := replayVar + "=" + r.Seed.String() + " go test ./internal/simulation -run '^TestSimulation$'"
	if *faultsFlag != "" {
		command += " -faults '" + *faultsFlag + "'"
	}
	commit, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return fmt.Sprintf("%s\ncommit %s\n%s\ntrace: %s", r, strings.TrimSpace(string(commit)), command, file)
}

// eachSeed passes seeds to several goroutines until one is bad. It returns the least of those.
func eachSeed(from uint64, n int, good func(uint64) bool) (bad *uint64) {
	var mu sync.Mutex
	var all sync.WaitGroup
	next := from
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for {
				mu.Lock()
				seed, stop := next, next >= from+uint64(n) || bad != nil
				next++
				mu.Unlock()
				if stop {
					return
				}
				if !good(seed) {
					mu.Lock()
					if bad == nil || seed < *bad {
						bad = &seed
					}
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return bad
}

// One seed gives one trace, alone or beside others, however the goroutines are scheduled.
func TestSimulation_SameSeedSameTrace(t *testing.T) {
	alone := make([][]string, *twiceFlag)
	for _, procs := range []int{1, 2, 4} {
		was := runtime.GOMAXPROCS(procs)
		broken := eachSeed(*fromFlag, *twiceFlag, func(n uint64) bool {
			lines, first := Run(sim.Seed{Number: n}, true).Lines, &alone[n-*fromFlag]
			if procs == 1 {
				*first = lines
			}
			for i, line := range *first {
				if i >= len(lines) || lines[i] != line {
					t.Errorf("seed %d, GOMAXPROCS %d, line %d:\n%s\n%s", n, procs, i, line, lines[min(i, len(lines)-1)])
					return false
				}
			}
			return len(lines) == len(*first)
		})
		runtime.GOMAXPROCS(was)
		require.Nil(t, broken)
	}
}
