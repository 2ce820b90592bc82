package firstcontact_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/firstcontact"
	"example.com/prospectkit/internal/shapes"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// check runs against a transport.
func check(t *testing.T, sb *sandbox.Sandbox, transport http.RoundTripper, routes map[string]string) (*firstcontact.Report, *shapes.File) {
	t.Helper()
	run, err := firstcontact.Start(firstcontact.Config{BaseURL: sb.BaseURL(), Token: sb.Token(), Transport: transport, Routes: routes})
	require.NoError(t, err)
	require.NoError(t, run.Ask(t.Context()))
	return run.Report(nil)
}

func TestUnchanged(t *testing.T) {
	sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
	report, _ := check(t, sb, sb.Transport(), nil)
	require.Zero(t, report.Differ)
}
