// Command catalogue writes what is derived from the operation table: operations.json, docs/operations.md and codes.go.
//
// Run it in the root of the repository, with go generate or by hand. With -check it writes nothing and fails when a
// file on disk is not what it would write.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// command is what a stale file tells its reader to run.
const command = "go run ./internal/cmd/catalogue"

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
	check := flag.Bool("check", false, "compare with the files on disk instead of writing them")
	flag.Parse()
	do := write
	if *check {
		do = compare
	}
	if err := do(".", "."); err != nil {
		fmt.Fprintln(os.Stderr, "catalogue:", err)
		os.Exit(1)
	}
}

// write renders every file below root, from the table and the source.
func write(source, root string) error {
	for _, f := range files {
		content, err := f.render(source)
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		path := filepath.Join(root, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare reports the first file below root that is not what write would make it.
func compare(source, root string) error {
	for _, f := range files {
		want, err := f.render(source)
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.path)))
		if err != nil {
			return fmt.Errorf("%w; run %s", err, command)
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%s is stale; run %s", f.path, command)
		}
	}
	return nil
}
