package op_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

// names lists the operations that a condition picks, in the order of the table.
func names(pick func(*op.Op) bool) []string {
	var list []string
	for _, o := range op.All() {
		if pick(o) {
			list = append(list, o.Name)
		}
	}
	return list
}

func TestEveryColumnIsFilled(t *testing.T) {
	var (
		methods     = []string{"GET", "POST", "PATCH"}
		scopes      = []op.Scope{op.ScopeAny, op.ScopeLists, op.ScopeCampaigns, op.ScopeSearch, op.ScopeContacts, op.ScopeAgents, op.ScopeCompanies}
		classes     = []op.Class{op.Read, op.PaidRead, op.Idempotent, op.GuardedByName, op.GuardedByState, op.Unsafe}
		effects     = []op.Effect{op.No, op.Yes, op.Assumed}
		provenances = []op.Provenance{op.Documented, op.AssumedPath, op.CallerSupplied}
		shapes      = []op.Shape{op.Typed, op.Partial, op.Raw}
	)
	for _, o := range op.All() {
		require.Regexp(t, `^[a-z]+\.[a-z]+(-[a-z]+)*$`, o.Name)
		require.Contains(t, scopes, o.Scope, o.Name)
		require.Contains(t, op.DocumentedLimits, o.Surface, o.Name)
		require.Contains(t, classes, o.Class, o.Name)
		require.Subset(t, effects, []op.Effect{o.Spends, o.Sends, o.WritesOutside}, o.Name)
		require.Contains(t, provenances, o.Provenance, o.Name)
		require.Contains(t, shapes, o.Shape, o.Name)
		require.Equal(t, o.Class == op.Read, o.Verify == "", "%s: what shows an unknown outcome", o.Name)
		visible := map[bool]time.Duration{false: 10 * time.Second, true: 65 * time.Second}[o.Timeout == 75*time.Second]
		if o.Class == op.Read {
			visible = 0
		}
		require.Equal(t, visible, o.VisibleAfter, o.Name)
		require.NotEmpty(t, o.Summary, o.Name)
		require.NotContains(t, o.Summary, "|", "%s: it goes into a table", o.Name)
		if o.Provenance == op.CallerSupplied {
			require.Empty(t, o.Path, o.Name)
			continue
		}
		require.Contains(t, methods, o.Method, o.Name)
		require.Regexp(t, `^(/([a-z-]+|\{[a-zA-Z]+\}))+$`, o.Path, o.Name)
	}
}

func TestNamesFindTheirOperation(t *testing.T) {
	for _, o := range op.All() {
		found, ok := op.ByName(o.Name)
		require.True(t, ok)
		require.Same(t, o, found, "the name %s is not unique", o.Name)
	}
	_, ok := op.ByName("lists.nothing")
	require.False(t, ok)
}

func TestRouteOfACallerSuppliedPath(t *testing.T) {
	require.Equal(t, "GET /business/lists/{listId}/rows", op.ListsRows.Route())
	require.Equal(t, "POST (path undocumented)", op.CampaignsPreviewStep.Route())
	require.Equal(t, "(path undocumented)", op.AgentsPause.Route())
}

func TestReadsAreGetsUnlessPaid(t *testing.T) {
	for _, o := range op.All() {
		require.Equal(t, o.Class == op.Read, o.Method == http.MethodGet, o.Name)
		require.Equal(t, o.Class == op.Read, o.FreeRead(), o.Name)
		require.Equal(t, o.Class != op.Read && o.Class != op.PaidRead, o.Write(), o.Name)
		if o.Class == op.Read {
			require.False(t, o.Spends.Possible() || o.Sends.Possible() || o.WritesOutside.Possible(), "%s: a read without consequences", o.Name)
		}
		if o.Class == op.PaidRead {
			require.True(t, o.Spends.Possible(), o.Name)
		}
	}
}

func TestTimeouts(t *testing.T) {
	for _, o := range op.All() {
		want := 30 * time.Second
		switch {
		case o.Surface == op.Agents:
			want = 75 * time.Second // above the service's own 60
		case o == op.ImportsCreate:
			want = 10 * time.Minute
		}
		require.Equal(t, want, o.Timeout, o.Name)
	}
}

// What an operation does to others, and what that excludes. Which operation has which of these columns is confirmed by operations.json.
func TestConsequences(t *testing.T) {
	for _, o := range op.All() {
		require.True(t, o.Free == "" || o.Spends == op.No, "%s: free by the document, and yet it spends", o.Name)
		require.Equal(t, o.Write(), o.Confirms != "", "%s: Confirms, in table.go: a write says Yes or No, and nothing else does", o.Name)
		require.True(t, !o.Spends.Possible() || slices.Contains(slices.Concat(o.Codes, o.Likely), "INSUFFICIENT_CREDITS"), "%s: the balance may be too low", o.Name)
		require.True(t, !o.Resolves || o.Write(), "%s: only the effect of a write is looked for", o.Name)
		require.True(t, !o.Background || o.Write(), "%s: only a write works on", o.Name)
		require.True(t, !o.RawResponse || o.Shape == op.Partial, "%s: then something of the request is documented", o.Name)
		require.True(t, !o.NoBody || o.Method == http.MethodPost, "%s: it has no body anyway", o.Name)
	}
}

func TestWindows(t *testing.T) {
	for surface, w := range op.DocumentedLimits {
		require.Equal(t, w.PerMinute == 0, w.PerDay == 0, surface)
		require.NotEmpty(t, names(func(o *op.Op) bool { return o.Surface == surface }), "%s: no operation uses it", surface)
	}
}

func TestOperationsNameKnownCodes(t *testing.T) {
	for _, o := range op.All() {
		all := slices.Concat(o.Codes, o.Likely)
		for _, name := range all {
			_, ok := op.CodeByName(name)
			require.True(t, ok, "%s names %s", o.Name, name)
		}
		sorted := slices.Sorted(slices.Values(all))
		require.Len(t, slices.Compact(sorted), len(all), "%s names a code twice", o.Name)
	}
}
