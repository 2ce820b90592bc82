package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"runtime/debug"
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

	// What gateways and servers do, each where it can be.
	SentTwice    FailureKind = "a gateway sent the request twice, and forwarded the second response"       // a write without a body
	IdleClosed   FailureKind = "the server closed the connection, which was idle, as the request was sent" // not a free read
	BodyRefused  FailureKind = "413 of a gateway, and the service did nothing"                             // a body of 8 KiB or more
	AgedResponse FailureKind = "the response took two seconds, and a gateway calls that its Age"
	TotalsCapped FailureKind = "from this page on, the totals count no more records" // of lists and rows
	PageEmptied  FailureKind = "an empty page, whose totals are zero"                // likewise, and only if Only names it: no response tells
)

// The classes of steps. That of a request is all the words that apply.
const (
	requests = "request"
	bare     = "bare"     // a write without a body
	unsafe   = "unsafe"   // it may change or cost something
	long     = "long"     // a body that a server may refuse for its length
	listings = "listings" // of documented pages
	marks    = "mark"
)

// classOf is the class of a request.
func classOf(o *op.Op, req *http.Request) string {
	words := []string{requests}
	bodiless := req.Body == nil || req.Body == http.NoBody
	for word, applies := range map[string]bool{
		bare: bodiless && o.Write(), unsafe: !o.FreeRead(), long: req.ContentLength >= 8<<10, listings: o == op.ListsList || o == op.ListsRows,
	} {
		if applies {
			words = append(words, word)
		}
	}
	slices.Sort(words[1:])
	return strings.Join(words, " ")
}

// mishap is what can happen at a step: to the program, and to what the service does.
type mishap struct {
	class string // a word of that of the step
	kind  FailureKind
	to    sim.Fault
	does  []FaultOption
}

// fits reports whether the mishap can happen at a step of a class.
func (m *mishap) fits(class string) bool { return slices.Contains(strings.Fields(class), m.class) }

var sweepable = []mishap{
	{requests, RequestLost, "lost", []FaultOption{DropBefore()}},
	{requests, ResponseLost, "response lost", []FaultOption{DropAfter()}},
	{requests, FailedAfter, "500", []FaultOption{Status(500, "UNEXPECTED_ERROR"), Applied()}},
	{requests, ResponseCut, "cut", []FaultOption{halved}},
	{requests, RateLimited, "429", []FaultOption{Status(429, "RATE_LIMITED"), RetryAfter(1)}},
	{requests, StopBefore, sim.KillWithin, nil},
	{requests, StopAfter, sim.KillAfter, []FaultOption{DropAfter()}},
	{bare, SentTwice, "twice", []FaultOption{Resent()}},
	{unsafe, IdleClosed, "idle", nil},
	{long, BodyRefused, "413", []FaultOption{HTML(413)}},
	{requests, AgedResponse, "aged", []FaultOption{Latency(2 * time.Second), Header("Age", "2")}},
	{listings, TotalsCapped, "capped", []FaultOption{cappedHere}},
	{listings, PageEmptied, "emptied", []FaultOption{EmptyPage()}},
	{marks, StopBetween, sim.KillWithin, nil},
}

// mishapOf is what has happened at a step, if anything.
func mishapOf(t *sim.Turn) *mishap {
	i := slices.IndexFunc(sweepable, func(m mishap) bool { return m.fits(t.Class) && m.to == t.Fault })
	if i < 0 {
		return nil
	}
	return &sweepable[i]
}

// fault is what the sandbox does to a request.
func (m *mishap) fault(o *op.Op) *Fault {
	f, err := newFault("EveryFailure", m.does)
	if err != nil {
		panic(err) // the table is wrong
	}
	f.words = []string{string(m.kind)}
	f.applied = f.applied && o.Class != op.PaidRead
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
	text.WriteString(tail(b.Journal, 50))
	return text.String()
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
	tries   func(FailureKind) bool
	depth   int
	retries int
	pause   time.Duration
	replays bool
}

func (o Option) configure(s *sweep) { s.options = append(s.options, o) }

type sweepOption func(*sweep)

func (o sweepOption) configure(s *sweep) { o(s) }

// Setup prepares the sandbox of each run, before the program starts. It may use [Tenant.Do] and [Run.Save], and may send requests, which do
// not count and do not fail. Make every Go value of the test that the runs change here.
func Setup(prepare func(*Run)) SweepOption { return sweepOption(func(s *sweep) { s.setup = prepare }) }

// Only tries these kinds and no other.
func Only(kinds ...FailureKind) SweepOption {
	return sweepOption(func(s *sweep) { s.tries = func(k FailureKind) bool { return slices.Contains(kinds, k) } })
}

// Twice tries every pair of failures as well. The second one happens at any later request, so also at those that the first one caused:
// retries, lookups, and all of a program that was run again. The number of runs grows with the square of the requests.
func Twice() SweepOption { return sweepOption(func(s *sweep) { s.depth = 2 }) }

// UntilDone runs a program that returned an error again, at most n times, as a scheduler does. It must have returned nil at last.
func UntilDone(n int) SweepOption { return sweepOption(func(s *sweep) { s.retries = n }) }

// RestartAfter is the time until a program is run again: one second by default.
func RestartAfter(d time.Duration) SweepOption { return sweepOption(func(s *sweep) { s.pause = d }) }

// EveryFailure runs a program once and counts its requests. Then it runs the program again for every request and every kind of
// failure, each time on a new sandbox, and calls invariant at the end. The test fails at the first request and kind after which
// the invariant returns an error. The report names them and shows the journal of that run.
//
// The program makes its client from the [Run]: base URL, token and [Run.Transport]. It may return an error after a failure. The
// invariant decides, and can read the error from [Run.Err]. [Run.Errorf] breaks a run, too, so a Run can stand in for a test in assertions.
//
// A stop ends the goroutine that made the request. Only its deferred calls run, so a mutex without a deferred Unlock stays
// locked. The context of the run ends, and nothing of the stopped program reaches the service or [Run.Save] any more. A second later
// the program starts again with what it has saved. Go variables outside of the program are not reset: see [Setup].
//
// Each run happens in a bubble of testing/synctest, in virtual time, so EveryFailure must not be called inside one. Waits take no time. Use
// [Run.Context]: the context of the test does not belong to the bubble. A request is sent when
// every other goroutine waits, one after the other. So a program hangs, as it does in any bubble, if a goroutine waits for a mutex whose
// holder sends a request. A program that has not ended after 31 days, or after 10,000 requests, breaks the run.
//
// Each run has one failure; see [Twice]. The test also fails if the run without a failure breaks the invariant or returns an
// error, if it sends no request, or if a planned failure does not happen, because the program is not the same in each run. A
// summary is logged and returned; if t is nil, it is only returned. The report of a break ends with a command that tries its
// failures only, in each call of EveryFailure that gets so far.
func EveryFailure(t TB, program, invariant func(*Run) error, opts ...SweepOption) *Sweep {
	if t != nil {
		t.Helper()
	}
	s := &sweep{t: t, program: program, invariant: invariant, depth: 1, pause: time.Second, tries: func(k FailureKind) bool { return k != PageEmptied }}
	for _, opt := range opts {
		opt.configure(s)
	}
	result := &Sweep{}
	var plan []sim.Key
	good := func(keys []sim.Key) ([]*sim.Turn, bool) {
		plan = keys
		c := s.try(keys)
		if result.Runs++; result.Runs == 1 {
			for _, f := range c.steps() {
				result.Requests = f.Request
			}
			result.Marks = len(c.steps()) - result.Requests
		}
		result.Broken = c.verdict()
		return c.world.Taken(), result.Broken == nil
	}
	if text := os.Getenv(replayVar); text == "" {
		if sim.Every(s.depth, s.possible, good); result.Broken == nil && result.Runs == 1 {
			result.Broken = &Break{Err: errors.New("no failure was tried")}
		}
	} else if seed, err := sim.ParseSeed(text); err != nil {
		result.Broken = &Break{Err: err}
	} else {
		s.replays = true
		good(seed.Only)
	}
	if b := result.Broken; t != nil && b != nil {
		t.Errorf("sandbox: EveryFailure: %s\n%v%s\n%s=%s %s", result, b, callSite(), replayVar, sim.Seed{Number: seed, Only: plan}, command(t))
	} else if log, ok := t.(interface {
		Logf(format string, args ...any)
	}); ok {
		log.Logf("sandbox: EveryFailure: %s", result)
	}
	return result
}

// A plan to replay, and the number from which the client draws.
const (
	replayVar = "EVERYFAILURE"
	seed      = 1
)

// command runs the test.
func command(t TB) string {
	line := "go test"
	if info, ok := debug.ReadBuildInfo(); ok {
		line += " " + strings.TrimSuffix(info.Path, ".test")
	}
	if named, ok := t.(interface{ Name() string }); ok {
		pattern := strings.NewReplacer("/", "$/^", "'", `'\''`).Replace(regexp.QuoteMeta(named.Name()))
		line += " -run '^" + pattern + "$'"
	}
	return line
}

// possible are the failures to try at a step.
func (s *sweep) possible(class string) (faults []sim.Fault) {
	for _, m := range sweepable {
		if m.fits(class) && s.tries(m.kind) {
			faults = append(faults, m.to)
		}
	}
	return faults
}
