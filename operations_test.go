package prospectkit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
)

func TestOperations_AreTheTable(t *testing.T) {
	all := prospectkit.Operations()
	require.Len(t, all, len(op.All()))
	for i, o := range op.All() {
		codes, likely := make([]prospectkit.Code, len(o.Codes)), make([]prospectkit.Code, len(o.Likely))
		for j, c := range o.Codes {
			codes[j] = prospectkit.Code(c)
		}
		for j, c := range o.Likely {
			likely[j] = prospectkit.Code(c)
		}
		require.Equal(t, prospectkit.Operation{
			Name: o.Name, Method: o.Method, Path: o.Path, Scope: prospectkit.Scope(o.Scope), Surface: prospectkit.Surface(o.Surface),
			Class: prospectkit.Class(o.Class), Spends: prospectkit.Effect(o.Spends), Sends: prospectkit.Effect(o.Sends),
			WritesOutside: prospectkit.Effect(o.WritesOutside), Provenance: prospectkit.Provenance(o.Provenance),
			AttemptTimeout: o.Timeout, Codes: codes, Likely: likely, Summary: o.Summary,
		}, all[i])
	}
	all[0].Name = "mine"
	all[0].Codes[0] = "MINE"
	require.Equal(t, op.All()[0].Name, prospectkit.Operations()[0].Name)
	require.Equal(t, prospectkit.Code(op.All()[0].Codes[0]), prospectkit.Operations()[0].Codes[0])
}

func TestOperations_ScopesFor(t *testing.T) {
	scopes, err := prospectkit.ScopesFor("account.me", "lists.rows", "facts.edit", "lists.create", "search.companies", "account.me")
	require.NoError(t, err)
	require.Equal(t, []prospectkit.Scope{prospectkit.ScopeLists, prospectkit.ScopeCampaigns, prospectkit.ScopeCompanies}, scopes)
	scopes, err = prospectkit.ScopesFor("account.credits", "search.filter-options")
	require.NoError(t, err)
	require.Empty(t, scopes, "any key will do")
	_, err = prospectkit.ScopesFor("lists.rows", "lists.nothing")
	require.EqualError(t, err, `prospectkit: no operation is called "lists.nothing"`)
}
