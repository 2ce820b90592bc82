package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWords(t *testing.T) {
	doubt := "It is a " + "doubt.\n"
	require.Equal(t, []string{
		`README.md:1: "a ` + `doubt": say outcome unknown`,
		`a.go:3: "A ` + `doubt": say outcome unknown`,
		`a.go:4: "sure` + `ly": say definitely, or nothing`,
	}, findings(t, words, map[string]string{
		"README.md":    doubt + "```sh\n" + doubt + "```\nundoubted, in doubtful ways\n",
		"CHANGELOG.md": doubt,
		"a.go":         "package a\n\n// A " + "doubt, wait.\nvar text = \"sure" + "ly\"\nvar inDoubt = 1\n",
	}))
}

// Each phrase is found by its rule, and what to write instead breaks none.
func TestPhrases(t *testing.T) {
	for line := range strings.Lines(phrases) {
		require.Equal(t, 1, strings.Count(line, "\t"), line)
		_, better, _ := strings.Cut(line, "\t")
		require.Empty(t, findings(t, words, map[string]string{"x.md": better}))
	}
}
