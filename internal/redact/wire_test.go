package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The quick look before the names of secrets are searched for overlooks none of them.
func TestMayNameSecrets(t *testing.T) {
	for _, part := range fieldParts {
		for _, name := range []string{part, strings.ToUpper(part), "x-" + part + "_y", strings.ToUpper(part[:1]) + part[1:]} {
			require.True(t, mayNameSecrets(`{"`+name+`":"v"}`), name)
		}
	}
	for _, name := range []string{
		"authorization", "X-Authenticate", "Cookies", "scrollToken", "nextCursor", "client_secret", "Signature", "credentials", "passWord", "apiKey", "api-key",
		"bucketPolicy", "to\u212Aen",
	} {
		text := `{"` + name + `":"v"}`
		require.True(t, secretField.MatchString(text), name)
		require.True(t, mayNameSecrets(text), name)
	}
	require.False(t, mayNameSecrets(`{"error":{"code":"LIST_NOT_FOUND","message":"No such list."}}`))
}
