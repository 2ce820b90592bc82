// Command catalogue writes what is derived from the operation table: operations.json, docs/operations.md and codes.go, and the golden
// files of operations. It works at any moment, and says last what is missing, or what differs.
//
// Run it in the root of the repository, with go generate or by hand. Its tests fail when a file on disk is not what it would write, or
// something is missing.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A file is one output and what fills it.
type file struct {
	path   string
	render func(source string) ([]byte, error)
}

var files = []file{
	{"operations.json", operationsJSON},
	{"docs/operations.md", operationsMarkdown},
	{"codes.go", codesGo},
}

func main() {
	err := write(".", ".")
	if err == nil {
		err = report(os.Stdout, ".")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "catalogue:", err)
		os.Exit(1)
	}
}

// write writes every file below root, from the table and the source.
func write(source, root string) error {
	for _, f := range files {
		content, err := f.render(source)
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		path := filepath.Join(root, filepath.FromSlash(f.path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			return err
		}
	}
	return nil
}
