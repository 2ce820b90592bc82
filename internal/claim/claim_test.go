package claim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/claim"
)

func TestCheck(t *testing.T) {
	for text, want := range map[string][]claim.Rule{
		"nothing to hide":                    nil,
		"ask a@b.example or +49 30 12345678": {claim.Email, claim.Digits},
		"the auto-renewal and an NDA":        {claim.Contract, claim.Contract},
		"agreed on $500":                     {claim.Deal, claim.Deal},
		"costs $500":                         nil,
		"a quote":                            nil,
	} {
		var got []claim.Rule
		for _, f := range claim.Check(text) {
			require.Less(t, f.Start, f.End)
			got = append(got, f.Rule)
		}
		require.Equal(t, want, got, text)
	}
}

// A word of a contract, or of a deal, is not a part of another word, in any script.
func TestCheck_WholeWords(t *testing.T) {
	for text, want := range map[string]int{
		"NDA": 1, "(NDA)": 1, "an NDA, two NDAs": 2, "xNDA": 0, "NDAx": 0, "\u00e9NDA": 0, "NDA\u00e9": 0, "NDA_": 0, "_NDA": 0, "NDA1": 0, "\u0661NDA": 0,
		"NDA-NDA": 2, "msa net30": 2, "net 45": 0,
	} {
		require.Len(t, claim.Check(text), want, text)
	}
}

// Findings come in the order of the text, whatever their rules, the shorter first.
func TestCheck_Order(t *testing.T) {
	const text = "an NDA, agreed on $500 with +49 30 12345678 or a@b.example"
	require.Equal(t, []claim.Finding{
		{Rule: claim.Contract, Start: 3, End: 6},
		{Rule: claim.Deal, Start: 8, End: 14},
		{Rule: claim.Deal, Start: 18, End: 22},
		{Rule: claim.Digits, Start: 28, End: 43},
		{Rule: claim.Email, Start: 47, End: 58},
	}, claim.Check(text))
	both := claim.Check("123456789@b.example")
	require.Equal(t, []claim.Finding{{Rule: claim.Digits, Start: 0, End: 9}, {Rule: claim.Email, Start: 0, End: 19}}, both)
}
