package services_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// The first creation may have made what holds the name: that the name is taken does not make its outcome known.
func TestEnsureAgent_StaysUnknownWhenTheNameIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		created := 0
		service := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPost:
				if created++; created == 1 {
					return tests.CutOff(r)
				}
				return tests.NameTaken(r)
			case strings.HasSuffix(r.URL.Path, "/lists") && created == 2:
				return tests.HoldingList(r)
			case strings.HasSuffix(r.URL.Path, "/lists"):
				return tests.Always(200, `{"data":[],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":0}}`)(r)
			}
			return tests.OtherAgents(r)
		})
		_, err := tests.NewClient(t, service).Agents.Ensure(t.Context(), tests.Capped())
		require.Equal(t, 2, created)
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
	})
}
