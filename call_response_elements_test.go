package prospectkit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// Each element of a page has to be whole, not only the first.
func TestDecode_EveryElementIsLookedAt(t *testing.T) {
	const head, tail = `{"data":[` + oneList + `,` + oneList, `],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":3}}`
	for last, want := range map[string]string{`,{"name":"x"}`: "a list has no id", `,{"id":"","name":"x"}`: "a list has no id", ``: ""} {
		page, err := newClient(t, always(200, head+last+tail)).Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithRetry(prospectkit.NoRetry))
		if want == "" {
			require.NoError(t, err)
			require.Len(t, page.Items, 2)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}
