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

// Key names a step: that of a process with a number, counted over all its starts. It stays the same when something later changes.
type Key struct {
	Process, Step int
	Fault         int // of those that are possible there, from one; zero is the one that the seed draws
}

// String is the form that [ParseSeed] reads.
func (k Key) String() string {
	text := strconv.Itoa(k.Process) + "." + strconv.Itoa(k.Step)
	if k.Fault > 0 {
		text += "." + strconv.Itoa(k.Fault)
	}
	return text
}

// Rate is how often a fault happens at the steps of a class.
type Rate struct {
	Class string
	Fault Fault
	Share float64
}

// Drawn draws faults by their rates.
type Drawn struct {
	Rates map[string][]Rate // by class
	Only  []Key             // if not nil, no other step goes wrong
}

// At draws, whatever Only says, so that the rest stays as it is.
func (d Drawn) At(t *Turn) Fault {
	at := t.Float64()
	if d.Only != nil && !slices.Contains(d.Only, t.Key) {
		return ""
	}
	for _, r := range d.Rates[t.Class] {
		if at -= r.Share; at < 0 {
			return r.Fault
		}
	}
	return ""
}

// Chosen causes the faults of keys and no other.
type Chosen struct {
	Keys     []Key
	Possible func(class string) []Fault
}

// At looks the step up.
func (c Chosen) At(t *Turn) Fault {
	for i, fault := range c.Possible(t.Class) {
		if slices.Contains(c.Keys, Key{t.Process, t.Step, i + 1}) {
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
					longer = append(longer, append(slices.Clip(plan), Key{t.Process, t.Step, i + 1}))
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
		var k Key
		if n, err := fmt.Sscanf(key, "%d.%d.%d", &k.Process, &k.Step, &k.Fault); key != "" && n < 2 {
			return s, fmt.Errorf("seed %q: %w", text, err)
		} else if key != "" {
			s.Only = append(s.Only, k)
		}
	}
	return s, nil
}

// Shrink removes faults for as long as fails stays true: first halves, then single ones.
func Shrink(only []Key, fails func([]Key) bool) []Key {
	for size := (len(only) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(only); {
			rest := append(append([]Key{}, only[:at]...), only[min(at+size, len(only)):]...) // not nil
			if fails(rest) {
				only = rest
				size = min(size, max(len(only), 1))
			} else {
				at += size
			}
		}
	}
	return only
}
