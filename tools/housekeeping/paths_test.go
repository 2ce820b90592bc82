package housekeeping

import (
	"fmt"
	"go/ast"
	"strings"
)

// paths finds the paths of the service in the code: only the operation table knows them. That the comments of methods name them rightly
// is a test of internal/tests.
func paths(root string) (findings []string, err error) {
	list, err := sources(root, func(path string) bool {
		return !strings.HasSuffix(path, "_test.go") && path != "internal/op/table.go" && !within(path, "tools", "tests")
	})
	for _, s := range list {
		for n := range ast.Preorder(s.File) {
			if text, ok := n.(*ast.BasicLit); ok && strings.Contains(text.Value, "/business/") {
				findings = append(findings, fmt.Sprintf("%s:%d: a path of the service outside of internal/op: %s", s.path, s.line(n.Pos()), text.Value))
			}
		}
	}
	return findings, err
}
