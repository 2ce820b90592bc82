package sandbox_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func TestRulesAreComplete(t *testing.T) {
	sb := sandbox.New(t)
	assumed := map[string]bool{}
	for _, r := range sb.Assumptions() {
		assumed[r.ID] = true
	}
	seen := map[string]bool{}
	for _, r := range sandbox.Rules() {
		require.False(t, seen[r.ID], r.ID)
		seen[r.ID] = true
		require.NotEmpty(t, r.Text, r.ID)
		require.Contains(t, []sandbox.Provenance{sandbox.Documented, sandbox.Inferred, sandbox.Assumed}, r.Provenance)
		require.Equal(t, r.Provenance == sandbox.Assumed, assumed[r.ID], r.ID)
		if r.Ambient {
			require.Equal(t, sandbox.Assumed, r.Provenance, r.ID)
		}
	}
}

// guesses are requests that rest on assumptions, and which.
func guesses(c caller) map[string]func() result {
	const save = "/business/lists/save-to-list"
	return map[string]func() result{
		"lists.move":        func() result { return c.do("PATCH", lists+"/"+id(2), object{"folderId": nil}) },
		"lists.move.folder": func() result { return c.do("PATCH", lists+"/"+id(2), object{"folderId": id(66)}) },
		"lists.include":     func() result { return c.get(lists+"/"+id(1), "include", "x") },
		"lists.system-read": func() result { return c.get(lists + "/" + id(9)) },
		"lists.titles":      func() result { return c.do("POST", lists, create("All Companies")) },
		"lists.add-members": func() result {
			return c.do("POST", lists+"/"+id(2)+"/members", object{"contactIds": []string{id(101)}})
		},
		"lists.add-contacts":  func() result { return c.do("POST", lists+"/"+id(2)+"/contacts", object{"contacts": []object{{}}}) },
		"lists.save-to-list":  func() result { return c.do("POST", save, object{"sourceListId": id(1), "listId": id(2)}) },
		"lists.processing":    func() result { return c.do("POST", save, object{"sourceListId": id(4), "listId": id(2)}) },
		"crm.status":          func() result { return c.do("POST", lists+"/"+id(1)+"/crm-push", object{"crm": "crm-1"}) },
		"account.credits":     func() result { return c.get("/business/credits") },
		"path.id":             func() result { return c.get(lists + "/12") },
		"body.malformed":      func() result { return c.do("POST", lists, "[") },
		"body.missing":        func() result { return c.do("POST", lists, nil) },
		"body.size":           func() result { return c.do("POST", lists, strings.Repeat(" ", 12<<20+1)) },
		"rows.sort.values":    func() result { return c.get(rowsOf(id(1)), "sortBy", "n", "sortOrder", "asc") },
		"rows.filters.match":  func() result { return c.get(rowsOf(id(1)), "filters", `{"name":["x"]}`) },
		"rows.filters.fields": func() result { return c.get(rowsOf(id(1)), "filters", `{"keywords":"x"}`) },
		"rows.filters.columns": func() result {
			return c.get(rowsOf(id(1)), "filters", `{"customColumns":{"c":{"dataType":"boolean","value":true}}}`)
		},
		"rows.filters.ignored":    func() result { return c.get(rowsOf(id(3)), "filters", `{"title":["x"]}`) },
		"rows.filters.length":     func() result { return c.get(rowsOf(id(1)), "filters", filterOf(8001)) },
		"search.filter-options":   func() result { return c.get("/business/prospects/filter-options") },
		"lists.save-to-list.kind": func() result { return c.do("POST", save, object{"sourceListId": id(1), "listId": id(3)}) },
		"body.content-type": func() result {
			req := c.request("POST", lists, create("x"))
			req.Header.Del("Content-Type")
			r, err := c.send(req)
			require.NoError(c.t, err)
			return r
		},
	}
}

func guessSeed() sandbox.Option {
	state := sandbox.State{Workspaces: []sandbox.Workspace{{
		CRM: sandbox.CRM{Connected: []string{"crm-1"}},
		Lists: []sandbox.List{
			{ID: id(1), Name: "source", Rows: sandbox.Rows(sandbox.Row{"id": id(101)})},
			{ID: id(2), Name: "target"},
			{ID: id(3), Name: "firms", EntityType: sandbox.CompanyList},
			{ID: id(4), Name: "busy", CompletionStatus: "processing"},
			{ID: id(9), Name: "Everybody", System: true},
		},
	}}}
	return sandbox.Seed(state)
}

// guess is a request that rests on an assumption, and the sandbox it needs.
type guess struct {
	opts []sandbox.Option
	ask  func(caller) result
}

// guessRooms are the guesses of the surfaces that have files of their own, by rule.
var guessRooms = []map[string]guess{outreachGuesses, agentGuesses, searchGuesses, contactGuesses}

// allGuesses are those of the rooms and those of this file.
func allGuesses(c caller) map[string]guess {
	all := map[string]guess{}
	for rule := range guesses(c) {
		all[rule] = guess{[]sandbox.Option{guessSeed()}, func(c caller) result { return guesses(c)[rule]() }}
	}
	for _, room := range guessRooms {
		for rule, g := range room {
			require.NotContains(c.t, all, rule)
			all[rule] = g
		}
	}
	return all
}

func TestEveryAssumptionShowsAndStrictRefusesIt(t *testing.T) {
	c := inPlace(t, sandbox.New(t, guessSeed()))
	var want []string
	for _, r := range sandbox.Rules() {
		if r.Provenance == sandbox.Assumed && !r.Ambient {
			want = append(want, r.ID)
		}
	}
	var covered []string
	for rule, g := range allGuesses(c) {
		covered = append(covered, rule)
		t.Run(rule, func(t *testing.T) {
			r := g.ask(inPlace(t, sandbox.New(t, g.opts...)))
			require.NotEqual(t, 501, r.status)
			require.Contains(t, strings.Split(r.header.Get("X-Sandbox-Assumed"), ", "), rule)

			strict := sandbox.New(t, append(slices.Clip(g.opts), sandbox.Strict())...)
			before := strict.Snapshot()
			r = g.ask(inPlace(t, strict))
			_, message := r.fails(501, "SANDBOX_STRICT")
			require.Contains(t, message, rule)
			require.Equal(t, before, strict.Snapshot(), "nothing was changed")
			require.Empty(t, strict.Problems())
			require.Empty(t, strict.Journal()[0].Effects)
		})
	}
	require.ElementsMatch(t, want, covered)
}

func TestStrictServesWhatIsDocumented(t *testing.T) {
	c := inPlace(t, sandbox.New(t, guessSeed(), sandbox.Strict()))
	for _, r := range []result{
		c.get(lists), c.get(lists + "/" + id(1)), c.get(rowsOf(id(1))), c.get("/business/me"), c.get("/business/folders", "type", "agent"),
		c.do("POST", lists, create("x")),
	} {
		require.Less(t, r.status, 300, "%s", r.raw)
		require.Empty(t, r.header.Get("X-Sandbox-Assumed"))
	}
	c.get(rowsOf(id(1)), "filters", "x").fails(422, "INVALID_ROW_FILTERS")
	require.False(t, slices.ContainsFunc(sandbox.Rules(), func(r sandbox.Rule) bool { return r.ID == "" }))
}
