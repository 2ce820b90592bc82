package prospectkit_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/claim"
	"example.com/prospectkit/sandbox"
)

func TestFacts_Exchanges(t *testing.T) {
	edit := func(in prospectkit.FactEdit) func(context.Context, *prospectkit.Client) (any, error) {
		return func(ctx context.Context, c *prospectkit.Client) (any, error) { return c.Facts.Edit(ctx, factID, in) }
	}
	play(t, []surfaceCall{
		{
			"facts.edit/both", edit(prospectkit.FactEdit{Claim: "Teams save a day a week", Category: prospectkit.FactUseCases}),
			`{"id": "` + factID + `", "claim": "Teams save a day a week", "category": "icp-use-cases"}`, "",
		},
		{"facts.edit/claim", edit(prospectkit.FactEdit{Claim: "Fast"}), `{"id": "` + factID + `", "claim": "Fast", "category": "something-new"}`, ""},
		{"facts.edit/category", edit(prospectkit.FactEdit{Category: prospectkit.FactFAQ, KeepClaim: true}), `{"id": "` + factID + `", "claim": "", "category": "faq"}`, ""},
		{"facts.edit/not-anonymized", edit(prospectkit.FactEdit{Claim: "ada@example.com agreed"}), "", prospectkit.CodeLearnedFactNotAnonymized},
	})
}

func TestFacts_FactWithoutIDIsRefused(t *testing.T) {
	_, err := exchange(t, "facts.edit/without-id").Facts.Edit(t.Context(), factID, prospectkit.FactEdit{Claim: "Fast"})
	require.ErrorIs(t, err, prospectkit.ErrResponseLost)
	require.ErrorContains(t, err, "a fact has no id")
}

func TestFacts_Bounds(t *testing.T) {
	sent := 0
	client := newClient(t, roundTrip(func(*http.Request) (*http.Response, error) {
		sent++
		return respond(200, `{"fact": {"id": "`+factID+`"}}`), nil
	}))
	for _, text := range []string{"x", " ", strings.Repeat("x", 999), strings.Repeat("é", 1000)} {
		_, err := client.Facts.Edit(t.Context(), factID, prospectkit.FactEdit{Claim: text})
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
		_, err := client.Facts.Edit(t.Context(), factID, in)
		all := refusals(t, err)
		require.Len(t, all, 1)
		require.Contains(t, all[0], want)
	}
	_, err := client.Facts.Edit(t.Context(), "x", prospectkit.FactEdit{Claim: strings.Repeat("x", 1001), Category: "x"})
	require.Len(t, refusals(t, err), 3, "all at once")
	require.Equal(t, 4, sent)
}

func TestFacts_Categories(t *testing.T) {
	documented := strings.Fields("overview products pricing icp-use-cases differentiators competitors faq source-digest custom objection faq-insight")
	require.Len(t, documented, 11)
	client := newClient(t, always(200, `{"fact": {"id": "`+factID+`"}}`))
	for _, text := range documented {
		category := prospectkit.FactCategory(text)
		require.True(t, category.Known(), text)
		_, err := client.Facts.Edit(t.Context(), factID, prospectkit.FactEdit{Category: category, KeepClaim: true})
		require.NoError(t, err, text)
	}
	require.False(t, prospectkit.FactCategory("").Known())
	require.False(t, prospectkit.FactCategory("Pricing").Known())
}

func TestFacts_HubExchanges(t *testing.T) {
	type client = *prospectkit.Client
	hub := prospectkit.Fields{"hub": hubID}
	play(t, []surfaceCall{
		{"hubs.list/plain", func(ctx context.Context, c client) (any, error) { return c.Facts.Hubs(ctx) }, `{"knowledgeHubs": [{"id": "` + hubID + `", "status": "processing"}]}`, ""},
		{"hubs.get/plain", func(ctx context.Context, c client) (any, error) { return c.Facts.Hub(ctx, hubID) }, `{"knowledgeHub": {"id": "` + hubID + `", "status": "processing"}}`, ""},
		{"hubs.get/not-found", func(ctx context.Context, c client) (any, error) { return c.Facts.Hub(ctx, hubID) }, "", prospectkit.CodeKnowledgeHubNotFound},
		{"hubs.pages/plain", func(ctx context.Context, c client) (any, error) { return c.Facts.KnowledgePages(ctx, hubID) }, `{"pages": []}`, ""},
		{"hubs.pages/elsewhere", func(ctx context.Context, c client) (any, error) {
			return c.Facts.KnowledgePages(ctx, hubID, prospectkit.WithRoute("GET /business/knowledge-hubs/{hubId}/all-pages"))
		}, `{"pages": []}`, ""},
		{"hubs.pages/unavailable", func(ctx context.Context, c client) (any, error) { return c.Facts.KnowledgePages(ctx, hubID) }, "", prospectkit.CodeKnowledgeHubPagesUnavailable},
		{"hubs.set-default/fields", func(ctx context.Context, c client) (any, error) { return c.Facts.SetDefaultHub(ctx, hub) }, `{"ok": true}`, ""},
		{"hubs.set-default/owner-only", func(ctx context.Context, c client) (any, error) { return c.Facts.SetDefaultHub(ctx, hub) }, "", prospectkit.CodeKnowledgeHubOwnerOnly},
	})
}

// What the sandbox refuses is foreseen, and what it takes is not warned of.
func TestFacts_ClaimCheckForeseesTheSandbox(t *testing.T) {
	sb := sandbox.New(t, sandbox.NoLimits(), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Facts: []sandbox.Fact{{ID: factID}}}}}))
	client := sandboxClient(t, sb)
	for _, text := range []string{
		"contract terms", "$500 discounts", "auto-renewal", "three NDAs", "SOWs", "sowing seeds", "the agenda", "agreed on $5", "we discounted $5",
		"renewals worth $3k", "termination clauses", "master service agreements", "master services agreement", "payment term", "renewal dates",
		"net 45", "net-30", "net30", "non disclosure", "contractors cost USD 500", "500 € quote", "1 2 3 4 5 6 7 8 9", "12345678", "a@b", "a@b.co",
	} {
		_, err := client.Facts.Edit(t.Context(), factID, prospectkit.FactEdit{Claim: text})
		require.Equal(t, len(claim.Check(text)) > 0, errors.Is(err, prospectkit.CodeLearnedFactNotAnonymized), "%s: %v", text, err)
	}
}
