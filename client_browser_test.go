package prospectkit_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	internal "example.com/prospectkit/internal/exchange"
)

// Where net/http leaves requests to a browser, only a transport of the user's own is taken.
func TestBrowser_NeedsAnOwnTransport(t *testing.T) {
	before := internal.InBrowser
	t.Cleanup(func() { internal.InBrowser = before })
	internal.InBrowser = func() bool { return true }
	own := always(http.StatusOK, oneUser)
	for _, refused := range []prospectkit.ClientOption{
		prospectkit.WithUserAgent("app/1"), prospectkit.WithHTTPClient(&http.Client{}),
		prospectkit.WithTransport(&http.Transport{}), prospectkit.WithHTTPClient(&http.Client{Transport: &http.Transport{}}),
	} {
		_, err := prospectkit.New(baseURL, token, refused)
		require.ErrorContains(t, err, "in a browser")
	}
	for _, taken := range []prospectkit.ClientOption{prospectkit.WithTransport(own), prospectkit.WithHTTPClient(&http.Client{Transport: own})} {
		_, err := prospectkit.New(baseURL, token, taken)
		require.NoError(t, err)
	}
}

// A token that is a URL was taken for the other argument, also that of a server on this machine.
func TestNew_TokenThatIsAURL(t *testing.T) {
	for _, swapped := range []string{"http://localhost:4010/api/v1", "https://api.example.com/api/v1", "http://x"} {
		_, err := prospectkit.New(baseURL, swapped)
		require.ErrorContains(t, err, "looks like a URL: base URL and token may be swapped")
	}
}
