package housekeeping

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// The packages of the root module and their tests compile for every operating system that Go knows, with 32 and with 64 bits. No code
// is generated, so that all of them take less time than one build.
func TestPorts(t *testing.T) {
	out, err := goTool(".", "tool", "dist", "list")
	require.NoError(t, err)
	for _, port := range distinct(strings.Fields(out)) {
		t.Run(port, func(t *testing.T) {
			found, err := compiles(repository, port)
			require.NoError(t, err)
			require.Empty(t, found)
		})
	}
}

func TestPorts_Findings(t *testing.T) {
	dir := tree(t, map[string]string{
		"code.go":        "package m\n\nimport \"syscall\"\n\nvar Refused = syscall.ECONNREFUSED\n",
		"code_test.go":   "package m\n\nimport \"testing\"\n\nfunc TestWide(*testing.T) { var _ int = 1 << 40 }\n",
		"d/d_windows.go": "package d\n\nvar Wrong int = \"text\"\n",
		"d/d.go":         "package d\n",
	})
	for port, want := range map[string]string{
		"linux/386":     `^code_test\.go:5:\d+: .*1 << 40.*overflow`,
		"linux/amd64":   "",
		"plan9/amd64":   `^code\.go:5:\d+: undefined: syscall\.ECONNREFUSED`,
		"windows/amd64": `^d.d_windows\.go:3:\d+: .*string`,
	} {
		found, err := compiles(dir, port)
		require.NoError(t, err)
		if want == "" {
			require.Empty(t, found, port)
			continue
		}
		require.Len(t, found, 1, port)
		require.Regexp(t, want, found[0])
	}
	_, err := compiles(filepath.Join(dir, "missing"), "linux/amd64")
	require.Error(t, err, "nothing was looked at")
}

func TestPorts_Distinct(t *testing.T) {
	require.Equal(t, []string{"android/arm64", "js/wasm", "linux/386", "linux/amd64"},
		distinct([]string{"android/386", "android/arm64", "ios/arm64", "js/wasm", "linux/386", "linux/amd64", "linux/arm", "linux/s390x"}))
}

// distinct keeps one port per operating system and word size. The module has no code for a single processor.
func distinct(ports []string) (kept []string) {
	seen := map[string]bool{}
	for _, port := range ports {
		goos, goarch, _ := strings.Cut(port, "/")
		if goos == "ios" || goos == "android" && goarch != "arm64" {
			continue // linked by a C compiler only
		}
		kind := fmt.Sprint(goos, types.SizesFor("gc", goarch).Sizeof(types.Typ[types.Int]))
		if !seen[kind] {
			kept = append(kept, port)
		}
		seen[kind] = true
	}
	return kept
}

// compiles type-checks the packages of the module at root, and their tests, for one port.
func compiles(root, port string) ([]string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	goos, goarch, _ := strings.Cut(port, "/")
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule,
		Dir:   root,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Tests: true,
		ParseFile: func(fset *token.FileSet, filename string, src []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, filename, src, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(filename, root+string(filepath.Separator)) {
				dropBodies(file)
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, pkg := range all {
		if strings.HasSuffix(pkg.ID, ".test") { // made by the go command
			continue
		}
		for _, e := range pkg.Errors {
			findings = append(findings, strings.ReplaceAll(e.Error(), root+string(filepath.Separator), ""))
		}
	}
	slices.Sort(findings)
	return slices.Compact(findings), nil
}

// dropBodies makes a file that others only import cheap to check.
func dropBodies(file *ast.File) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
