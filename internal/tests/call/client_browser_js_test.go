package call_test

import (
	"net/http"
	"syscall/js"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// Node has the same fetch as a browser; what tells them apart is its process.
func TestBrowser_IsRefused(t *testing.T) {
	options := []prospectkit.ClientOption{
		prospectkit.WithTransport(&http.Transport{}), prospectkit.WithHTTPClient(&http.Client{}), prospectkit.WithUserAgent("app/1"),
	}
	for _, option := range options {
		require.NoError(t, tests.Discard(prospectkit.New(tests.BaseURL, tests.Token, option)), "in node")
	}
	process := js.Global().Get("process")
	js.Global().Set("process", js.Undefined())
	defer js.Global().Set("process", process)
	for _, option := range options {
		require.ErrorContains(t, tests.Discard(prospectkit.New(tests.BaseURL, tests.Token, option)), "in a browser")
	}
	client, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithTransport(tests.Always(http.StatusOK, tests.OneUser)))
	require.NoError(t, err)
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	require.ErrorContains(t, tests.Discard(client.With(options[0])), "in a browser")
}

// wrapped hides net/http's transport.
type wrapped struct{ http.RoundTripper }

// net/http decides when the program starts whether it leaves requests to fetch: under node, only if its name is another one.
func TestFetch_FollowsNoRedirect(t *testing.T) {
	js.Global().Call("eval", `
		globalThis.modes = []
		globalThis.fetch = async (url, options) => {
			modes.push(options.redirect + (options.headers.has("authorization") ? "" : " without a token"))
			return {status: 0, headers: new Headers(), body: null, redirected: false, url: "", arrayBuffer: async () => new ArrayBuffer(0)}
		}`)
	client := tests.NewClient(t, wrapped{http.DefaultTransport})
	_, err := client.Account.Me(t.Context())
	require.ErrorContains(t, err, "like a redirect in a browser")
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	require.Equal(t, "manual,manual", js.Global().Get("modes").Call("join", ",").String())
}
