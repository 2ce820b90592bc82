package tested_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The code of the guide runs here: each of its blocks is in a file of this directory, word for word.
func TestTheGuideShowsWhatIsTested(t *testing.T) {
	var code strings.Builder
	for _, pattern := range []string{"*.go", "scripts/*"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			code.WriteString(unindented(string(text)))
		}
	}
	guide, err := os.ReadFile("../../docs/testing.md")
	require.NoError(t, err)
	var blocks [][]string
	for chapter := range strings.SplitSeq(string(guide), "\n## ") {
		title, _, _ := strings.Cut(chapter, "\n")
		if !slices.Contains([]string{"The sandbox", "The command", "What is documented, and what is assumed"}, title) { // which use no application
			blocks = append(blocks, regexp.MustCompile("(?s)```(?:go|sh|js)\n(.*?)```").FindAllStringSubmatch(chapter, -1)...)
		}
	}
	require.Greater(t, len(blocks), 10)
	for _, block := range blocks {
		if strings.Contains(block[1], "\npackage ") {
			continue // a file of internal/proofs/recipes, whose test looks for it
		}
		require.True(t, strings.Contains(code.String(), unindented(block[1])), "no file here has this block of docs/testing.md:\n%s", block[1]) //nolint:testifylint // Contains would print all files
	}
}

func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}
