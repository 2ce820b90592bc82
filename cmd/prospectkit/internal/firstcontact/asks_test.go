package firstcontact_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// What findings are about are assumptions of the sandbox, and each that bears the name of a free read is among them.
func TestReport_SettlesAssumptions(t *testing.T) {
	sb := sandbox.New(t)
	report := check(t, sb, sb.Transport(), nil)
	var reached []string
	for _, f := range report.Findings {
		reached = append(reached, f.Rules...)
	}
	require.NotEmpty(t, reached)
	var assumed []string
	for _, rule := range sandbox.Assumptions() {
		assumed = append(assumed, rule.ID)
		if o, ok := op.ByName(rule.ID); ok && o.FreeRead() {
			require.Contains(t, reached, rule.ID, "a rule with the name of an operation says what its response is: asks.go has it there, or it needs another name")
		}
	}
	require.Subset(t, assumed, reached)
}

// unasked are the free reads that a run does not ask, and why.
var unasked = map[string]string{}

// Every read that is free is asked, and nothing else.
func TestReport_AsksEveryRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)), sandbox.WithRoute("contacts.timeline", "GET /business/contacts/{contactId}/activities"))
		report := check(t, sb, sb.Transport(), nil)
		told := map[string]bool{}
		for _, f := range report.Findings {
			told[f.Operation] = true
		}
		for _, o := range op.All() {
			asks := o.FreeRead() && unasked[o.Name] == ""
			require.Equal(t, asks, sb.Calls(o.Name) > 0, "%s: a free read has a request in plan of asks.go, or a reason in unasked of this file; nothing else is asked", o.Name)
			require.Equal(t, asks, told[o.Name], "%s: what is asked has a description in asks.go", o.Name)
		}
	})
}
