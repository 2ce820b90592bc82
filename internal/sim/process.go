package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"example.com/prospectkit/internal/chance"
)

// ErrKilled is what a dead process gets from everything that it tries.
var ErrKilled = errors.New("sim: the process was killed")

// Process is a program with what survives its death: its disk, and what it has saved.
type Process struct {
	Name    string
	Program func(*Start) error // started again after an error or a kill
	Starts  int                // at most
	Pause   time.Duration      // until it is started again
	Later   time.Duration      // at most, beyond Pause
	Soon    bool               // as a supervisor starts it: mostly within a small part of that
	Disk    *Disk

	world   *World
	index   int
	saved   map[string]string
	steps   map[string]int // of each strand
	slowed  time.Time      // last
	current *Start
}

// Start is one start of a process.
type Start struct {
	*Process

	Number  int             // from one
	Text    string          // its name and number
	context context.Context //nolint:containedctx // the start is its scope
	cancel  context.CancelFunc
	gone    chan struct{} // closed when it has returned or was killed
	ended   bool
	killed  bool
	killer  *Turn
}

// live starts the program until it returns nil, or was started as often as it may be.
func (p *Process) live() {
	w := p.world
	for number := 1; number <= p.Starts; number++ {
		s := p.newStart(number)
		if s == nil {
			break
		}
		if err := s.run(); !s.killed && (err == nil || errors.Is(err, ErrLeft)) {
			w.Note(s.Text, " returned")
			break
		}
		s.rest()
	}
	w.mu.Lock()
	w.left--
	w.mu.Unlock()
	w.wake()
}

// run runs the program until it returns, is killed, or takes too long.
func (s *Start) run() error {
	w := s.world
	w.zombies.Add(1)
	returned := w.Call(func() error {
		defer w.zombies.Done()
		return s.Program(s)
	})
	var late <-chan time.Time
	if w.Longest > 0 {
		late = time.After(w.Longest)
	}
	err := ErrLeft
	select {
	case err = <-returned:
	case <-s.gone: // what is left of it reaches nothing
	case <-late:
		w.Fail(fmt.Errorf("%s did not end within %d days", s.Name, w.Longest/(24*time.Hour)))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.end(false)
	return err
}

// rest is what happens between the end of a start and the next one.
func (s *Start) rest() {
	random := Draws(s.world.Seed, "restart", s.index, s.Number)
	if s.killer != nil {
		random = s.killer.Rand
	}
	if s.Disk != nil {
		s.Disk.restart(random)
	}
	later := random.Float64()
	if s.Soon {
		later = math.Pow(later, 6)
	}
	time.Sleep(s.Pause + time.Duration(later*float64(s.Later)))
	s.world.Note(s.Text, " ended, killed: ", strconv.FormatBool(s.killed))
}

// ErrLeft is what a function returns that leaves its goroutine.
var ErrLeft = errors.New("it left its goroutine")

// Call calls f in a goroutine of its own. A panic breaks the run.
func (w *World) Call(f func() error) <-chan error {
	returned := make(chan error, 1)
	go func() {
		err := ErrLeft
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%w: panic: %v\n%s", ErrLeft, p, debug.Stack())
				w.Fail(err)
			}
			returned <- err
		}()
		err = f()
	}()
	return returned
}

// newStart is nil when everything has stopped.
func (p *Process) newStart(number int) *Start {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	if p.world.over {
		return nil
	}
	s := &Start{Process: p, Number: number, Text: p.Name + "." + strconv.Itoa(number), gone: make(chan struct{})}
	s.context, s.cancel = context.WithCancel(context.Background())
	p.current = s
	return s
}

// end ends a start, once, under the lock.
func (s *Start) end(kill bool) {
	if w := s.world; !s.ended {
		s.ended, s.killed = true, kill
		close(s.gone)
		s.cancel()
		w.held = slices.DeleteFunc(w.held, func(t *Turn) bool { return t.start == s })
	}
}

type strandKey struct{}

// Context is that of one strand of the program, a part that does one thing at a time. It ends with the start, and holds the
// source of what its calls leave to chance.
func (s *Start) Context(strand string) context.Context {
	source := chance.New(s.world.Seed, Draws(s.world.Seed, "context", s.index, s.Number, strand).Uint64())
	return chance.With(context.WithValue(s.context, strandKey{}, strand), source)
}

// Do takes a step: it waits for its turn, and lets effect happen unless the process dies before it. Effect returns a line for the trace. A
// class names the faults that are possible.
func (s *Start) Do(ctx context.Context, class, what string, effect func(*Turn) string) error {
	w := s.world
	strand, _ := ctx.Value(strandKey{}).(string)
	t := &Turn{Key: Key{Process: s.index, Strand: strand}, Class: class, What: what, start: s, ready: make(chan struct{})}
	w.mu.Lock()
	if s.ended {
		w.mu.Unlock()
		return ErrKilled
	}
	w.held = append(w.held, t)
	w.mu.Unlock()
	w.wake()
	select {
	case <-t.ready:
	case <-s.gone:
		return ErrKilled
	}
	seen, began := "", time.Now()
	if t.Fault == Slow {
		s.dawdle(ctx, t)
	}
	if t.Fault != KillBefore {
		seen = effect(t)
	}
	if (ctx.Err() != nil || time.Since(began) > 0) && !w.resume(t) { // others may have woken up at the same instant
		return ErrKilled
	}
	w.Note(s.Text, " ", t.Key.String(), " ", what, ": ", seen, " [", string(t.Fault), "]")
	if t.Kills() {
		w.mu.Lock()
		if s.end(true); s.killer == nil {
			s.killer = t
		}
		w.mu.Unlock()
	}
	if !s.Alive() {
		return ErrKilled
	}
	return nil
}

// resume waits until it is the turn of a step whose effect took time. It reports false if the process was killed meanwhile.
func (w *World) resume(t *Turn) bool {
	w.mu.Lock()
	over := t.start.ended
	if t.resumed = make(chan struct{}); !over {
		w.held = append(w.held, t)
	}
	w.mu.Unlock()
	if over {
		return false
	}
	w.wake()
	select {
	case <-t.resumed:
		return true
	case <-t.start.gone:
		return false
	}
}

// dawdle delays a step, at most once a minute.
func (s *Start) dawdle(ctx context.Context, t *Turn) {
	if s.Dawdled() {
		return
	}
	s.world.mu.Lock()
	s.slowed = time.Now()
	s.world.mu.Unlock()
	select {
	case <-time.After(time.Second + time.Duration(t.Int64N(int64(19*time.Second)))):
	case <-ctx.Done(): // of the start, too
	}
}

// Dawdled reports whether a step of the process was slow in the last minute.
func (s *Start) Dawdled() bool {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return !s.slowed.IsZero() && time.Since(s.slowed) < time.Minute
}

// Alive reports whether the start goes on.
func (s *Start) Alive() bool {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return !s.ended
}

// Random is for what the program itself leaves to chance, the same in every start.
func (s *Start) Random(about int) *rand.Rand { return Draws(s.world.Seed, "program", s.index, about) }

// Save stores a value that survives the process. It may die before or after it.
func (s *Start) Save(ctx context.Context, name, value string) error {
	return s.Do(ctx, "save", "save "+name, func(*Turn) string { s.saved[name] = value; return "" })
}

// Load returns what was saved last.
func (s *Start) Load(name string) string { return s.saved[name] }
