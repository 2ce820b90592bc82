package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseSeed(t *testing.T) {
	for _, text := range []string{"7", "7:", "7:0.1", "0:0.main.3,1.left112.4.17,2.5.1"} {
		seed, err := ParseSeed(text)
		require.NoError(t, err, text)
		require.Equal(t, text, seed.String())
	}
	for _, text := range []string{"", "x", "7:1", "7:main.1", "7:0.main", "7:0.1.2.3", "7:0.main.1.2.3", "7:0.1,,x"} {
		_, err := ParseSeed(text)
		require.Error(t, err, text)
	}
}

// A run of twenty calls of two steps each. It fails if a lost request is followed by a death at a later call, whatever else goes wrong.
func TestShrink(t *testing.T) {
	plan := Drawn{Rates: map[string][]Rate{"request": {{"request", "lost", 0.3}, {"request", KillAfter, 0.3}}}}
	fails := func(only []Key) (steps []*Turn, failed bool) {
		d, lost := Drawn{plan.Rates, only}, false
		for call := range 20 {
			for step := range 2 {
				turn := &Turn{Key: Key{Strand: "main", Step: 2*call + step + 1}, Class: "request", What: "GET /lists"}
				turn.Rand = Draws(1, turn.Key)
				turn.Fault = d.At(turn)
				steps = append(steps, turn)
				failed = failed || lost && turn.Fault == KillAfter
				lost = lost || turn.Fault == "lost"
			}
		}
		return steps, failed
	}
	whole, failed := fails(nil)
	require.True(t, failed)
	require.Greater(t, len(faulty(whole)), 5)
	shortest := plan.Shrink(1, fails)
	require.Len(t, shortest, 2)
	_, failed = fails(shortest)
	require.True(t, failed)
}

// What a fault needs may be at a step that only other faults have led to: then it happens at another one of its kind.
func TestShrink_Replans(t *testing.T) {
	plan := Drawn{Rates: map[string][]Rate{"request": {{"request", "lost", 0.5}}}}
	fails := func(only []Key) (steps []*Turn, failed bool) {
		d, lost := Drawn{plan.Rates, only}, 0
		for step := range 40 {
			turn := &Turn{Key: Key{Strand: "main", Step: step + 1}, Class: "request", What: []string{"GET /lists/1", "POST /lists", "POST /lists"}[step%3]}
			turn.Rand = Draws(2, turn.Key)
			turn.Fault = d.At(turn)
			steps = append(steps, turn)
			if turn.Fault != "" {
				lost++
			}
			failed = failed || turn.Fault != "" && turn.What == "GET /lists/1" && (lost == 1 && step > 20 || lost > 6)
		}
		return steps, failed
	}
	shortest := plan.Shrink(2, fails)
	require.Len(t, shortest, 1)
}
