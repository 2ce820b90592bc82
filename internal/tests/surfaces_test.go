package tests

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// The operations of the newer surfaces that may change or cost something.
var writes = []string{
	"campaigns.create", "campaigns.adjust", "campaigns.approve", "campaigns.edit-send",
	"campaigns.preview-step", "facts.edit", "hubs.set-default", "search.prospects",
	"search.run-saved", "search.save-to-list", "search.companies", "contacts.resolve",
	"imports.create", "imports.presign",
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
	ctx, client := t.Context(), NewClient(t, Untouched(t))
	a, c, f, s := client.Agents, client.Campaigns, client.Facts, client.Search
	for _, id := range []string{
		"", "..", "a/b", "65f0", "../../../../business/me", strings.Repeat("g", 24), ListID + "0", strings.ToUpper(CampaignID) + "0",
	} {
		for name, err := range map[string]error{
			"agentId 1":       Discard(a.Get(ctx, id)),
			"agentId 2":       Discard(a.Adjust(ctx, id, fields{})),
			"agentId 3":       Discard(a.Activate(ctx, id)),
			"agentId 4":       Discard(a.WaitSettled(ctx, id)),
			"agentId 5":       Exhaust(a.Rows(ctx, id, prospectkit.RowsParams{})),
			"campaignId 1":    Discard(c.Adjust(ctx, id, prospectkit.CampaignChanges{})),
			"campaignId 2":    Discard(c.StepsPage(ctx, id)),
			"campaignId 3":    Discard(c.SendsPage(ctx, id)),
			"campaignId 4":    Discard(c.ApproveUnreviewed(ctx, id)),
			"campaignId 5":    Discard(c.PreviewStep(ctx, id, StepID, nil)),
			"campaignId 6":    Discard(c.WaitInitialized(ctx, id)),
			"stepId":          Discard(c.PreviewStep(ctx, CampaignID, id, nil)),
			"sendId":          Discard(c.EditSend(ctx, id, nil)),
			"factId":          Discard(f.Edit(ctx, id, prospectkit.FactEdit{Claim: "x"})),
			"hubId 1":         Discard(f.Hub(ctx, id)),
			"hubId 2":         Discard(f.KnowledgePages(ctx, id)),
			"savedSearchId 1": Discard(s.RunSavedPage(ctx, id, 0)),
			"savedSearchId 2": Discard(prospectkit.Collect(s.RunSaved(ctx, id, 0, prospectkit.MaxPaidPages(1)), 1)),
			"contactId 1":     Discard(client.Contacts.ActivitiesPage(ctx, id)),
			"contactId 2":     Discard(prospectkit.Collect(client.Contacts.Activities(ctx, id), 1)),
			"importId 1":      Discard(client.Imports.FromUpload(ctx, id)),
			"importId 2":      Discard(client.Imports.FromUploadJSON(ctx, id)),
		} {
			param, _, _ := strings.Cut(name, " ")
			require.Contains(t, Refusals(t, err), param+" must be 24 hexadecimal digits", name)
		}
	}
}
