package sim

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"example.com/prospectkit/internal/chance"
)

// How a start can end, other than by its program's return. What is left of it gets ErrKilled from everything that it tries.
var (
	ErrKilled  = errors.New("sim: the process was killed")
	ErrLeft    = errors.New("it left its goroutine, as FailNow does")
	ErrEndless = errors.New("sim: the process did not end")
)

// Process is a program with what survives its death: its disk, and what it has saved.
type Process struct {
	Name    string
	Program func(*Start) error // started again after an error or a kill
	Starts  int                // at most
	Pause   time.Duration      // at most, and a second, until it is started again
	Disk    *Disk

	Limit time.Duration                                                  // of one start, if not zero
	Again func(killed bool, err error) (pause time.Duration, again bool) // in place of Starts and Pause
	Dying func()                                                         // called before anybody can know that a start was killed

	world   *World
	index   int
	saved   map[string]string
	steps   int
	current *Start
}

// Start is one start of a process.
type Start struct {
	*Process

	Number  int             // from one
	context context.Context //nolint:containedctx // the start is its scope
	cancel  context.CancelFunc
	gone    chan struct{} // closed when it has returned or was killed
	ended   bool
	killed  bool
}

// live starts the program until it returns nil, or was started as often as it may be.
func (p *Process) live() {
	var zombies sync.WaitGroup
	for number := 1; !p.world.stopped(); number++ {
		s, returned := p.newStart(number), make(chan error, 1)
		zombies.Go(func() {
			err := ErrLeft
			defer func() { returned <- err }()
			err = s.run()
		})
		err := s.wait(returned)
		killed := s.end(false)
		random := p.world.draws(p.index, number<<32)
		if p.Disk != nil && (killed || err != nil) {
			p.Disk.restart(random)
		}
		pause, again := p.next(number, random, killed, err)
		p.world.Note("%s.%d ended, killed: %v", p.Name, number, killed)
		if !again {
			break
		}
		time.Sleep(pause)
	}
	zombies.Wait()
	p.world.mu.Lock()
	p.world.left--
	p.world.mu.Unlock()
	p.world.wake()
}

// wait returns when the program has, or was killed, or takes too long. What is left of it reaches nothing.
func (s *Start) wait(returned <-chan error) error {
	var late <-chan time.Time
	if s.Limit > 0 {
		timer := time.NewTimer(s.Limit)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case err := <-returned:
		return err
	case <-s.gone:
		return ErrKilled
	case <-late:
		return ErrEndless
	}
}

func (p *Process) next(number int, random *rand.Rand, killed bool, err error) (pause time.Duration, again bool) {
	if p.Again != nil {
		return p.Again(killed, err)
	}
	return time.Second + time.Duration(random.Int64N(int64(p.Pause)+1)), (killed || err != nil) && number < p.Starts
}

func (p *Process) newStart(number int) *Start {
	s := &Start{Process: p, Number: number, gone: make(chan struct{})}
	s.context, s.cancel = context.WithCancel(context.Background())
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	p.current = s
	return s
}

// run calls the program.
func (s *Start) run() (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.world.Fail(fmt.Errorf("%s panicked: %v\n%s", s.Name, p, debug.Stack()))
		}
	}()
	return s.Program(s)
}

// Kill ends the process, as a fault does.
func (s *Start) Kill() { s.end(true) }

// end ends a start, once. It reports whether it was killed.
func (s *Start) end(kill bool) (killed bool) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return s.endLocked(kill)
}

func (s *Start) endLocked(kill bool) (killed bool) {
	w := s.world
	if !s.ended {
		if kill && s.Dying != nil {
			s.Dying()
		}
		s.ended, s.killed = true, kill
		close(s.gone)
		s.cancel()
		w.held = slices.DeleteFunc(w.held, func(t *Turn) bool { return t.start == s })
	}
	return s.killed
}

type strandKey struct{}

// Context is that of one strand of the program, a part that does one thing at a time. It ends with the start, and holds the source of what its
// calls leave to chance.
func (s *Start) Context(strand string) context.Context {
	about := fnv.New64a()
	_, _ = fmt.Fprint(about, s.Name, s.Number, strand)
	source := chance.New(s.world.Seed, about.Sum64())
	return chance.With(context.WithValue(s.context, strandKey{}, strand), source)
}

// Do takes a step: it waits for its turn, and lets effect happen unless the process dies before it. Effect returns a line for the trace. A
// class names the faults that are possible.
func (s *Start) Do(ctx context.Context, class, what string, effect func(*Turn) string) error {
	return s.Take(ctx, &Turn{Class: class, What: what}, effect)
}

// Take is Do with a turn that the plan gets.
func (s *Start) Take(ctx context.Context, t *Turn, effect func(*Turn) string) error {
	w := s.world
	t.start, t.ready = s, make(chan struct{})
	t.strand, _ = ctx.Value(strandKey{}).(string)
	w.mu.Lock()
	if s.ended {
		w.mu.Unlock()
		return ErrKilled
	}
	if w.Unpaced {
		defer w.mu.Unlock()
		w.plan(t)
		if t.Fault != KillBefore {
			effect(t)
		}
		if t.Fault.kills() {
			s.endLocked(true)
			return ErrKilled
		}
		return nil
	}
	w.held = append(w.held, t)
	w.mu.Unlock()
	w.wake()
	select {
	case <-t.ready:
	case <-s.gone:
		return ErrKilled
	}
	seen := ""
	if t.Fault != KillBefore {
		seen = effect(t)
	}
	w.Note("%s.%d %s %s: %s [%s]", s.Name, s.Number, t.key, t.What, seen, t.Fault)
	if t.Fault.kills() {
		s.end(true)
	}
	if s.over() {
		return ErrKilled
	}
	return nil
}

func (s *Start) over() bool {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return s.ended
}

// Alive reports whether the start goes on.
func (s *Start) Alive() bool { return !s.over() }

// Random is for what the program itself leaves to chance, the same in every start.
func (s *Start) Random(about int) *rand.Rand { return s.world.draws(s.index, about<<20) }

// World is where the start runs.
func (s *Start) World() *World { return s.world }

// Save stores a value that survives the process. It may die before or after it.
func (s *Start) Save(ctx context.Context, name, value string) error {
	return s.Do(ctx, "save", "save "+name, func(*Turn) string { s.saved[name] = value; return "" })
}

// Load returns what was saved last.
func (s *Start) Load(name string) string { return s.saved[name] }
