package services_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

func TestFacts_Exchanges(t *testing.T) {
	edit := func(in prospectkit.FactEdit) tests.AnyCall { return tests.WithTwo((*facts).Edit, tests.FactID, in) }
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
	client := tests.NewClient(t, tests.Counting(&sent, tests.Always(200, `{"fact": {"id": "`+tests.FactID+`"}}`)))
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
	hub, pages := tests.With((*facts).Hub, tests.HubID), tests.With((*facts).KnowledgePages, tests.HubID)
	setDefault := tests.With((*facts).SetDefaultHub, fields{"hub": tests.HubID})
	elsewhere := func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
		c, err := c.With(prospectkit.WithRoutes(map[string]string{"hubs.pages": "GET /business/knowledge-hubs/{hubId}/all-pages"}))
		if err != nil {
			return nil, err
		}
		return pages(ctx, c, opts...)
	}
	const one = `{"id": "` + tests.HubID + `", "status": "processing"}`
	play(t, []surfaceCall{
		{"hubs.list/plain", tests.Plain((*facts).Hubs), `{"knowledgeHubs": [` + one + `]}`, ""},
		{"hubs.get/plain", hub, `{"knowledgeHub": ` + one + `}`, ""},
		{"hubs.get/not-found", hub, "", prospectkit.CodeKnowledgeHubNotFound},
		{"hubs.pages/plain", pages, `{"pages": []}`, ""},
		{"hubs.pages/elsewhere", elsewhere, `{"pages": []}`, ""},
		{"hubs.pages/unavailable", pages, "", prospectkit.CodeKnowledgeHubPagesUnavailable},
		{"hubs.set-default/fields", setDefault, `{"ok": true}`, ""},
		{"hubs.set-default/owner-only", setDefault, "", prospectkit.CodeKnowledgeHubOwnerOnly},
	})
}
