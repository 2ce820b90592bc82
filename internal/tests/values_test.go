package tests_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/ratelimit"
)

// TestValues_AreThoseOfTheTable holds the constants that documentation shows with their values against where these come from.
func TestValues_AreThoseOfTheTable(t *testing.T) {
	type pair struct{ public, internal string }
	for _, p := range []pair{
		{string(ratelimit.SurfaceLists), string(op.Lists)},
		{string(ratelimit.SurfaceCampaigns), string(op.Campaigns)},
		{string(ratelimit.SurfaceAccount), string(op.Account)},
		{string(ratelimit.SurfaceSearch), string(op.Search)},
		{string(ratelimit.SurfaceSavedSearches), string(op.SavedSearches)},
		{string(ratelimit.SurfaceAgents), string(op.Agents)},
		{string(ratelimit.SurfaceContacts), string(op.Contacts)},
		{string(ratelimit.SurfaceCompanies), string(op.Companies)},
		{string(ratelimit.SurfaceImports), string(op.Imports)},
		{string(ratelimit.SurfaceReference), string(op.Reference)},
		{string(ratelimit.WindowMinute), budget.Minute.String()},
		{string(ratelimit.WindowDay), budget.Day.String()},
		{string(ratelimit.WindowUnknown), budget.Unknown.String()},
	} {
		require.Equal(t, p.internal, p.public)
	}
}
