package outcome_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A list of the name whose age is unknown may be the one that the call made, or an older one. A person looks.
func TestOutcome_ListWithoutADate(t *testing.T) {
	for created, want := range map[string]prospectkit.Outcome{
		``: prospectkit.OutcomeUnknown, `,"createdAt":null`: prospectkit.OutcomeUnknown, `,"createdAt":"1999-01-01T00:00:00Z"`: prospectkit.OutcomeNotApplied,
	} {
		synctest.Test(t, func(t *testing.T) {
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return tests.CutOff(r)
				}
				return tests.Respond(200, `{"data":[{"id":"`+tests.ListID+`","name":"Spring","entityType":"contactList"`+created+`}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`), nil
			}))
			_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Spring"})
			var unknown *prospectkit.OutcomeUnknownError
			require.ErrorAs(t, err, &unknown)
			found, err := unknown.Resolve(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, found.Outcome, "created%s", created)
		})
	}
}
