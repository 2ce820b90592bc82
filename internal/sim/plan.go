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

func (f Fault) kills() bool {
	return f == KillBefore || f == KillWithin || f == KillAfter || f == PowerFails
}

// Plan decides what goes wrong.
type Plan interface{ At(*Turn) Fault }

// Key names a step: that of a process with a number, counted over all its starts. It stays the same when something later changes.
type Key struct{ Process, Step int }

// String is the form that [ParseSeed] reads.
func (k Key) String() string { return fmt.Sprintf("%d.%d", k.Process, k.Step) }

// Rate is how often a fault happens at the steps of a class.
type Rate struct {
	Class string
	Fault Fault
	Share float64
}

// Drawn draws faults by their rates.
type Drawn struct {
	Rates []Rate
	Only  []Key // if not nil, no other step goes wrong

	Fired []Fired
}

// Fired is a fault that happened.
type Fired struct {
	Key
	What  string
	Fault Fault
}

// String is one line.
func (f Fired) String() string { return fmt.Sprintf("%s %s: %s", f.Key, f.What, f.Fault) }

// At draws, whatever Only says, so that the rest stays as it is.
func (d *Drawn) At(t *Turn) Fault {
	at := t.Float64()
	if d.Only != nil && !slices.Contains(d.Only, t.key) {
		return ""
	}
	for _, r := range d.Rates {
		if r.Class != t.Class {
			continue
		}
		if at -= r.Share; at < 0 {
			d.Fired = append(d.Fired, Fired{t.key, t.What, r.Fault})
			return r.Fault
		}
	}
	return ""
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
		if _, err := fmt.Sscanf(key, "%d.%d", &k.Process, &k.Step); key != "" && err != nil {
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
