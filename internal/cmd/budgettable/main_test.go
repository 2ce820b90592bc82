package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// figures differ in the last digit between kinds of machines, where multiplication and addition are fused.
var figures = regexp.MustCompile(`[0-9][0-9.ms]*`)

func TestThePageHasTheTables(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "..", page))
	require.NoError(t, err)
	fresh, err := render(content)
	require.NoError(t, err)
	require.Equal(t, figures.ReplaceAllString(string(fresh), "#"), figures.ReplaceAllString(string(content), "#"))
	_, err = render([]byte("no marks"))
	require.Error(t, err)
}
