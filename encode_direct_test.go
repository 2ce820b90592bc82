package prospectkit_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// What a caller adds to a call that has no body of its own is sent also where requests without a body share their header.
func TestAFieldIsABodyOfItsOwn(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			rateHeaders(w.Header(), http.StatusOK)
			w.Header().Set("Seen", r.Header.Get("Content-Type")+" "+string(body))
		}
		_, _ = io.WriteString(w, `{"campaign":{"id":"`+campaignID+`","status":"active"}}`)
	}))
	defer server.Close()
	client := dialled(t, server)
	for want, opts := range map[string][]prospectkit.CallOption{
		`application/json {"note":"x"}`:          {prospectkit.WithField("note", "x")},
		`application/json {"note":"x","of":"y"}`: {prospectkit.WithField("note", "x"), prospectkit.WithField("of", "y")},
		"":                                       nil,
	} {
		var info prospectkit.Info
		_, err := client.Campaigns.Approve(t.Context(), campaignID, append(opts, prospectkit.Capture(&info))...)
		require.NoError(t, err)
		require.Equal(t, want, info.Header.Get("Seen"))
	}
}
