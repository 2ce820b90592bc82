package simulation

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/sim"
)

// Rate is how often a fault happens at the steps of a class.
type Rate struct {
	Class string
	Fault sim.Fault
	Share float64
}

// Drawn draws faults by their rates.
type Drawn struct {
	Rates map[string][]Rate // by class
	Only  []sim.Key         // if not nil, no other step goes wrong
}

// At draws, whatever Only says, so that the rest stays as it is.
func (d Drawn) At(t *sim.Turn) sim.Fault {
	at := t.Float64()
	if d.Only != nil {
		i := slices.IndexFunc(d.Only, func(k sim.Key) bool { return k.With(0) == t.With(0) })
		if i < 0 {
			return ""
		}
		if n, rates := d.Only[i].Fault-1, d.Rates[t.Class]; n >= 0 && n < variants*len(rates) {
			t.Key = d.Only[i]
			if variant := n / len(rates); variant > 0 {
				t.Rand = sim.Draws(uint64(variant), t.With(0))
			}
			return rates[n%len(rates)].Fault
		}
	}
	for _, r := range d.Rates[t.Class] {
		if at -= r.Share; at < 0 {
			return r.Fault
		}
	}
	return ""
}

// Shrink finds a shorter plan with which a run still fails. Fails returns the steps of a run, and whether it fails; a nil plan is the whole one.
func (d Drawn) Shrink(seed uint64, fails func(plan []sim.Key) ([]*sim.Turn, bool)) []sim.Key {
	s := shrinker{Drawn: d, seed: seed, fails: fails}
	s.clean, _ = fails([]sim.Key{})
	whole, _ := fails(nil)
	s.happened = sim.Faulty(whole)
	for left := len(s.happened) + 1; len(s.happened) < left; {
		left = len(s.happened)
		s.remove()
		s.pair()
		s.replan()
	}
	return keysOf(s.happened)
}

type shrinker struct {
	Drawn

	seed     uint64
	fails    func([]sim.Key) ([]*sim.Turn, bool)
	clean    []*sim.Turn // the steps of the run in which nothing goes wrong
	happened []*sim.Turn // what goes wrong in the shortest run that fails
}

// run keeps a plan if less happens and the run still fails.
func (s *shrinker) run(plan []sim.Key) (steps []*sim.Turn, better bool) {
	steps, failed := s.fails(plan)
	left := sim.Faulty(steps)
	if better = failed && len(left) < len(s.happened); better {
		s.happened = left
	}
	return steps, better
}

func (s *shrinker) try(plan []sim.Key) bool {
	_, better := s.run(plan)
	return better
}

// remove leaves out halves, quarters, and so on to single faults.
func (s *shrinker) remove() {
	for size := (len(s.happened) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(s.happened); {
			plan := keysOf(s.happened)
			if !s.try(slices.Delete(plan, at, min(at+size, len(plan)))) {
				at += size
			}
		}
	}
}

// pair leaves out two, or lets the later one take the place of the earlier one.
func (s *shrinker) pair() {
	for first := 0; first < len(s.happened) && len(s.happened) <= mostPaired; first++ {
		for second := first + 1; second < len(s.happened); second++ {
			plan := slices.Delete(keysOf(s.happened), second, second+1)
			moved, possible := s.at(s.happened[first], s.happened[second].Fault)
			if s.try(slices.Delete(slices.Clone(plan), first, first+1)) || possible && s.try(slices.Replace(plan, first, first+1, moved)) {
				first, second = -1, len(s.happened)
			}
		}
	}
}

// fewFaults is how many a reader can follow: a history with more of them is worth more looks.
const fewFaults = 5

const (
	mostPaired = 20 // the number of pairs grows with the square
	replans    = 400
	variants   = 8 // of what a fault that was moved leaves to chance; the first is that of its step
)

// replan lets some of what happens happen at other steps of its kind, one after the other: the rest may only have moved it there.
func (s *shrinker) replan() {
	for n := 0; n < replans && len(s.happened) > fewFaults; n++ {
		random := sim.Draws(s.seed, "replan", n)
		plan, steps, after := []sim.Key{}, s.clean, 0
		wanted := sample(random, s.happened, 1+random.IntN(fewFaults))
		for _, what := range wanted {
			var places []int
			for i, t := range steps[after:] {
				if kind(t) == kind(what) && (t.Key == what.Key || random.IntN(2) == 0) {
					places = append(places, after+i)
				}
			}
			if len(places) == 0 {
				break
			}
			at := places[random.IntN(len(places))]
			key, possible := s.at(steps[at], what.Fault)
			if !possible {
				break
			}
			key.Fault += random.IntN(variants) * len(s.Rates[steps[at].Class])
			plan, after = append(plan, key), at+1
			var failed bool
			if steps, failed = s.run(plan); failed {
				break
			}
		}
	}
}

// sample draws some steps, in their order.
func sample(random *rand.Rand, steps []*sim.Turn, n int) (some []*sim.Turn) {
	for i, t := range steps {
		if random.IntN(len(steps)-i) < n-len(some) {
			some = append(some, t)
		}
	}
	return some
}

// kind is what a step does, without numbers and arguments.
func kind(t *sim.Turn) string {
	what, _, _ := strings.Cut(t.What, "?")
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, what)
}

// at is the key of a step with a fault, if that is possible there.
func (d Drawn) at(t *sim.Turn, fault sim.Fault) (sim.Key, bool) {
	i := slices.IndexFunc(d.Rates[t.Class], func(r Rate) bool { return r.Fault == fault })
	return t.With(i + 1), i >= 0
}

// keysOf are the keys of steps, not nil.
func keysOf(turns []*sim.Turn) []sim.Key {
	keys := []sim.Key{}
	for _, t := range turns {
		keys = append(keys, t.Key)
	}
	return keys
}

// A run of twenty calls of two steps each. It fails if a lost request is followed by a death at a later call, whatever else goes wrong.
func TestShrink(t *testing.T) {
	plan := Drawn{Rates: map[string][]Rate{"request": {{"request", "lost", 0.3}, {"request", sim.KillAfter, 0.3}}}}
	fails := func(only []sim.Key) (steps []*sim.Turn, failed bool) {
		d, lost := Drawn{plan.Rates, only}, false
		for call := range 20 {
			for step := range 2 {
				turn := &sim.Turn{Key: sim.Key{Strand: "main", Step: 2*call + step + 1}, Class: "request", What: "GET /lists"}
				turn.Rand = sim.Draws(1, turn.Key)
				turn.Fault = d.At(turn)
				steps = append(steps, turn)
				failed = failed || lost && turn.Fault == sim.KillAfter
				lost = lost || turn.Fault == "lost"
			}
		}
		return steps, failed
	}
	whole, failed := fails(nil)
	require.True(t, failed)
	require.Greater(t, len(sim.Faulty(whole)), 5)
	shortest := plan.Shrink(1, fails)
	require.Len(t, shortest, 2)
	_, failed = fails(shortest)
	require.True(t, failed)
}

// What a fault needs may be at a step that only other faults have led to, with what it leaves to chance there: then it happens at another one
// of its kind, and leaves something else to chance.
func TestShrink_Replans(t *testing.T) {
	plan := Drawn{Rates: map[string][]Rate{"request": {{"request", "lost", 0.5}}}}
	fails := func(only []sim.Key) (steps []*sim.Turn, failed bool) {
		d, lost := Drawn{plan.Rates, only}, 0
		for step := range 40 {
			turn := &sim.Turn{Key: sim.Key{Strand: "main", Step: step + 1}, Class: "request", What: []string{"GET /lists/1", "POST /lists", "POST /lists"}[step%3]}
			turn.Rand = sim.Draws(2, turn.Key)
			turn.Fault = d.At(turn)
			steps = append(steps, turn)
			if turn.Fault != "" {
				lost++
			}
			failed = failed || turn.Fault != "" && turn.What == "GET /lists/1" && (lost == 1 && step == 24 && turn.IntN(4) == 0 || lost > 6)
		}
		return steps, failed
	}
	shortest := plan.Shrink(2, fails)
	require.Len(t, shortest, 1)
}

func TestParseSeed(t *testing.T) {
	for _, text := range []string{"7", "7:", "7:0.1", "0:0.main.3,1.left112.4.17,2.5.1"} {
		seed, err := sim.ParseSeed(text)
		require.NoError(t, err, text)
		require.Equal(t, text, seed.String())
	}
	for _, text := range []string{"", "x", "7:1", "7:main.1", "7:0.main", "7:0.1.2.3", "7:0.main.1.2.3", "7:0.1,,x"} {
		_, err := sim.ParseSeed(text)
		require.Error(t, err, text)
	}
}
