package outcome_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
)

// A read shows the state at its beginning at the earliest, however late its last response comes, and a cache may show an older one. No
// outcome is known by a read that began before the change would have shown.
func TestResolve_AgesOfReads(t *testing.T) {
	const nothing = `{"data":[],"pagination":{"pageNum":1,"totalPages":0,"totalRecords":0}}`
	firstOfTwo := func(rows string) string { return `{"data":[` + rows + `],"pagination":{"pageNum":1,"totalPages":2}}` }
	const lastOfTwo = `{"data":[{"id":"z","name":"xQ1","entityType":"contactList"}],"pagination":{"pageNum":2,"totalPages":2}}`
	for name, tc := range map[string]struct {
		read    func(r *http.Request, shown string) (*http.Response, error) // shown: the row of the list, once it shows
		outcome prospectkit.Outcome
	}{
		"a slow response": {func(_ *http.Request, shown string) (*http.Response, error) {
			time.Sleep(12 * time.Second)
			if shown == "" {
				return tests.Respond(200, nothing), nil
			}
			return tests.Respond(200, `{"data":[`+shown+`],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`), nil
		}, prospectkit.OutcomeApplied},
		"a wait between two pages": {func(r *http.Request, shown string) (*http.Response, error) {
			if r.URL.Query().Get("pageNum") == "2" {
				time.Sleep(20 * time.Second)
				return tests.Respond(200, lastOfTwo), nil
			}
			return tests.Respond(200, firstOfTwo(shown)), nil
		}, prospectkit.OutcomeApplied},
		"a cache of the first page": {func(r *http.Request, _ string) (*http.Response, error) {
			if r.URL.Query().Get("pageNum") == "2" {
				return tests.Respond(200, lastOfTwo), nil
			}
			return tests.Respond(200, firstOfTwo(`{"id":"y","name":"yQ1","entityType":"contactList"}`), "Age", "300"), nil
		}, prospectkit.OutcomeUnknown},
		"no cache": {func(_ *http.Request, _ string) (*http.Response, error) {
			return tests.Respond(200, nothing, "Age", "0"), nil
		}, prospectkit.OutcomeNotApplied},
	} {
		synctest.Test(t, func(t *testing.T) {
			var made time.Time
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					made = time.Now()
					return tests.CutOff(r)
				}
				shown := ""
				if time.Since(made) >= 5*time.Second {
					shown = fmt.Sprintf(`{"id":"l1","name":"Q1","entityType":"contactList","createdAt":%q}`, made.UTC().Format(time.RFC3339))
				}
				return tc.read(r, shown)
			}))
			_, err := client.Lists.Create(t.Context(), tests.Q1)
			unknown := tests.AsUnknown(t, err)
			r := resolved(t, unknown.Resolve)
			require.Equal(t, tc.outcome, r.Outcome, "%s: %s", name, r.Note)
			require.Equal(t, tc.outcome == prospectkit.OutcomeUnknown, r.Again.After(time.Now()), name)
		})
	}
}

// What a cache shows may be from before the call: neither that it happened, nor that it cannot have. Once the cache has forgotten it, a
// read tells. A list that was made since the call is no older copy, but its Date does not count: a teammate may have made it hours later.
func TestResolve_NothingIsSettledByACache(t *testing.T) {
	list := func(created time.Duration) func(made time.Time) string {
		return func(made time.Time) string {
			const page = `{"data":[{"id":"l1","name":"Q1","entityType":"contactList","createdAt":%q}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`
			return fmt.Sprintf(page, made.Add(created).UTC().Format(time.RFC3339))
		}
	}
	create := func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Discard(c.Lists.Create(ctx, tests.Q1))
	}
	for name, tc := range map[string]struct {
		call    func(context.Context, *prospectkit.Client) error
		shows   func(made time.Time) string
		outcome prospectkit.Outcome
	}{
		"an approval": {func(ctx context.Context, c *prospectkit.Client) error {
			return tests.Discard(c.Campaigns.ApproveUnreviewed(ctx, tests.CampaignID))
		}, func(time.Time) string { return `[{"id":"` + tests.CampaignID + `","status":"active"}]` }, prospectkit.OutcomeApplied},
		"an older list": {create, list(-48 * time.Hour), prospectkit.OutcomeNotApplied},
		"a list since":  {create, list(time.Second), prospectkit.OutcomeApplied},
	} {
		for _, forgets := range []time.Duration{5 * time.Second, time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				var made time.Time
				j := new(journal.MemoryJournal)
				client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPost {
						made = time.Now()
						return tests.CutOff(r)
					}
					age := "0"
					if time.Since(made) < forgets {
						age = "300"
					}
					return tests.Respond(200, tc.shows(made), "Age", age), nil
				}), prospectkit.WithJournal(j))
				unknown := tests.AsUnknown(t, tc.call(t.Context(), client))
				r := resolved(t, unknown.Resolve)
				want := tc.outcome
				if forgets == time.Hour {
					want = prospectkit.OutcomeUnknown
					require.True(t, r.Again.After(time.Now()), name)
				}
				require.Equal(t, want, r.Outcome, "%s: %s", name, r.Note)
				doubts := 0
				for _, err := range j.InDoubt(t.Context()) {
					require.NoError(t, err)
					doubts++
				}
				settled := want != prospectkit.OutcomeUnknown
				require.Equal(t, settled, doubts == 0, "%s: %s", name, r.Note)
				require.Equal(t, !settled, strings.Contains(r.Note, "the state may be old, by its Age"), "%s: %s", name, r.Note)
			})
		}
	}
}
