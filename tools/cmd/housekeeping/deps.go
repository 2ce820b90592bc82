package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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

// A goMod is what go mod edit -json prints, in part.
type goMod struct {
	Module  struct{ Path string }
	Go      string
	Require []struct {
		Path     string
		Indirect bool
	}
}

// requires are the paths of the modules whose packages a module imports, each between spaces.
func (m goMod) requires() string {
	all := []string{""}
	for _, r := range m.Require {
		if !r.Indirect {
			all = append(all, r.Path)
		}
	}
	return strings.Join(append(all, ""), " ")
}

func readGoMod(dir string) (goMod, error) {
	var m goMod
	out, err := goTool(dir, "mod", "edit", "-json")
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal([]byte(out), &m)
}

// links finds packages that a program gets by importing one of this module, and should not.
func links(root string) ([]string, error) {
	m, err := readGoMod(root)
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, rule := range linkRules {
		pkg := m.Module.Path + rule.pkg
		out, err := goTool(root, "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}} {{.Module.Path}}{{end}}", pkg)
		if err != nil {
			return findings, err
		}
		for line := range strings.Lines(out) {
			path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
			ours := module == m.Module.Path
			forbidden := ours && slices.ContainsFunc(rule.never, func(n string) bool { return m.Module.Path+n == path })
			if forbidden || !ours && !slices.Contains(rule.modules, module) {
				findings = append(findings, fmt.Sprintf("%s links %s", pkg, path))
			}
		}
	}
	return findings, nil
}
