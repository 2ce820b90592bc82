package prospectkit_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// mostSeen is how many ids a walk remembers.
const mostSeen = 1 << 15

func numberedID(n int) string { return fmt.Sprintf("%024x", n) }

func TestSeenIDsAreExactlyTheLast(t *testing.T) {
	var seen prospectkit.SeenIDs
	require.False(t, seen.Has(numberedID(0)))
	added := 0
	for _, border := range []int{1, 512, 2048, 8192, mostSeen, 2 * mostSeen, 3 * mostSeen, 4 * mostSeen, 5*mostSeen + 1000} {
		for _, n := range []int{border - 1, border, border + 1} {
			for ; added < n; added++ {
				require.True(t, seen.Add(numberedID(added)), "record %d is new", added)
			}
			for i := range n + 10 {
				if known := i < n && i >= n-mostSeen; seen.Has(numberedID(i)) != known {
					require.Fail(t, "wrong", "record %d after %d: should it be known? %v", i, n, known)
				}
			}
		}
	}
	for n := added - mostSeen; n < added; n++ {
		require.False(t, seen.Add(numberedID(n)), "record %d is remembered", n)
	}
	require.True(t, seen.Add(numberedID(0)), "what was forgotten is new again")
}

func TestSeenIDsAgreeWithAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, others := range []int{0, 1, mostSeen / 2, mostSeen, 2 * mostSeen} {
		var seen prospectkit.SeenIDs
		when, added := map[string]int{}, 0
		for range 200_000 {
			id := numberedID(added - random.IntN(others+1)) // lately added, long ago, or not at all
			at, known := when[id]
			known = known && added-at <= mostSeen
			if has, isNew := seen.Has(id), seen.Add(id); has != known || isNew == known {
				require.Fail(t, "not as in the map", "id %s of %d, added %d: has %v, add %v", id, added, at, has, isNew)
			}
			if !known {
				when[id] = added
				added++
			}
		}
	}
}

func TestSeenIDsTakeNoMoreRoomThanTheyNeed(t *testing.T) {
	var seen prospectkit.SeenIDs
	for n := range 3 * mostSeen {
		seen.Add(numberedID(n))
		require.LessOrEqual(t, seen.Room(), min(max(512, 4*n), mostSeen))
	}
}

func TestSeenIDsTakeAnEmptyIDForNew(t *testing.T) {
	var seen prospectkit.SeenIDs
	require.True(t, seen.Add(""))
	require.True(t, seen.Add(""))
	require.False(t, seen.Has(""))
	require.Zero(t, seen.Room())
}
