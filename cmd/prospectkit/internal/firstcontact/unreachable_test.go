package firstcontact_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// Every rule of the sandbox is checked, or its reason for not being checked is known.
func TestReport_AccountsForEveryRule(t *testing.T) {
	guide, err := os.ReadFile(tests.Path("docs", "sandbox.md"))
	require.NoError(t, err)
	var rules []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9.-]+)` \\| (?:documented|inferred|assumed|ambient) \\|").FindAllSubmatch(guide, -1) {
		rules = append(rules, string(row[1]))
	}
	require.Greater(t, len(rules), 180)

	sb := sandbox.New(t)
	report, _ := check(t, sb, sb.Transport(), nil)
	told := firstcontact.Reached(report.Findings)
	for _, u := range report.NotReachable {
		for _, rule := range u.Rules {
			require.NotContains(t, told, rule)
			told = append(told, rule)
		}
	}
	slices.Sort(rules)
	slices.Sort(told)
	require.Equal(t, rules, told)
}

// Every read that is free is asked, and nothing else.
func TestReport_AsksEveryRead(t *testing.T) {
	sb := sandbox.New(t)
	report, _ := check(t, sb, sb.Transport(), nil)
	asked := map[string]bool{}
	for _, f := range report.Findings {
		asked[f.Operation] = true
	}
	for _, o := range op.All() {
		free := o.Method == http.MethodGet && o.Class == op.Read && !o.Spends.Possible()
		require.Equal(t, free, asked[o.Name], o.Name)
	}
}
