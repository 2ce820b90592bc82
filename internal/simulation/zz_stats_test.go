package simulation

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"example.com/prospectkit/internal/sim"
)

func TestZZ(t *testing.T) {
	want, _ := strconv.Atoi(os.Getenv("ZZ"))
	if want == 0 {
		t.Skip()
	}
	for n := *fromFlag; n < *fromFlag+1000 && want > 0; n++ {
		r := Run(sim.Seed{Number: n}, false)
		if r.Err == nil {
			continue
		}
		want--
		began := time.Now()
		s := Shrink(n)
		fmt.Printf("ZZ %s seed %d: %d -> %d, %v, %s\n", os.Getenv("SHRINK"), n, len(r.Fired), len(s.Fired), time.Since(began).Round(100*time.Millisecond), s.Seed)
	}
}
