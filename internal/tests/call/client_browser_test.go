package call_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	internal "example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/tests"
)

// Where net/http leaves requests to a browser, only a transport of the user's own is taken.
func TestBrowser_NeedsAnOwnTransport(t *testing.T) {
	before := internal.InBrowser
	t.Cleanup(func() { internal.InBrowser = before })
	internal.InBrowser = func() bool { return true }
	own := tests.Always(http.StatusOK, tests.OneUser)
	for _, refused := range []prospectkit.ClientOption{
		prospectkit.WithUserAgent("app/1"), prospectkit.WithHTTPClient(&http.Client{}),
		prospectkit.WithTransport(&http.Transport{}), prospectkit.WithHTTPClient(&http.Client{Transport: &http.Transport{}}),
	} {
		require.ErrorContains(t, tests.Discard(prospectkit.New(tests.BaseURL, tests.Token, refused)), "in a browser")
	}
	for _, taken := range []prospectkit.ClientOption{prospectkit.WithTransport(own), prospectkit.WithHTTPClient(&http.Client{Transport: own})} {
		require.NoError(t, tests.Discard(prospectkit.New(tests.BaseURL, tests.Token, taken)))
	}
}

// A browser follows redirects unless net/http's transport, which another one may wrap, is told with each attempt.
func TestBrowser_AsksForNoRedirects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inBrowser := false
		before := internal.InBrowser
		t.Cleanup(func() { internal.InBrowser = before })
		internal.InBrowser = func() bool { return inBrowser }
		var modes []string
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			modes = append(modes, r.Header.Get("js.fetch:redirect"))
			r.Header.Del("js.fetch:redirect") // as net/http does
			return tests.Respond(http.StatusServiceUnavailable, ""), nil
		}))
		for _, inBrowser = range []bool{true, false} {
			require.Error(t, tests.Discard(client.Account.Me(t.Context())))
		}
		require.Equal(t, []string{"manual", "manual", "manual", "", "", ""}, modes)
	})
}

// A redirect that a browser does not follow has no status, and nothing else.
func TestBrowser_RedirectIsNotTheServices(t *testing.T) {
	sent := 0
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{}, nil
	}))
	var info prospectkit.Info
	_, err := client.Account.Me(t.Context(), prospectkit.WithInfo(&info))
	require.EqualError(t, err, "prospectkit: account.me: the response has no status, like a redirect in a browser")
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.Equal(t, "confirmed", info.Attempts[0].Delivery)
	_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	require.ErrorContains(t, err, "the response has no status, like a redirect in a browser")
	require.Equal(t, 2, sent)
}
