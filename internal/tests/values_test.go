package tests_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/op"
)

// TestValues_AreThoseOfTheTable holds the words that documentation shows against where these come from.
func TestValues_AreThoseOfTheTable(t *testing.T) {
	type pair struct{ public, internal string }
	for _, p := range []pair{
		{"lists", string(op.Lists)},
		{"campaigns", string(op.Campaigns)},
		{"account", string(op.Account)},
		{"search", string(op.Search)},
		{"saved-searches", string(op.SavedSearches)},
		{"agents", string(op.Agents)},
		{"contacts", string(op.Contacts)},
		{"companies", string(op.Companies)},
		{"imports", string(op.Imports)},
		{"reference", string(op.Reference)},
		{"minute", budget.Minute.String()},
		{"day", budget.Day.String()},
		{"unknown", budget.Unknown.String()},
	} {
		require.Equal(t, p.internal, p.public)
	}
}
