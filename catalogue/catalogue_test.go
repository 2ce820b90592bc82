package catalogue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/catalogue"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/ratelimit"
)

func TestOperations_AreTheTable(t *testing.T) {
	all := catalogue.Operations()
	require.Len(t, all, len(op.All()))
	for i, o := range op.All() {
		require.Equal(t, catalogue.Operation{
			Name: o.Name, Method: o.Method, Path: o.Path, Scope: catalogue.Scope(o.Scope), Surface: ratelimit.Surface(o.Surface),
			Class: catalogue.Class(o.Class), Spends: catalogue.Effect(o.Spends), Sends: catalogue.Effect(o.Sends),
			WritesOutside: catalogue.Effect(o.WritesOutside), Provenance: catalogue.Provenance(o.Provenance),
			AttemptTimeout: o.Timeout, Codes: append([]string{}, o.Codes...), Likely: append([]string{}, o.Likely...), Summary: o.Summary,
		}, all[i])
		found, ok := catalogue.ByName(o.Name)
		require.True(t, ok)
		require.Equal(t, all[i], found)
	}
	_, ok := catalogue.ByName("lists.nothing")
	require.False(t, ok)
	all[0].Name = "mine"
	all[0].Codes[0] = "MINE"
	require.Equal(t, op.All()[0].Name, catalogue.Operations()[0].Name)
	require.Equal(t, op.All()[0].Codes[0], catalogue.Operations()[0].Codes[0])
}

func TestScopesFor(t *testing.T) {
	scopes, err := catalogue.ScopesFor("account.me", "lists.rows", "facts.edit", "lists.create", "search.companies", "account.me")
	require.NoError(t, err)
	require.Equal(t, []catalogue.Scope{catalogue.ScopeLists, catalogue.ScopeCampaigns, catalogue.ScopeCompanies}, scopes)
	scopes, err = catalogue.ScopesFor("account.credits", "search.filter-options")
	require.NoError(t, err)
	require.Empty(t, scopes, "any key will do")
	_, err = catalogue.ScopesFor("lists.rows", "lists.nothing")
	require.EqualError(t, err, `catalogue: no operation is called "lists.nothing"`)
}
