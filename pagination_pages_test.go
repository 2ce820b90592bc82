package prospectkit_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// An iterator over whole pages counts each item of a page as delivered, and its checkpoint is after the last of them.
func TestPages_DeliverWholePages(t *testing.T) {
	var asked []string
	client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		number := r.URL.Query().Get("pageNum")
		asked = append(asked, number)
		var lists []string
		for i := range 3 {
			lists = append(lists, fmt.Sprintf(`{"id":"a0000000000000000000%s00%d","name":"%s-%d","entityType":"contactList"}`, number, i, number, i))
		}
		return respond(200, `{"data":[`+strings.Join(lists, ",")+`],"pagination":{"pageNum":`+number+`,"totalPages":3,"totalRecords":9}}`), nil
	}))
	var progress prospectkit.Progress
	for page, err := range client.Lists.Pages(t.Context(), prospectkit.ListsParams{Limit: 3}, prospectkit.WithProgress(&progress)) {
		require.NoError(t, err)
		require.Len(t, page.Items, 3)
		if page.Number == 2 {
			break
		}
	}
	require.Equal(t, 6, progress.Report().Delivered)
	var rest []string
	for list, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 3}, prospectkit.ResumeFrom(progress.Checkpoint())) {
		require.NoError(t, err)
		rest = append(rest, list.Name)
	}
	require.Equal(t, []string{"3-0", "3-1", "3-2"}, rest)
	require.Equal(t, []string{"1", "2", "2", "3"}, asked)
}
