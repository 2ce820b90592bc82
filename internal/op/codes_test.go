package op_test

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

// The document's list of codes, in testdata/codes.tsv, is a second writing: go generate adds a row for a new code, and changes none. So the
// statuses of a code, and what a caller can do about it, have to be confirmed there.
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
	require.ElementsMatch(t, rows, ours)
}

func TestCodesAreUniqueAndComplete(t *testing.T) {
	actions := []op.Action{op.Never, op.AfterDelay, op.AfterState, op.MayPass, op.FixInput, op.NewKey, op.BuyCredits, op.VerifyFirst}
	for i := range op.Codes {
		c := &op.Codes[i]
		found, ok := op.CodeByName(c.Name)
		require.True(t, ok)
		require.Same(t, c, found, "the name %s is not unique", c.Name)
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
