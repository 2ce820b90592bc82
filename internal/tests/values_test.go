package tests_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/op"
)

// TestValues_AreThoseOfTheTable holds the constants that documentation shows with their values against where these come from.
func TestValues_AreThoseOfTheTable(t *testing.T) {
	type pair struct{ public, internal string }
	for _, p := range []pair{
		{string(prospectkit.SurfaceLists), string(op.Lists)},
		{string(prospectkit.SurfaceCampaigns), string(op.Campaigns)},
		{string(prospectkit.SurfaceAccount), string(op.Account)},
		{string(prospectkit.SurfaceSearch), string(op.Search)},
		{string(prospectkit.SurfaceSavedSearches), string(op.SavedSearches)},
		{string(prospectkit.SurfaceAgents), string(op.Agents)},
		{string(prospectkit.SurfaceContacts), string(op.Contacts)},
		{string(prospectkit.SurfaceCompanies), string(op.Companies)},
		{string(prospectkit.SurfaceImports), string(op.Imports)},
		{string(prospectkit.SurfaceReference), string(op.Reference)},
		{string("minute"), budget.Minute.String()},
		{string("day"), budget.Day.String()},
		{string("unknown"), budget.Unknown.String()},
	} {
		require.Equal(t, p.internal, p.public)
	}
}
