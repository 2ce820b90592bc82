package firstcontact_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// unasked are the free reads that a run does not ask, and why.
var unasked = map[string]string{}

// Every read that is free is asked, and nothing else.
func TestReport_AsksEveryRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)), sandbox.WithRoute("contacts.timeline", "GET /business/contacts/{contactId}/activities"))
		check(t, sb, sb.Transport(), map[string]string{"contacts.timeline": "GET /business/contacts/{contactId}/activities"})
		for _, o := range op.All() {
			asks := o.FreeRead() && unasked[o.Name] == ""
			require.Equal(t, asks, sb.Calls(o.Name) > 0, "%s: a free read has a request in plan of asks.go, or a reason in unasked of this file; nothing else is asked", o.Name)
		}
	})
}
