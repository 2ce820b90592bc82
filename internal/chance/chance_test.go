package chance_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/chance"
)

type draw struct {
	wait  time.Duration
	share float64
	text  string
}

func draws(ctx context.Context) (all []draw) {
	for range 20 {
		all = append(all, draw{chance.Below(ctx, time.Hour), chance.Float64(ctx), chance.Text(ctx)})
	}
	return all
}

// Two simulations at the same time draw the same for the same seeds, and nothing else does.
func TestSimulationsDoNotDisturbEachOther(t *testing.T) {
	seeds := [][2]uint64{{1, 1}, {1, 1}, {1, 2}, {2, 1}}
	got := make([][]draw, len(seeds)+2)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			ctx := t.Context()
			if i < len(seeds) {
				ctx = chance.With(ctx, chance.New(seeds[i][0], seeds[i][1]))
			}
			got[i] = draws(ctx)
		})
	}
	all.Wait()
	require.Equal(t, got[0], got[1])
	for i := 1; i < len(got); i++ {
		for j := i + 1; j < len(got); j++ {
			require.NotEqual(t, got[i], got[j], "%d and %d", i, j)
		}
	}
}

func TestBounds(t *testing.T) {
	for name, ctx := range map[string]context.Context{"as it is": t.Context(), "simulated": chance.With(t.Context(), chance.New(3, 4))} {
		t.Run(name, func(t *testing.T) {
			seen := map[time.Duration]bool{}
			for range 100 {
				d := chance.Below(ctx, 3)
				require.True(t, d >= 0 && d < 3)
				seen[d] = true
				f := chance.Float64(ctx)
				require.True(t, f >= 0 && f < 1)
				require.GreaterOrEqual(t, len(chance.Text(ctx)), 26)
			}
			require.Len(t, seen, 3)
		})
	}
}

// Outside of a simulation, nothing is paid for the seam.
func TestNoAllocation(t *testing.T) {
	ctx := context.WithValue(t.Context(), draw{}, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = chance.Below(ctx, time.Second)
		_ = chance.Float64(ctx)
	}))
}
