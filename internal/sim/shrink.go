package sim

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Shrink finds a shorter plan with which a run still fails. Fails returns the steps of a run, and whether it fails; a nil plan is the whole one.
func (d Drawn) Shrink(seed uint64, fails func(plan []Key) ([]*Turn, bool)) []Key {
	s := shrinker{Drawn: d, seed: seed, fails: fails}
	s.clean, _ = fails([]Key{})
	whole, _ := fails(nil)
	s.happened = faulty(whole)
	for left := len(s.happened) + 1; len(s.happened) < left; {
		left = len(s.happened)
		s.remove()
		s.pair()
		s.replan()
	}
	return KeysOf(s.happened)
}

type shrinker struct {
	Drawn

	seed     uint64
	fails    func([]Key) ([]*Turn, bool)
	clean    []*Turn // the steps of the run in which nothing goes wrong
	happened []*Turn // what goes wrong in the shortest run that fails
}

// run keeps a plan if less happens and the run still fails.
func (s *shrinker) run(plan []Key) (steps []*Turn, better bool) {
	steps, failed := s.fails(plan)
	left := faulty(steps)
	if better = failed && len(left) < len(s.happened); better {
		s.happened = left
	}
	return steps, better
}

func (s *shrinker) try(plan []Key) bool {
	_, better := s.run(plan)
	return better
}

// remove leaves out halves, quarters, and so on to single faults.
func (s *shrinker) remove() {
	for size := (len(s.happened) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(s.happened); {
			plan := KeysOf(s.happened)
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
			plan := slices.Delete(KeysOf(s.happened), second, second+1)
			moved, possible := s.at(s.happened[first], s.happened[second].Fault)
			if s.try(slices.Delete(slices.Clone(plan), first, first+1)) || possible && s.try(slices.Replace(plan, first, first+1, moved)) {
				first, second = -1, len(s.happened)
			}
		}
	}
}

// FewFaults is how many a reader can follow: a history with more of them is worth more looks.
const FewFaults = 5

const (
	mostPaired = 20 // the number of pairs grows with the square
	replans    = 400
)

// replan lets some of what happens happen at other steps of its kind, one after the other: the rest may only have moved it there.
func (s *shrinker) replan() {
	for n := 0; n < replans && len(s.happened) > FewFaults; n++ {
		random := Draws(s.seed, "replan", n)
		plan, steps, after := []Key{}, s.clean, 0
		wanted := sample(random, s.happened, 1+random.IntN(FewFaults))
		for _, what := range wanted {
			var places []int
			for i, t := range steps[after:] {
				if t.kind() == what.kind() && (t.Key == what.Key || random.IntN(2) == 0) {
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
			plan, after = append(plan, key), at+1
			var failed bool
			if steps, failed = s.run(plan); failed {
				break
			}
		}
	}
}

// sample draws some steps, in their order.
func sample(random *rand.Rand, steps []*Turn, n int) (some []*Turn) {
	for i, t := range steps {
		if random.IntN(len(steps)-i) < n-len(some) {
			some = append(some, t)
		}
	}
	return some
}

// kind is what a step does, without numbers and arguments.
func (t *Turn) kind() string {
	what, _, _ := strings.Cut(t.What, "?")
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, what)
}

// at is the key of a step with a fault, if that is possible there.
func (d Drawn) at(t *Turn, fault Fault) (Key, bool) {
	i := slices.IndexFunc(d.Rates[t.Class], func(r Rate) bool { return r.Fault == fault })
	return t.with(i + 1), i >= 0
}

func faulty(steps []*Turn) []*Turn {
	return slices.DeleteFunc(slices.Clone(steps), func(t *Turn) bool { return t.Fault == "" })
}

// KeysOf are the keys of steps, not nil.
func KeysOf(turns []*Turn) []Key {
	keys := []Key{}
	for _, t := range turns {
		keys = append(keys, t.Key)
	}
	return keys
}
