// Package docruns runs the programs of the documentation under every failure. tools/housekeeping makes a test of this package from
// the Go blocks of the pages and from the examples of the root package, so that nobody keeps a second copy of them.
package docruns

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// Example runs a program under every failure at every request, a short one under every two, and runs it again as long as it returns an
// error, as a queue does. Nothing that it writes may have more effects than in the run without a failure.
func Example(t *testing.T, program func(*sandbox.Run) error, options ...sandbox.SweepOption) {
	t.Helper()
	start := again(func(run *sandbox.Run, _ int) error { return program(run) })
	calm := sandbox.EveryFailure(nil, start, once(), append(options, sandbox.Only())...)
	for _, some := range kinds(calm.Requests) {
		sandbox.EveryFailure(t, start, once(), slices.Concat(options, some)...)
	}
}

// again makes a program for EveryFailure, which runs it again after an error. The program is told the number of the try, from 1.
func again(program func(run *sandbox.Run, try int) error) func(*sandbox.Run) error {
	return func(run *sandbox.Run) (err error) {
		for try := range 3 {
			if err = program(run, try+1); err == nil {
				return nil
			}
			time.Sleep(time.Second)
		}
		if len(run.Failures()) > 0 {
			return nil // it has given up
		}
		return err
	}
}

// kinds are the failures of a program with so many requests after which it goes on. A short program meets every two of the first ones; the
// number of runs grows with the square.
func kinds(requests int) [][]sandbox.SweepOption {
	lost := []sandbox.SweepOption{sandbox.Only(sandbox.RequestLost, sandbox.ResponseLost, sandbox.FailedAfter, sandbox.ResponseCut, sandbox.RateLimited)}
	if requests <= 8 {
		lost = append(lost, sandbox.Twice())
	}
	return [][]sandbox.SweepOption{lost, {
		sandbox.Only(sandbox.SentTwice, sandbox.IdleClosed, sandbox.BodyRefused, sandbox.AgedResponse, sandbox.TotalsCapped, sandbox.PageEmptied),
	}}
}

// once is the invariant: no more effects than in the run without a failure, which comes first.
func once() func(*sandbox.Run) error {
	var most map[string]int
	return func(run *sandbox.Run) error {
		found := effects(run)
		if len(run.Failures()) == 0 {
			most = found
		}
		for what, n := range found {
			if n > max(1, most[what]) {
				return fmt.Errorf("%s: %d times, and %d without a failure", what, n, most[what])
			}
		}
		return nil
	}
}

// harmless are writes whose repetition changes nothing: a second presigning only reserves another upload, and a draft is adjusted to the same.
var harmless = map[*op.Op]bool{op.ImportsPresign: true, op.AgentsAdjust: true}

// killed are the stops of a program that is run again. An example has its journal in memory, so it meets none.
var killed = []sandbox.SweepOption{sandbox.Only(sandbox.StopBefore, sandbox.StopAfter)}

// effects counts the requests that wrote something, by method and path, and by what they wrote, as the parts of an input.
func effects(run *sandbox.Run) map[string]int {
	found := map[string]int{}
	for _, e := range run.Journal() {
		row, known := op.ByName(e.Op)
		if known && row.Write() && len(e.Effects) > 0 && !harmless[row] {
			found[e.Method+" "+e.Path]++
			found[fmt.Sprint(e.Method, " ", e.Path, " ", e.Effects)]++
		}
	}
	return found
}
