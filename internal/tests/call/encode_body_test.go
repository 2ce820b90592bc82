package call_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// Over net/http's own transport, requests without a body share their header. Whatever makes a body, it is sent.
func TestEncode_EveryBodyIsSent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			tests.RateHeaders(w.Header(), http.StatusOK)
			w.Header().Set("Seen", r.Header.Get("Content-Type")+" "+strings.NewReplacer("\r", "", "\n", "").Replace(string(body)))
		}
		_, _ = io.WriteString(w, `{"campaign":{"id":"`+tests.CampaignID+`","status":"active"}}`)
	}))
	defer server.Close()
	client := tests.ClientAt(t, server.URL)
	field := prospectkit.WithField("note", "x")
	approve := func(opts ...prospectkit.CallOption) error {
		return tests.Discard(client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID, opts...))
	}
	activate := func(opts ...prospectkit.CallOption) error {
		return tests.Discard(client.Agents.Activate(t.Context(), tests.AgentID, opts...))
	}
	for want, call := range map[string]func(prospectkit.CallOption) error{
		`^$`:                              func(info prospectkit.CallOption) error { return approve(info) },
		`^application/json {"note":"x"}$`: func(info prospectkit.CallOption) error { return activate(info, field) },
		`^application/json {"note":"x","of":"y"}$`: func(info prospectkit.CallOption) error {
			return activate(info, field, prospectkit.WithField("of", "y"))
		},
		`^application/json {"a":1}$`: func(info prospectkit.CallOption) error {
			return tests.Discard(client.Campaigns.Adjust(t.Context(), tests.CampaignID, prospectkit.CampaignChanges{Extra: prospectkit.Fields{"a": 1}}, info))
		},
		`^multipart/form-data; .*"importId".*` + tests.ImportID: func(info prospectkit.CallOption) error {
			return tests.Discard(client.Imports.FromUpload(t.Context(), tests.ImportID, info))
		},
		`^multipart/form-data; .*name,company`: func(info prospectkit.CallOption) error {
			return tests.Discard(client.Imports.Upload(t.Context(), prospectkit.UploadFrom("a.csv", 12, strings.NewReader("name,company")), info))
		},
	} {
		var info prospectkit.Info
		require.NoError(t, call(prospectkit.WithInfo(&info)), want)
		require.Regexp(t, want, info.Header.Get("Seen"))
	}
}
