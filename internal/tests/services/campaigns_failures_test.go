package services_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// Whichever of the reads of a review is refused, there is no review, and nothing is approved.
func TestCampaigns_EveryReadOfAReviewMayFail(t *testing.T) {
	start := time.Now()
	sb := tests.EverySandbox(t, start, sandbox.WithClock(sandbox.NewManualClock(start)), sandbox.NoLimits())
	fails, requests := 0, 0
	client := tests.SandboxClient(t, sb, prospectkit.WithTransport(tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if requests++; requests == fails {
			return tests.Respond(403, tests.Envelope("INSUFFICIENT_SCOPE")), nil
		}
		require.Equal(t, http.MethodGet, r.Method, "nothing but reads")
		return sb.Transport().RoundTrip(r)
	})))
	seen, err := client.Campaigns.Review(t.Context(), tests.CampaignID)
	require.NoError(t, err)
	reads := requests
	for fails = 1; fails <= reads; fails++ {
		requests = 0
		_, err = client.Campaigns.Review(t.Context(), tests.CampaignID)
		require.ErrorIs(t, err, prospectkit.CodeInsufficientScope, fails)
		require.Equal(t, fails, requests, "the first failure ends it")
	}
	for fails = 1; fails <= 2*reads; fails++ {
		requests = 0
		_, err = client.Campaigns.Approve(t.Context(), tests.CampaignID, seen.Digest())
		require.ErrorIs(t, err, prospectkit.CodeInsufficientScope, fails)
		require.Equal(t, fails, requests)
	}
}

// A review is many requests: what is for one of them would do nothing, or be filled by any of them.
func TestCampaigns_ReviewRefusesOptionsForOneCall(t *testing.T) {
	sb := tests.EverySandbox(t, time.Now())
	client := tests.SandboxClient(t, sb)
	for _, option := range []prospectkit.CallOption{
		prospectkit.WithInfo(new(prospectkit.Info)), prospectkit.WithQuery("a", "b"),
		prospectkit.WithField("a", "b"), prospectkit.Once("a"), prospectkit.AllowResume(), prospectkit.AllowRetryUnknown(), nil,
	} {
		_, err := client.Campaigns.Review(t.Context(), tests.CampaignID, prospectkit.WithMaxWait(time.Minute), option)
		require.ErrorIs(t, err, prospectkit.ErrInvalid)
		require.ErrorContains(t, err, "options")
	}
	require.Empty(t, sb.Journal())
	_, err := client.Campaigns.Review(t.Context(), tests.CampaignID, prospectkit.WithMaxWait(time.Minute))
	require.NoError(t, err)
}

// A review is of the campaign that was asked for, wherever the listing has it.
func TestCampaigns_ReviewOfTheRightCampaign(t *testing.T) {
	review := func(listing string) string {
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/campaigns") {
				return tests.Respond(200, listing), nil
			}
			return tests.Respond(200, `[]`), nil
		}))
		r, err := client.Campaigns.Review(t.Context(), tests.CampaignID)
		require.NoError(t, err)
		return r.Digest()
	}
	ours, other := `{"id":"`+strings.ToUpper(tests.CampaignID)+`","name":"ours"}`, `{"id":"65f0c0ffee65f0c0ffee6cff","name":"another"}`
	require.Equal(t, review(`[`+ours+`]`), review(`[`+other+`,`+ours+`]`))
}

// Nothing of the steps is left out: neither a second one with the id of the first, nor their order.
func TestCampaigns_ReviewLeavesNothingOut(t *testing.T) {
	review := func(campaign, steps string) *prospectkit.Review {
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/campaigns"):
				return tests.Respond(200, `[{"id":"`+tests.CampaignID+`"`+campaign+`}]`), nil
			case strings.HasSuffix(r.URL.Path, "/steps"):
				return tests.Respond(200, steps), nil
			}
			return tests.Respond(200, `[]`), nil
		}))
		r, err := client.Campaigns.Review(t.Context(), tests.CampaignID)
		require.NoError(t, err)
		return r
	}
	one, two, three := `{"id":"a","body":"1"}`, `{"id":"a","body":"2"}`, `{"id":"a","body":"3"}`
	was := review("", `[`+one+`,`+two+`]`)
	require.Len(t, was.Steps, 2)
	for _, steps := range []string{one, two + `,` + one, one + `,` + three, one + `,` + two + `,` + three} {
		require.NotEqual(t, was.Digest(), review("", `[`+steps+`]`).Digest(), steps)
	}
	require.Equal(t, was.Digest(), review("", `[`+one+`,`+two+`]`).Digest())
	require.Contains(t, was.String(), "Not reviewed, because the API does not show them: lists contacts")
	require.True(t, was.ListsUnread)
	require.Contains(t, review(`,"listIds":null`, `[]`).String(), "Not reviewed")
	none := review(`,"listIds":[]`, `[]`)
	require.False(t, none.ListsUnread)
	require.Contains(t, none.String(), "to no contacts, as its lists have none")
}

// A listing that cannot be read is the error of the look for an approval, and of the wait for a campaign.
func TestCampaigns_ListingThatIsRefused(t *testing.T) {
	denied := tests.Always(403, tests.Envelope("INSUFFICIENT_SCOPE"))
	_, err := tests.NewClient(t, denied).Campaigns.WaitInitialized(t.Context(), tests.CampaignID)
	require.ErrorIs(t, err, prospectkit.CodeInsufficientScope)
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			return tests.CutOff(r)
		}
		return denied(r)
	}))
	_, err = client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	require.True(t, ok)
	r, err := unknown.Resolve(t.Context())
	require.ErrorIs(t, err, prospectkit.CodeInsufficientScope)
	require.Nil(t, r)
}

// A page of campaigns with the token of a further one is not all, and the last page, which has none, is the end.
func TestCampaigns_PagesWithTokens(t *testing.T) {
	for _, last := range []string{`"nextCursor":null`, `"nextCursor":""`, `"count":1`} {
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPost:
				return tests.CutOff(r)
			case r.URL.Query().Get("pageNum") == "2":
				return tests.Respond(200, `{"campaigns":[{"id":"`+tests.CampaignID+`","status":"active"}],`+last+`}`), nil
			}
			return tests.Respond(200, `{"campaigns":[{"id":"another","status":"draft"}],"nextCursor":"abc"}`), nil
		}))
		all, err := prospectkit.Collect(client.Campaigns.All(t.Context()), 10)
		require.NoError(t, err, last)
		require.Len(t, all, 2, last)
		_, err = client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
		unknown, _ := errors.AsType[*prospectkit.OutcomeUnknownError](err)
		r, err := unknown.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, last)
	}
}

// A campaign that was stopped and then shows as active was approved, whoever stopped it before.
func TestCampaigns_StoppedThenActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return tests.CutOff(r)
			}
			status := "stopped"
			if looks++; looks == 1 {
				time.Sleep(9 * time.Second)
			} else {
				time.Sleep(2 * time.Second)
				status = "active"
			}
			return tests.Respond(200, `[{"id":"`+tests.CampaignID+`","status":"`+status+`"}]`), nil
		}))
		_, err := client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
		unknown, _ := errors.AsType[*prospectkit.OutcomeUnknownError](err)
		r, err := unknown.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)
		require.Contains(t, r.Note, "active")
		require.NotContains(t, r.Note, "looked", "that is told of what was not seen")
	})
}
