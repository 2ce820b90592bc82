package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
)

// testRooms are the packages that testdata/conformance.md may name, and where they are. More tests of prospectkit stand by subject
// below internal/tests.
var testRooms = map[string]string{
	"prospectkit": ".", "tests": "internal/tests", "sandbox": "sandbox", "fixture": "sandbox/fixture", "op": "internal/op", "budget": "internal/budget", "simulation": "internal/simulation",
	"ratehdr": "internal/ratehdr",
}

// TestConformance holds testdata/conformance.md against the tests and the operations that there are.
func TestConformance(t *testing.T) {
	text, err := os.ReadFile(Path("testdata", "conformance.md"))
	require.NoError(t, err)
	require.Empty(t, conformanceProblems(string(text), testsOf(t)))
}

var (
	conformanceRow  = regexp.MustCompile(`^\| C-(\d{4}) \| ([^|]+) \| (–|\x60[^|]+\x60) \| (–|\x60[^|]+\x60) \|$`)
	conformanceHead = regexp.MustCompile(`^\| (Id \| Behavior \| Client \| Sandbox|---( \| ---){3}) \|$`)
	largest         = regexp.MustCompile(`(?:\d to|at most|above) (\d+)\b`)
	backticked      = regexp.MustCompile("`([^`]+)`")
)

// conformanceProblems are what is wrong with the rows of a text, given the words of each test's file.
func conformanceProblems(text string, tests map[string]map[string]bool) (problems []string) {
	last, seen, sides := "", map[string]bool{}, map[string][2]bool{}
	endpoints := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			endpoints = strings.HasPrefix(heading, "Endpoints: ")
		}
		if !strings.HasPrefix(line, "|") || conformanceHead.MatchString(line) {
			continue
		}
		row := conformanceRow.FindStringSubmatch(line)
		if row == nil {
			problems = append(problems, "not a row of id, behavior, client and sandbox: "+line)
			continue
		}
		id, behavior := row[1], row[2]
		if id <= last {
			problems = append(problems, fmt.Sprintf("C-%s comes after C-%s: ids ascend, so a new row stands at the end of its section", id, last))
		}
		if seen[behavior] {
			problems = append(problems, fmt.Sprintf("C-%s says what another row says", id))
		}
		last, seen[behavior] = id, true
		about := operationsOf(behavior)
		for _, o := range about {
			tested := sides[o.Name]
			for side, cell := range row[3:5] {
				tested[side] = tested[side] || strings.Contains(cell, "`")
			}
			sides[o.Name] = tested
		}
		if endpoints && len(about) == 0 {
			problems = append(problems, fmt.Sprintf("C-%s names no operation: begin its sentence with the name in backticks", id))
		}
		for _, problem := range slices.Concat(codeProblems(behavior, about), boundProblems(behavior, about, row[4], tests), testProblems(row[3]+row[4], tests)) {
			problems = append(problems, fmt.Sprintf("C-%s %s", id, problem))
		}
	}
	for _, row := range op.All() {
		for side, column := range []string{"Client", "Sandbox"} {
			if !sides[row.Name][side] {
				problems = append(problems, fmt.Sprintf("testdata/conformance.md: no row about %s names a test under %s", row.Name, column))
			}
		}
	}
	return problems
}

// operationsOf are those that a sentence names, some of them by the begin of their names.
func operationsOf(behavior string) (named []*op.Op) {
	for _, word := range backticked.FindAllStringSubmatch(behavior, -1) {
		begin, some := strings.CutSuffix(word[1], "*")
		for _, o := range op.All() {
			if o.Name == word[1] || some && strings.HasPrefix(o.Name, begin) {
				named = append(named, o)
			}
		}
	}
	return named
}

// codeProblems are the codes in a sentence about operations that the rows of these lack.
func codeProblems(behavior string, about []*op.Op) (problems []string) {
	for _, word := range backticked.FindAllStringSubmatch(behavior, -1) {
		_, code := op.CodeByName(word[1])
		has := func(o *op.Op) bool {
			return slices.Contains(slices.Concat(o.Codes, o.Likely, []string{"RATE_LIMITED", "VALIDATION_FAILED"}), word[1])
		}
		if code && len(about) > 0 && !slices.ContainsFunc(about, has) {
			problems = append(problems, fmt.Sprintf("speaks of %s, and no row of its operations in internal/op/table.go has it", word[1]))
		}
	}
	return problems
}

// boundProblems are the largest numbers of a sentence about operations that no test of the sandbox goes beyond.
func boundProblems(behavior string, about []*op.Op, cell string, tests map[string]map[string]bool) (problems []string) {
	for _, bound := range largest.FindAllStringSubmatch(behavior, -1) {
		most, err := strconv.Atoi(bound[1])
		beyond := func(name []string) bool {
			test, _, _ := strings.Cut(name[1], "/")
			return tests[test][strconv.Itoa(most+1)]
		}
		if named := backticked.FindAllStringSubmatch(cell, -1); err == nil && len(named)*len(about) > 0 && !slices.ContainsFunc(named, beyond) {
			problems = append(problems, fmt.Sprintf("says %q, and no file of its tests of the sandbox has %d, which is refused", bound[0], most+1))
		}
	}
	return problems
}

// testProblems are what is wrong with the tests that a row names.
func testProblems(cells string, tests map[string]map[string]bool) (problems []string) {
	named := backticked.FindAllStringSubmatch(cells, -1)
	if len(named) == 0 {
		return []string{"has no test"}
	}
	for _, name := range named {
		test, subtest, _ := strings.Cut(name[1], "/")
		words, ok := tests[test]
		if !ok {
			problems = append(problems, "names "+test+", which does not exist")
			continue
		}
		for part := range strings.SplitSeq(subtest, "/") {
			if part != "" && !words[part] {
				problems = append(problems, fmt.Sprintf("names %s, in whose file nothing is called %q", test, part))
			}
		}
	}
	return problems
}

// testsOf lists the tests of every package, as package.Test, with the texts of their file: whole, and word by word.
func testsOf(t *testing.T) map[string]map[string]bool {
	t.Helper()
	tests := make(map[string]map[string]bool)
	for name, dir := range testRooms {
		files, err := filepath.Glob(Path(filepath.FromSlash(dir), "*_test.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, dir)
		if name == "prospectkit" {
			topics, err := filepath.Glob(Path("internal", "tests", "*", "*_test.go"))
			require.NoError(t, err)
			files = append(files, topics...)
		}
		for _, path := range files {
			file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			words := make(map[string]bool)
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if ok && literal.Kind == gotoken.INT {
					words[strings.ReplaceAll(literal.Value, "_", "")] = true
				}
				if ok && literal.Kind == gotoken.STRING {
					text, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					words[text] = true
					for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == '/' }) {
						words[word] = true
					}
				}
				return true
			})
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
					tests[name+"."+f.Name.Name] = words
				}
			}
		}
	}
	return tests
}

func TestConformance_NoticesMistakes(t *testing.T) {
	tests := map[string]map[string]bool{"prospectkit.TestA": {"sub test": true}}
	about := make([]string, 0, len(op.All()))
	for _, row := range op.All() {
		about = append(about, row.Name)
	}
	whole := "| C-0001 | All: `" + strings.Join(about, "`, `") + "`. | `prospectkit.TestA/sub test` | `prospectkit.TestA` |\n"
	require.Empty(t, conformanceProblems("# Title\n\n| Id | Behavior | Client | Sandbox |\n| --- | --- | --- | --- |\n"+whole, tests))
	const ascend, odd = ": ids ascend, so a new row stands at the end of its section", "not a row of id, behavior, client and sandbox: "
	for row, want := range map[string]string{
		"| C-0001 | x | `prospectkit.TestA` | – |":             "C-0001 comes after C-0001" + ascend,
		"| C-0000 | x | `prospectkit.TestA` | – |":             "C-0000 comes after C-0001" + ascend,
		"| C-0002 | x | – | – |":                               "C-0002 has no test",
		"| C-0002 | x | TestA | – |":                           odd + "| C-0002 | x | TestA | – |",
		"| C-0002 | x | - | `prospectkit.TestA` |":             odd + "| C-0002 | x | - | `prospectkit.TestA` |",
		"| C-0002 | x | `prospectkit.TestB` | – |":             "C-0002 names prospectkit.TestB, which does not exist",
		"| C-0002 | x | – | `sandbox.TestA` |":                 "C-0002 names sandbox.TestA, which does not exist",
		"| C-0002 | x | `prospectkit.TestA/sub` | – |":         `C-0002 names prospectkit.TestA, in whose file nothing is called "sub"`,
		"| C-2 | x | `prospectkit.TestA` | – |":                odd + "| C-2 | x | `prospectkit.TestA` | – |",
		"| C-0002 | x | `prospectkit.TestA` |":                 odd + "| C-0002 | x | `prospectkit.TestA` |",
		strings.Replace(strings.TrimSpace(whole), "1", "2", 1): "C-0002 says what another row says",
	} {
		require.Equal(t, []string{want}, conformanceProblems(whole+row+"\n", tests))
	}
	const claims = "## Endpoints: facts\n| C-0002 | %s | `prospectkit.TestA` | `prospectkit.TestA` |\n"
	for behavior, want := range map[string]string{
		"a claim":                             "C-0002 names no operation: begin its sentence with the name in backticks",
		"`facts.edit`: `LIST_NOT_FOUND`":      "C-0002 speaks of LIST_NOT_FOUND, and no row of its operations in internal/op/table.go has it",
		"`facts.*`: a claim of 1 to 30 runes": `C-0002 says "1 to 30", and no file of its tests of the sandbox has 31, which is refused`,
	} {
		require.Equal(t, []string{want}, conformanceProblems(whole+fmt.Sprintf(claims, behavior), tests))
	}
	bare := func(column string) string {
		return "testdata/conformance.md: no row about lists.rows names a test under " + column
	}
	less := strings.Replace(whole, "`lists.rows`", "rows", 1)
	require.Equal(t, []string{bare("Client"), bare("Sandbox")}, conformanceProblems(less, tests))
	dash := less + "| C-0002 | `lists.rows` | `prospectkit.TestA` | – |\n"
	require.Equal(t, []string{bare("Sandbox")}, conformanceProblems(dash, tests))
}

// The tables of the document, written a second time: limits and scopes by the beginning of the path, the longest that fits.
var (
	documentedWindows = map[string]op.Limits{
		"/business/lists": {PerMinute: 120, PerDay: 10_000}, "/business/folders": {PerMinute: 120, PerDay: 10_000},
		"/business/campaigns": {PerMinute: 30, PerDay: 1_000}, "/business/knowledge-hubs": {PerMinute: 30, PerDay: 1_000},
		"/business/scheduled-sends": {PerMinute: 30, PerDay: 1_000}, "/business/me": {PerMinute: 120, PerDay: 10_000},
		"/business/credits": {PerMinute: 120, PerDay: 10_000}, "/business/prospects/search": {PerMinute: 20, PerDay: 1_000},
		"/business/saved-searches": {PerMinute: 60, PerDay: 5_000}, "/business/agents": {PerMinute: 30, PerDay: 2_000},
		"/business/contacts": {}, "/business/imports": {}, "/business/prospects/filter-options": {}, "/companies": {},
	}
	documentedScopes = map[string]op.Scope{
		"/business/lists": op.ScopeLists, "/business/folders": op.ScopeLists, "/business/imports": op.ScopeLists,
		"/business/campaigns": op.ScopeCampaigns, "/business/knowledge-hubs": op.ScopeCampaigns, "/business/scheduled-sends": op.ScopeCampaigns,
		"/business/prospects/search": op.ScopeSearch, "/business/saved-searches": op.ScopeSearch, "/business/contacts": op.ScopeContacts,
		"/business/agents": op.ScopeAgents, "/companies": op.ScopeCompanies, "/business/me": op.ScopeAny, "/business/credits": op.ScopeAny,
		"/business/prospects/filter-options": op.ScopeAny,
	}
	pathOf = map[string]string{ // of the operations whose path the caller supplies
		"agents.pause": "/business/agents", "campaigns.preview-step": "/business/campaigns", "contacts.timeline": "/business/contacts",
	}
)

// holdRules compares what is said of the path of an operation with its row. Of a resource that came later, only its row says it.
func holdRules[T any](t *testing.T, rules map[string]T, of func(*op.Op) T) {
	t.Helper()
	found := map[string]int{}
	for _, row := range op.All() {
		for prefix, rule := range rules {
			if strings.HasPrefix(row.Path+pathOf[row.Name], prefix) {
				found[row.Name]++
				found[prefix]++
				require.Equal(t, rule, of(row), row.Name)
			}
		}
		require.LessOrEqual(t, found[row.Name], 1, row.Name)
	}
	for prefix := range rules {
		require.Positive(t, found[prefix], "no operation below %s", prefix)
	}
}

func TestConformance_DocumentedWindows(t *testing.T) {
	holdRules(t, documentedWindows, func(row *op.Op) op.Limits { return op.DocumentedLimits[row.Surface] })
}

func TestConformance_DocumentedScopes(t *testing.T) {
	holdRules(t, documentedScopes, func(row *op.Op) op.Scope { return row.Scope })
}

// Whose connection a push checks is told by the error: another user's does not count.
func TestConformance_PushErrorNamesTheSyncUser(t *testing.T) {
	_, err := NewClient(t, Always(422, Envelope("CRM_NOT_CONNECTED"))).Lists.PushToCRM(t.Context(), ListID, prospectkit.CRMPush{CRM: "crm-1", All: true})
	require.ErrorContains(t, err, "the team's designated sync user")
}

// Waiting for the end of a run, as the code tells, helps no adjustment and no activation: only drafts are open to them.
func TestConformance_ErrorOfARunningAgent(t *testing.T) {
	adjust := func(code string) error {
		_, err := NewClient(t, Always(409, Envelope(code))).Agents.Adjust(t.Context(), DraftID, prospectkit.Fields{"maxCreditSpend": 2000})
		return err
	}
	running := adjust("AGENT_PROCESSING")
	require.Positive(t, Waits(running))
	require.ErrorContains(t, running, "still need a draft")
	require.Equal(t, NoWait, Waits(adjust("AGENT_NOT_A_DRAFT")))
}
