package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const clientGo = `package prospectkit

import "context"

type Client struct{ Lists *ListsService }
type List struct{ Name string }
type ListsService struct{}

func New(url string) (*Client, error) { return &Client{}, nil }
func (*ListsService) Get(ctx context.Context, id string) (*List, error) { return &List{}, nil }
`

const goodReadme = `# Title

A program:

` + "```go" + `
package main

import (
	"fmt"

	"example.com/prospectkit"
)

func main() { fmt.Println(prospectkit.New("x")) }
` + "```" + `

Declarations:

` + "```go" + `
func TestIt(t *testing.T) {
	_, err := prospectkit.New("x")
	check(t, err)
}

func check(t *testing.T, err error) {
	if errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
` + "```" + `

Statements, with a variable that is never used:

` + "```go" + `
client, err := prospectkit.New("x")
if err != nil {
	return err
}
list, err := client.Lists.Get(ctx, "1")
` + "```" + `

<!-- given: list *prospectkit.List -->

` + "```go" + `
fmt.Println(strings.ToUpper(list.Name))
defer slog.Info("bye")
` + "```" + `

Not Go:

` + "```sh" + `
go run ./nothing
` + "```" + `
`

func TestSnippetsThatCompile(t *testing.T) {
	require.Empty(t, findings(t, snippets, map[string]string{
		"client.go":     clientGo,
		"docs/guide.md": goodReadme,
		"README.md":     "```go\nfmt.Println(client.Lists.Get(ctx, \"1\"))\nt.Fatal(err)\nreturn err\n```\n",
	}))
}

func TestSnippetsThatDoNotCompile(t *testing.T) {
	for name, c := range map[string]struct{ code, want string }{
		"renamed method": {"client.Lists.Fetch(ctx)", "README.md:2: client.Lists.Fetch undefined (type *prospectkit.ListsService has no field or method Fetch)"},
		"later line":     {"x := 1\n_ = x + \"a\"", "README.md:3: invalid operation: x + \"a\" (mismatched types int and untyped string)"},
		"unknown name":   {"show(list)", "README.md:2: undefined: show"},
		"syntax":         {"x :=", "README.md:4: expected operand, found '}' (and 2 more errors)"},
		"program":        {"package main\n\nfunc main() { x := 1 }", "README.md:4: declared and not used: x"},
		"internal":       {"import \"example.com/prospectkit/internal/x\"\n\nvar _ = x.X", "README.md:2: a reader cannot import example.com/prospectkit/internal/x"},
		"not imported":   {"import \"fmt\"\n\nvar _ = strings.ToUpper(fmt.Sprint(1))", "README.md:4: undefined: strings"},
		"no package":     {"import \"example.com/prospectkit/gone\"\n\nvar _ = gone.X", "README.md:2: could not import example.com/prospectkit/gone (no package example.com/prospectkit/gone)"},
	} {
		t.Run(name, func(t *testing.T) {
			list := findings(t, snippets, map[string]string{
				"client.go": clientGo, "internal/x/x.go": "package x\n\nvar X int\n",
				"README.md": "```go\n" + c.code + "\n```\n",
			})
			require.NotEmpty(t, list)
			require.Equal(t, c.want, list[0])
		})
	}
}

func TestSnippetOfANestedModule(t *testing.T) {
	files := map[string]string{
		"client.go": clientGo,
		"contrib/redisbudget/go.mod": "module example.com/prospectkit/contrib/redisbudget\n\ngo 1.26.0\n\n" +
			"require example.com/prospectkit v0.0.0\n\nreplace example.com/prospectkit => ../..\n",
		"contrib/redisbudget/budget.go": "package redisbudget\n\nfunc New() int { return 1 }\n",
		"contrib/redisbudget/README.md": "```go\nfmt.Println(redisbudget.New())\n```\n",
		"contrib/redisbudget/NOTES.md":  "```go\nnot checked\n```\n",
		"testdata/docs/README.md":       "```go\nnot checked\n```\n",
	}
	require.Empty(t, findings(t, snippets, files))
	files["contrib/redisbudget/README.md"] = "```go\nredisbudget.Old()\n```\n"
	require.Equal(t, []string{"contrib/redisbudget/README.md:2: undefined: redisbudget.Old"}, findings(t, snippets, files))
}

func TestThePageForAgents(t *testing.T) {
	files := map[string]string{
		"client.go":          clientGo,
		"sandbox/sandbox.go": "package sandbox\n\ntype Sandbox struct{}\n\nfunc (*Sandbox) Calls(string) int { return 0 }\n",
		"llms.txt": "Use `prospectkit.New`, `client.Lists.Get(ctx, id)`, `*prospectkit.List` and `sb.Calls`, not `client`.\n" +
			"```text\n`client.Lists.Old`\n```\n```go\nlist, err := client.Lists.Get(ctx, \"1\")\n```\n",
	}
	require.Empty(t, findings(t, snippets, files))
	require.Empty(t, findings(t, names, files))
	files["llms.txt"] = "`client.Lists.Old`\n\nand `*prospectkit.Gone`, `sb.Lists`\n```go\nclient.Close()\n```\n[x](gone.md)\n"
	require.Equal(t, []string{"llms.txt:5: client.Close undefined (type *prospectkit.Client has no field or method Close)"}, findings(t, snippets, files))
	require.Equal(t, []string{
		"llms.txt:1: no client.Lists.Old in the Go code",
		"llms.txt:3: no prospectkit.Gone in the Go code",
		"llms.txt:3: no sb.Lists in the Go code",
	}, findings(t, names, files))
	require.Equal(t, []string{"llms.txt: no file gone.md"}, findings(t, references, files))
}

func TestGoBlocks(t *testing.T) {
	text := "```text\n```go\n```\n<!-- given: a int -->\n```go\na++\n```\n\n  ```go\n  b++\n  ```\n"
	require.Equal(t, []snippet{
		{path: "x.md", line: 6, given: "a int", code: "a++\n"},
		{path: "x.md", line: 10, code: "  b++\n"},
	}, goBlocks("x.md", text))
}
