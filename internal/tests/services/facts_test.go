package services_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

func TestFacts_Exchanges(t *testing.T) {
	edit := func(in prospectkit.FactEdit) func(context.Context, *prospectkit.Client) (any, error) {
		return func(ctx context.Context, c *prospectkit.Client) (any, error) {
			return c.Facts.Edit(ctx, tests.FactID, in)
		}
	}
	play(t, []surfaceCall{
		{
			"facts.edit/both", edit(prospectkit.FactEdit{Claim: "Teams save a day a week", Category: prospectkit.FactUseCases}),
			`{"id": "` + tests.FactID + `", "claim": "Teams save a day a week", "category": "icp-use-cases"}`, "",
		},
		{"facts.edit/claim", edit(prospectkit.FactEdit{Claim: "Fast"}), `{"id": "` + tests.FactID + `", "claim": "Fast", "category": "something-new"}`, ""},
		{"facts.edit/category", edit(prospectkit.FactEdit{Category: prospectkit.FactFAQ, KeepClaim: true}), `{"id": "` + tests.FactID + `", "claim": "", "category": "faq"}`, ""},
		{"facts.edit/not-anonymized", edit(prospectkit.FactEdit{Claim: "ada@example.com agreed"}), "", prospectkit.CodeLearnedFactNotAnonymized},
	})
}

func TestFacts_FactWithoutIDIsRefused(t *testing.T) {
	_, err := tests.Exchange(t, "facts.edit/without-id").Facts.Edit(t.Context(), tests.FactID, prospectkit.FactEdit{Claim: "Fast"})
	require.ErrorIs(t, err, prospectkit.ErrResponseLost)
	require.ErrorContains(t, err, "a fact has no id")
}

func TestFacts_Bounds(t *testing.T) {
	sent := 0
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		sent++
		return tests.Respond(200, `{"fact": {"id": "`+tests.FactID+`"}}`), nil
	}))
	for _, text := range []string{"x", " ", strings.Repeat("x", 999), strings.Repeat("é", 1000)} {
		_, err := client.Facts.Edit(t.Context(), tests.FactID, prospectkit.FactEdit{Claim: text})
		require.NoError(t, err)
	}
	require.Equal(t, 4, sent)
	for want, in := range map[string]prospectkit.FactEdit{
		"category is required beside KeepClaim":                {KeepClaim: true},
		"claim is empty: set KeepClaim to change the ":         {Category: prospectkit.FactPricing}, // a claim that came out empty
		"claim is empty: set KeepClaim to change the category": {},
		"claim is given beside KeepClaim: choose one":          {Claim: "x", KeepClaim: true},
		"claim has 1001 characters, must have 1 to 1000":       {Claim: strings.Repeat("é", 1001)},
		`category is "faqs", must be one of ["overview" "prod`: {Category: "faqs", KeepClaim: true},
	} {
		_, err := client.Facts.Edit(t.Context(), tests.FactID, in)
		all := tests.Refusals(t, err)
		require.Len(t, all, 1)
		require.Contains(t, all[0], want)
	}
	_, err := client.Facts.Edit(t.Context(), "x", prospectkit.FactEdit{Claim: strings.Repeat("x", 1001), Category: "x"})
	require.Len(t, tests.Refusals(t, err), 3, "all at once")
	require.Equal(t, 4, sent)
}

func TestFacts_Categories(t *testing.T) {
	documented := strings.Fields("overview products pricing icp-use-cases differentiators competitors faq source-digest custom objection faq-insight")
	require.Len(t, documented, 11)
	client := tests.NewClient(t, tests.Always(200, `{"fact": {"id": "`+tests.FactID+`"}}`))
	for _, text := range documented {
		category := prospectkit.FactCategory(text)
		require.True(t, category.Known(), text)
		_, err := client.Facts.Edit(t.Context(), tests.FactID, prospectkit.FactEdit{Category: category, KeepClaim: true})
		require.NoError(t, err, text)
	}
	require.False(t, prospectkit.FactCategory("").Known())
	require.False(t, prospectkit.FactCategory("Pricing").Known())
}

func TestFacts_HubExchanges(t *testing.T) {
	type client = *prospectkit.Client
	hub := prospectkit.Fields{"hub": tests.HubID}
	play(t, []surfaceCall{
		{"hubs.list/plain", func(ctx context.Context, c client) (any, error) { return c.Facts.Hubs(ctx) }, `{"knowledgeHubs": [{"id": "` + tests.HubID + `", "status": "processing"}]}`, ""},
		{"hubs.get/plain", func(ctx context.Context, c client) (any, error) { return c.Facts.Hub(ctx, tests.HubID) }, `{"knowledgeHub": {"id": "` + tests.HubID + `", "status": "processing"}}`, ""},
		{"hubs.get/not-found", func(ctx context.Context, c client) (any, error) { return c.Facts.Hub(ctx, tests.HubID) }, "", prospectkit.CodeKnowledgeHubNotFound},
		{"hubs.pages/plain", func(ctx context.Context, c client) (any, error) { return c.Facts.KnowledgePages(ctx, tests.HubID) }, `{"pages": []}`, ""},
		{"hubs.pages/elsewhere", func(ctx context.Context, c client) (any, error) {
			c, err := c.With(prospectkit.WithRoutes(map[string]string{"hubs.pages": "GET /business/knowledge-hubs/{hubId}/all-pages"}))
			if err != nil {
				return nil, err
			}
			return c.Facts.KnowledgePages(ctx, tests.HubID)
		}, `{"pages": []}`, ""},
		{"hubs.pages/unavailable", func(ctx context.Context, c client) (any, error) { return c.Facts.KnowledgePages(ctx, tests.HubID) }, "", prospectkit.CodeKnowledgeHubPagesUnavailable},
		{"hubs.set-default/fields", func(ctx context.Context, c client) (any, error) { return c.Facts.SetDefaultHub(ctx, hub) }, `{"ok": true}`, ""},
		{"hubs.set-default/owner-only", func(ctx context.Context, c client) (any, error) { return c.Facts.SetDefaultHub(ctx, hub) }, "", prospectkit.CodeKnowledgeHubOwnerOnly},
	})
}
