package tests

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
)

// The operations of the newer surfaces that may change or cost something.
var writes = []string{
	"campaigns.create", "campaigns.adjust", "campaigns.approve", "campaigns.edit-send",
	"campaigns.preview-step", "facts.edit", "hubs.set-default", "search.prospects",
	"search.run-saved", "search.save-to-list", "search.companies", "contacts.resolve",
	"imports.create", "imports.presign",
}

func discard[T any](_ T, err error) error { return err }

// What was refused by a rate limit has not begun, so it is retried, after the wait.
func TestSurfaces_RateLimitIsWaitedFor(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		if row.Class == op.Read {
			return
		}
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
			_, err := call(t.Context(), client)
			require.ErrorIs(t, err, prospectkit.CodeInvalidRequest)
			require.GreaterOrEqual(t, time.Since(began), 7*time.Second)
			require.Len(t, bodies, 2)
			require.Equal(t, bodies[0], bodies[1], "the same again")
		})
	})
}

// The safety modes refuse before the network.
func TestSurfaces_SafetyModes(t *testing.T) {
	reads := map[string]bool{
		"campaigns.preview-step": true, "search.prospects": true, "search.run-saved": true, "search.companies": true, "contacts.resolve": true,
	}
	free := map[string]bool{
		"campaigns.approve": true, "campaigns.edit-send": true, "facts.edit": true, "hubs.set-default": true,
		"imports.presign": true,
	}
	accepts := Always(422, Envelope("INVALID_REQUEST"))
	for _, name := range writes {
		t.Run(name, func(t *testing.T) {
			for rule, c := range map[prospectkit.SafetyRule]struct {
				option prospectkit.Option
				passes bool
			}{
				prospectkit.RuleReadOnly: {prospectkit.ReadOnly(), reads[name]},
				prospectkit.RuleNoSpend:  {prospectkit.NoSpend(), free[name]},
				prospectkit.RuleNoSend:   {prospectkit.NoSend(), name != "campaigns.approve"},
			} {
				_, err := EveryCall[name](t.Context(), NewClient(t, accepts), c.option)
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
			"campaignId 1":    discard(c.Adjust(ctx, id, prospectkit.CampaignChanges{})),
			"campaignId 2":    discard(c.StepsPage(ctx, id)),
			"campaignId 3":    discard(c.SendsPage(ctx, id)),
			"campaignId 4":    discard(c.ApproveUnreviewed(ctx, id)),
			"campaignId 5":    discard(c.PreviewStep(ctx, id, StepID, nil)),
			"campaignId 6":    discard(c.WaitInitialized(ctx, id)),
			"stepId":          discard(c.PreviewStep(ctx, CampaignID, id, nil)),
			"sendId":          discard(c.EditSend(ctx, id, nil)),
			"factId":          discard(f.Edit(ctx, id, prospectkit.FactEdit{Claim: "x"})),
			"hubId 1":         discard(f.Hub(ctx, id)),
			"hubId 2":         discard(f.KnowledgePages(ctx, id)),
			"savedSearchId 1": discard(s.RunSavedPage(ctx, id, 0)),
			"savedSearchId 2": discard(prospectkit.Collect(s.RunSaved(ctx, id, 0, prospectkit.MaxPaidPages(1)), 1)),
			"contactId 1":     discard(client.Contacts.ActivitiesPage(ctx, id)),
			"contactId 2":     discard(prospectkit.Collect(client.Contacts.Activities(ctx, id), 1)),
			"importId 1":      discard(client.Imports.FromUpload(ctx, id)),
			"importId 2":      discard(client.Imports.FromUploadJSON(ctx, id)),
		} {
			param, _, _ := strings.Cut(name, " ")
			require.Contains(t, Refusals(t, err), param+" must be 24 hexadecimal digits", name)
		}
	}
}
