package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheBudgetLeavesRoomAndEarnsNoRefusals(t *testing.T) {
	without, err := virtually(readAgain)
	require.NoError(t, err)
	with, err := virtually(readPage)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(without.refused), 8*goroutines, "all of them in each minute")
	require.LessOrEqual(t, len(with.refused), 1)
	require.Equal(t, without.mateCalls, with.mateCalls)
	require.Less(t, len(with.mateRefused)*2, len(without.mateRefused))
	served := with.mateCalls - len(with.mateRefused)
	require.Less(t, with.took, 8*time.Minute+time.Duration(served)*time.Minute/perMinute+30*time.Second, "the quota is used")
}

func TestTheChartIsTheSameEachTime(t *testing.T) {
	var charts [2][]byte
	for i := range charts {
		file := filepath.Join(t.TempDir(), "new", "budget.svg")
		var out bytes.Buffer
		require.NoError(t, run(file, &out))
		require.Contains(t, out.String(), "the rate budget")
		var err error
		charts[i], err = os.ReadFile(file)
		require.NoError(t, err)
	}
	require.Equal(t, string(charts[0]), string(charts[1]))
	d := xml.NewDecoder(bytes.NewReader(charts[0]))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
	}
}
