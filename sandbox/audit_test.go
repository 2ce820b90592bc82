package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

// witness is a test that is told what is wrong.
type witness struct{ errors []string }

func (w *witness) Helper()        {}
func (w *witness) Cleanup(func()) {}
func (w *witness) Errorf(format string, args ...any) {
	w.errors = append(w.errors, fmt.Sprintf(format, args...))
}

// TestBrokenRulesAreNoticed replaces a rule by wrong ones: the audit has to see each of them.
func TestBrokenRulesAreNoticed(t *testing.T) {
	refusal := refuse("LIST_NOT_FOUND", "no")
	for name, tc := range map[string]struct {
		rule   handler
		status int
		want   string
	}{
		"refused, but billed": {func(c *call) response {
			c.spend(1, "x")
			panic(stopped{refusal})
		}, 404, "a refused request cost credits"},
		"refused, but done": {func(c *call) response {
			c.effect(func() {}, "x")
			panic(stopped{refusal})
		}, 404, "a refused request changed the state"},
		"overdrawn": {func(c *call) response {
			c.spend(1_000_000, "x")
			return reply(200, object{})
		}, 200, "the balance is -990000"},
		"behind the ledger's back": {func(c *call) response {
			c.ws.Credits--
			return reply(200, object{})
		}, 200, "the balance is 9999, the ledger says 10000"},
		"on another's account": {func(c *call) response {
			c.ws.book(LedgerEntry{RequestID: "other", Amount: -1})
			return reply(200, object{})
		}, 200, "the ledger does not add up"},
		"panic": {func(*call) response { panic("oops") }, 500, "the rules panicked: oops"},
		"unencodable": {func(*call) response {
			return reply(200, func() {})
		}, 500, "unsupported type"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &witness{}
			sb := New(w)
			sb.mux = http.NewServeMux()
			sb.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
				w.(*target).op, w.(*target).serves, w.(*target).req = op.ListsList, endpoint{handle: tc.rule}, r
			})
			require.Equal(t, tc.status, knock(t, sb))
			require.NotEmpty(t, sb.Problems())
			require.Contains(t, strings.Join(w.errors, "\n"), tc.want)
		})
	}
}

// TestMessagesThatNobodyApprovedAreNoticed puts messages where no rule would: the audit of the next request has to see them.
func TestMessagesThatNobodyApprovedAreNoticed(t *testing.T) {
	for name, tc := range map[string]struct {
		messages []Outgoing
		want     string
	}{
		"never approved":          {[]Outgoing{{Kind: "message", CampaignID: "b", SendID: "1"}}, "without an approval"},
		"on another word":         {[]Outgoing{{Kind: "message", CampaignID: "a", RequestID: "req_other", SendID: "1"}}, "without an approval"},
		"twice":                   {[]Outgoing{{Kind: "message", CampaignID: "a", SendID: "1"}, {Kind: "message", CampaignID: "a", SendID: "1"}}, "went out twice"},
		"approved, and only once": {[]Outgoing{{Kind: "message", CampaignID: "a", SendID: "1"}, {Kind: "message", CampaignID: "a", SendID: "2"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &witness{}
			sb := New(w)
			sb.ws.approvals = []approval{{campaignID: "a"}}
			sb.ws.sent = tc.messages
			for range 2 {
				knock(t, sb)
			}
			if tc.want == "" {
				require.Empty(t, w.errors)
				return
			}
			require.Len(t, w.errors, 1, "told once")
			require.Contains(t, strings.Join(w.errors, ""), tc.want)
		})
	}
}

// knock makes a request, after which the sandbox looks at its books.
func knock(t *testing.T, sb *Sandbox) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sb.BaseURL()+"/business/me", nil)
	require.NoError(t, err)
	req.SetBasicAuth(sb.Token(), "")
	resp, err := sb.Client().Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}
