package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// countedCampaign is a campaign on one list of 1,300 contacts. change may change the body of a response: the n-th page of rows, and 0 for the list.
func countedCampaign(t *testing.T, change func(n int, body map[string]any)) (*sandbox.Sandbox, *prospectkit.Client) {
	t.Helper()
	sb := EverySandbox(t, time.Now())
	rows := make([]sandbox.Row, 1298) // the list has two
	for i := range rows {
		rows[i] = sandbox.Row{"email": fmt.Sprintf("c%d@example.com", i)}
	}
	sb.Do(func(tx *sandbox.Tx) { tx.AddRows(ListID, rows...) })
	pages := 0
	client := SandboxClient(t, sb, prospectkit.WithJournal(new(journal.MemoryJournal)), prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := sb.Transport().RoundTrip(r)
		isRows, isList := strings.HasSuffix(r.URL.Path, "/rows"), strings.HasSuffix(r.URL.Path, "/"+ListID)
		if err != nil || !isRows && !isList {
			return resp, err
		}
		n := 0
		if isRows {
			pages++
			n = pages
		}
		var body map[string]any
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&body))
		change(n, body)
		text, err := json.Marshal(body)
		require.NoError(t, err)
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		resp.Header.Del("Content-Length")
		return resp, nil
	})))
	return sb, client
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
func TestReview_FewerThanCounted(t *testing.T) { synctest.Test(t, testReviewFewerThanCounted) }

func testReviewFewerThanCounted(t *testing.T) {
	const sentence = "1,260 of the 1,300 contacts that the list counts"
	sb, client := countedCampaign(t, tied(9))
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	first, _, _ := strings.Cut(r.String(), "\n")
	require.Contains(t, first, sentence)
	require.Equal(t, 1260, r.ContactsCount)
	require.Equal(t, 4, sb.Calls("lists.rows"), "it walked twice")
	approval, err := client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.NoError(t, err)
	require.False(t, approval.Already)
	require.Equal(t, 1, sb.Calls("campaigns.approve"))
}

// The digest holds what was read and what the list counted: where the other contacts show later, nothing is approved.
func TestApprove_MoreThanRead(t *testing.T) {
	sb, client := countedCampaign(t, tied(2))
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.ErrorIs(t, err, prospectkit.RuleReview)
	require.ErrorContains(t, err, "changed: 1260 reviewed, 1300 now")
	require.Zero(t, sb.Calls("campaigns.approve"))

	count := 1310.0
	sb, client = countedCampaign(t, func(n int, body map[string]any) {
		if list, ok := body["list"].(map[string]any); ok && n == 0 {
			list["contactsCount"] = count
		}
	})
	r, err = client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	require.Contains(t, r.String(), "1,300 of the 1,310 contacts that the list counts")
	count = 1320
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.ErrorIs(t, err, prospectkit.RuleReview)
	require.Zero(t, sb.Calls("campaigns.approve"))
}

// One walk whose pages had ties is forgotten: the next one has all contacts.
func TestReview_SecondWalk(t *testing.T) {
	sb, client := countedCampaign(t, tied(1))
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	require.Contains(t, r.String(), "to the 1300 contacts in its lists")
	require.Equal(t, 4, sb.Calls("lists.rows"))
	plain, err := SandboxClient(t, sb).Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	require.Equal(t, 6, sb.Calls("lists.rows"), "nothing is missing: it walked once")
	require.Empty(t, cutDigest(r.Digest(), plain.Digest()))
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
