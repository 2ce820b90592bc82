package redact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/redact"
)

// Nothing of what a text quotes is left, wherever the text ends.
func TestUnquoted(t *testing.T) {
	for text, want := range map[string]string{
		``: ``, `plain \ text`: `plain \ text`, `a "b" c`: `a "..." c`, `a "b`: `a "..."`, `a "b\`: `a "..."`, `"`: `"..."`, `"\`: `"..."`, `a "b\"c" d "e\\" f`: `a "..." d "..." f`,
		`x: malformed MIME header: missing colon: key`: `x: malformed MIME header`, `"q" malformed MIME header "r"`: `"..." malformed MIME header`,
	} {
		require.Equal(t, want, redact.Unquoted(text), text)
	}
	const whole = `a "secret \" secret \\" b "secret\\\""`
	for end := range len(whole) {
		require.NotContains(t, strings.ReplaceAll(redact.Unquoted(whole[:end]), `"..."`, ""), "s")
	}
}
