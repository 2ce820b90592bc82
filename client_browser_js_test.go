package prospectkit_test

import (
	"net/http"
	"syscall/js"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// Node has the same fetch as a browser; what tells them apart is its process.
func TestBrowser_IsRefused(t *testing.T) {
	options := []prospectkit.ClientOption{
		prospectkit.WithTransport(&http.Transport{}), prospectkit.WithHTTPClient(&http.Client{}), prospectkit.WithUserAgent("app/1"),
	}
	for _, option := range options {
		_, err := prospectkit.New(baseURL, token, option)
		require.NoError(t, err, "in node")
	}
	process := js.Global().Get("process")
	js.Global().Set("process", js.Undefined())
	defer js.Global().Set("process", process)
	for _, option := range options {
		_, err := prospectkit.New(baseURL, token, option)
		require.ErrorContains(t, err, "in a browser")
	}
	client, err := prospectkit.New(baseURL, token, prospectkit.WithTransport(always(http.StatusOK, oneUser)))
	require.NoError(t, err)
	_, err = client.Account.Me(t.Context())
	require.NoError(t, err)
	_, err = client.With(options[0])
	require.ErrorContains(t, err, "in a browser")
}
