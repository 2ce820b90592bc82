// Command ports type-checks the packages of a module and their tests for every operating system that Go knows, with 32 and with 64
// bits. It generates no code, so that all of them take less time than one build.
//
// Usage, in the tools directory:
//
//	go run ./cmd/ports [root]
//
// It prints one line per finding and exits with status 1 if there is one. The root defaults to the parent directory.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	flag.Parse()
	root := ".."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	out, err := exec.Command("go", "tool", "dist", "list").Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if !run(os.Stdout, root, distinct(strings.Fields(string(out)))) {
		os.Exit(1)
	}
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

// run prints what does not compile and reports whether everything does.
func run(w io.Writer, root string, ports []string) bool {
	_, _ = fmt.Fprintln(w, strings.Join(ports, " "))
	clean := true
	for _, port := range ports {
		findings, err := check(root, port)
		if err != nil {
			findings = append(findings, err.Error())
		}
		for _, f := range findings {
			clean = false
			_, _ = fmt.Fprintf(w, "%s: %s\n", port, f)
		}
	}
	return clean
}

// check type-checks the packages of the module at root, and their tests, for one port.
func check(root, port string) ([]string, error) {
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
