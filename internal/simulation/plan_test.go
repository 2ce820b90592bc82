package simulation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/sim"
)

func TestParseSeed(t *testing.T) {
	for _, text := range []string{"7", "7:", "7:0.1", "0:0.main.3,1.left112.4.17,2.5.1"} {
		seed, err := sim.ParseSeed(text)
		require.NoError(t, err, text)
		require.Equal(t, text, seed.String())
	}
	for _, text := range []string{"", "x", "7:1", "7:main.1", "7:0.main", "7:0.1.2.3", "7:0.main.1.2.3", "7:0.1,,x"} {
		_, err := sim.ParseSeed(text)
		require.Error(t, err, text)
	}
}
