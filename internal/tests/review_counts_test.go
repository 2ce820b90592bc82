package tests

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// atCountedDesk runs a test with a campaign on one list of 1,300 contacts. change may change the body of a response: the n-th page of rows, and
// 0 for the list.
func atCountedDesk(t *testing.T, change func(n int, body map[string]any), test func(t *testing.T, d *desk)) {
	t.Helper()
	atDesk(t, "", func(t *testing.T, d *desk) {
		rows := make([]sandbox.Row, 1298) // the list has two
		for i := range rows {
			rows[i] = sandbox.Row{"email": fmt.Sprintf("c%d@example.com", i)}
		}
		d.sb.Do(func(tx *sandbox.Tx) { tx.AddRows(ListID, rows...) })
		pages := 0
		d.through(func(r *http.Request, resp *http.Response) error {
			n, isRows := 0, strings.HasSuffix(r.URL.Path, "/rows")
			if isRows {
				pages++
				n = pages
			} else if !strings.HasSuffix(r.URL.Path, "/"+ListID) {
				return nil
			}
			var body map[string]any
			require.NoError(t, json.NewDecoder(resp.Body).Decode(&body))
			change(n, body)
			text := JSONText(body)
			resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			resp.Header.Del("Content-Length")
			return nil
		})
		test(t, d)
	})
}

// tied makes the second page of each walk, of the first so many, begin with 40 rows of the first.
func tied(walks int) func(n int, body map[string]any) {
	var first []any
	return func(n int, body map[string]any) {
		switch rows, _ := body["data"].([]any); {
		case n%2 == 1:
			first = rows
		case n > 0 && n <= 2*walks:
			copy(rows, first[:40])
		}
	}
}

// A person sees, before the yes, that fewer contacts were read than the list counts. That ends no approval: the count may be stale.
func TestReview_FewerThanCounted(t *testing.T) {
	atCountedDesk(t, tied(9), func(t *testing.T, d *desk) {
		r := d.review()
		first, _, _ := strings.Cut(r.String(), "\n")
		require.Contains(t, first, "1,260 of the 1,300 contacts that the list counts")
		require.Equal(t, 1260, r.ContactsCount)
		require.Equal(t, 4, d.sb.Calls("lists.rows"), "it walked twice")
		approval, err := d.client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.NoError(t, err)
		require.False(t, approval.Already)
		d.sent(1)
	})
}

// The digest holds what was read and what the list counted: where the other contacts show later, nothing is approved.
func TestApprove_MoreThanRead(t *testing.T) {
	atCountedDesk(t, tied(2), func(t *testing.T, d *desk) {
		err := d.approve(d.review())
		require.ErrorIs(t, err, prospectkit.RuleReview)
		require.ErrorContains(t, err, "changed: 1260 reviewed, 1300 now")
		d.sent(0)
	})
	count := 1310.0
	atCountedDesk(t, func(n int, body map[string]any) {
		if list, ok := body["list"].(map[string]any); ok && n == 0 {
			list["contactsCount"] = count
		}
	}, func(t *testing.T, d *desk) {
		r := d.review()
		require.Contains(t, r.String(), "1,300 of the 1,310 contacts that the list counts")
		count = 1320
		require.ErrorIs(t, d.approve(r), prospectkit.RuleReview)
		d.sent(0)
	})
}

// One walk whose pages had ties is forgotten: the next one has all contacts.
func TestReview_SecondWalk(t *testing.T) {
	atCountedDesk(t, tied(1), func(t *testing.T, d *desk) {
		r := d.review()
		require.Contains(t, r.String(), "to the 1300 contacts in its lists")
		require.Equal(t, 4, d.sb.Calls("lists.rows"))
		d.client = SandboxClient(t, d.sb)
		plain := d.review()
		require.Equal(t, 6, d.sb.Calls("lists.rows"), "nothing is missing: it walked once")
		require.Empty(t, cutDigest(r.Digest(), plain.Digest()))
	})
}

// cutDigest lists the parts of two digests that differ, but for when they were made.
func cutDigest(a, b string) (differ []string) {
	was, now := strings.Split(a, "."), strings.Split(b, ".")
	for i := range was {
		if i != 1 && was[i] != now[i] {
			differ = append(differ, was[i])
		}
	}
	return differ
}
