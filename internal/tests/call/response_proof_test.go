package call_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
)

// A first call that writes is proved by one free read after it, where the rate headers have other names. What that read does not prove
// stays unknown, and nothing is read before a write, or after one that its own response proves.
func TestProofAfterAWrite(t *testing.T) {
	const lists = `{"data":[],"pagination":{"pageNum":1,"totalPages":0,"totalRecords":0}}`
	renamed := append([]string{"X-RateLimit-Limit", "120", "X-RateLimit-Remaining", "119"}, tests.Bare...)
	for name, tc := range map[string]struct {
		written, read tests.RoundTrip
		applied       bool
		requests      []string
		hinted        bool // the error says that something may drop the headers
	}{
		"headers of other names": {tests.Always(200, `{"ok":true}`, renamed...), tests.Always(200, lists, renamed...), true, []string{"POST", "GET"}, false},
		"the read has headers":   {tests.Always(200, `{"ok":true}`, renamed...), tests.Always(200, lists), false, []string{"POST", "GET"}, false},
		"the read fails":         {tests.Always(200, `{"ok":true}`, renamed...), tests.Always(503, ""), false, []string{"POST", "GET"}, true},
		"no listing":             {tests.Always(200, `{"ok":true}`, renamed...), tests.Always(200, `{"ok":true}`, renamed...), false, []string{"POST", "GET"}, true},
		"a page":                 {tests.Always(200, `<html>`, renamed...), nil, false, []string{"POST"}, false},
		"an error":               {tests.Always(200, `{"error":"down"}`, renamed...), nil, false, []string{"POST"}, false},
		"its own headers":        {tests.Always(200, `{"ok":true}`), nil, true, []string{"POST"}, false},
	} {
		var sent []string
		var seen []prospectkit.Event
		j := new(journal.MemoryJournal)
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if sent = append(sent, r.Method); r.Method == http.MethodPost {
				return tc.written(r)
			}
			return tc.read(r)
		}), prospectkit.WithJournal(j), tests.Events(&seen))
		result, err := client.Lists.AddContacts(t.Context(), tests.ListID, prospectkit.Fields{"contacts": []prospectkit.Fields{{"email": "ada@engines.example"}}})
		require.Equal(t, tc.requests, sent, name)
		follows := map[bool]string{true: "read whether something drops the headers", false: "return an unknown outcome"}[len(sent) > 1]
		if seen[0].Err == nil {
			follows = ""
		}
		require.Equal(t, follows, seen[0].Next, name)
		if !tc.applied {
			tests.RequireUnknown(t, err)
			require.Equal(t, tc.hinted, strings.Contains(err.Error(), "make Account.Me the first call"), "%s: %v", name, err)
			require.Equal(t, journal.Unknown, j.Entries()[0].Outcome, name)
			continue
		}
		require.NoError(t, err, name)
		require.Contains(t, result.String(), `"ok"`, name)
		require.Equal(t, journal.Applied, j.Entries()[0].Outcome, name)
	}
}
