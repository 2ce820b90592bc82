package firstcontact_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// What findings are about are assumptions of the sandbox, and each that bears the name of a free read is among them.
func TestReport_SettlesAssumptions(t *testing.T) {
	sb := sandbox.New(t)
	report, _ := check(t, sb, sb.Transport(), nil)
	reached := firstcontact.Reached(report.Findings)
	require.NotEmpty(t, reached)
	var assumed []string
	for _, rule := range sandbox.Assumptions() {
		assumed = append(assumed, rule.ID)
		if o, ok := op.ByName(rule.ID); ok && o.FreeRead() {
			require.Contains(t, reached, rule.ID)
		}
	}
	require.Subset(t, assumed, reached)
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
