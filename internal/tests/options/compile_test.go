package options_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	gotoken "go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// snippets are statements of a user's program and what the compiler says about them; empty when it accepts them.
var snippets = []struct{ code, complaint string }{
	{`prospectkit.New("", "", prospectkit.WithUserAgent(""), prospectkit.WithMaxWait(0))`, ""},
	{`client.With(prospectkit.WithLogger(nil), prospectkit.WithRetry(prospectkit.NoRetry))`, ""},
	{`client.Account.Me(ctx, prospectkit.WithMaxWait(0), prospectkit.WithQuery("", ""), prospectkit.WithInfo(nil))`, ""},
	{`client.Lists.All(ctx, prospectkit.ListsParams{}, prospectkit.WithProgress(nil), prospectkit.WithHeader("", ""), prospectkit.WithMaxWait(0))`, ""},

	{`client.Account.Me(ctx, prospectkit.WithUserAgent(""))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
	{`client.Account.Me(ctx, prospectkit.WithTransport(nil))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
	{`client.Account.Me(ctx, prospectkit.WithLogger(nil))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
	{`client.Lists.All(ctx, prospectkit.ListsParams{}, prospectkit.AllowPlainHTTP())`, "does not implement prospectkit.PageOption (missing method applyPage)"},
	{`prospectkit.New("", "", prospectkit.WithQuery("", ""))`, "does not implement prospectkit.ClientOption (missing method applyClient)"},
	{`prospectkit.New("", "", prospectkit.WithField("", 1))`, "does not implement prospectkit.ClientOption (missing method applyClient)"},
	{`prospectkit.New("", "", prospectkit.WithInfo(nil))`, "does not implement prospectkit.ClientOption (missing method applyClient)"},
	{`prospectkit.New("", "", prospectkit.WithProgress(nil))`, "does not implement prospectkit.ClientOption (missing method applyClient)"},
	{`client.With(prospectkit.WithRoute(""))`, "does not implement prospectkit.ClientOption (missing method applyClient)"},
	{`client.Account.Me(ctx, prospectkit.WithProgress(nil))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
	{`client.Lists.Page(ctx, prospectkit.ListsParams{}, prospectkit.ResumeFrom(""))`, "does not implement prospectkit.CallOption (missing method applyCall)"},
}

func TestOptions_MisplacedDoNotCompile(t *testing.T) {
	set := gotoken.NewFileSet()
	compiled := importer.ForCompiler(set, "gc", exportData(t))
	for _, s := range snippets {
		source := fmt.Sprintf("package app\nimport (\"context\"; \"example.com/prospectkit\")\n"+
			"func _(ctx context.Context, client *prospectkit.Client) {\n%s\n}", s.code)
		file, err := parser.ParseFile(set, "app.go", source, 0)
		require.NoError(t, err, s.code)
		config := types.Config{Importer: compiled}
		_, err = config.Check("app", set, []*ast.File{file}, nil)
		if s.complaint == "" {
			require.NoError(t, err, s.code)
			continue
		}
		require.ErrorContains(t, err, s.complaint, s.code)
	}
}

// exportData finds what the go command compiled this package and all below it to.
func exportData(t *testing.T) importer.Lookup {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}}\t{{.Export}}{{end}}", "example.com/prospectkit")
	list.Stderr = os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	files := make(map[string]string)
	for line := range bytes.Lines(out) {
		path, file, ok := bytes.Cut(bytes.TrimSpace(line), []byte("\t"))
		if ok {
			files[string(path)] = string(file)
		}
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}
