package call_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// snippets are statements of a user's program and what the compiler says about them; empty when it accepts them.
var snippets = []struct{ code, complaint string }{
	{`prospectkit.New("", "", prospectkit.WithUserAgent(""), prospectkit.WithMaxWait(0))`, ""},
	{`client.With(prospectkit.WithLogger(nil), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))`, ""},
	{`client.Account.Me(ctx, prospectkit.WithMaxWait(0), prospectkit.WithQuery("", ""), prospectkit.WithInfo(nil))`, ""},
	{`client.Lists.All(ctx, prospectkit.ListsParams{}, prospectkit.WithProgress(nil), prospectkit.WithQuery("", ""), prospectkit.WithMaxWait(0))`, ""},

	{`client.Account.Me(ctx, prospectkit.WithUserAgent(""))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
	{`client.Account.Me(ctx, prospectkit.WithTransport(nil))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
	{`client.Account.Me(ctx, prospectkit.WithLogger(nil))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
	{`client.Lists.All(ctx, prospectkit.ListsParams{}, prospectkit.AllowPlainHTTP())`, "does not implement prospectkit.PageOption (missing method applyPage)"},
	{`prospectkit.New("", "", prospectkit.WithQuery("", ""))`, "does not implement prospectkit.ClientOption (missing method applyClient)"},
	{`prospectkit.New("", "", prospectkit.WithField("", 1))`, "does not implement prospectkit.ClientOption (missing method applyClient)"},
	{`prospectkit.New("", "", prospectkit.WithInfo(nil))`, "does not implement prospectkit.ClientOption (missing method applyClient)"},
	{`prospectkit.New("", "", prospectkit.WithProgress(nil))`, "does not implement prospectkit.ClientOption (missing method applyClient)"},
	{`client.Account.Me(ctx, prospectkit.WithRoutes(nil))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
	{`client.Account.Me(ctx, prospectkit.WithProgress(nil))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
	{`client.Lists.Page(ctx, prospectkit.ListsParams{}, prospectkit.WithProgress(nil))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
}

// The snippets are a package of its own, each on its line. What it is made of is only in an overlay.
func TestOptions_MisplacedDoNotCompile(t *testing.T) {
	lines := []string{`package app; import ("context"; "example.com/prospectkit")`}
	for _, s := range snippets {
		lines = append(lines, "func _(ctx context.Context, client *prospectkit.Client) { "+s.code+" }")
	}
	dir := t.TempDir()
	source, overlay := filepath.Join(dir, "app.go"), filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(source, []byte(strings.Join(lines, "\n")), 0o600))
	here, err := os.Getwd()
	require.NoError(t, err)
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(here, "app", "app.go"): source}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, replace, 0o600))

	out, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-overlay", overlay, "./app").CombinedOutput()
	require.Error(t, err)
	complaints := map[string]string{} // by line
	for _, said := range regexp.MustCompile(`(?m)app\.go:(\d+):\d+: (.*)$`).FindAllStringSubmatch(string(out), -1) {
		complaints[said[1]] += said[2]
	}
	for i, s := range snippets {
		said := complaints[strconv.Itoa(i+2)]
		if s.complaint == "" {
			require.Empty(t, said, "%s: %s", s.code, out)
			continue
		}
		require.Contains(t, said, s.complaint, "%s: %s", s.code, out)
	}
}
