package sandbox_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/sandbox"
)

// guess is a request that depends on an assumption, and the sandbox it needs.
type guess struct {
	opts []sandbox.Option
	ask  func(caller) result
}

// guesses are those of the tests of each surface. What every operation assumes of itself is in the exchanges of testdata/http.
var guesses = map[string]guess{}

// TestAssumptions pins what a request that depends on an assumption gets.
func TestAssumptions(t *testing.T) {
	var told strings.Builder
	for _, rule := range slices.Sorted(maps.Keys(guesses)) {
		require.Equal(t, 1, strings.Count("\n"+sandbox.Assumptions(), "\n"+rule+": "), rule)
		r := guesses[rule].ask(inPlace(t, sandbox.New(t, guesses[rule].opts...)))
		code, _ := r.json()["error"].(object)
		fmt.Fprintln(&told, rule, r.status, code["code"], code["param"])
	}
	golden.Equal(t, filepath.Join("testdata", "assumptions.txt"), told.String())
}

// guessesIn adds requests that depend on assumptions, to a sandbox with options.
func guessesIn(opts []sandbox.Option, asks map[string]func(caller) result) struct{} {
	for rule, ask := range asks {
		guesses[rule] = guess{opts, ask}
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
