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

func TestCodesEqualTheDocument(t *testing.T) {
	f, err := os.Open("../../testdata/codes.tsv")
	require.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.Comment, r.FieldsPerRecord = '\t', '#', 2
	rows, err := r.ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 92)

	documented := make(map[string][]int, len(rows))
	for _, row := range rows {
		for s := range strings.SplitSeq(row[1], ",") {
			status, err := strconv.Atoi(s)
			require.NoError(t, err)
			documented[row[0]] = append(documented[row[0]], status)
		}
	}
	require.Len(t, documented, 92)
	require.Len(t, op.Codes, 92)
	for _, c := range op.Codes {
		require.Equal(t, documented[c.Name], c.Statuses, c.Name)
	}
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

func TestActionsThatMayRepeatTheSameRequest(t *testing.T) {
	byAction := map[op.Action][]string{}
	for _, c := range op.Codes {
		byAction[c.Action] = append(byAction[c.Action], c.Name)
	}
	require.Equal(t, []string{"RATE_LIMITED", "CAMPAIGN_BUSY"}, byAction[op.AfterDelay])
	require.Equal(t, []string{"LIST_PROCESSING", "CAMPAIGN_INITIALIZING", "AGENT_PROCESSING", "KNOWLEDGE_HUB_NOT_READY"}, byAction[op.AfterState])
	require.Equal(t, []string{"CAMPAIGN_NOT_READY", "LIST_INCOMPATIBLE_WITH_CHANNELS"}, byAction[op.MayPass])
	require.Equal(t, []string{"UNEXPECTED_ERROR"}, byAction[op.VerifyFirst])
	require.Equal(t, []string{"UNAUTHORIZED", "INSUFFICIENT_SCOPE"}, byAction[op.NewKey])
	require.Equal(t, []string{"INSUFFICIENT_CREDITS", "AGENT_LIMIT_REACHED", "CREDIT_LIMIT_EXCEEDS_PLAN"}, byAction[op.BuyCredits])
}
