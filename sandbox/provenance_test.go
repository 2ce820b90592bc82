package sandbox_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func TestRulesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range sandbox.Assumptions() {
		require.NotEmpty(t, r.ID)
		require.False(t, seen[r.ID], r.ID)
		seen[r.ID] = true
		require.NotEmpty(t, r.Text, r.ID)
	}
}

func TestEveryAssumptionShowsAndStrictRefusesIt(t *testing.T) {
	var want []string
	for _, r := range sandbox.Assumptions() {
		if !r.Ambient {
			want = append(want, r.ID)
		}
	}
	for rule, g := range allGuesses(t) {
		known := slices.Index(want, rule)
		require.GreaterOrEqual(t, known, 0, "%s: the sandbox has no such assumption: take it out of the guesses", rule)
		want = slices.Delete(want, known, known+1)
		t.Run(rule, func(t *testing.T) {
			r := g.ask(inPlace(t, sandbox.New(t, g.opts...)))
			require.NotEqual(t, 501, r.status)
			require.Contains(t, strings.Split(r.header.Get("X-Sandbox-Assumed"), ", "), rule)

			strict := sandbox.New(t, append(slices.Clip(g.opts), sandbox.Strict())...)
			before := strict.Snapshot()
			r = g.ask(inPlace(t, strict))
			_, message := r.fails(501, "SANDBOX_STRICT")
			require.Contains(t, message, rule)
			sameState(t, before, strict.Snapshot())
			require.Empty(t, strict.Problems())
			require.Empty(t, strict.Journal()[0].Effects)
		})
	}
	require.Empty(t, want, "no request depends on these assumptions: write one in the guesses of the operation's own test")
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
}
