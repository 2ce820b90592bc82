package outcome_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A read shows the state at its beginning at the earliest, however late its last response comes, and a cache may show an older one. No
// verdict is final by a read that began before the change would have shown.
func TestResolve_AgesOfReads(t *testing.T) {
	const nothing = `{"data":[],"pagination":{"pageNum":1,"totalPages":0,"totalRecords":0}}`
	firstOfTwo := func(rows string) string { return `{"data":[` + rows + `],"pagination":{"pageNum":1,"totalPages":2}}` }
	const lastOfTwo = `{"data":[{"id":"z","name":"xQ1","entityType":"contactList"}],"pagination":{"pageNum":2,"totalPages":2}}`
	for name, tc := range map[string]struct {
		read    func(r *http.Request, shown string) (*http.Response, error) // shown: the row of the list, once it shows
		verdict prospectkit.Verdict
		final   bool
	}{
		"a slow response": {func(_ *http.Request, shown string) (*http.Response, error) {
			time.Sleep(12 * time.Second)
			if shown == "" {
				return tests.Respond(200, nothing), nil
			}
			return tests.Respond(200, `{"data":[`+shown+`],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`), nil
		}, prospectkit.VerdictHappened, false},
		"a wait between two pages": {func(r *http.Request, shown string) (*http.Response, error) {
			if r.URL.Query().Get("pageNum") == "2" {
				time.Sleep(20 * time.Second)
				return tests.Respond(200, lastOfTwo), nil
			}
			return tests.Respond(200, firstOfTwo(shown)), nil
		}, prospectkit.VerdictHappened, false},
		"a cache of the first page": {func(r *http.Request, _ string) (*http.Response, error) {
			if r.URL.Query().Get("pageNum") == "2" {
				return tests.Respond(200, lastOfTwo), nil
			}
			return tests.Respond(200, firstOfTwo(`{"id":"y","name":"yQ1","entityType":"contactList"}`), "Age", "300"), nil
		}, prospectkit.VerdictNotSeen, false},
		"no cache": {func(_ *http.Request, _ string) (*http.Response, error) {
			return tests.Respond(200, nothing, "Age", "0"), nil
		}, prospectkit.VerdictNotSeen, true},
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
			var unknown *prospectkit.OutcomeUnknownError
			require.ErrorAs(t, err, &unknown, name)
			r, err := unknown.Resolve(t.Context())
			require.NoError(t, err, name)
			require.Equal(t, tc.verdict, r.Verdict, "%s: %s", name, r.Note)
			require.Equal(t, tc.final, r.Final, name)
		})
	}
}
