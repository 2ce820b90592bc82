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

// One secret is hidden as several are.
func TestOneSecret(t *testing.T) {
	var none redact.Secrets
	require.Equal(t, "the token is s3cret-token", none.Hide("the token is s3cret-token", true))
	one := none.Plain("s3cret-token")
	require.Equal(t, "the token is "+redact.Hidden, one.Hide("the token is s3cret-token", false))
	require.Equal(t, redact.Hidden+" is the token", one.Hide("S3CRET%2dtoken is the token", false))
	require.Equal(t, "the token is "+redact.Hidden, one.Hide("the token is s3cret-to", true))
	require.Equal(t, "the token is s3cret-to", one.Hide("the token is s3cret-to", false))
	require.Empty(t, one.Hide("", true))
	require.Equal(t, none, none.Plain(""))
}
