// Package recipes holds code to copy that the pages lead to, and that needs other modules.
package recipes

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pages name the files that the tests run.
func TestPages(t *testing.T) {
	for file, page := range map[string]string{"metrics/metrics.go": "guide.md", "vcr/vcr.go": "testing.md"} {
		text, err := os.ReadFile("../../../docs/" + page)
		require.NoError(t, err)
		_, _, linked := strings.Cut(string(text), "(../internal/proofs/recipes/"+file+")")
		require.True(t, linked, "%s does not lead to %s", page, file)
	}
}
