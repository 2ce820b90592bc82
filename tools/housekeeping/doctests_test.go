package housekeeping

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tests of docs/testing.md pass: those that it declares, and each block of statements. What a block is given, another one declares.
func TestDocs_Tests(t *testing.T) {
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	text, names := docTests(t, root)
	require.Greater(t, len(names), 3)
	said := runDocs(t, root, map[string][]byte{"page_test.go": text}, "-v", "-run=^("+strings.Join(names, "|")+")$")
	for _, name := range names {
		require.Contains(t, said, "--- PASS: "+name+" ")
	}
}

// isTest finds blocks that are a part of a test.
var isTest = regexp.MustCompile(`\bt\.|testing\.|sandbox\.|httpmock`)

// docTests makes a test file of the page, and tells the names of its tests.
func docTests(t *testing.T, root string) (file []byte, names []string) {
	t.Helper()
	modules, err := findModules(root)
	require.NoError(t, err)
	imports := ownImports(modules)
	page, err := os.ReadFile(filepath.Join(root, "docs", "testing.md"))
	require.NoError(t, err)
	var code, given strings.Builder
	for _, s := range goBlocks("docs/testing.md", string(page)) {
		c, err := parse(s, imports)
		require.NoError(t, err)
		switch {
		case c.file.Name.Name != "snippet": // a program
		case !c.fragment:
			fmt.Fprintln(&code, s.code)
		case isTest.MatchString(s.code + s.given):
			fmt.Fprintf(&code, "func TestLine%d(t *testing.T) {\nrequire.NoError(t, func() (err error) {\nctx := t.Context()\n_ = ctx\n{\n%s\n}\nreturn nil\n}())\n}\n", s.line, s.code)
			fmt.Fprintf(&given, "func _(%s) {}\n", s.given)
		}
	}
	c, err := parseFile("package docruns_test" + missing(must(t, "package docruns_test\n"+code.String()), imports) + "\n" + code.String())
	require.NoError(t, err)
	declared := map[string]bool{}
	for _, d := range c.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			declared[f.Name.Name] = true
			if strings.HasPrefix(f.Name.Name, "Test") {
				names = append(names, f.Name.Name)
			}
		}
	}
	for _, d := range must(t, "package p\n"+given.String()).Decls {
		for _, group := range d.(*ast.FuncDecl).Type.Params.List {
			for _, id := range group.Names {
				require.True(t, declared[id.Name], "no block declares %s, which one is given", id.Name)
			}
		}
	}
	exports, err := exportFiles(modules[0], []checked{c})
	require.NoError(t, err)
	use(c, unused(c, exports, modules[0].version))
	return printed(t, c), names
}
