package main

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

const root = "../../.."

func TestFilesAreFresh(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(root, dir))
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(dir, f.path))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(root, f.path))
		require.NoError(t, err)
		require.True(t, bytes.Equal(got, want), "%s is stale; run go generate .", f.path)
	}
}

func TestOperationsJSON(t *testing.T) {
	content, err := operationsJSON(root)
	require.NoError(t, err)
	var rows []map[string]any
	require.NoError(t, json.Unmarshal(content, &rows))
	require.Len(t, rows, len(op.All()))
	for i, o := range op.All() {
		row := rows[i]
		require.Len(t, row, reflect.TypeFor[operation]().NumField(), o.Name)
		require.Equal(t, o.Name, row["name"])
		require.IsType(t, []any{}, row["codes"], "never null: %s", o.Name)
		require.Len(t, row["codes"], len(o.Codes))
		require.IsType(t, []any{}, row["likely"], "never null: %s", o.Name)
		require.Len(t, row["likely"], len(o.Likely))
		require.Equal(t, o.Path == "", row["path"] == nil, o.Name)
		require.Equal(t, op.DocumentedLimits[o.Surface].PerDay == 0, row["perDay"] == nil, o.Name)
		require.InDelta(t, o.Timeout.Seconds(), row["attemptTimeoutSeconds"], 0)
	}
}

func TestOperationsMarkdownHasEveryRow(t *testing.T) {
	content, err := operationsMarkdown(root)
	require.NoError(t, err)
	text := string(content)
	for _, o := range op.All() {
		require.Equal(t, 1, strings.Count(text, "\n| **"+o.Name+"**: "), o.Name)
		require.Equal(t, o.Verify != "", strings.Contains(text, " | "+o.Verify+" |\n"), o.Name)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| ") {
			require.Contains(t, []int{4, 6}, strings.Count(line, "|"), "columns of %s", line)
		}
	}
}

func TestOperationsMarkdownNamesTheCalls(t *testing.T) {
	content, err := operationsMarkdown(root)
	require.NoError(t, err)
	text := string(content)
	for _, call := range []string{
		"[`client.Lists.Create`](../lists.go), [`client.Lists.Ensure`](../lists_ensure.go)", "[`prospectkit.RowsOf`](../lists_rows.go)",
		"[`client.Campaigns.SendsPage`](../campaigns.go)", "[`client.Agents.Create`](../agents.go)",
	} {
		require.Contains(t, text, call)
	}
	require.Equal(t, 3, strings.Count(text, "client.Agents.Create`"), "three routes")
}

func TestCodesGo(t *testing.T) {
	content, err := codesGo(root)
	require.NoError(t, err)
	_, err = parser.ParseFile(token.NewFileSet(), "codes.go", content, parser.AllErrors)
	require.NoError(t, err)
	text := string(content)
	for _, c := range op.Codes {
		require.Equal(t, 1, strings.Count(text, " Code = \""+c.Name+"\" "), c.Name)
	}
	require.Regexp(t, `\n\tCodeListNameTaken +Code = "LIST_NAME_TAKEN" +// a list or an agent has this name\n`, text)
}

func TestConstant(t *testing.T) {
	for code, want := range map[string]string{
		"UNAUTHORIZED":      "CodeUnauthorized",
		"LIST_NAME_TAKEN":   "CodeListNameTaken",
		"CRM_NOT_CONNECTED": "CodeCRMNotConnected",
		"AGENT_NOT_A_DRAFT": "CodeAgentNotADraft",
	} {
		require.Equal(t, want, constant(code))
	}
}

func TestGroupOf(t *testing.T) {
	title := func(code string) string { return groups[groupOf(code)].title }
	require.Contains(t, title("LIST_EMPTY"), "Lists")
	require.Contains(t, title("LIST_INCOMPATIBLE_WITH_CHANNELS"), "Campaigns", "the longer prefix wins")
	require.Contains(t, title("SOMETHING_NEW"), "Others")
}

func TestThousands(t *testing.T) {
	require.Equal(t, "20", thousands(20))
	require.Equal(t, "1,000", thousands(1000))
	require.Equal(t, "10,050", thousands(10_050))
}

// A new row lacks everything but itself: the list says what, and where.
func TestMissing(t *testing.T) {
	list, err := missing(root)
	require.NoError(t, err)
	require.Empty(t, list)

	bare := t.TempDir() // the table, and files in which nothing of it is
	for _, name := range []string{"internal/op/table.go", "internal/tests/calls.go", "testdata/conformance.md", "cmd/prospectkit/internal/firstcontact/asks.go"} {
		path := filepath.Join(bare, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		var text []byte
		if name == "internal/op/table.go" {
			text, err = os.ReadFile(filepath.Join(root, name))
			require.NoError(t, err)
		}
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	list, err = missing(bare)
	require.NoError(t, err)
	var of []string
	for _, task := range list {
		if task.op == "lists.create" || task.op == "lists.rows" {
			of = append(of, task.op+" "+filepath.Base(task.where))
		}
	}
	require.Equal(t, []string{
		"lists.create the file of its service or one beside it, such as lists_rows.go", "lists.create the file of its service or one beside it, such as lists_rows.go", "lists.create sandbox, a new file",
		"lists.create calls.go", "lists.create conformance.md",
		"lists.rows the file of its service or one beside it, such as lists_rows.go", "lists.rows sandbox, a new file", "lists.rows calls.go", "lists.rows conformance.md", "lists.rows asks.go",
	}, of)
}

// Of many errors of the compiler, and of those that follow in other packages, the first is reported, on one line.
func TestTheFirstErrorOfTheCompiler(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	put("go.mod", "module broken\n")
	put("a.go", "package broken\n\nfunc A() { one() }\n\nfunc B() { two() }\n")
	put("b/b.go", "package b\n\nimport \"broken\"\n\nvar _ = broken.A\n")
	require.EqualError(t, compiles(dir, ".", "./b"), "./a.go:3:12: undefined: one")
	put("a.go", "package broken\n\nfunc A() {}\n")
	require.NoError(t, compiles(dir, ".", "./b"))
}

// Each pattern of the checks finds a test in each of its packages, and no file that writes golden files is left out.
func TestChecksFindTheirTests(t *testing.T) {
	for _, args := range checks {
		at := slices.Index(args, "-run")
		pattern := regexp.MustCompile(args[at+1])
		for _, place := range args[1:at] {
			paths, err := filepath.Glob(filepath.Join(root, place, "*_test.go"))
			require.NoError(t, err)
			found := 0
			for _, path := range paths {
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				here := 0
				for _, test := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(string(text), -1) {
					if pattern.MatchString(test[1]) {
						here++
					}
				}
				writes := slices.Contains(args, "-update") && strings.Contains(string(text), "golden.Equal(")
				require.True(t, here > 0 || !writes, "%s: no test that writes its files matches %s", path, pattern)
				found += here
			}
			require.Positive(t, found, "%s: %s", place, pattern)
		}
	}
}
