// Package recipes holds code of the pages that needs other modules.
package recipes

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pages show the files that the tests run, word for word.
func TestPages(t *testing.T) {
	for file, page := range map[string]string{"metrics/metrics.go": "guide.md", "vcr/vcr.go": "testing.md"} {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		text, err := os.ReadFile("../../docs/" + page)
		require.NoError(t, err)
		_, _, shown := strings.Cut(string(text), "```go\n"+string(code)+"```\n") // Contains would print both
		require.True(t, shown, "%s does not show %s", page, file)
	}
}
