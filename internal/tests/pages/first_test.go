package pages_test

import (
	"iter"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// Where a walk began is not a part of what it walks over: its checkpoint resumes one that would begin elsewhere.
func TestCheckpoint_FirstPageIsNoPartOfTheQuery(t *testing.T) {
	var asked []string
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		number := r.URL.Query().Get("pageNum")
		asked = append(asked, number)
		item := `{"id":"a0000000000000000000000` + number + `","name":"` + number + `","entityType":"contactList"}`
		return tests.Respond(200, `{"data":[`+item+`],"pagination":{"pageNum":`+number+`,"totalPages":4,"totalRecords":4}}`), nil
	}))
	for name, walk := range map[string]func(first int, opts ...prospectkit.PageOption) iter.Seq2[string, error]{
		"lists": func(first int, opts ...prospectkit.PageOption) iter.Seq2[string, error] {
			return namesOf(client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 1, PageNum: first}, opts...), func(l *prospectkit.List) string { return l.Name })
		},
		"rows": func(first int, opts ...prospectkit.PageOption) iter.Seq2[string, error] {
			return namesOf(client.Lists.Rows(t.Context(), tests.ListID, prospectkit.RowsParams{Limit: 1, PageNum: first}, opts...), func(r *prospectkit.Row) string { return r.Text("name") })
		},
	} {
		var progress prospectkit.Progress
		for item, err := range walk(2, prospectkit.WithProgress(&progress)) {
			require.NoError(t, err, name)
			require.Equal(t, "2", item, name)
			break
		}
		asked = nil
		var rest string
		for item, err := range walk(0, prospectkit.ResumeFrom(progress.Checkpoint())) {
			require.NoError(t, err, name)
			rest += item
		}
		require.Equal(t, "34", rest, name)
		require.Equal(t, []string{"2", "3", "4"}, asked, name)

		for first, want := range map[int]string{2: "34", 3: "", 4: ""} { // page 3 would not come if the walk went on at page 4
			asked, rest = nil, ""
			var err error
			for item, failed := range walk(first, prospectkit.ResumeFrom(progress.Checkpoint()), prospectkit.WithProgress(new(prospectkit.Progress))) {
				rest, err = rest+item, failed
			}
			require.Equal(t, want, rest, name)
			if want == "" {
				require.ErrorIs(t, err, prospectkit.ErrRefusedLocally, name)
				require.ErrorContains(t, err, "ResumeFrom was taken with another PageNum: leave PageNum out", name)
				require.Empty(t, asked, name)
			}
		}
		require.Equal(t, "234", begunOn(t, walk, 2), name)
	}
}

// begunOn is what a walk delivers that begins on a page and starts again there with the checkpoint that it leaves.
func begunOn(t *testing.T, walk func(first int, opts ...prospectkit.PageOption) iter.Seq2[string, error], first int) (names string) {
	t.Helper()
	var progress prospectkit.Progress
	for range 2 {
		names = ""
		from := progress.Checkpoint()
		for item, err := range walk(first, prospectkit.WithProgress(&progress), prospectkit.ResumeFrom(from)) {
			require.NoError(t, err)
			names += item
		}
	}
	return names
}

// namesOf are the names of the items of an iterator.
func namesOf[T any](items iter.Seq2[*T, error], of func(*T) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for item, err := range items {
			if err != nil {
				yield("", err)
				return
			}
			if !yield(of(item), nil) {
				return
			}
		}
	}
}
