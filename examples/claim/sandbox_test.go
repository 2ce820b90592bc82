package claim_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/claim"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// What the sandbox refuses is foreseen, and what it takes is not warned of.
func TestFacts_ClaimCheckForeseesTheSandbox(t *testing.T) {
	sb := sandbox.New(t, sandbox.NoLimits(), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Facts: []sandbox.Fact{{ID: tests.FactID}}}}}))
	client := tests.SandboxClient(t, sb)
	for _, text := range []string{
		"contract terms", "$500 discounts", "auto-renewal", "three NDAs", "SOWs", "sowing seeds", "the agenda", "agreed on $5", "we discounted $5",
		"renewals worth $3k", "termination clauses", "master service agreements", "master services agreement", "payment term", "renewal dates",
		"net 45", "net-30", "net30", "non disclosure", "contractors cost USD 500", "500 € quote", "1 2 3 4 5 6 7 8 9", "12345678", "a@b", "a@b.co",
	} {
		_, err := client.Facts.Edit(t.Context(), tests.FactID, prospectkit.FactEdit{Claim: text})
		require.Equal(t, len(claim.Check(text)) > 0, errors.Is(err, prospectkit.CodeLearnedFactNotAnonymized), "%s: %v", text, err)
	}
}
