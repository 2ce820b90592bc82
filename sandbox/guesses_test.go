package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// guess is a request that depends on an assumption, and the sandbox it needs.
type guess struct {
	opts []sandbox.Option
	ask  func(caller) result
}

// ownGuesses are those of the tests of each surface.
var ownGuesses = map[string]guess{}

// allGuesses have one for each rule: the requests of testdata/http, which internal/tests makes of every operation, and for what those
// do not reach others, which stand with the tests of their surface.
func allGuesses(t *testing.T) map[string]guess {
	t.Helper()
	all := exchangeGuesses(t)
	for rule, g := range ownGuesses {
		require.NotContains(t, all, rule, "the call of its operation reaches it: take it out of the guesses")
		all[rule] = g
	}
	return all
}

// exchangeGuesses are the requests of testdata/http, by the assumptions that their responses name.
func exchangeGuesses(t *testing.T) map[string]guess {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "retry-world.json"))
	require.NoError(t, err)
	state, err := sandbox.ReadState(strings.NewReader(string(text)))
	require.NoError(t, err)
	opts := []sandbox.Option{
		sandbox.Seed(state), sandbox.WithRoute("agents.pause", pauseRoute), sandbox.WithRoute("campaigns.preview-step", previews),
		sandbox.WithRoute("contacts.timeline", "GET /business/contacts/{contactId}/activities"),
	}
	files, err := filepath.Glob(filepath.Join("..", "testdata", "http", "*", "sandbox.http"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	guesses := map[string]guess{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		whole := strings.ReplaceAll(string(text), "\r\n", "\n")
		request, response, _ := strings.Cut(whole, "\nHTTP/1.1 ")
		head, body, _ := strings.Cut(request, "\n\n")
		if strings.Contains(head, "multipart/form-data") {
			continue // the file has its fields as JSON
		}
		line := strings.Fields(head)
		ask := func(c caller) result {
			if body == "" {
				return c.do(line[0], strings.TrimPrefix(line[1], "/api/v1"), nil)
			}
			return c.do(line[0], strings.TrimPrefix(line[1], "/api/v1"), body)
		}
		_, rules, found := strings.Cut(response, "X-Sandbox-Assumed: ")
		rules, _, _ = strings.Cut(rules, "\n")
		for i, rule := range strings.Split(rules, ", ") {
			if _, known := guesses[rule]; found && (i == 0 || !known) { // the first is what the request is about
				guesses[rule] = guess{opts, ask}
			}
		}
	}
	return guesses
}

// guessesIn adds requests that depend on assumptions, to a sandbox with options.
func guessesIn(opts []sandbox.Option, asks map[string]func(caller) result) struct{} {
	for rule, ask := range asks {
		ownGuesses[rule] = guess{opts, ask}
	}
	return struct{}{}
}

func guessSeed() sandbox.Option {
	state := sandbox.State{Workspaces: []sandbox.Workspace{{
		CRM: sandbox.CRM{Connected: []string{"crm-1"}},
		Lists: []sandbox.List{
			{ID: id(1), Name: "source", Rows: sandbox.Rows(sandbox.Row{"id": id(101)}, sandbox.Row{"id": id(191)})},
			{ID: id(2), Name: "target"},
			{ID: id(3), Name: "firms", EntityType: sandbox.CompanyList},
			{ID: id(4), Name: "busy", CompletionStatus: "processing"},
			{ID: id(9), Name: "Everybody", System: true},
			{ID: mixed, Name: "letters"},
		},
	}}}
	return sandbox.Seed(state)
}

func approveBare(c caller) result { return approvalOf(c, bare) }

// almostReady is the state with a campaign in place of the bare one.
func almostReady(change func(*sandbox.Campaign)) sandbox.Option {
	state := outreachState()
	all := state.Workspaces[0].Campaigns
	for i := range all {
		if all[i].ID == bare {
			all[i] = sandbox.ReadyCampaign("almost", reached)
			all[i].ID = bare
			change(&all[i])
		}
	}
	return sandbox.Seed(state)
}
