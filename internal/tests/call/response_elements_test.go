package call_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// Each element of a page has to be whole, not only the first.
func TestDecode_EveryElementIsLookedAt(t *testing.T) {
	const head, tail = `{"data":[` + tests.OneList + `,` + tests.OneList, `],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":3}}`
	for last, want := range map[string]string{`,{"name":"x"}`: "a list has no id", `,{"id":"","name":"x"}`: "a list has no id", ``: ""} {
		page, err := tests.NewClient(t, tests.Always(200, head+last+tail)).Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
		if want == "" {
			require.NoError(t, err)
			require.Len(t, page.Items, 2)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}
