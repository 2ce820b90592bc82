package services_test

import (
	"context"
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
	lists := tests.WithTwo((*campaigns).Adjust, tests.CampaignID, prospectkit.CampaignChanges{ListIDs: []string{tests.SendID}})
	const (
		onePage  = `"Number": 1, "TotalPages": 1, "TotalRecords": 1, "TotalKnown": true, "Recovered": false`
		campaign = `{"id": "` + tests.CampaignID + `", "status": "", "initializationStatus": "", "channels": null, "listIds": null}`
		approved = `{"campaignId": "` + tests.CampaignID + `", "status": "active"}`
		stopped  = `{"id": "` + tests.CampaignID + `", "status": "stopped", "initializationStatus": "", "channels": null, "listIds": null}`
	)
	create := func(channel string, extra fields) tests.AnyCall {
		return tests.With((*campaigns).Create, prospectkit.NewCampaign{Channels: []string{channel}, Extra: extra})
	}
	approve, steps := tests.With((*campaigns).ApproveUnreviewed, tests.CampaignID), tests.With((*campaigns).StepsPage, tests.CampaignID)
	edit := tests.WithTwo((*campaigns).EditSend, tests.SendID, fields{"body": "Hello"})
	preview := func(sample fields) tests.AnyCall {
		return func(ctx context.Context, c *prospectkit.Client, _ ...prospectkit.CallOption) (any, error) {
			return c.Campaigns.PreviewStep(ctx, tests.CampaignID, tests.StepID, sample)
		}
	}
	play(t, []surfaceCall{
		{"campaigns.list/plain", tests.Plain((*campaigns).Page), `{"Items": [` + stopped + `], ` + onePage + `}`, ""},
		{
			"campaigns.list/queried", opted(tests.Plain((*campaigns).Page), prospectkit.WithQuery("pageNum", "2")),
			`{"Items": [], "Number": 1, "TotalPages": 1, "TotalRecords": 0, "TotalKnown": true, "Recovered": false}`, "",
		},
		{"campaigns.create/fields", create("a", fields{"name": "Spring"}), campaign, ""},
		{"campaigns.create/channels", opted(create("b", nil), prospectkit.WithField("name", "Spring")), "", prospectkit.CodeInvalidCampaignChannels},
		{"campaigns.adjust/lists", lists, campaign, ""},
		{"campaigns.adjust/initializing", lists, "", prospectkit.CodeCampaignInitializing},
		{"campaigns.adjust/nothing", tests.WithTwo((*campaigns).Adjust, tests.CampaignID, prospectkit.CampaignChanges{}), campaign, ""},
		{"campaigns.approve/accepted", approve, approved, ""},
		{"campaigns.approve/new-status", approve, strings.Replace(approved, "active", "warming-up", 1), ""},
		{"campaigns.approve/retyped", approve, approved, ""},
		{"campaigns.approve/not-ready", approve, "", prospectkit.CodeCampaignNotReady},
		{"campaigns.approve/busy", approve, "", prospectkit.CodeCampaignBusy},
		{"campaigns.steps/plain", steps, `{"Items": [{"id": "` + tests.StepID + `", "sequenceNumber": 1, "type": ""}], ` + onePage + `}`, ""},
		{"campaigns.steps/not-found", steps, "", prospectkit.CodeCampaignNotFound},
		{
			"campaigns.scheduled-sends/plain", tests.With((*campaigns).SendsPage, tests.CampaignID),
			`{"Items": [{"id": "` + tests.SendID + `", "state": "scheduled"}], ` + onePage + `}`, "",
		},
		{"campaigns.edit-send/fields", edit, `{"id": "` + tests.SendID + `", "state": ""}`, ""},
		{"campaigns.edit-send/not-editable", edit, "", prospectkit.CodeScheduledSendNotEditable},
		{
			"campaigns.preview-step/rendered", preview(fields{"sample": 1}),
			`{"stepId": "` + tests.StepID + `", "preview": {"subject": "Hi", "body": "..."}}`, "",
		},
		{"campaigns.preview-step/retyped", preview(nil), `{"stepId": "", "preview": "text"}`, ""},
		{"campaigns.preview-step/unavailable", preview(nil), "", prospectkit.CodeStepPreviewUnavailable},
	})
}

func TestCampaigns_PreviewNeedsAPath(t *testing.T) {
	_, err := tests.Unrouted(t).Campaigns.PreviewStep(t.Context(), tests.CampaignID, tests.StepID, nil)
	require.Equal(t, []string{"route is undocumented: set it with WithRoutes"}, tests.Refusals(t, err))
	client := tests.NewClient(t, tests.Untouched(t), prospectkit.WithRoutes(map[string]string{"campaigns.preview-step": "POST /business/steps/{stepId}"}))
	_, err = client.Campaigns.PreviewStep(t.Context(), tests.CampaignID, tests.StepID, nil)
	require.Equal(t, []string{"path has 1 parameters, the call has 2 ids"}, tests.Refusals(t, err))
}

// approved loses the response of an approval, and resolves it with listings.
func approved(t *testing.T, listings tests.RoundTrip) *prospectkit.Resolution {
	t.Helper()
	sent := 0
	client := tests.NewClient(t, tests.Writes(tests.Counting(&sent, tests.Consumed), listings))
	_, err := client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
	r := tests.Resolved(t, err)
	require.Equal(t, 1, sent, "an approval goes out once")
	return r
}

// A campaign on a later page of the listing shows, too, whether totals or tokens tell of that page. The last page, which has no token, is the end.
func TestCampaigns_ApprovalIsResolvedByALaterPage(t *testing.T) {
	for first, lasts := range map[string][]string{
		`"pagination":{"totalPages":2,"totalRecords":2}`: {`"pagination":{"totalPages":2,"totalRecords":2}`},
		`"pagination":{"totalPages":2}`:                  {`"pagination":{"totalPages":2}`},
		`"pagination":{"totalRecords":2}`:                {`"pagination":{"totalRecords":2}`},
		`"nextCursor":"abc"`:                             {`"nextCursor":null`, `"nextCursor":""`, `"count":1`},
	} {
		for _, last := range lasts {
			pages := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Get("pageNum") == "2" {
					return tests.Respond(200, `{"campaigns":[{"id":"`+tests.CampaignID+`","status":"active"}],`+last+`}`), nil
				}
				return tests.Respond(200, `{"campaigns":[{"id":"another","status":"draft"}],`+first+`}`), nil
			})
			all, err := prospectkit.Collect(tests.NewClient(t, pages).Campaigns.All(t.Context()), 10)
			require.NoError(t, err, last)
			require.Len(t, all, 2, last)
			r := approved(t, pages)
			require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, "%s: %s", last, r.Note)
		}
	}
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
		tests.InBubble(t, name, func(t *testing.T) {
			began, looks := time.Now(), 0
			r := approved(t, tests.Counting(&looks, func(r *http.Request) (*http.Response, error) {
				require.Equal(t, "GET /api/v1/business/campaigns", r.Method+" "+r.URL.Path, "nothing but reads follows")
				return tests.Respond(200, c.listing), nil
			}))
			require.Equal(t, c.outcome, r.Outcome)
			require.Contains(t, r.Note, c.note)
			campaign, found := r.Object.(*prospectkit.Campaign)
			require.Equal(t, c.found, found)
			if found {
				require.NotEmpty(t, campaign.ID)
			}
			if c.outcome == prospectkit.OutcomeApplied || strings.Contains(c.note, "but not its status") {
				require.Equal(t, 1, looks, "one look is enough")
				require.Zero(t, r.Again, "another one would not tell more")
			} else {
				require.GreaterOrEqual(t, time.Since(began), 10*time.Second, "it is looked for as long as changes usually need")
				require.WithinRange(t, r.Again, time.Now(), began.Add(15*time.Minute), "the activation runs in the background")
			}
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
	testListing(t, "agents", "/agents", func(a *prospectkit.Agent) string { return a.ID },
		(*prospectkit.AgentsService).All, (*prospectkit.AgentsService).Pages, (*prospectkit.AgentsService).Page)
	testListing(t, "campaigns", "/campaigns", func(c *prospectkit.Campaign) string { return c.ID },
		(*campaigns).All, (*campaigns).Pages, (*campaigns).Page)
	testListing(t, "steps", "/campaigns/"+tests.CampaignID+"/steps", func(s *prospectkit.Step) string { return s.ID },
		ours((*campaigns).Steps), ours((*campaigns).StepsPages), oursOrError((*campaigns).StepsPage))
	testListing(t, "scheduledSends", "/campaigns/"+tests.CampaignID+"/scheduled-sends", func(s *prospectkit.Send) string { return s.ID },
		ours((*campaigns).Sends), ours((*campaigns).SendsPages), oursOrError((*campaigns).SendsPage))
}

// ours is a method for our campaign.
func ours[T any](method func(*campaigns, context.Context, string, ...prospectkit.PageOption) T) func(*campaigns, context.Context, ...prospectkit.PageOption) T {
	return func(s *campaigns, ctx context.Context, opts ...prospectkit.PageOption) T {
		return method(s, ctx, tests.CampaignID, opts...)
	}
}

func oursOrError[T any](method func(*campaigns, context.Context, string, ...prospectkit.CallOption) (T, error)) func(*campaigns, context.Context, ...prospectkit.CallOption) (T, error) {
	return func(s *campaigns, ctx context.Context, opts ...prospectkit.CallOption) (T, error) {
		return method(s, ctx, tests.CampaignID, opts...)
	}
}

func testListing[S, T any](
	t *testing.T, name, path string, id func(*T) string,
	all func(S, context.Context, ...prospectkit.PageOption) iter.Seq2[*T, error],
	pages func(S, context.Context, ...prospectkit.PageOption) iter.Seq2[*prospectkit.Page[T], error],
	page func(S, context.Context, ...prospectkit.CallOption) (*prospectkit.Page[T], error),
) {
	t.Helper()
	for _, body := range []string{`[{"id":"a"},{"id":"b"}]`, `{"` + name + `":[{"id":"a"},{"id":"b"}],"data":[]}`, `{"` + name + `":null,"data":[{"id":"a"},{"id":"b"}]}`} {
		s := tests.Stage(t, tests.Always(200, body), tests.Always(200, body))
		client := tests.NewClient(t, s)
		got, err := prospectkit.Collect(all(tests.Service[S](client), t.Context()), 9)
		require.NoError(t, err, body)
		require.Len(t, got, 2, body)
		require.Equal(t, "b", id(&got[1]))
		one, err := page(tests.Service[S](client), t.Context())
		require.NoError(t, err, body)
		require.Equal(t, got, one.Items)
		require.Equal(t, body, one.Raw().String())
		require.Equal(t, []string{"GET " + path, "GET " + path}, s.Sent)
		s.Done()
	}
	s := tests.Stage(t, tests.Always(200, `{"data":[{"id":"a"},{"id":"b"}],"pagination":{"pageNum":1,"totalPages":2,"totalRecords":3}}`),
		tests.Always(200, `{"data":[{"id":"c"}],"pagination":{"pageNum":2,"totalPages":2,"totalRecords":3}}`))
	var ids []string
	for p, err := range pages(tests.Service[S](tests.NewClient(t, s)), t.Context()) {
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
		require.ErrorContains(t, tests.Exhaust(all(tests.Service[S](tests.NewClient(t, tests.Always(200, body), noRetry)), t.Context())), want)
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
			require.ErrorContains(t, err, "bring nothing new")
			require.Len(t, got, 1)
			_, err = client.Campaigns.Review(t.Context(), tests.CampaignID)
			require.ErrorContains(t, err, "bring nothing new")
		})
	}
	client := tests.NewClient(t, tests.Always(200, `{"data":[{"id":"a"}],"nextCursor":null}`))
	got, err := prospectkit.Collect(client.Campaigns.Steps(t.Context(), tests.CampaignID), 9)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func TestCampaigns_WaitInitialized(t *testing.T) {
	listing := func(status string) string {
		return `{"campaigns": [{"id": "` + tests.CampaignID + `", "initializationStatus": "` + status + `"}]}`
	}
	const twoPages = `"totalPages":2,"totalRecords":2}}`
	for name, c := range map[string]struct {
		bodies []string
		last   prospectkit.InitializationStatus
	}{
		"completed": {[]string{`{"campaigns": []}`, listing("generating"), listing("completed")}, "completed"},
		"failed":    {[]string{listing("generating"), listing("failed")}, prospectkit.InitializationFailed},
		"on a later page": {[]string{
			`{"data":[{"id":"a"}],"pagination":{"pageNum":1,` + twoPages,
			`{"data":[{"id":"` + strings.ToUpper(tests.CampaignID) + `","initializationStatus":"failed"}],"pagination":{"pageNum":2,` + twoPages,
		}, "failed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var steps []tests.RoundTrip
			for _, body := range c.bodies {
				steps = append(steps, tests.Always(200, body))
			}
			s := tests.Stage(t, steps...)
			campaign, err := tests.NewClient(t, s).Campaigns.WaitInitialized(t.Context(), tests.CampaignID)
			require.NoError(t, err, name)
			require.Equal(t, c.last, campaign.InitializationStatus, name)
			s.Done()
		})
	}
}

func TestCampaigns_WaitInitializedEndsWithTheContext(t *testing.T) {
	for body, state := range map[string]string{
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

// A campaign that a teammate deletes would be waited for without end.
func TestCampaigns_WaitInitializedEndsIfItIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.InitializesFor(time.Hour))
		client := tests.SandboxClient(t, sb)
		made, err := client.Campaigns.Create(t.Context(), prospectkit.NewCampaign{Extra: prospectkit.Fields{"name": "Spring"}})
		require.NoError(t, err)
		began := time.Now()
		time.AfterFunc(time.Minute, func() { sb.Do(func(tx *sandbox.Tx) { tx.Delete("campaigns", made.ID) }) })
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		last, err := client.Campaigns.WaitInitialized(ctx, made.ID)
		require.ErrorIs(t, err, prospectkit.CodeCampaignNotFound)
		require.ErrorIs(t, err, prospectkit.ErrNotFound)
		require.Equal(t, made.ID, last.ID, "as last seen")
		require.Less(t, time.Since(began), 3*time.Minute)

		began = time.Now()
		last, err = client.Campaigns.WaitInitialized(ctx, tests.CampaignID)
		require.ErrorIs(t, err, prospectkit.ErrNotFound)
		require.Nil(t, last)
		require.Greater(t, time.Since(began), 10*time.Second, "a new one may show late")
		require.Less(t, time.Since(began), time.Minute)
	})
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
	call     tests.AnyCall
	want     string           // the result as JSON
	code     prospectkit.Code // or the code of the error
}

// opted is a call with options.
func opted(call tests.AnyCall, opts ...prospectkit.CallOption) tests.AnyCall {
	return func(ctx context.Context, c *prospectkit.Client, _ ...prospectkit.CallOption) (any, error) {
		return call(ctx, c, opts...)
	}
}

// What the exchanges below call.
type (
	campaigns = prospectkit.CampaignsService
	search    = prospectkit.SearchService
	facts     = prospectkit.FactsService
	contacts  = prospectkit.ContactsService
	imports   = prospectkit.ImportsService
)

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
			require.JSONEq(t, call.want, tests.JSONText(got))
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

// A review is of the campaign that was asked for, wherever the listing has it. Nothing of the steps is left out: neither a second one with the id
// of the first, nor their order.
func TestCampaigns_ReviewLeavesNothingOut(t *testing.T) {
	review := func(campaigns, steps string) *prospectkit.Review {
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/campaigns"):
				return tests.Respond(200, `[`+campaigns+`]`), nil
			case strings.HasSuffix(r.URL.Path, "/steps"):
				return tests.Respond(200, `[`+steps+`]`), nil
			}
			return tests.Respond(200, `[]`), nil
		}))
		r, err := client.Campaigns.Review(t.Context(), tests.CampaignID)
		require.NoError(t, err)
		return r
	}
	ours := func(fields string) string { return `{"id":"` + tests.CampaignID + `"` + fields + `}` }
	one, two, three := `{"id":"a","body":"1"}`, `{"id":"a","body":"2"}`, `{"id":"a","body":"3"}`
	was := review(ours(""), one+`,`+two)
	require.Len(t, was.Steps, 2)
	for _, steps := range []string{one, two + `,` + one, one + `,` + three, one + `,` + two + `,` + three} {
		require.NotEqual(t, was.Digest(), review(ours(""), steps).Digest(), steps)
	}
	require.Equal(t, was.Digest(), review(ours(""), one+`,`+two).Digest())
	require.Contains(t, was.String(), "Not reviewed, because the API does not show them: lists contacts")
	require.True(t, was.ListsUnread)
	require.Contains(t, review(ours(`,"listIds":null`), "").String(), "Not reviewed")
	none := review(ours(`,"listIds":[]`), "")
	require.False(t, none.ListsUnread)
	require.Contains(t, none.String(), "to no contacts, as its lists have none")

	upper := strings.ToUpper(ours(`,"name":"x"`))
	upper = strings.NewReplacer(`"ID"`, `"id"`, `"NAME"`, `"name"`).Replace(upper)
	require.Equal(t, review(upper, "").Digest(), review(`{"id":"65f0c0ffee65f0c0ffee6cff","name":"another"},`+upper, "").Digest())
}

// A listing that cannot be read is the error of the look for an approval, and of the wait for a campaign.
func TestCampaigns_ListingThatIsRefused(t *testing.T) {
	_, err := tests.NewClient(t, denied).Campaigns.WaitInitialized(t.Context(), tests.CampaignID)
	require.ErrorIs(t, err, prospectkit.CodeInsufficientScope)
	_, err = tests.NewClient(t, tests.Lost(denied)).Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
	r, err := tests.Unknown(t, err).Resolve(t.Context())
	require.ErrorIs(t, err, prospectkit.CodeInsufficientScope)
	require.Nil(t, r)
}

// A campaign that was stopped and then shows as active was approved, whoever stopped it before.
func TestCampaigns_StoppedThenActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		r := approved(t, func(*http.Request) (*http.Response, error) {
			status := "stopped"
			if looks++; looks == 1 {
				time.Sleep(9 * time.Second)
			} else {
				time.Sleep(2 * time.Second)
				status = "active"
			}
			return tests.Respond(200, `[{"id":"`+tests.CampaignID+`","status":"`+status+`"}]`), nil
		})
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)
		require.Contains(t, r.Note, "active")
		require.NotContains(t, r.Note, "looked", "that is told of what was not seen")
	})
}
