package call_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/tests"
)

// A status that refuses content before any work leaves nothing in doubt, whoever sends it. A 413 does so only for a body that a server can
// find too long: to a short request, some platforms send it for their response, after the work.
func TestRefusedUnread(t *testing.T) {
	add := func(contacts int) func(context.Context, *prospectkit.Client) error {
		return func(ctx context.Context, c *prospectkit.Client) error {
			all := make([]prospectkit.Fields, contacts)
			for i := range all {
				all[i] = prospectkit.Fields{"email": "ada@example.com", "firstName": strings.Repeat("a", 250)}
			}
			_, err := c.Lists.AddContacts(ctx, tests.ListID, prospectkit.Fields{"contacts": all})
			return err
		}
	}
	upload := func(size int) func(context.Context, *prospectkit.Client) error {
		return func(ctx context.Context, c *prospectkit.Client) error {
			_, err := c.Imports.Upload(ctx, tests.CSVUpload(strings.Repeat("a", size)))
			return err
		}
	}
	approve := func(ctx context.Context, c *prospectkit.Client) error {
		_, err := c.Campaigns.ApproveUnreviewed(ctx, tests.CampaignID)
		return err
	}
	for _, c := range []struct {
		name   string
		status int
		body   string
		call   func(context.Context, *prospectkit.Client) error
		want   prospectkit.Outcome
		says   string
	}{
		{"413 to 400 contacts", 413, tests.HTML, add(400), prospectkit.OutcomeNotApplied, "send less at a time"},
		{"413 to a file", 413, tests.HTML, upload(1 << 20), prospectkit.OutcomeNotApplied, "send less at a time"},
		{"413 to two contacts", 413, tests.HTML, add(2), prospectkit.OutcomeUnknown, ""},
		{"413 to no body", 413, tests.HTML, approve, prospectkit.OutcomeUnknown, ""},
		{"413 of the service to two contacts", 413, tests.Envelope("IMPORT_FILE_TOO_LARGE"), add(2), prospectkit.OutcomeNotApplied, ""},
		{"407", 407, tests.HTML, approve, prospectkit.OutcomeNotApplied, "a proxy on the way asks for its own password"},
		{"411", 411, "", approve, prospectkit.OutcomeNotApplied, "Content-Length"},
		{"414", 414, tests.HTML, add(2), prospectkit.OutcomeNotApplied, "filters"},
		{"431", 431, tests.HTML, add(2), prospectkit.OutcomeNotApplied, "filters"},
		{"520", 520, tests.HTML, add(2), prospectkit.OutcomeUnknown, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests := 0
			err := c.call(t.Context(), tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				requests++
				if r.Body != nil {
					_, _ = io.Copy(io.Discard, r.Body)
				}
				return tests.Respond(c.status, c.body), nil
			})))
			require.Error(t, err)
			require.Equal(t, c.want, prospectkit.OutcomeOf(err), "%v", err)
			require.ErrorContains(t, err, c.says)
			require.Equal(t, 1, requests)
		})
	}
}

// Squid and HAProxy respond 400 to a URL that is too long for them.
func TestLongURLRefused(t *testing.T) {
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) { return tests.Respond(400, tests.HTML), nil }))
	for filters, says := range map[string]bool{strings.Repeat("統", 1000): true, strings.Repeat("a", 1000): false} {
		_, err := client.Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{Filter: filter.Contact{Title: filter.AnyOf(filters)}})
		require.Equal(t, says, strings.Contains(err.Error(), "fewer or shorter values"), "%v", err)
	}
}
