// Package sim runs programs as processes of one simulation, in virtual time. One number decides everything that is left to
// chance: which of the requests, writes and decisions in progress comes next, what goes wrong with it, and when a process dies.
// It knows neither the client nor the service: docs/simulation.md.
package sim

import (
	"cmp"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// World is one run. Its processes share a clock, and whatever their programs reach by [Start.Do].
type World struct {
	Seed  uint64
	Plan  Plan
	Check func() error  // the laws: called after every step, while every process waits
	Keep  bool          // the lines of the trace, for Lines
	Pace  time.Duration // at most, that a step waits for its turn

	// A run that exceeds one of these is broken; zero is no bound.
	Most    int           // steps
	Longest time.Duration // a start

	mu        sync.Mutex
	held      []*Turn
	taken     []*Turn
	news      chan struct{} // a turn is wanted, or a process has ended
	processes []*Process
	left      int // processes that have not ended
	zombies   sync.WaitGroup
	sum       hash.Hash64
	line      []byte
	spare     [32]byte
	lines     []string
	broken    error
	over      bool
	began     time.Time
}

// Turn is a step that waits to be taken, or is taken.
type Turn struct {
	Key
	*rand.Rand // for what the step leaves to chance

	Fault Fault
	Class string // which faults are possible
	What  string

	start   *Start
	due     time.Time
	lot     float64
	ready   chan struct{}
	resumed chan struct{} // nil until its effect has taken time
}

// String is one line.
func (t *Turn) String() string { return fmt.Sprintf("%s %s: %s", t.Key, t.What, t.Fault) }

// Run lets processes run until all have ended or a law is broken, in a [Bubble]. It returns what is broken.
func (w *World) Run(processes ...*Process) error {
	w.began, w.news, w.sum = time.Now(), make(chan struct{}, 1), fnv.New64a()
	w.processes, w.left = processes, len(processes)
	for i, p := range w.processes {
		p.world, p.index, p.saved, p.steps = w, i, map[string]string{}, map[string]int{}
		go p.live()
	}
	w.drive()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}

// Wait returns when nothing is left of the processes that were killed.
func (w *World) Wait() { w.zombies.Wait() }

// Bubble runs f in a bubble of testing/synctest. It returns why the bubble could not be made, or did not end.
func Bubble(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(strings.TrimSpace(fmt.Sprint(p)))
		}
	}()
	synctest.Test(new(testing.T), func(*testing.T) { f() }) // an empty one is enough for a bubble
	return nil
}

// drive lets one turn after the other be taken, each when everything else waits.
func (w *World) drive() {
	for {
		synctest.Wait()
		w.judge()
		held, left := w.pending()
		switch {
		case held == 0 && left == 0:
			return
		case held == 0:
			<-w.news // time passes
			continue
		}
		if w.resumed() {
			continue
		}
		if wait := w.untilDue(); wait > 0 {
			time.Sleep(wait)
			synctest.Wait()
			if w.resumed() {
				continue
			}
		}
		if t := w.choose(); t != nil {
			close(t.ready)
		}
	}
}

// resumed lets the first step go on whose effect took time. It reports whether there was one.
func (w *World) resumed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number()
	i := slices.IndexFunc(w.held, func(t *Turn) bool { return t.resumed != nil })
	if i < 0 {
		return false
	}
	close(w.held[i].resumed)
	w.held = slices.Delete(w.held, i, i+1)
	return true
}

// number gives the steps that have begun to wait their keys, in an order that does not depend on which goroutine was faster, and says when
// each is due. Both depend on the strand alone: whatever goes wrong elsewhere, they stay.
func (w *World) number() {
	slices.SortStableFunc(w.held, func(a, b *Turn) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Strand, b.Strand), cmp.Compare(a.What, b.What))
	})
	for _, t := range w.held {
		if t.Step == 0 {
			steps := t.start.steps
			steps[t.Strand]++
			t.Step = steps[t.Strand]
			t.Rand = Draws(w.Seed, "step", t.Process, t.Strand, t.Step)
			t.lot = t.Float64()
			t.due = time.Now().Add(time.Duration(t.lot * float64(w.Pace)))
		}
	}
}

// untilDue is the time until the first step is due.
func (w *World) untilDue() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := slices.MinFunc(w.held, earlier)
	return time.Until(first.due)
}

// earlier orders by due time. Steps that are due at once go by lot.
func earlier(a, b *Turn) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.lot, b.lot)) }

func (w *World) pending() (held, left int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.held), w.left
}

// choose takes the step that is due first.
func (w *World) choose() *Turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number()
	if len(w.held) == 0 {
		return nil // their process was killed by another
	}
	t := slices.MinFunc(w.held, earlier)
	w.held = slices.DeleteFunc(w.held, func(held *Turn) bool { return held == t })
	t.Fault = w.Plan.At(t)
	w.taken = append(w.taken, t)
	return t
}

// Draws is a source that differs for each of what it is about.
func Draws(seed uint64, about ...any) *rand.Rand {
	sum := fnv.New64a()
	_, _ = fmt.Fprintln(sum, about...)
	return rand.New(rand.NewPCG(seed, sum.Sum64()))
}

// judge asks the laws. After the first break everything stops.
func (w *World) judge() {
	switch steps := len(w.Taken()); {
	case w.over:
		return
	case w.Most > 0 && steps > w.Most:
		w.Fail(fmt.Errorf("the run did not end within %d requests and other steps", w.Most))
	case w.Check != nil:
		if err := w.Check(); err != nil {
			w.Fail(err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over = w.broken != nil; !w.over {
		return
	}
	for _, p := range w.processes {
		if p.current != nil {
			p.current.end(true)
		}
	}
}

// Fail breaks the run.
func (w *World) Fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = err
	}
}

// Note adds a line to the trace.
func (w *World) Note(parts ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := strconv.AppendFloat(w.spare[:0], time.Since(w.began).Seconds(), 'f', 3, 64)
	w.line = append(append(append(w.line[:0], "         "[min(len(at), 9):]...), at...), "s "...)
	for _, part := range append(parts, "\n") {
		w.line = append(w.line, part...)
	}
	_, _ = w.sum.Write(w.line)
	if w.Keep {
		w.lines = append(w.lines, string(w.line))
	}
}

// Sum is equal for equal traces.
func (w *World) Sum() uint64 { return w.sum.Sum64() }

// Lines is the trace, if it was kept.
func (w *World) Lines() []string { return w.lines }

// Taken are the steps so far.
func (w *World) Taken() []*Turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clip(w.taken)
}

// Faulty are the turns at which something went wrong.
func Faulty(turns []*Turn) []*Turn {
	return slices.DeleteFunc(slices.Clone(turns), func(t *Turn) bool { return t.Fault == "" })
}

func (w *World) wake() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}
