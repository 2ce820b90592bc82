package sandbox

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Chaos makes a share of all requests, from 0 to 1, fail in different ways. The same seed has the same effect on the same requests
// in the same order, and the journal names it. It is meant for long runs. To test one behavior, use Fail.
func (sb *Sandbox) Chaos(seed uint64, rate float64) *Fault {
	f := &Fault{op: "*", truncate: -1, chaos: true}
	if !(rate >= 0 && rate <= 1) {
		sb.misuse("Chaos: the rate %v is not between 0 and 1", rate)
		return f
	}
	f.say("chaos of seed %d, rate %v", seed, rate)
	random := rand.New(rand.NewPCG(seed, seed))
	mishaps := mishaps()
	f.draw = func() *Fault {
		if random.Float64() >= rate {
			return nil
		}
		drawn := mishaps[random.IntN(len(mishaps))]
		return drawn.as(f.number, seed)
	}
	sb.addFault(f)
	return f
}

// as gives a drawn fault the number of its chaos.
func (f *Fault) as(number int, seed uint64) *Fault {
	drawn := *f
	drawn.number, drawn.op = number, fmt.Sprintf("chaos of seed %d", seed)
	return &drawn
}

// mishaps are what chaos chooses from.
func mishaps() []*Fault {
	kinds := [][]FaultOption{
		{Status(500, "UNEXPECTED_ERROR")},
		{Status(500, "")},
		{Status(429, "RATE_LIMITED"), RetryAfter(1)},
		{HTML(502)},
		{Status(503, "")},
		{DropBefore()},
		{DropAfter()},
		{Reset()},
		{Refuse()},
		{Truncate(20)},
		{EmptyBody()},
		{ExtraFields()},
		{Latency(2 * time.Second)},
	}
	faults := make([]*Fault, len(kinds))
	for i, opts := range kinds {
		f, err := newFault("", opts)
		if err != nil {
			panic(err) // the table is wrong
		}
		faults[i] = f
	}
	return faults
}
