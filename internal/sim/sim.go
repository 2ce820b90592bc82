// Package sim runs programs as processes of one simulation, in virtual time. One number decides everything that is left to chance: which of
// the requests, writes and decisions in progress comes next, what goes wrong with it, and when a process dies. It knows neither the client nor
// the service: docs/simulation.md.
package sim

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
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
	Check func() error // the laws: called after every step, while every process waits
	Keep  bool         // the lines of the trace, for Lines
	Pace  time.Duration

	// Steps are taken as they come, each whole before the next one. For programs that may wait for a mutex, which nothing sees, and that decide
	// by themselves what comes next: without Check and trace.
	Unpaced bool

	mu        sync.Mutex
	held      []*Turn
	news      chan struct{} // a turn is wanted, or a process has ended
	processes []*Process
	left      int // processes that have not ended
	steps     int
	sum       uint64
	lines     []string
	broken    error
	over      bool
	began     time.Time
}

// Turn is a step that waits to be taken, or is taken.
type Turn struct {
	*rand.Rand // for what the step leaves to chance

	Fault Fault
	Class string // which faults are possible
	What  string
	About any // what it is to the plan

	key    Key
	start  *Start
	strand string
	ready  chan struct{}
}

// Run lets the processes run until all have ended or a law is broken. It returns what is broken. It makes its own bubble.
func (w *World) Run(prepare func() []*Process) error {
	problem := Bubble(func() {
		w.began, w.news = time.Now(), make(chan struct{}, 1)
		w.processes = prepare()
		w.left = len(w.processes)
		for i, p := range w.processes {
			p.world, p.index, p.saved = w, i, map[string]string{}
			go p.live()
		}
		w.drive()
	})
	if problem != "" && w.broken == nil {
		return errors.New(problem)
	}
	return w.broken
}

// Bubble runs f in a bubble of testing/synctest. It returns why the bubble could not be made, or did not end.
func Bubble(f func()) (problem string) {
	defer func() {
		if p := recover(); p != nil {
			problem = strings.TrimSpace(fmt.Sprint(p))
		}
	}()
	synctest.Test(new(testing.T), func(*testing.T) { f() }) // an empty one is enough for a bubble
	return ""
}

// drive lets one turn after the other be taken, each when everything else waits.
func (w *World) drive() {
	for {
		if !w.Unpaced {
			synctest.Wait()
			w.judge()
		}
		held, left := w.pending()
		switch {
		case held == 0 && left == 0:
			return
		case held == 0:
			<-w.news // time passes
			continue
		}
		random := w.draws(-1, w.steps)
		time.Sleep(1 + time.Duration(random.Int64N(int64(max(w.Pace, 1)))))
		synctest.Wait()
		if t := w.choose(random); t != nil {
			close(t.ready)
		}
	}
}

func (w *World) pending() (held, left int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.held), w.left
}

// choose takes one of the turns that wait. Their order does not depend on which goroutine was faster.
func (w *World) choose(random *rand.Rand) *Turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.held) == 0 {
		return nil // their process was killed by another
	}
	slices.SortStableFunc(w.held, func(a, b *Turn) int {
		return cmp.Or(cmp.Compare(a.start.index, b.start.index), cmp.Compare(a.strand, b.strand), cmp.Compare(a.What, b.What))
	})
	i := random.IntN(len(w.held))
	t := w.held[i]
	w.held = slices.Delete(w.held, i, i+1)
	w.plan(t)
	return t
}

// plan numbers a turn, and decides what goes wrong.
func (w *World) plan(t *Turn) {
	w.steps++
	t.start.steps++
	t.key = Key{t.start.index, t.start.steps}
	if !w.Unpaced {
		t.Rand = w.draws(t.start.index, t.start.steps)
	}
	t.Fault = w.Plan.At(t)
}

// draws is a source of its own for each step of each process.
func (w *World) draws(process, step int) *rand.Rand { return Draws(w.Seed, process, step) }

// Draws is a source that differs for each of its arguments.
func Draws(seed uint64, a, b int) *rand.Rand {
	return rand.New(rand.NewPCG(seed^uint64(a)*0x9e3779b97f4a7c15, uint64(b)*0xd1342543de82ef95+seed)) //nolint:gosec // G115: any bits will do
}

// judge asks the laws. After the first break everything stops.
func (w *World) judge() {
	if w.over || w.Check == nil {
		return
	}
	if err := w.Check(); err != nil {
		w.Fail(err)
	}
	if w.broken != nil {
		w.stop()
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

// stop kills everything.
func (w *World) stop() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	for _, p := range w.processes {
		if p.current != nil {
			p.current.end(true)
		}
	}
}

func (w *World) stopped() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// Note adds a line to the trace.
func (w *World) Note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("%9.3fs ", time.Since(w.began).Seconds()) + fmt.Sprintf(format, args...)
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%x%s", w.sum, line)
	w.sum = h.Sum64()
	if w.Keep {
		w.lines = append(w.lines, line)
	}
}

// Sum is equal for equal traces.
func (w *World) Sum() uint64 { return w.sum }

// Steps counts the steps.
func (w *World) Steps() int { return w.steps }

// Lines is the trace, if it was kept.
func (w *World) Lines() []string { return w.lines }

func (w *World) wake() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}
