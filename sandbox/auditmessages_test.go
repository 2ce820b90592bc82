package sandbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMessagesThatNobodyApprovedAreNoticed puts messages where no rule would: the audit of the next request has to see them.
func TestMessagesThatNobodyApprovedAreNoticed(t *testing.T) {
	for name, tc := range map[string]struct {
		messages []Outgoing
		want     string
	}{
		"never approved":          {[]Outgoing{{CampaignID: "b", SendID: "1"}}, "without an approval"},
		"on another word":         {[]Outgoing{{CampaignID: "a", RequestID: "req_other", SendID: "1"}}, "without an approval"},
		"twice":                   {[]Outgoing{{CampaignID: "a", SendID: "1"}, {CampaignID: "a", SendID: "1"}}, "went out twice"},
		"approved, and only once": {[]Outgoing{{CampaignID: "a", SendID: "1"}, {CampaignID: "a", SendID: "2"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &witness{}
			sb := New(w)
			sb.ws.approvals = []approval{{campaignID: "a"}}
			sb.ws.messages = tc.messages
			for range 2 {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sb.BaseURL()+"/business/me", nil)
				require.NoError(t, err)
				req.SetBasicAuth(sb.Token(), "")
				resp, err := sb.Client().Do(req)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
			}
			if tc.want == "" {
				require.Empty(t, w.errors)
				return
			}
			require.Len(t, w.errors, 1, "told once")
			require.Contains(t, strings.Join(w.errors, ""), tc.want)
		})
	}
}
