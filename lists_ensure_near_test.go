package prospectkit_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// Where a name is taken and only a list of another letter case is found, that list is named in the error, and no other.
func TestEnsure_NameThatDiffersInCase(t *testing.T) {
	const found = `{"data":[{"id":"a00000000000000000000001","name":" SPRING ","entityType":"contactList"},` +
		`{"id":"a00000000000000000000002","name":"Spring 2","entityType":"contactList"}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":2}}`
	for name, near := range map[string][]string{"Spring": {" SPRING "}, "Summer": nil} {
		synctest.Test(t, func(t *testing.T) {
			client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return respond(409, envelope("LIST_NAME_TAKEN")), nil
				}
				return respond(200, found), nil
			}))
			_, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: name})
			var taken *prospectkit.NameConflictError
			require.ErrorAs(t, err, &taken)
			require.Equal(t, near, taken.Near)
			require.Nil(t, taken.Holder)
			want := "prospectkit: lists.ensure: the name is taken, but no list has it: an agent may hold it"
			if near != nil {
				want = "prospectkit: lists.ensure: the name is taken; a list differs from it in case only"
			}
			require.EqualError(t, err, want)
		})
	}
}
