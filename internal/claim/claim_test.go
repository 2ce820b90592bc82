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
