package sandbox_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// byRule are the codes that some rule returns, and how to cause them. Those of a surface stand with its tests.
func byRule() map[string]func(caller) result {
	all := map[string]func(caller) result{}
	for _, codes := range []map[string]func(caller) result{generalCodes(), listCodes(), agentCodes(), searchCodes(), campaignCodes()} {
		maps.Copy(all, codes)
	}
	return all
}

func post(path string, body any) func(caller) result {
	return func(c caller) result { return c.do("POST", path, body) }
}

func patch(path string, body any) func(caller) result {
	return func(c caller) result { return c.do("PATCH", path, body) }
}

func get(path string, query ...string) func(caller) result {
	return func(c caller) result { return c.get(path, query...) }
}

func generalCodes() map[string]func(caller) result {
	return map[string]func(caller) result{
		"UNAUTHORIZED":         func(c caller) result { return c.as("nobody").get(lists) },
		"INSUFFICIENT_SCOPE":   func(c caller) result { return c.as("searcher").get(lists) },
		"ENDPOINT_NOT_FOUND":   get("/business/nothing"),
		"VALIDATION_FAILED":    get(lists, "limit", "0"),
		"INVALID_REQUEST":      post(lists, "["),
		"UNEXPECTED_ERROR":     get(rowsOf(reached), "filters", `{"numberOfEmployees":[5]}`),
		"INSUFFICIENT_CREDITS": post("/business/prospects/search", object{"size": 100}),
		"RATE_LIMITED": func(c caller) result {
			for range 20 {
				c.do("POST", "/business/prospects/search", object{"size": 101})
			}
			return c.do("POST", "/business/prospects/search", object{"size": 101})
		},
	}
}

// codeOptions are those of a sandbox in which every one of these requests is refused as it should be.
func codeOptions() []sandbox.Option {
	state := outreachState()
	ws := &state.Workspaces[0]
	ws.Credits = 99
	ws.Keys = []sandbox.Key{{Name: "owner", Token: "owner"}, {Token: "searcher", Scopes: []string{"search"}}}
	ws.Lists = append(ws.Lists,
		sandbox.List{ID: id(401), Name: "busy", CompletionStatus: "processing"}, sandbox.List{Name: "twice"}, sandbox.List{Name: "twice"})
	ws.Campaigns[0].Steps[0].ID = id(53)
	ws.Imports = []sandbox.Import{
		{ID: id(411), Reserved: true},
		{ID: id(412), Reserved: true, Uploaded: true, Size: 1},
		{ID: id(413), Reserved: true, Uploaded: true, Size: 50<<20 + 1, Format: "csv", Rows: 1},
		{ID: id(414), Reserved: true, Uploaded: true, Size: 1, Format: "csv"},
	}
	ws.Agents = []sandbox.Agent{
		{ID: id(421), Name: "legacy"},
		{ID: id(422), Name: "old draft", Type: "web-monitor"},
		{ID: id(423), Name: "running", Type: "web-monitor", Status: "processing"},
		{ID: id(424), Name: "active", Type: "web-monitor", Status: "active"},
	}
	ws.SavedSearches = []sandbox.SavedSearch{
		{ID: id(431), Name: "broken", Filters: json.RawMessage(`{"nobody":1}`)}, {ID: id(432), Name: "companies", Companies: true},
	}
	free := sandbox.Workspace{Name: "free", Plan: "free", Keys: []sandbox.Key{{Token: "free"}}}
	for i := range 10 {
		free.Agents = append(free.Agents, sandbox.Agent{Name: fmt.Sprint("agent ", i), Type: "web-monitor"})
	}
	state.Workspaces = append(state.Workspaces, free)
	return []sandbox.Option{
		sandbox.Seed(state), sandbox.WithClock(sandbox.NewManualClock(start)), sandbox.WithRoute("campaigns.preview-step", previews),
		sandbox.WithRoute("agents.pause", "POST /business/agents/{agentId}/pause"),
	}
}

// returned reports whether the source of the sandbox returns a code itself. Others are of operations that the document only hints at:
// their paths are undocumented, so no rule returns them.
func returned(t *testing.T) func(code string) bool {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var source strings.Builder
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			source.Write(text)
		}
	}
	text := source.String()
	return func(code string) bool { return strings.Contains(text, `"`+code+`"`) }
}

// TestEveryCodeIsWithinReach proves for each documented code that a fault returns it, and so does a rule if any does.
func TestEveryCodeIsWithinReach(t *testing.T) {
	rules := byRule()
	handled := returned(t)
	for _, code := range op.Codes {
		require.Equal(t, handled(code.Name), rules[code.Name] != nil, "%s: a code that a handler returns has a request, and no other has", code.Name)
		for _, status := range code.Statuses {
			t.Run(fmt.Sprintf("fault/%s/%d", code.Name, status), func(t *testing.T) {
				sb := sandbox.New(t)
				sb.Fail("*", sandbox.Status(status, code.Name))
				inPlace(t, sb).get("/business/me").fails(status, code.Name)
			})
		}
		if ask, ok := rules[code.Name]; ok {
			t.Run("rule/"+code.Name, func(t *testing.T) {
				sb := sandbox.New(t, codeOptions()...)
				before := sb.Snapshot()
				ask(inPlace(t, sb)).fails(code.Statuses[0], code.Name)
				require.Equal(t, before, sb.Snapshot(), "nothing was changed")
				require.Empty(t, sb.Problems())
			})
		}
	}
}
