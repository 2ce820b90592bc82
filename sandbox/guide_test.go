package sandbox_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// TestTheGuideShowsEveryRule compares the table in the guide with the assumptions and with the rules of testdata/rules.md.
func TestTheGuideShowsEveryRule(t *testing.T) {
	path := filepath.Join("..", "docs", "sandbox.md")
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	const end = "-update -->\n\n"
	guide, table, found := strings.Cut(string(file), end)
	require.True(t, found)
	want := ruleTable(t)
	if *update {
		table = want
		require.NoError(t, os.WriteFile(path, []byte(guide+end+table), 0o600))
	}
	require.Equal(t, want, table)
}

var ruleRow = regexp.MustCompile("(?m)^\\| `([a-z.-]+)` \\| (?:documented|inferred) \\| [^|]*(?:\\\\\\|[^|]*)*\\|\n")

func ruleTable(t *testing.T) string {
	t.Helper()
	documented, err := os.ReadFile(filepath.Join("testdata", "rules.md"))
	require.NoError(t, err)
	rows := map[string]string{}
	for _, row := range ruleRow.FindAllStringSubmatch(string(documented), -1) {
		require.NotContains(t, rows, row[1])
		rows[row[1]] = row[0]
	}
	require.Len(t, rows, strings.Count(string(documented), "\n| `"), "a row of testdata/rules.md is malformed")
	for _, r := range sandbox.Assumptions() {
		require.NotContains(t, rows, r.ID)
		sure := "assumed"
		if r.Ambient {
			sure = "ambient"
		}
		rows[r.ID] = fmt.Sprintf("| `%s` | %s | %s |\n", r.ID, sure, strings.NewReplacer("|", `\|`, "<", `\<`).Replace(r.Text))
	}
	var b strings.Builder
	b.WriteString("| Rule | How sure | What the sandbox does |\n| --- | --- | --- |\n")
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		b.WriteString(rows[id])
	}
	return b.String()
}
