package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Told and true waits agree within a tenth, alone and in the queue, with any model of a service, with and without headers.
func TestToldWaitsAreTrue(t *testing.T) {
	random := rand.New(rand.NewPCG(18, 1))
	for _, m := range Models {
		for range 6 {
			c := alone(random.Uint64(), m, 1+random.IntN(32))
			c.PerMinute = []int{20, 30, 60, 120}[random.IntN(4)]
			c.Latency = time.Duration(10+random.IntN(400)) * time.Millisecond
			c.Bare, c.RoundDown, c.Lenient, c.RetryLate = random.IntN(3) == 0, random.IntN(2) == 0, random.IntN(2) == 0, random.IntN(2) == 0
			synctest.Test(t, func(t *testing.T) {
				r := Live(c)
				name := fmt.Sprintf("%s, %d workers, %d a minute, %s, bare %v: told %s, waited %s, off by %s",
					m, c.Workers, c.PerMinute, c.Latency, c.Bare, r.Told, r.Waited, r.Off)
				require.Greater(t, r.Waited, time.Minute, name)
				within := 0.1
				if m == Counter && c.Bare { // it has to be learned from refusals
					within = 0.15
				}
				require.InEpsilon(t, r.Waited.Seconds(), r.Told.Seconds(), within, name)
				require.LessOrEqual(t, r.Off.Seconds(), 0.2*r.Waited.Seconds(), name)
			})
		}
	}
}
