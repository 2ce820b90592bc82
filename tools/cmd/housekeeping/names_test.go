package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func namedCode(text string) map[string]string {
	return map[string]string{
		"client.go": clientGo + `
type RefusedError struct{ Rule string }
type Loose struct{ List }
type Wide struct{ *http.Client }
var ErrGone, CodeBusy = 1, 2
func WithRetry(int) {}
`,
		"spend/guard.go":  "package spend\n\ntype Guard struct{ state int }\n\nfunc (*Guard) Books() {}\n",
		"client_test.go":  "package prospectkit\n\nimport (\n\t\"net/http\"\n\t\"testing\"\n)\n\nfunc TestClient_All(*testing.T) { _ = http.Client{Timeout: 1}; errors.As() }\n",
		"internal/x/x.go": "package x\n\nfunc Hidden() {}\n",
		"docs/guide.md":   text,
	}
}

func TestNames_ThatExist(t *testing.T) {
	for _, text := range []string{
		"`Lists.Get`, `client.Lists.Get(ctx, id)`, `*prospectkit.List`, `List.Name`, `list.Name`", "`guard.Books()`, `spend.Guard`, `Guard.Books`",
		"`errors.As(err, ErrGone)`, `WithRetry(CodeBusy)`, `RefusedError{Rule: ...}`", "`Loose.Name`, `Wide.Timeout`", "`http.Client.Timeout`",
		"`Idempotency-Key`, `LIST_NAME_TAKEN`, `POST /Some/Path`, `NOTES.md`, `\"Quoted\"`, `Deprecated:`", "`go test ./x -run TestClient`",
		"```text\n`Lists.Old`\n```\nOld without a code span",
	} {
		require.Empty(t, findings(t, names, namedCode(text)), text)
	}
}

func TestNames_ThatDoNotExist(t *testing.T) {
	for _, name := range []string{
		"Lists.Old", "Lists.Name", "client.Lists.Old", "client.Old", "prospectkit.Gone", "spend.Books", "guard.Gone", "RefusedError.Gone", "Loose.Gone", "Loose.Get", "Wide.Gone",
		"ErrOther", "WithOther", "RuleOther", "Other.Name", "sb.Other", "http.Other", "x.Other", "TestOther",
	} {
		require.Equal(t, []string{"docs/guide.md:3: no " + name + " in the Go code"},
			findings(t, names, namedCode("# Title\n\nUse `"+name+"(x)`.\n")))
	}
	require.Equal(t, []string{"docs/guide.md:2: no goneBefore in the Go code"}, findings(t, names, namedCode("```text\nWithRetry\n|  goneBefore of Gone\n```\n")))
}
