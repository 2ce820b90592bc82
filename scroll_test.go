package prospectkit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/jsonscan"
)

func TestTokenOf(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", maxToken)
	for text, want := range map[string]string{
		"": "", "null": "", `""`: "", `"a\u0062"`: "ab", `"` + longest + `"`: longest,
	} {
		token, err := tokenOf(jsonscan.Text(text))
		require.NoError(t, err)
		require.Equal(t, want, token)
	}
	for _, text := range []string{"1", "{}", "[]", "true", `"` + longest + `x"`} {
		_, err := tokenOf(jsonscan.Text(text))
		require.ErrorContains(t, err, "the token of the next page ")
	}
}
