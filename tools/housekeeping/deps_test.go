package housekeeping

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// A linkRule says what a package may link besides the standard library and the packages of its own module.
type linkRule struct {
	pkg     string   // relative to the module
	modules []string // of others
	never   []string // packages of this module, relative to the module
}

var linkRules = []linkRule{
	{
		pkg: "",
		modules: []string{
			"github.com/google/go-querystring", "github.com/hashicorp/go-cleanhttp", "github.com/hashicorp/go-retryablehttp",
		},
		never: []string{"/sandbox", "/sandbox/fixture"},
	},
	{pkg: "/journal/journaltest", never: []string{""}}, // a store needs no client
	{pkg: "/spend", never: []string{""}},
	{pkg: "/cmd/prospectkit/internal/sandbox", never: []string{""}}, // fixture too
	{pkg: "/sandbox", never: []string{""}},                          // a double that shares the client's code agrees with the client's mistakes
}

func readGoMod(dir string) (*modfile.File, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	return modfile.Parse("go.mod", text, nil)
}

// links finds packages that a program gets by importing one of this module, and should not.
func links(root string) ([]string, error) {
	m, err := readGoMod(root)
	if err != nil {
		return nil, err
	}
	own := m.Module.Mod.Path
	var findings []string
	for _, rule := range linkRules {
		pkg := own + rule.pkg
		out, err := goTool(root, "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}} {{.Module.Path}}{{end}}", pkg)
		if err != nil {
			return findings, err
		}
		for line := range strings.Lines(out) {
			path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
			ours := module == own
			forbidden := ours && slices.ContainsFunc(rule.never, func(n string) bool { return own+n == path })
			if forbidden || !ours && !slices.Contains(rule.modules, module) {
				findings = append(findings, fmt.Sprintf("%s links %s", pkg, path))
			}
		}
	}
	return findings, nil
}
