package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// figures are those of all runs together, which .ci/run makes again.
var (
	figures = regexp.MustCompile(`[0-9][0-9.ms]*`)
	givenUp = regexp.MustCompile(` · [0-9]+ given up`)
)

func TestThePageHasTheTables(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "..", page))
	require.NoError(t, err)
	fresh, err := render(content, tables(20*time.Second))
	require.NoError(t, err)
	layout := func(text []byte) string {
		return figures.ReplaceAllString(givenUp.ReplaceAllString(string(text), ""), "#")
	}
	require.Equal(t, layout(fresh), layout(content))
	_, err = render([]byte("no marks"), "")
	require.Error(t, err)
}
