package prospectkit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
)

// The constants show their values to readers of the documentation; the table has them, too.
func TestActions_AreThoseOfTheTable(t *testing.T) {
	used := map[string]bool{}
	for _, row := range op.Codes {
		used[string(row.Action)] = true
	}
	actions := []prospectkit.Action{
		prospectkit.ActionNever, prospectkit.ActionAfterDelay, prospectkit.ActionAfterState, prospectkit.ActionMayPass,
		prospectkit.ActionFixInput, prospectkit.ActionNewKey, prospectkit.ActionBuyCredits, prospectkit.ActionVerifyFirst,
	}
	for _, a := range actions {
		require.Contains(t, used, string(a))
	}
	require.Len(t, used, len(actions))
}
