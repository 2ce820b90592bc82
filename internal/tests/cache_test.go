package tests

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// ageless is a cache that keeps each GET for a minute, sets no Age, and asks the service if it is told to.
type ageless struct {
	next  http.RoundTripper
	kept  map[string]keptResponse
	hits  int
	asked []string // methods of the requests that told it to
}

type keptResponse struct {
	http.Response

	at   time.Time
	body []byte
}

func (c *ageless) RoundTrip(r *http.Request) (*http.Response, error) {
	direct := r.Header.Get("Cache-Control") == "no-cache"
	if direct {
		c.asked = append(c.asked, r.Method)
	}
	k, found := c.kept[r.URL.String()]
	if !found || direct || r.Method != http.MethodGet || time.Since(k.at) > time.Minute {
		resp, err := c.next.RoundTrip(r)
		if err != nil || r.Method != http.MethodGet {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		k = keptResponse{*resp, time.Now(), body}
		c.kept[r.URL.String()] = k
	} else {
		c.hits++
	}
	resp := k.Response
	resp.Header = k.Header.Clone()
	resp.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	resp.Body = io.NopCloser(bytes.NewReader(k.body))
	return &resp, nil
}

func behindACache(t *testing.T, test func(t *testing.T, sb *sandbox.Sandbox, cache *ageless, client *prospectkit.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now())
		cache := &ageless{next: sb.Transport(), kept: map[string]keptResponse{}}
		test(t, sb, cache, SandboxClient(t, sb, prospectkit.WithTransport(cache)))
	})
}

// A review is what the service has, not a cache: it is compared with what is there.
func TestApprove_BehindACacheWithoutAge(t *testing.T) {
	behindACache(t, func(t *testing.T, sb *sandbox.Sandbox, cache *ageless, client *prospectkit.Client) {
		seen, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		sb.Do(func(tx *sandbox.Tx) { tx.AddRows(ListID, sandbox.Row{"firstName": "Eve"}) })
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, seen.Digest())
		require.ErrorIs(t, err, prospectkit.RuleReview)
		seen, err = client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		require.NoError(t, Discard(client.Campaigns.Approve(t.Context(), CampaignID, seen.Digest())))
		require.NotContains(t, cache.asked, http.MethodPost, "only reads are evidence")
	})
}

// Nor is what a cache has the outcome of a call. Other reads may come from it.
func TestResolve_BehindACacheWithoutAge(t *testing.T) {
	behindACache(t, func(t *testing.T, sb *sandbox.Sandbox, cache *ageless, client *prospectkit.Client) {
		find := func() error { return Discard(client.Lists.Named(t.Context(), "Q1", "")) }
		require.Error(t, find())
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
		_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
		require.Error(t, find())
		require.Positive(t, cache.hits)
		require.Empty(t, cache.asked)
		require.Equal(t, prospectkit.OutcomeApplied, Resolved(t, err).Outcome)
	})
}

// A name that is taken is looked for in what the service has: a cache may have the listing from before somebody took it.
func TestEnsure_BehindACacheWithoutAge(t *testing.T) {
	behindACache(t, func(t *testing.T, sb *sandbox.Sandbox, _ *ageless, client *prospectkit.Client) {
		require.ErrorIs(t, Discard(client.Lists.Named(t.Context(), "Q1", "")), prospectkit.CodeListNotFound)
		var id string
		sb.Do(func(tx *sandbox.Tx) { id = tx.CreateList(sandbox.List{Name: "Q1"}) })
		e, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Q1"})
		require.NoError(t, err)
		require.Equal(t, id, e.List.ID)
	})
}

// Traffic Server puts into Age by how much the service's Date lags behind its own clock, if that is more than the time that the service took. It
// hides what is fresh: writes stay unknown, and nothing is approved. Nothing is said that is false, also not that there is a cache.
func TestAgeOfALaggingDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now())
		client := SandboxClient(t, sb, prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := sb.Transport().RoundTrip(r)
			if err == nil {
				resp.Header.Set("Date", time.Now().Add(-30*time.Second).UTC().Format(http.TimeFormat))
				resp.Header.Set("Age", "30")
				resp.Header.Set("Via", "http/1.1 gateway (ApacheTrafficServer/9.2.9)")
			}
			return resp, err
		})))
		for _, arrives := range []bool{true, false} {
			name := map[bool]string{true: "Q1", false: "Q2"}[arrives]
			if !arrives {
				sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropBefore())
			}
			_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: name})
			r := Resolved(t, err)
			require.NotContains(t, err.Error(), "it comes from a cache")
			require.NotEqual(t, map[bool]prospectkit.Outcome{true: prospectkit.OutcomeNotApplied, false: prospectkit.OutcomeApplied}[arrives], r.Outcome, "%s", r.Note)
			require.NotContains(t, r.Note, "came from a cache")
		}
		seen, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, seen.Digest())
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.ErrorContains(t, err, "Date")
		require.Zero(t, sb.Calls("campaigns.approve"))
	})
}
