package prospectkit_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// The first creation may have made what holds the name: that the name is taken does not make its outcome known.
func TestEnsureAgent_StaysUnknownWhenTheNameIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		created := 0
		service := roundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPost:
				if created++; created == 1 {
					return cutOff(r)
				}
				return nameTaken(r)
			case strings.HasSuffix(r.URL.Path, "/lists") && created == 2:
				return holdingList(r)
			case strings.HasSuffix(r.URL.Path, "/lists"):
				return always(200, `{"data":[],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":0}}`)(r)
			}
			return otherAgents(r)
		})
		_, err := newClient(t, service).Agents.Ensure(t.Context(), capped())
		require.Equal(t, 2, created)
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
	})
}
