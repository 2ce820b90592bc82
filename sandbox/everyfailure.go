package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/sim"
)

// FailureKind is a kind of failure that [EveryFailure] causes.
type FailureKind string

// The kinds of failure, in the order in which they are tried at one request.
const (
	RequestLost  FailureKind = "the request was lost"               // the connection was cut before the service did anything
	ResponseLost FailureKind = "the response was lost"              // the service did everything before the connection was cut
	FailedAfter  FailureKind = "500 after the service did it"       // a read that costs credits is not done: documented, a failed request costs none
	ResponseCut  FailureKind = "the response was cut in the middle" // likewise, after half of its body
	RateLimited  FailureKind = "429, and the service did nothing"   // the program may retry after one second
	StopBefore   FailureKind = "the program was stopped, and run again, before the request arrived"
	StopAfter    FailureKind = "the program was stopped, and run again, after the service did it, before the response arrived"
	StopBetween  FailureKind = "the program was stopped, and run again, between two requests" // before a Save or a MayStop
)

// requestKinds happen at a request.
var requestKinds = []FailureKind{RequestLost, ResponseLost, FailedAfter, ResponseCut, RateLimited, StopBefore, StopAfter}

var allKinds = append(slices.Clone(requestKinds), StopBetween)

// fault is what the sandbox does to a request for an operation, nil if the request never arrives.
func (k FailureKind) fault(o *op.Op) *Fault {
	var opts []FaultOption
	switch k {
	case RequestLost:
		opts = []FaultOption{DropBefore()}
	case ResponseLost, StopAfter:
		opts = []FaultOption{DropAfter()}
	case FailedAfter:
		opts = []FaultOption{Status(500, "UNEXPECTED_ERROR")}
		if o == nil || o.Class != op.PaidRead {
			opts = append(opts, Applied())
		}
	case ResponseCut:
		opts = []FaultOption{halved}
	case RateLimited:
		opts = []FaultOption{Status(429, "RATE_LIMITED"), RetryAfter(1)}
	default:
		return nil
	}
	f, err := newFault("EveryFailure", opts)
	if err != nil {
		panic(err) // the table is wrong
	}
	f.words = []string{string(k)}
	return f
}

// Failure is one failure that [EveryFailure] caused, and where.
type Failure struct {
	Kind    FailureKind
	Request int    // counted from one; for StopBetween, the last one before it
	Op      string // of the request, empty if no operation has this path and method
	Method  string
	Path    string
	Name    string // of the Save or MayStop, for StopBetween
}

// String is one line.
func (f Failure) String() string {
	at := fmt.Sprintf("request %d, %s %s %s", f.Request, f.Op, f.Method, f.Path)
	if f.Name != "" {
		at += fmt.Sprintf(", and before %q", f.Name)
	}
	return at + ": " + string(f.Kind)
}

// Sweep is what [EveryFailure] tried.
type Sweep struct {
	Requests int    // of the run without a failure
	Marks    int    // its calls of Save and MayStop
	Runs     int    // including the one without a failure
	Broken   *Break // nil if the invariant held in all
}

// String is one line.
func (s *Sweep) String() string {
	line := fmt.Sprintf("requests: %d, marks between them: %d, runs: %d, ", s.Requests, s.Marks, s.Runs)
	if s.Broken != nil {
		return line + "and the last one is broken"
	}
	return line + "and the invariant held in all of them"
}

// Break is the first run in which the invariant did not hold.
type Break struct {
	Failures []Failure // none: the run without a failure
	Err      error     // what is wrong
	Program  error     // what the program returned at last
	Journal  []Entry   // the requests that arrived in this run

	replay string // names the plan
}

// String is a report of several lines, with the journal.
func (b *Break) String() string {
	var text strings.Builder
	if len(b.Failures) == 0 {
		text.WriteString("broken without any failure")
	}
	for i, f := range b.Failures {
		text.WriteString([]string{"broken by ", "\nand then "}[min(i, 1)] + f.String())
	}
	fmt.Fprintf(&text, "\n%v\nthe program returned: %v\n", b.Err, b.Program)
	j := journal{entries: b.Journal}
	text.WriteString(j.tail(50))
	if b.replay != "" {
		fmt.Fprintf(&text, "\nThis one again: %s=%s go test", replayVar, b.replay)
	}
	return text.String()
}

// replayVar holds a plan that a report has named: the number of each request or mark, and that of the kind.
const replayVar = "EVERYFAILURE"

// replayName is the plan in the form of a seed of the simulation.
func replayName(plan []planned) string {
	s := sim.Seed{Only: []sim.Key{}}
	for _, p := range plan {
		s.Only = append(s.Only, sim.Key{Process: p.at, Step: slices.Index(allKinds, p.kind)})
	}
	return s.String()
}

// replayed is the plan with a name.
func replayed(name string) (plan []planned, err error) {
	s, err := sim.ParseSeed(name)
	for _, k := range s.Only {
		if k.Step < 0 || k.Step >= len(allKinds) {
			return nil, fmt.Errorf("%s=%s: no kind of failure has the number %d", replayVar, name, k.Step)
		}
		plan = append(plan, planned{k.Process, allKinds[k.Step]})
	}
	return plan, err
}

// SweepOption configures [EveryFailure]. Every [Option] of [New] is one, too, but [WithClock] is not allowed.
type SweepOption interface{ configure(*sweep) }

// sweep is one call of EveryFailure.
type sweep struct {
	t         TB
	program   func(*Run) error
	invariant func(*Run) error

	options []Option
	setup   func(*Run)
	kinds   []FailureKind
	depth   int
	retries int
	pause   time.Duration
}

func (o Option) configure(s *sweep) { s.options = append(s.options, o) }

type sweepOption func(*sweep)

func (o sweepOption) configure(s *sweep) { o(s) }

// Setup prepares the sandbox of each run, before the program starts. It may use [Tenant.Do] and [Run.Save], and may send requests, which do
// not count and do not fail. Make every Go value of the test that the runs change here.
func Setup(prepare func(*Run)) SweepOption { return sweepOption(func(s *sweep) { s.setup = prepare }) }

// Only tries these kinds and no other.
func Only(kinds ...FailureKind) SweepOption { return sweepOption(func(s *sweep) { s.kinds = kinds }) }

// Twice tries every pair of failures as well. The second one happens at any later request, so also at those that the first one caused:
// retries, lookups, and all of a program that was run again. The number of runs grows with the square of the requests.
func Twice() SweepOption { return sweepOption(func(s *sweep) { s.depth = 2 }) }

// UntilDone runs a program that returned an error again, at most n times, as a scheduler does. It must have returned nil at last.
func UntilDone(n int) SweepOption { return sweepOption(func(s *sweep) { s.retries = n }) }

// RestartAfter is the time until a program is run again: one second by default.
func RestartAfter(d time.Duration) SweepOption { return sweepOption(func(s *sweep) { s.pause = d }) }

// EveryFailure runs a program once and counts its requests. Then it runs the program again for every request and every kind of failure, each
// time on a new sandbox, and calls invariant at the end. The test fails at the first request and kind after which the invariant returns an
// error. The report names them and shows the journal of that run.
//
// The program makes its client from the [Run]: base URL, token and [Run.Transport]. It may return an error after a failure. The
// invariant decides, and can read the error from [Run.Err]. [Run.Errorf] breaks a run, too, so a Run can stand in for a test in assertions.
//
// A stop ends the goroutine that made the request. Only its deferred calls run, so a mutex without a deferred Unlock stays
// locked. The context of the run ends, and nothing of the stopped program reaches the service or [Run.Save] any more. A second later
// the program starts again with what it has saved. Go variables outside of the program are not reset: see [Setup].
//
// Each run happens in a bubble of testing/synctest, in virtual time, so EveryFailure must not be called inside one. Waits take no time. Use
// [Run.Context]: the context of the test does not belong to the bubble. A program that has not ended after 31 days, or after
// 10,000 requests, breaks the run.
//
// Each run has one failure; see [Twice]. The test also fails if the run without a failure breaks the invariant or returns an
// error, if it sends no request, or if a planned failure does not happen, because the program is not the same in each run. A summary is logged
// and returned; if t is nil, it is only returned. The report ends with the value of the variable EVERYFAILURE that makes the test try that failure
// only.
func EveryFailure(t TB, program, invariant func(*Run) error, opts ...SweepOption) *Sweep {
	if t != nil {
		t.Helper()
	}
	s := &sweep{
		t: t, program: program, invariant: invariant, depth: 1, pause: time.Second,
		kinds: allKinds,
	}
	for _, opt := range opts {
		opt.configure(s)
	}
	result := &Sweep{}
	s.explore(result)
	if b := result.Broken; t != nil && b != nil {
		t.Errorf("sandbox: EveryFailure: %s\n%v%s", result, b, callSite())
	} else if log, ok := t.(interface {
		Logf(format string, args ...any)
	}); ok {
		log.Logf("sandbox: EveryFailure: %s", result)
	}
	return result
}

// planned is a failure to come, at an instant: the request or mark with this number, from one.
type planned struct {
	at   int
	kind FailureKind
}

// explore tries single failures first, and then pairs. It ends at the first break.
func (s *sweep) explore(result *Sweep) {
	first := s.try(nil)
	result.Runs, result.Requests, result.Marks = 1, first.requests, len(first.instants)-first.requests
	result.Broken = first.verdict()
	if name := os.Getenv(replayVar); name != "" && result.Broken == nil {
		s.replay(name, result)
		return
	}
	type branch struct {
		plan []planned
		*course
	}
	for level, depth := []branch{{nil, first}}, 0; result.Broken == nil && depth < s.depth; depth++ {
		var next []branch
		for _, b := range level {
			for _, p := range s.followers(b.plan, b.course) {
				plan := append(slices.Clip(b.plan), p)
				c := s.try(plan)
				result.Runs++
				if result.Broken = c.verdict(); result.Broken != nil {
					result.Broken.replay = replayName(plan)
					return
				}
				if depth+1 < s.depth { // or it is not needed any more
					next = append(next, branch{plan, c})
				}
			}
		}
		level = next
	}
	if result.Broken == nil && result.Runs == 1 {
		result.Broken = &Break{Err: fmt.Errorf("no failure was tried: the kinds are %q", s.kinds), Journal: first.journal}
	}
}

// replay tries one plan. A program that does not get there is another one than that of the report.
func (s *sweep) replay(name string, result *Sweep) {
	plan, err := replayed(name)
	if err != nil {
		result.Broken = &Break{Err: err}
		return
	}
	if c := s.try(plan); len(c.plan) == 0 {
		result.Runs++
		if result.Broken = c.verdict(); result.Broken != nil {
			result.Broken.replay = name
		}
	}
}

// followers are the failures that can come next in a run.
func (s *sweep) followers(plan []planned, c *course) (next []planned) {
	from := 0
	if len(plan) > 0 {
		from = plan[len(plan)-1].at
	}
	for at := from + 1; at <= len(c.instants); at++ {
		kinds := requestKinds
		if c.instants[at-1].Name != "" {
			kinds = []FailureKind{StopBetween}
		}
		for _, kind := range kinds {
			if slices.Contains(s.kinds, kind) {
				next = append(next, planned{at, kind})
			}
		}
	}
	return next
}
