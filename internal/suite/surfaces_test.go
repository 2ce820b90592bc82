package suite

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// methodCall is a call with everything it needs.
type methodCall struct {
	name string
	call func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error
}

func discard[T any](_ T, err error) error { return err }

// The calls that may change or cost something.
var writes = []methodCall{
	{"campaigns.create", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Campaigns.Create(ctx, prospectkit.Fields{"name": "Spring"}, opts...))
	}},
	{"campaigns.adjust", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Campaigns.Adjust(ctx, CampaignID, prospectkit.Fields{"name": "Spring"}, opts...))
	}},
	{"campaigns.approve", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Campaigns.Approve(ctx, CampaignID, opts...))
	}},
	{"campaigns.edit-send", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Campaigns.EditSend(ctx, SendID, prospectkit.Fields{"body": "Hello"}, opts...))
	}},
	{"campaigns.preview-step", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Campaigns.PreviewStep(ctx, CampaignID, StepID, nil, append(opts, PreviewRoute)...))
	}},
	{"facts.edit", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Facts.Edit(ctx, FactID, prospectkit.FactEdit{Claim: "Fast"}, opts...))
	}},
	{"hubs.set-default", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Facts.SetDefaultHub(ctx, prospectkit.Fields{"hub": HubID}, opts...))
	}},
	{"search.prospects", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{}, opts...))
	}},
	{"search.run-saved", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Search.RunSavedPage(ctx, SavedID, prospectkit.RunParams{}, opts...))
	}},
	{"search.save-to-list", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Search.SaveToList(ctx, nil, opts...))
	}},
	{"search.companies", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Search.Companies(ctx, nil, opts...))
	}},
	{"contacts.resolve", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Contacts.Resolve(ctx, nil, opts...))
	}},
	{"imports.create", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Imports.FromUpload(ctx, ImportID, opts...))
	}},
	{"imports.create", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Imports.Upload(ctx, CSVUpload("name\nAda\n"), opts...))
	}},
	{"imports.presign", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		return discard(c.Imports.Presign(ctx, nil, opts...))
	}},
}

func TestSurfaces_LostResponseIsNeverRetried(t *testing.T) {
	for _, w := range writes {
		t.Run(w.name, func(t *testing.T) {
			sent := 0
			client := NewClient(t, RoundTrip(func(r *http.Request) (*http.Response, error) {
				sent++
				return Consumed(r)
			}))
			err := w.call(t.Context(), client)
			RequireUnknown(t, err)
			require.Equal(t, 1, sent)
			unknown, _ := errors.AsType[*prospectkit.OutcomeUnknownError](err)
			require.Equal(t, w.name, unknown.Op)
			if w.name == "campaigns.approve" {
				return // it has something to look at
			}
			r, err := unknown.Resolve(t.Context())
			require.NoError(t, err)
			require.Equal(t, prospectkit.VerdictUnknowable, r.Verdict)
			require.NotEmpty(t, r.Note)
			require.Equal(t, 1, sent, "nothing was asked")
		})
	}
}

// What was refused by a rate limit has not begun, so it is retried, after the wait.
func TestSurfaces_RateLimitIsWaitedFor(t *testing.T) {
	for _, w := range writes {
		t.Run(w.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bodies []string
				client := NewClient(t, RoundTrip(func(r *http.Request) (*http.Response, error) {
					bodies = append(bodies, BodyOf(t, r))
					if len(bodies) == 1 {
						return Respond(429, Envelope("RATE_LIMITED"), "Retry-After", "7"), nil
					}
					return Respond(422, Envelope("INVALID_REQUEST")), nil
				}))
				began := time.Now()
				require.ErrorIs(t, w.call(t.Context(), client), prospectkit.CodeInvalidRequest)
				require.GreaterOrEqual(t, time.Since(began), 7*time.Second)
				require.Len(t, bodies, 2)
				require.Equal(t, bodies[0], bodies[1], "the same again")
			})
		})
	}
}

// The safety modes refuse before the network.
func TestSurfaces_SafetyModes(t *testing.T) {
	reads := map[string]bool{
		"campaigns.preview-step": true, "search.prospects": true, "search.run-saved": true, "search.companies": true, "contacts.resolve": true,
	}
	free := map[string]bool{
		"campaigns.adjust": true, "campaigns.approve": true, "campaigns.edit-send": true, "facts.edit": true, "hubs.set-default": true,
		"imports.presign": true,
	}
	accepts := Always(422, Envelope("INVALID_REQUEST"))
	for _, w := range writes {
		t.Run(w.name, func(t *testing.T) {
			for rule, c := range map[prospectkit.SafetyRule]struct {
				option prospectkit.Option
				passes bool
			}{
				prospectkit.RuleReadOnly: {prospectkit.ReadOnly(), reads[w.name]},
				prospectkit.RuleNoSpend:  {prospectkit.NoSpend(), free[w.name]},
				prospectkit.RuleNoSend:   {prospectkit.NoSend(), w.name != "campaigns.approve"},
			} {
				err := w.call(t.Context(), NewClient(t, accepts), c.option)
				if c.passes {
					require.ErrorIs(t, err, prospectkit.CodeInvalidRequest, rule)
					continue
				}
				refused, ok := errors.AsType[*prospectkit.RefusedError](err)
				require.True(t, ok, "%s: %v", rule, err)
				require.Equal(t, rule, refused.Rule)
			}
		})
	}
}

// Nothing is sent with an id that is none.
func TestSurfaces_IDsAreChecked(t *testing.T) {
	for _, id := range []string{"", "..", "a/b", strings.ToUpper(CampaignID) + "0"} {
		client := NewClient(t, Untouched(t))
		ctx := t.Context()
		c, f, s := client.Campaigns, client.Facts, client.Search
		for name, err := range map[string]error{
			"campaignId 1":    discard(c.Adjust(ctx, id, nil)),
			"campaignId 2":    discard(c.Steps(ctx, id)),
			"campaignId 3":    discard(c.ScheduledSends(ctx, id)),
			"campaignId 4":    discard(c.Approve(ctx, id)),
			"campaignId 5":    discard(c.PreviewStep(ctx, id, StepID, nil, PreviewRoute)),
			"campaignId 6":    discard(c.WaitInitialized(ctx, id, prospectkit.Initialized)),
			"stepId":          discard(c.PreviewStep(ctx, CampaignID, id, nil, PreviewRoute)),
			"sendId":          discard(c.EditSend(ctx, id, nil)),
			"factId":          discard(f.Edit(ctx, id, prospectkit.FactEdit{Claim: "x"})),
			"hubId 1":         discard(f.Hub(ctx, id)),
			"hubId 2":         discard(f.KnowledgePages(ctx, id)),
			"savedSearchId 1": discard(s.RunSavedPage(ctx, id, prospectkit.RunParams{})),
			"savedSearchId 2": discard(prospectkit.Collect(s.RunSaved(ctx, id, prospectkit.RunParams{}, prospectkit.MaxPaidPages(1)), 1)),
			"contactId 1":     discard(client.Contacts.ActivitiesPage(ctx, id, prospectkit.ActivityParams{}, TimelineRoute)),
			"contactId 2":     discard(prospectkit.Collect(client.Contacts.Activities(ctx, id, prospectkit.ActivityParams{}, TimelineRoute), 1)),
			"importId 1":      discard(client.Imports.FromUpload(ctx, id)),
			"importId 2":      discard(client.Imports.FromUploadJSON(ctx, id)),
		} {
			param, _, _ := strings.Cut(name, " ")
			require.Contains(t, Refusals(t, err), param+" must be 24 hexadecimal digits", name)
		}
	}
}
