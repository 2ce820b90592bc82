package sandbox_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// TestTheGuideShowsEveryRule compares the table in the guide with the rules.
func TestTheGuideShowsEveryRule(t *testing.T) {
	path := filepath.Join("..", "docs", "sandbox.md")
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	const end = "-update -->\n\n"
	guide, table, found := strings.Cut(string(file), end)
	require.True(t, found)
	if *update {
		table = ruleTable()
		require.NoError(t, os.WriteFile(path, []byte(guide+end+table), 0o600))
	}
	require.Equal(t, ruleTable(), table)
}

func ruleTable() string {
	rules := sandbox.Rules()
	slices.SortFunc(rules, func(a, b sandbox.Rule) int { return cmp.Compare(a.ID, b.ID) })
	var b strings.Builder
	b.WriteString("| Rule | How sure | What the sandbox does |\n| --- | --- | --- |\n")
	for _, r := range rules {
		sure := string(r.Provenance)
		if r.Ambient {
			sure = "ambient"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.ID, sure, strings.NewReplacer("|", `\|`, "<", `\<`).Replace(r.Text))
	}
	return b.String()
}
