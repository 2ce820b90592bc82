// Package simulation runs programs on the client through everything that can go wrong, and holds the promises of the library after every step.
// One number decides what goes wrong, and replays it: docs/simulation.md.
package simulation

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/sim"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// Result is what one run has shown.
type Result struct {
	Seed  sim.Seed
	Err   error // the law that is broken
	Sum   uint64
	Steps []*sim.Turn
	Fired []*sim.Turn
	Lines []string
	Calls int

	Reached map[string]bool
}

// Run runs the programs that a seed draws.
func Run(seed sim.Seed, keep bool) Result {
	w := &sim.World{Seed: seed.Number, Plan: planOf(seed), Keep: keep, Pace: 100 * time.Millisecond}
	r := &run{World: w, store: new(store), copies: map[string]func(*http.Request) *http.Response{}, stale: map[*sim.Start]int{}}
	w.Check = func() error { return r.laws.check() }
	var err error
	problem := sim.Bubble(func() {
		err = w.Run(r.prepare()...)
		w.Wait()
	})
	out := Result{Seed: seed, Err: cmp.Or(err, problem), Sum: w.Sum(), Steps: w.Taken(), Fired: sim.Faulty(w.Taken()), Lines: w.Lines()}
	if r.laws != nil {
		out.Calls, out.Reached = len(r.laws.calls), r.laws.reached
		r.collect(out.Fired)
	}
	return out
}

// collect marks what the run has shown.
func (r *run) collect(fired []*sim.Turn) {
	for _, f := range fired {
		r.laws.mark("fault: %s", f.Fault)
	}
	for _, p := range r.processes {
		if p.Disk != nil {
			for what := range p.Disk.Reached {
				r.laws.mark("restart: %s", what)
			}
		}
	}
	if books, err := r.books(); err == nil && r.laws.credits > 0 {
		for what, n := range map[string]int64{"committed": books.Total.Committed, "in doubt": books.Total.InDoubt, "released": books.Total.Released} {
			if n > 0 {
				r.laws.mark("guard: %s", what)
			}
		}
	}
}

// limits are those that programs which hurry reach, and the network to them.
func (r *run) limits(random *rand.Rand) []sandbox.Option {
	kind := random.IntN(6)
	r.network = []string{"lossy", "veiled", "late"}[kind%3]
	if kind < 3 {
		return []sandbox.Option{sandbox.Limits(tightLimits())}
	}
	return []sandbox.Option{sandbox.Limits(tightLimits()), sandbox.SlidingWindows()}
}

// prepare makes the service and the processes. What it draws, it draws in this order.
func (r *run) prepare() []*sim.Process {
	random := sim.Draws(r.Seed, "service")
	r.clock = &serviceClock{Clock: sandbox.RealClock()}
	r.clock.jump([]time.Duration{0, 0, 0, -80 * time.Second, 80 * time.Second, -10 * time.Hour, 10 * time.Hour}[random.IntN(7)])
	programs := r.choose(random)
	r.between(programs)
	opts := append(tests.EveryRoute(), sandbox.Seed(r.state()), sandbox.WithPrices(servicePrices), sandbox.WithClock(r.clock))
	if random.IntN(3) == 0 {
		opts = append(opts, sandbox.HideFor(4*time.Second)) // with a request that arrives late, less than 10 s
	}
	if r.hurried {
		opts = append(opts, r.limits(random)...)
	}
	opts = append(opts, r.draw(random, programs)...)
	r.service = sandbox.New(nil, opts...)
	r.laws = newLaws(r)
	var with []option
	if random.IntN(4) > 0 {
		r.laws.credits = []int64{20, 400, 3000, 60_000}[random.IntN(4)] + random.Int64N(500)
		with = append(with, guarded)
	}
	later := 10 * time.Minute // one that hurries would have to know within the minute what the last one sent
	if !r.hurried {
		later *= 4 // what a call did may be undone by then
	}
	for i, name := range programs {
		r.processes = append(r.processes, &sim.Process{
			Name: fmt.Sprintf("%s%d", name, i), Program: r.program(kinds[name], with...), Starts: 8, Pause: time.Second, Later: later, Disk: sim.NewDisk(),
			Soon: !r.hurried,
		})
	}
	r.processes = append(r.processes, &sim.Process{Name: "teammate", Program: r.teammate, Starts: 1})
	return r.processes
}

// choose chooses the programs: three, or one that hurries, alone.
func (r *run) choose(random *rand.Rand) []string {
	third := []string{"walker", "walker", "approver", "approver", "ensurer", "hurrier", "hurrier", "hurrier", "starter"}[random.IntN(9)]
	if r.hurried = third == "hurrier"; r.hurried {
		return []string{third}
	}
	return []string{"writer", "spender", third}
}

// state is what the service has at the beginning.
func (r *run) state() sandbox.State {
	state := tests.EveryState(time.Now().Add(-time.Hour), time.Now().Add(48*time.Hour))
	ws := &state.Workspaces[0]
	ws.Agents = ws.Agents[:1]
	ws.Credits = 1_000_000
	r.key = keyPrefix + "1"
	ws.Keys = []sandbox.Key{{Token: r.key}, {Token: keyPrefix + "2"}}
	for i := range 40 {
		ws.Prospects = append(ws.Prospects, sandbox.Rows(sandbox.Row{
			"firstName": "P", "socialUrl": fmt.Sprintf("https://social.example/%d", i), "job_title_levels": "vp",
		})...)
	}
	walked := sandbox.List{ID: walkedID, Name: "Walked", CreatedAt: time.Now().Add(-time.Hour)}
	for _, id := range rowIDs() {
		walked.Rows = append(walked.Rows, sandbox.Rows(sandbox.Row{"id": id, "firstName": "W"})...)
	}
	ws.Lists = append(ws.Lists, walked)
	return state
}

// draw draws what teammates do, and in some seeds more approvers of what takes long to activate.
func (r *run) draw(random *rand.Rand, programs []string) (opts []sandbox.Option) {
	if programs[len(programs)-1] == "approver" && random.IntN(2) == 0 {
		programs[1] = "approver"
		opts = append(opts, sandbox.ActivatesFor(2*time.Minute))
	}
	r.busy = programs[len(programs)-1] == "walker" && random.IntN(3) > 0
	r.grows = random.IntN(2) == 0
	r.adds = r.busy && sim.Draws(r.Seed, "adds").IntN(4) == 0
	return opts
}

// between draws what stands between the programs and the service. Programs that hurry have a network of their own.
func (r *run) between(programs []string) {
	random := sim.Draws(r.Seed, "between")
	if through := random.IntN(2 * len(gateways)); through < len(gateways) && !r.hurried {
		r.through = through
	}
	if programs[len(programs)-1] == "starter" {
		r.through = random.IntN(len(gateways))
	}
	if random.IntN(3) == 0 {
		r.most = pageSize * (1 + random.IntN(4))
	}
}

func tightLimits() map[string]sandbox.Limit {
	tight := map[string]sandbox.Limit{}
	for surface := range op.DocumentedLimits {
		tight[string(surface)] = sandbox.Limit{PerMinute: 12, PerDay: 300}
	}
	return tight
}

// String is the law that is broken, and the shortest history that breaks it.
func (r Result) String() string {
	lines := []string{fmt.Sprintf("seed %s: %v", r.Seed, r.Err)}
	for _, f := range r.Fired {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n  ")
}

// law is the one that is broken.
func (r Result) law() string {
	law, _, _ := strings.Cut(fmt.Sprint(r.Err), ":")
	return law
}

// Shrink removes faults from a run for as long as it breaks the same law.
func Shrink(number uint64) Result {
	whole := Run(sim.Seed{Number: number}, false)
	if whole.Err == nil {
		return whole
	}
	plan := planOf(sim.Seed{Number: number}).Shrink(number, func(plan []sim.Key) ([]*sim.Turn, bool) {
		r := Run(sim.Seed{Number: number, Only: plan}, false)
		return r.Steps, r.law() == whole.law()
	})
	return Run(sim.Seed{Number: number, Only: plan}, true)
}

// Shortest is the shortest history of a seed that breaks a law. What programs draw may leave it long: then a few later seeds that break
// the same law are shrunk, too.
func Shortest(number uint64) Result {
	shortest := Shrink(number)
	for last, others := number+1000, 3; len(shortest.Fired) > fewFaults && number < last && others > 0; {
		if number++; Run(sim.Seed{Number: number}, false).law() != shortest.law() {
			continue
		}
		others--
		if r := Shrink(number); len(r.Fired) < len(shortest.Fired) {
			shortest = r
		}
	}
	return shortest
}

func planOf(seed sim.Seed) Drawn { return Drawn{Rates: ratesOf(seed.Number), Only: seed.Only} }
