package op_test

import (
	"encoding/csv"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

// testdata/codes.tsv is a second writing, by people, of codes of the document: what it has is in the table, and as it says. No
// program adds to it, or it would confirm a mistake of the table. A code that it lacks was written once.
func TestCodesEqualTheDocument(t *testing.T) {
	f, err := os.Open("../../testdata/codes.tsv")
	require.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.Comment, r.FieldsPerRecord = '\t', '#', 3
	rows, err := r.ReadAll()
	require.NoError(t, err)
	var ours [][]string
	for _, c := range op.Codes {
		statuses := make([]string, len(c.Statuses))
		for i, s := range c.Statuses {
			statuses[i] = strconv.Itoa(s)
		}
		ours = append(ours, []string{c.Name, strings.Join(statuses, ","), string(c.Action)})
	}
	for _, row := range rows {
		require.Contains(t, ours, row, "internal/op/codes.go has it otherwise than testdata/codes.tsv: look into the document, which of them is right")
	}
}

// What is documented of each status, as what a caller can do then: 404 is missing or invisible, 409 a conflict with the current state,
// 422 a request that means nothing, and so on. So a row is held against the document before anything returns its code.
func TestCodesHaveAStatusOfTheirMeaning(t *testing.T) {
	actions := map[int][]op.Action{
		400: {"fix-input"}, 401: {"new-key"}, 402: {"buy-credits"}, 403: {"new-key", "buy-credits", "never"}, 404: {"never"},
		409: {"never", "fix-input", "after-delay", "after-state"}, 422: {"fix-input", "buy-credits", "may-pass"}, 429: {"after-delay"}, 500: {"verify-first"},
	}
	words := map[string][]int{ // of names and hints
		"_NOT_FOUND|missing, or hidden|and has none": {404}, "_TAKEN|_AMBIGUOUS|the state forbids": {409}, "_RESERVED|_INVALID": {422}, "change the request": {400, 422},
	}
	for _, c := range op.Codes {
		for _, status := range c.Statuses {
			const wrong = "%s in internal/op/codes.go: the document's sentence about status %d does not fit its %s: look which of them is wrong"
			require.Contains(t, actions, status, "%s in internal/op/codes.go: the document has no status %d", c.Name, status)
			require.Contains(t, actions[status], c.Action, wrong, c.Name, status, "action")
			for pattern, statuses := range words {
				require.True(t, slices.Contains(statuses, status) || !regexp.MustCompile(pattern).MatchString(c.Name+" "+c.Hint), wrong, c.Name, status, "name or hint")
			}
		}
	}
}

func TestCodesAreUniqueAndComplete(t *testing.T) {
	actions := []op.Action{"never", "after-delay", "after-state", "may-pass", "fix-input", "new-key", "buy-credits", "verify-first"}
	seen := map[string]bool{}
	for _, c := range op.Codes {
		found, ok := op.CodeByName(c.Name)
		require.True(t, ok)
		require.Equal(t, c, found)
		require.False(t, seen[c.Name], "the name %s is not unique", c.Name)
		seen[c.Name] = true
		require.Regexp(t, `^[A-Z]+(_[A-Z]+)*$`, c.Name)
		require.Contains(t, actions, c.Action, c.Name)
		for _, text := range []string{c.Meaning, c.Hint} {
			require.NotEmpty(t, text, c.Name)
			require.NotContains(t, text, "|", "%s: it goes into a table", c.Name)
			require.NotRegexp(t, `[.\s]$`, text, c.Name)
		}
	}
	_, ok := op.CodeByName("SOMETHING_NEW")
	require.False(t, ok)
}

// The condition of a code says what is missing. Where no id and no key is wrong, the hint sends nobody to look at them.
func TestHintsFitTheConditions(t *testing.T) {
	for name, want := range map[string]string{
		"ATTACHMENT_NOT_FOUND": "has none", "PROVENANCE_NOT_FOUND": "has none", "WEBSITE_TRACKING_NOT_SET_UP": "has none",
		"KNOWLEDGE_HUB_WEBSITE_NOT_FOUND": "has none", "CAMPAIGN_NOT_FOUND": "only the owner of a campaign may approve it",
		"LEARNED_FACT_NOT_FOUND": "hidden from this key",
	} {
		code, ok := op.CodeByName(name)
		require.True(t, ok)
		require.Contains(t, code.Hint, want, name)
	}
}
