package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fault is what goes wrong at a step; empty, nothing does.
type Fault string

// The deaths of a process.
const (
	KillBefore Fault = "killed before"
	KillWithin Fault = "killed within" // a part of it has happened
	KillAfter  Fault = "killed after"
)

// Slow is a step that takes some seconds, and is done.
const Slow Fault = "slow"

// Kills reports whether the process dies of the fault.
func (t *Turn) Kills() bool {
	return t.Fault == KillBefore || t.Fault == KillWithin || t.Fault == KillAfter || t.Fault == PowerFails
}

// Plan decides what goes wrong.
type Plan interface{ At(*Turn) Fault }

// Key names a step: that of a strand of a process with a number, counted over all its starts. It stays the same when other strands take
// other steps.
type Key struct {
	Process int
	Strand  string // empty, or a word that begins with a letter
	Step    int
	Fault   int // of those that are possible there, from one, or one of its variants, after them all; zero is what the seed draws
}

// String is the form that [ParseSeed] reads.
func (k Key) String() string {
	parts := []string{strconv.Itoa(k.Process), k.Strand, strconv.Itoa(k.Step), strconv.Itoa(k.Fault)}
	if k.Fault == 0 {
		parts = parts[:3]
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ".")
}

// With is the key with a fault.
func (k Key) With(fault int) Key {
	k.Fault = fault
	return k
}

// parseKey reads a key.
func parseKey(text string) (k Key, err error) {
	parts := strings.Split(text, ".")
	if len(parts) > 1 && parts[1] != "" && parts[1][0] > '9' {
		k.Strand = parts[1]
		parts = slices.Delete(parts, 1, 2)
	}
	numbers := []*int{&k.Process, &k.Step, &k.Fault}
	if len(parts) < 2 || len(parts) > len(numbers) {
		return k, fmt.Errorf("%q is no step", text)
	}
	for i, part := range parts {
		if *numbers[i], err = strconv.Atoi(part); err != nil {
			return k, err
		}
	}
	return k, nil
}

// Chosen causes the faults of keys and no other.
type Chosen struct {
	Keys     []Key
	Possible func(class string) []Fault
}

// At looks the step up.
func (c Chosen) At(t *Turn) Fault {
	for i, fault := range c.Possible(t.Class) {
		if slices.Contains(c.Keys, t.With(i+1)) {
			return fault
		}
	}
	return ""
}

// Every tries every plan of at most so many faults, the shorter ones first, until one is bad. Each fault is at a step that the
// plan without it has reached, after its last one.
func Every(faults int, possible func(class string) []Fault, good func([]Key) (steps []*Turn, ok bool)) {
	for plans := [][]Key{{}}; faults >= 0; faults-- {
		var longer [][]Key
		for _, plan := range plans {
			steps, ok := good(plan)
			if !ok {
				return
			}
			after := len(steps)
			for faults > 0 && after > 0 && steps[after-1].Fault == "" {
				after--
			}
			for _, t := range steps[after:] {
				for i := range possible(t.Class) {
					longer = append(longer, append(slices.Clip(plan), t.With(i+1)))
				}
			}
		}
		plans = longer
	}
}

// Seed is the number that decides everything, and what a shrinker left of it.
type Seed struct {
	Number uint64
	Only   []Key // faults; nil are all
}

// String is what [ParseSeed] reads.
func (s Seed) String() string {
	if s.Only == nil {
		return strconv.FormatUint(s.Number, 10)
	}
	keys := make([]string, len(s.Only))
	for i, k := range s.Only {
		keys[i] = k.String()
	}
	return fmt.Sprintf("%d:%s", s.Number, strings.Join(keys, ","))
}

// ParseSeed reads a seed.
func ParseSeed(text string) (s Seed, err error) {
	number, keys, cut := strings.Cut(text, ":")
	if s.Number, err = strconv.ParseUint(number, 10, 64); err != nil || !cut {
		return s, err
	}
	s.Only = []Key{}
	for key := range strings.SplitSeq(keys, ",") {
		if key == "" {
			continue
		}
		k, err := parseKey(key)
		if err != nil {
			return s, fmt.Errorf("seed %q: %w", text, err)
		}
		s.Only = append(s.Only, k)
	}
	return s, nil
}
