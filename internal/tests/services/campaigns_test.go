package services_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
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

func TestCampaigns_Exchanges(t *testing.T) {
	type client = *prospectkit.Client
	type fields = prospectkit.Fields
	lists := prospectkit.CampaignChanges{ListIDs: []string{tests.SendID}}
	const (
		onePage  = `"Number": 1, "TotalPages": 1, "TotalRecords": 1, "TotalKnown": true, "Recovered": false`
		campaign = `{"id": "` + tests.CampaignID + `", "status": "", "initializationStatus": "", "channels": null, "listIds": null}`
	)
	approve := func(ctx context.Context, c client) (any, error) {
		return c.Campaigns.ApproveUnreviewed(ctx, tests.CampaignID)
	}
	play(t, []surfaceCall{
		{"campaigns.list/plain", func(ctx context.Context, c client) (any, error) { return c.Campaigns.Page(ctx) }, `{"Items": [{"id": "` + tests.CampaignID + `", "status": "stopped", "initializationStatus": "", "channels": null, "listIds": null}], ` + onePage + `}`, ""},
		{"campaigns.list/queried", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.Page(ctx, prospectkit.WithQuery("pageNum", "2"))
		}, `{"Items": [], "Number": 1, "TotalPages": 1, "TotalRecords": 0, "TotalKnown": true, "Recovered": false}`, ""},
		{"campaigns.create/fields", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.Create(ctx, prospectkit.NewCampaign{Channels: []string{"a"}, Extra: fields{"name": "Spring"}})
		}, campaign, ""},
		{"campaigns.create/channels", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.Create(ctx, prospectkit.NewCampaign{Channels: []string{"b"}}, prospectkit.WithField("name", "Spring"))
		}, "", prospectkit.CodeInvalidCampaignChannels},
		{"campaigns.adjust/lists", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.Adjust(ctx, tests.CampaignID, lists)
		}, campaign, ""},
		{"campaigns.adjust/initializing", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.Adjust(ctx, tests.CampaignID, lists)
		}, "", prospectkit.CodeCampaignInitializing},
		{"campaigns.adjust/nothing", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.Adjust(ctx, tests.CampaignID, prospectkit.CampaignChanges{})
		}, campaign, ""},
		{"campaigns.approve/accepted", approve, `{"campaignId": "` + tests.CampaignID + `", "status": "active"}`, ""},
		{"campaigns.approve/new-status", approve, `{"campaignId": "` + tests.CampaignID + `", "status": "warming-up"}`, ""},
		{"campaigns.approve/retyped", approve, `{"campaignId": "` + tests.CampaignID + `", "status": "active"}`, ""},
		{"campaigns.approve/not-ready", approve, "", prospectkit.CodeCampaignNotReady},
		{"campaigns.approve/busy", approve, "", prospectkit.CodeCampaignBusy},
		{"campaigns.steps/plain", func(ctx context.Context, c client) (any, error) { return c.Campaigns.StepsPage(ctx, tests.CampaignID) }, `{"Items": [{"id": "` + tests.StepID + `", "sequenceNumber": 1, "type": ""}], ` + onePage + `}`, ""},
		{"campaigns.steps/not-found", func(ctx context.Context, c client) (any, error) { return c.Campaigns.StepsPage(ctx, tests.CampaignID) }, "", prospectkit.CodeCampaignNotFound},
		{"campaigns.scheduled-sends/plain", func(ctx context.Context, c client) (any, error) { return c.Campaigns.SendsPage(ctx, tests.CampaignID) }, `{"Items": [{"id": "` + tests.SendID + `", "state": "scheduled"}], ` + onePage + `}`, ""},
		{"campaigns.edit-send/fields", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.EditSend(ctx, tests.SendID, fields{"body": "Hello"})
		}, `{"id": "` + tests.SendID + `", "state": ""}`, ""},
		{"campaigns.edit-send/not-editable", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.EditSend(ctx, tests.SendID, fields{"body": "Hello"})
		}, "", prospectkit.CodeScheduledSendNotEditable},
		{"campaigns.preview-step/rendered", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.PreviewStep(ctx, tests.CampaignID, tests.StepID, fields{"sample": 1})
		}, `{"stepId": "` + tests.StepID + `", "preview": {"subject": "Hi", "body": "..."}}`, ""},
		{"campaigns.preview-step/retyped", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.PreviewStep(ctx, tests.CampaignID, tests.StepID, nil)
		}, `{"stepId": "", "preview": "text"}`, ""},
		{"campaigns.preview-step/unavailable", func(ctx context.Context, c client) (any, error) {
			return c.Campaigns.PreviewStep(ctx, tests.CampaignID, tests.StepID, nil)
		}, "", prospectkit.CodeStepPreviewUnavailable},
	})
}

func TestCampaigns_PreviewNeedsAPath(t *testing.T) {
	_, err := tests.Unrouted(t).Campaigns.PreviewStep(t.Context(), tests.CampaignID, tests.StepID, nil)
	require.Equal(t, []string{"route is undocumented: set it with WithRoutes"}, tests.Refusals(t, err))
	client := tests.NewClient(t, tests.Untouched(t), prospectkit.WithRoutes(map[string]string{"campaigns.preview-step": "POST /business/steps/{stepId}"}))
	_, err = client.Campaigns.PreviewStep(t.Context(), tests.CampaignID, tests.StepID, nil)
	require.Equal(t, []string{"path has 1 parameters, the call has 2 ids"}, tests.Refusals(t, err))
}

// approved loses the response of an approval, and resolves it with a listing.
func approved(t *testing.T, listing string) (*prospectkit.Resolution, []string) {
	t.Helper()
	var sent []string
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Method+" "+r.URL.Path)
		if r.Method == http.MethodPost {
			return tests.Consumed(r)
		}
		return tests.Respond(200, listing), nil
	}))
	_, err := client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
	tests.RequireUnknown(t, err)
	unknown, _ := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	r, err := unknown.Resolve(t.Context())
	require.NoError(t, err)
	return r, sent
}

// A campaign on a later page of the listing shows, too.
func TestCampaigns_ApprovalIsResolvedByALaterPage(t *testing.T) {
	const page = `{"pagination": {"page": %d, "totalPages": 2, "totalRecords": 2}, "campaigns": [{"id": "%s", "status": "active"}]}`
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		switch {
		case r.Method == http.MethodPost:
			return tests.Consumed(r)
		case r.URL.Query().Get("pageNum") == "2":
			return tests.Respond(200, fmt.Sprintf(page, 2, tests.CampaignID)), nil
		}
		return tests.Respond(200, fmt.Sprintf(page, 1, "65f0c0ffee65f0c0ffee6cff")), nil
	}))
	_, err := client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	require.True(t, ok)
	r, err := unknown.Resolve(t.Context())
	require.NoError(t, err)
	require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, r.Note)
}

// Whatever the listing says, an approval goes out once, and only an active campaign says that it happened.
func TestCampaigns_ApprovalIsResolvedByTheListing(t *testing.T) {
	campaign := func(rest string) string { return `{"id": "` + tests.CampaignID + `"` + rest + `}` }
	other := `{"id": "65f0c0ffee65f0c0ffee6cff", "status": "active"}`
	for name, c := range map[string]struct {
		listing string
		outcome prospectkit.Outcome
		found   bool
		note    string
	}{
		"active, under campaigns":  {`{"campaigns": [` + other + `, ` + campaign(`, "status": "active"`) + `]}`, prospectkit.OutcomeApplied, true, "a teammate may have approved it at the same moment"},
		"active, under data":       {`{"pagination": {}, "data": [` + campaign(`, "status": "active"`) + `]}`, prospectkit.OutcomeApplied, true, "the campaign is active"},
		"active, bare":             {`[` + campaign(`, "status": "active"`) + `]`, prospectkit.OutcomeApplied, true, "the campaign is active"},
		"id in capitals":           {`[{"id": "65F0C0FFEE65F0C0FFEE6C01", "status": "active"}]`, prospectkit.OutcomeApplied, true, "the campaign is active"},
		"stopped":                  {`{"campaigns": [` + campaign(`, "status": "stopped"`) + `]}`, prospectkit.OutcomeUnknown, true, "so ask before you approve again"},
		"some other status":        {`{"campaigns": [` + campaign(`, "status": "warming-up"`) + `]}`, prospectkit.OutcomeUnknown, true, "the campaign is not active"},
		"without status":           {`{"campaigns": [` + campaign(``) + `]}`, prospectkit.OutcomeUnknown, true, "but not its status"},
		"status of another type":   {`{"campaigns": [` + campaign(`, "status": 1`) + `]}`, prospectkit.OutcomeUnknown, true, "but not its status"},
		"not in the listing":       {`{"campaigns": [` + other + `, null, 3]}`, prospectkit.OutcomeUnknown, false, "does not hold the campaign"},
		"under an unknown wrapper": {`{"items": [` + campaign(`, "status": "active"`) + `]}`, prospectkit.OutcomeUnknown, false, "does not hold the campaign"},
		"not a listing":            {`"none"`, prospectkit.OutcomeUnknown, false, "does not hold the campaign"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				r, sent := approved(t, c.listing)
				require.Equal(t, c.outcome, r.Outcome)
				require.Contains(t, r.Note, c.note)
				campaign, found := r.Object.(*prospectkit.Campaign)
				require.Equal(t, c.found, found)
				if found {
					require.NotEmpty(t, campaign.ID)
				}
				require.Equal(t, "POST /api/v1/business/campaigns/"+tests.CampaignID+"/approve", sent[0])
				for _, line := range sent[1:] {
					require.Equal(t, "GET /api/v1/business/campaigns", line, "nothing but reads follows")
				}
				if c.outcome == prospectkit.OutcomeApplied || strings.Contains(c.note, "but not its status") {
					require.Len(t, sent, 2, "one look is enough")
					require.Zero(t, r.Again, "another one would not tell more")
				} else {
					require.GreaterOrEqual(t, time.Since(began), 10*time.Second, "it is looked for as long as changes usually need")
					require.WithinRange(t, r.Again, time.Now(), began.Add(15*time.Minute), "the activation runs in the background")
				}
			})
		})
	}
}

func TestCampaigns_ApprovalHasNoBody(t *testing.T) {
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		require.Nil(t, r.Body)
		require.Nil(t, r.GetBody)
		require.Zero(t, r.ContentLength)
		require.Empty(t, r.Header.Get("Content-Type"))
		return tests.Respond(202, `{"campaignId": "`+tests.CampaignID+`", "status": "active"}`), nil
	}))
	approval, err := client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
	require.NoError(t, err)
	tests.SameFields(t, &prospectkit.Approval{CampaignID: tests.CampaignID, Status: prospectkit.CampaignActive}, approval)
}

// Listings of an undocumented shape are read in three forms, page by page; any other is an error that says what is there.
func TestCampaigns_Listings(t *testing.T) {
	testListing(t, "campaigns", "/campaigns", func(c *prospectkit.Campaign) string { return c.ID }, (*prospectkit.CampaignsService).All, (*prospectkit.CampaignsService).Pages, (*prospectkit.CampaignsService).Page)
	testListing(t, "steps", "/campaigns/"+tests.CampaignID+"/steps", func(s *prospectkit.Step) string { return s.ID },
		func(s *prospectkit.CampaignsService, ctx context.Context, opts ...prospectkit.PageOption) iter.Seq2[*prospectkit.Step, error] {
			return s.Steps(ctx, tests.CampaignID, opts...)
		},
		func(s *prospectkit.CampaignsService, ctx context.Context, opts ...prospectkit.PageOption) iter.Seq2[*prospectkit.Page[prospectkit.Step], error] {
			return s.StepsPages(ctx, tests.CampaignID, opts...)
		},
		func(s *prospectkit.CampaignsService, ctx context.Context, opts ...prospectkit.CallOption) (*prospectkit.Page[prospectkit.Step], error) {
			return s.StepsPage(ctx, tests.CampaignID, opts...)
		})
	testListing(t, "scheduledSends", "/campaigns/"+tests.CampaignID+"/scheduled-sends", func(s *prospectkit.Send) string { return s.ID },
		func(s *prospectkit.CampaignsService, ctx context.Context, opts ...prospectkit.PageOption) iter.Seq2[*prospectkit.Send, error] {
			return s.Sends(ctx, tests.CampaignID, opts...)
		},
		func(s *prospectkit.CampaignsService, ctx context.Context, opts ...prospectkit.PageOption) iter.Seq2[*prospectkit.Page[prospectkit.Send], error] {
			return s.SendsPages(ctx, tests.CampaignID, opts...)
		},
		func(s *prospectkit.CampaignsService, ctx context.Context, opts ...prospectkit.CallOption) (*prospectkit.Page[prospectkit.Send], error) {
			return s.SendsPage(ctx, tests.CampaignID, opts...)
		})
}

func testListing[T any](
	t *testing.T, name, path string, id func(*T) string,
	all func(*prospectkit.CampaignsService, context.Context, ...prospectkit.PageOption) iter.Seq2[*T, error],
	pages func(*prospectkit.CampaignsService, context.Context, ...prospectkit.PageOption) iter.Seq2[*prospectkit.Page[T], error],
	page func(*prospectkit.CampaignsService, context.Context, ...prospectkit.CallOption) (*prospectkit.Page[T], error),
) {
	t.Helper()
	for _, body := range []string{`[{"id":"a"},{"id":"b"}]`, `{"` + name + `":[{"id":"a"},{"id":"b"}],"data":[]}`, `{"` + name + `":null,"data":[{"id":"a"},{"id":"b"}]}`} {
		s := tests.Stage(t, tests.Always(200, body), tests.Always(200, body))
		client := tests.NewClient(t, s)
		got, err := prospectkit.Collect(all(client.Campaigns, t.Context()), 9)
		require.NoError(t, err, body)
		require.Len(t, got, 2, body)
		require.Equal(t, "b", id(&got[1]))
		one, err := page(client.Campaigns, t.Context())
		require.NoError(t, err, body)
		require.Equal(t, got, one.Items)
		require.Equal(t, body, one.Raw().String())
		require.Equal(t, []string{"GET " + path, "GET " + path}, s.Sent)
		s.Done()
	}
	s := tests.Stage(t, tests.Always(200, `{"data":[{"id":"a"},{"id":"b"}],"pagination":{"pageNum":1,"totalPages":2,"totalRecords":3}}`),
		tests.Always(200, `{"data":[{"id":"c"}],"pagination":{"pageNum":2,"totalPages":2,"totalRecords":3}}`))
	var ids []string
	for p, err := range pages(tests.NewClient(t, s).Campaigns, t.Context()) {
		require.NoError(t, err)
		require.Equal(t, 3, p.TotalRecords)
		for i := range p.Items {
			ids = append(ids, id(&p.Items[i]))
		}
	}
	require.Equal(t, []string{"a", "b", "c"}, ids)
	require.Equal(t, []string{"GET " + path, "GET " + path + "?pageNum=2"}, s.Sent)
	s.Done()
	for body, want := range map[string]string{
		`{"items":[],"total":0}`:          "the response has no " + name + ": it is an object with items, total",
		`7`:                               "the response has no " + name + ": it is not an object",
		`{"` + name + `":[{"id":"a"},7]}`: "is not an object",
	} {
		_, err := prospectkit.Collect(all(tests.NewClient(t, tests.Always(200, body), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})).Campaigns, t.Context()), 9)
		require.ErrorContains(t, err, want)
	}
}

// A response that tells of a further page by a token, as other operations do, is not taken for the whole: the next number is asked for,
// and a page that comes again is an error. So nothing is left out of a review in silence.
func TestCampaigns_FurtherPageByAToken(t *testing.T) {
	for name, tail := range map[string]string{
		"cursor": `,"nextCursor":"x"`, "token": `,"scrollToken":"x"`, "in pagination": `,"pagination":{"nextCursor":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			client := tests.NewClient(t, tests.Always(200, `{"data":[{"id":"a"}]`+tail+`}`))
			got, err := prospectkit.Collect(client.Campaigns.Steps(t.Context(), tests.CampaignID), 9)
			require.ErrorContains(t, err, "hold nothing but records that came before")
			require.Len(t, got, 1)
			_, err = client.Campaigns.Review(t.Context(), tests.CampaignID)
			require.ErrorContains(t, err, "hold nothing but records that came before")
		})
	}
	client := tests.NewClient(t, tests.Always(200, `{"data":[{"id":"a"}],"nextCursor":null}`))
	got, err := prospectkit.Collect(client.Campaigns.Steps(t.Context(), tests.CampaignID), 9)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func TestCampaigns_WaitInitializedLooksThroughAllPages(t *testing.T) {
	s := tests.Stage(t, tests.Always(200, `{"data":[{"id":"a"}],"pagination":{"pageNum":1,"totalPages":2,"totalRecords":2}}`),
		tests.Always(200, `{"data":[{"id":"`+strings.ToUpper(tests.CampaignID)+`","initializationStatus":"failed"}],"pagination":{"pageNum":2,"totalPages":2,"totalRecords":2}}`))
	campaign, err := tests.NewClient(t, s).Campaigns.WaitInitialized(t.Context(), tests.CampaignID)
	require.NoError(t, err)
	require.Equal(t, prospectkit.InitializationFailed, campaign.InitializationStatus)
	s.Done()
}

func TestCampaigns_WaitInitialized(t *testing.T) {
	listing := func(status string) string {
		return `{"campaigns": [{"id": "` + tests.CampaignID + `", "initializationStatus": "` + status + `"}]}`
	}
	for last, bodies := range map[string][]string{
		"completed": {`{"campaigns": []}`, listing("generating"), listing("completed")},
		"failed":    {listing("generating"), listing("failed")},
	} {
		synctest.Test(t, func(t *testing.T) {
			polls := 0
			client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
				polls++
				return tests.Respond(200, bodies[polls-1]), nil
			}))
			campaign, err := client.Campaigns.WaitInitialized(t.Context(), tests.CampaignID)
			require.NoError(t, err)
			require.Equal(t, last, string(campaign.InitializationStatus))
			require.Len(t, bodies, polls)
		})
	}
}

func TestCampaigns_WaitInitializedEndsWithTheContext(t *testing.T) {
	for body, state := range map[string]string{
		`{"campaigns": []}`: "not in the listing",
		`[{"id": "` + tests.CampaignID + `", "initializationStatus": "generating"}]`: "generating",
		`[{"id": "` + tests.CampaignID + `", "status": "draft"}]`:                    "without initializationStatus",
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := tests.NewClient(t, tests.Always(200, body)).Campaigns.WaitInitialized(ctx, tests.CampaignID)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, prospectkit.ErrNotSettled)
			require.ErrorContains(t, err, ", last seen as "+state+": ")
		})
	}
	_, err := tests.NewClient(t, tests.Untouched(t)).Campaigns.WaitInitialized(t.Context(), "x")
	require.Equal(t, []string{"campaignId must be 24 hexadecimal digits"}, tests.Refusals(t, err))
}

func TestCampaigns_Values(t *testing.T) {
	states := map[prospectkit.SendState]bool{ // and whether an edit is accepted
		"scheduled": true, "approval_required": true, "sent": false, "skipped": false, "stopped": false, "overwritten": false,
		"replied": false, "failed": false,
	}
	for state, editable := range states {
		require.True(t, state.Known(), state)
		require.Equal(t, editable, state.Editable(), state)
	}
	require.False(t, prospectkit.SendState("waiting").Known())
	require.False(t, prospectkit.SendState("waiting").Editable())
	for status, known := range map[prospectkit.CampaignStatus]bool{"active": true, "stopped": true, "draft": false, "": false} {
		require.Equal(t, known, status.Known(), status)
	}
	for status, settled := range map[prospectkit.InitializationStatus]bool{"completed": true, "failed": true, "running": false, "": false} {
		require.Equal(t, settled, status.Known(), status)
		campaign := prospectkit.Campaign{InitializationStatus: status}
		require.Equal(t, settled, campaign.Initialized(), status)
	}
	for kind, known := range map[prospectkit.StepType]bool{"social_connection": true, "social_message": true, "email": false, "": false} {
		require.Equal(t, known, kind.Known(), kind)
	}
}

// A created campaign is of no use without its id: it was made, and the error names the keys that are there.
func TestCampaigns_CreatedInAnotherShape(t *testing.T) {
	for _, body := range []string{`{"campaign":{"id":"` + tests.CampaignID + `"}}`, `{"id":"` + tests.CampaignID + `"}`} {
		made, err := tests.NewClient(t, tests.Always(201, body)).Campaigns.Create(t.Context(), prospectkit.NewCampaign{Extra: prospectkit.Fields{"name": "Spring"}})
		require.NoError(t, err, body)
		require.Equal(t, tests.CampaignID, made.ID)
	}
	_, err := tests.NewClient(t, tests.Always(201, `{"campaign":{"campaignId":"`+tests.CampaignID+`"}}`)).Campaigns.Create(t.Context(), prospectkit.NewCampaign{Extra: prospectkit.Fields{"name": "Spring"}})
	require.ErrorContains(t, err, "the response has no id: it is an object with campaign")
	require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err))
	require.ErrorIs(t, err, prospectkit.ErrResponseLost)
}

// The success of a change says all: without the record in its response, only the id of the result is set, and its text is kept.
func TestCampaigns_ChangedInAnotherShape(t *testing.T) {
	for body, want := range map[string]prospectkit.Campaign{
		`{"campaign":{"id":"` + tests.CampaignID + `","status":"stopped"}}`: {ID: tests.CampaignID, Status: prospectkit.CampaignStopped},
		`{"id":"` + tests.CampaignID + `","status":"stopped"}`:              {ID: tests.CampaignID, Status: prospectkit.CampaignStopped},
		`{"ok":true}`: {ID: tests.CampaignID},
		`[1]`:         {ID: tests.CampaignID},
		``:            {ID: tests.CampaignID},
	} {
		got, err := tests.NewClient(t, tests.Always(200, body)).Campaigns.Adjust(t.Context(), tests.CampaignID, prospectkit.CampaignChanges{Extra: prospectkit.Fields{"name": "Autumn"}})
		require.NoError(t, err, body)
		tests.SameFields(t, &want, got, body)
		require.Contains(t, body, got.Raw().String())
		require.Equal(t, body == "", got.Raw().IsZero(), body)
	}
}

// surfaceCall is one call of a method, with an exchange to play.
type surfaceCall struct {
	exchange string
	call     func(ctx context.Context, c *prospectkit.Client) (any, error)
	want     string           // the result as JSON
	code     prospectkit.Code // or the code of the error
}

// play makes each call against its exchange.
func play(t *testing.T, calls []surfaceCall) {
	t.Helper()
	for _, call := range calls {
		t.Run(call.exchange, func(t *testing.T) {
			got, err := call.call(t.Context(), tests.Exchange(t, call.exchange))
			if call.code != "" {
				require.ErrorIs(t, err, call.code)
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
				return
			}
			require.NoError(t, err)
			text, err := json.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, call.want, string(text))
		})
	}
}

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
