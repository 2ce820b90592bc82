package prospectkit_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// One mistake is enough for a refusal, in every way to make a client.
func TestClient_OneMistakeIsRefused(t *testing.T) {
	parent := newClient(t, always(200, oneUser))
	t.Setenv(prospectkit.EnvBaseURL, baseURL)
	t.Setenv(prospectkit.EnvToken, token)
	for name, mistake := range map[string]prospectkit.ClientOption{
		"nil": nil, "no transport": prospectkit.WithTransport(nil), "no HTTP client": prospectkit.WithHTTPClient(nil), "a wait below zero": prospectkit.WithMaxWait(-1),
	} {
		for op, client := range map[string]func(...prospectkit.ClientOption) (*prospectkit.Client, error){
			"client.with": parent.With, "client.from-env": prospectkit.FromEnv,
			"client.new": func(o ...prospectkit.ClientOption) (*prospectkit.Client, error) {
				return prospectkit.New(baseURL, token, o...)
			},
		} {
			made, err := client(mistake)
			require.Nil(t, made, "%s, %s", op, name)
			var refused *prospectkit.RefusedError
			require.ErrorAs(t, err, &refused, "%s, %s", op, name)
			require.Len(t, refused.Violations, 1)
			_, err = client(prospectkit.WithTransport(always(http.StatusOK, oneUser)))
			require.NoError(t, err)
		}
	}
}
