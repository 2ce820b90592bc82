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
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/internal/sim"
)

var (
	seedsFlag    = flag.Int("seeds", 100, "how many seeds TestSimulation runs")
	fromFlag     = flag.Uint64("from", 0, "the first of them")
	programsFlag = flag.String("programs", "", "three, instead of those that a seed draws, such as caller,caller,caller")
	twiceFlag    = flag.Int("twice", 20, "how many seeds TestSimulation_SameSeedSameTrace runs twice")
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
	var steps, calls atomic.Int64
	reached := &marks{all: map[string]bool{}}
	var sum atomic.Uint64
	broken := eachSeed(*fromFlag, *seedsFlag, func(n uint64) bool {
		r := Run(sim.Seed{Number: n}, false)
		steps.Add(int64(len(r.Steps)))
		sum.Add(r.Sum)
		reached.add(r.Reached)
		calls.Add(int64(r.Calls))
		return r.Err == nil
	})
	took := time.Since(began)
	t.Logf("%d seeds, %d steps, %d calls, traces %016x, in %v: %.0f a second and core",
		*seedsFlag, steps.Load(), calls.Load(), sum.Load(), took, float64(*seedsFlag)/took.Seconds()/float64(runtime.GOMAXPROCS(0)))
	if broken != nil {
		t.Error(report(t, Shortest(*broken)))
		return
	}
	reached.require(t, *seedsFlag >= 2000)
}

// marks are what the seeds have shown so far.
type marks struct {
	sync.Mutex

	all map[string]bool
}

func (m *marks) add(more map[string]bool) {
	m.Lock()
	defer m.Unlock()
	maps.Copy(m.all, more)
}

// require demands that enough seeds have shown everything in the file: each row of the decision table, each outcome, resolution and fault.
func (m *marks) require(t *testing.T, enough bool) {
	t.Helper()
	file := filepath.Join("testdata", "reached.txt")
	if *golden.Update {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(slices.Sorted(maps.Keys(m.all)), "\n")+"\n"), 0o600))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	if !enough {
		require.NotEmpty(t, m.all)
		return
	}
	for line := range strings.Lines(string(text)) {
		require.True(t, m.all[strings.TrimSpace(line)], "never reached: %s", line)
	}
}

// report writes the trace to a file, and returns the line.
func report(t *testing.T, r Result) string {
	t.Helper()
	file := filepath.Join(os.TempDir(), fmt.Sprintf("simulation-%d.txt", r.Seed.Number))
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(r.Lines, "\n")+"\n"), 0o600))
	command := replayVar + "=" + r.Seed.String() + " go test ./internal/simulation -run '^TestSimulation$'"
	for name, value := range map[string]string{"faults": *faultsFlag, "programs": *programsFlag} {
		if value != "" {
			command += " -" + name + " '" + value + "'"
		}
	}
	commit, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return fmt.Sprintf("%s\ncommit %s\n%s\ntrace: %s", r, strings.TrimSpace(string(commit)), command, file)
}

// eachSeed passes seeds to several goroutines until one is bad. It returns the least of those.
func eachSeed(from uint64, n int, good func(uint64) bool) (bad *uint64) {
	var next atomic.Uint64
	var mu sync.Mutex
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for {
				i := next.Add(1) - 1
				mu.Lock()
				stop := i >= uint64(n) || bad != nil
				mu.Unlock()
				if stop {
					return
				}
				if seed := from + i; !good(seed) {
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
