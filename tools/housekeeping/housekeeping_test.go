// Package housekeeping checks the rules of this repository that no linter knows: that the paths of the service stand in its table only,
// what the library links, that every service has an example and every example runs, that the Go code in README files and in
// docs compiles, that the Go names in their text exist, that links in Markdown lead somewhere, and
// that no phrase of phrases.txt is used:
//
//	go -C tools test -count=1 ./housekeeping -run '^TestRules$'
package housekeeping

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const repository = "../.."

// Each rule returns its findings, one line each, or an error if it could not look.
func TestRules(t *testing.T) {
	for name, rule := range map[string]func(root string) ([]string, error){
		"paths": paths, "examples": examples, "links": links, "snippets": snippets, "names": names, "references": references, "words": words,
		"layers": layers, "few": few,
	} {
		t.Run(name, func(t *testing.T) {
			found, err := rule(repository)
			require.NoError(t, err)
			require.Empty(t, found)
		})
	}
}

func TestPaths(t *testing.T) {
	require.Equal(t, []string{
		"cmd/c/main.go:3: a path of the service outside of internal/op: \"GET /business/lists\"",
	}, findings(t, paths, map[string]string{
		"cmd/c/main.go":        "package main\n// GET /business/lists.\nconst route = \"GET /business/lists\"\n",
		"cmd/c/main_test.go":   "package main\nconst route = \"GET /business/lists\"\n",
		"internal/op/table.go": "package op\nconst route = \"GET /business/lists\"\n",
	}))
}

func TestLinks(t *testing.T) {
	files := map[string]string{
		"go.mod": "module example.com/prospectkit\n\ngo 1.26.0\n\nrequire example.com/heavy v1.0.0\n\n" +
			"replace example.com/heavy => ./heavy\n",
		"heavy/go.mod":                          "module example.com/heavy\n\ngo 1.26.0\n",
		"heavy/h.go":                            "package heavy\n",
		"client.go":                             "package prospectkit\n\nimport _ \"net/http\"\nimport _ \"example.com/prospectkit/internal/x\"\n",
		"client_test.go":                        "package prospectkit\n\nimport _ \"example.com/heavy\"\n",
		"internal/x/x.go":                       "package x\n",
		"sandbox/s.go":                          "package sandbox\n\nimport _ \"example.com/prospectkit/internal/x\"\n",
		"cmd/prospectkit/internal/sandbox/s.go": "package sandbox\n",
		"journal/journaltest/j.go":              "package journaltest\n",
		"spend/s.go":                            "package spend\n",
		"examples/e/e.go":                       "package main\n\nimport _ \"example.com/heavy\"\n\nfunc main() {}\n",
		"sandbox/s_test.go":                     "package sandbox_test\n\nimport _ \"example.com/prospectkit\"\n",
	}
	require.Empty(t, findings(t, links, files), "tests and examples may link anything")

	files["internal/x/x.go"] = "package x\n\nimport _ \"example.com/heavy\"\n"
	files["sandbox/s.go"] = "package sandbox\n\nimport _ \"example.com/prospectkit\"\n"
	files["cmd/prospectkit/internal/sandbox/s.go"] = "package sandbox\n\nimport _ \"example.com/heavy\"\n"
	require.Equal(t, []string{
		"example.com/prospectkit links example.com/heavy",
		"example.com/prospectkit/cmd/prospectkit/internal/sandbox links example.com/heavy",
		"example.com/prospectkit/sandbox links example.com/heavy",
		"example.com/prospectkit/sandbox links example.com/prospectkit",
	}, findings(t, links, files))
}

func TestReferences(t *testing.T) {
	require.Equal(t, []string{
		"README.md: no block ```sh go test",
		"README.md: no block ./... ```",
		"README.md: no file docs/c.md",
		"README.md: no heading docs/b.md#what-is-not",
		"docs/b.md: no heading #nowhere",
	}, findings(t, references, map[string]string{
		"README.md": "# One\n[a](https://example.org) [b](docs/b.md) [c](docs/c.md) [d](docs/b.md#what-is-not) [e](docs/b.md#what-isnt-it)\n" +
			"```text\n[x](nothing.md)\n```\n```sh go test\n./... ```\n",
		"docs/b.md": "## What isn't: `it`\n[up](../README.md#one) [here](#nowhere)\n",
	}))
}

func TestExamples(t *testing.T) {
	require.Equal(t, []string{
		".: ExampleB is not a whole program: it uses something of another file, or its package is not a _test package",
		"LostService has no example",
		"sandbox: Example_idle does not run, because it has no output",
	}, findings(t, examples, map[string]string{
		"a.go":                    "package p\ntype (\n\tNotesService struct{}\n\tLostService struct{}\n\tservice struct{}\n)\n",
		"sandbox/a.go":            "package sandbox\ntype OtherService struct{}\n",
		"a_test.go":               "package p_test\nfunc helper() {}\nconst id = 1\n",
		"example_test.go":         "package p_test\nfunc ExampleNotesService_List() {\n\tsame()\n\t// Output:\n}\nfunc same() {}\nfunc ExampleB() {\n\thelper()\n\t// Output: b\n}\n",
		"sandbox/example_test.go": "package sandbox_test\nfunc Example_idle() { println() }\nfunc later() {}\n",
		"internal/x_test.go":      "package x\nfunc Example() {}\n",
	}))
}
