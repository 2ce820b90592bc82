package tests

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// A journal that is compacted still knows which digests are used up, and which reviews an approval came after.
func TestApproveReviewed_AfterCompact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now())
		j, err := journal.File(filepath.Join(t.TempDir(), "j"))
		require.NoError(t, err)
		defer j.Close()
		client := SandboxClient(t, sb, prospectkit.WithJournal(j))
		review := func() string {
			r, err := client.Campaigns.Review(t.Context(), CampaignID)
			require.NoError(t, err)
			return r.Digest()
		}
		stopAndCompact := func() {
			sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) })
			time.Sleep(time.Minute)
			require.NoError(t, j.Compact(t.Context(), time.Now(), nil))
		}
		var first string
		for range 2 {
			_, err = client.Campaigns.Approve(t.Context(), CampaignID)
			require.NoError(t, err)
			stopAndCompact()
			if first == "" {
				first = review()
			}
		}
		_, err = client.Campaigns.ApproveReviewed(t.Context(), CampaignID, first)
		require.ErrorIs(t, err, prospectkit.RuleReview, "it is from before another approval")
		second := review()
		_, err = client.Campaigns.ApproveReviewed(t.Context(), CampaignID, second)
		require.NoError(t, err)
		stopAndCompact()
		_, err = client.Campaigns.ApproveReviewed(t.Context(), CampaignID, second)
		require.ErrorIs(t, err, prospectkit.RuleApproved)
		require.Equal(t, 3, sb.Calls("campaigns.approve"))
	})
}
