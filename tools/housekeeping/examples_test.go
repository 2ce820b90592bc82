package housekeeping

import (
	"fmt"
	"go/ast"
	"go/doc"
	"path"
	"slices"
	"strings"
)

// examples checks the examples of the packages that users import: every service has one, each runs, and each can be shown as a
// whole program, which needs all that it uses to stand in its own file. That their names attach is checked by vet.
func examples(root string) ([]string, error) {
	list, err := sources(root, func(path string) bool { return !within(path, "internal", "cmd", "examples", "tools", "benchmarks") })
	if err != nil {
		return nil, err
	}
	tests := map[string][]*ast.File{}
	var services []string
	for _, s := range list {
		if strings.HasSuffix(s.path, "_test.go") {
			tests[path.Dir(s.path)] = append(tests[path.Dir(s.path)], s.File)
		} else if path.Dir(s.path) == "." {
			services = append(services, servicesOf(s)...)
		}
	}
	var findings []string
	shown := map[string]bool{}
	for dir, files := range tests {
		for _, e := range doc.Examples(files...) {
			if e.Output == "" && !e.EmptyOutput {
				findings = append(findings, fmt.Sprintf("%s: Example%s does not run, because it has no output", dir, e.Name))
			}
			if e.Play == nil {
				findings = append(findings, fmt.Sprintf("%s: Example%s is not a whole program: it uses something of another file, or its package is not a _test package", dir, e.Name))
			}
			if dir == "." {
				service, _, _ := strings.Cut(e.Name, "_")
				shown[service] = true
			}
		}
	}
	for _, service := range services {
		if !shown[service] {
			findings = append(findings, service+" has no example")
		}
	}
	slices.Sort(findings)
	return findings, nil
}

// servicesOf lists the services that a file declares.
func servicesOf(s source) (names []string) {
	for n := range ast.Preorder(s.File) {
		if t, ok := n.(*ast.TypeSpec); ok && t.Name.IsExported() && strings.HasSuffix(t.Name.Name, "Service") {
			names = append(names, t.Name.Name)
		}
	}
	return names
}
