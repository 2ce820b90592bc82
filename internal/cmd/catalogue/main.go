// Command catalogue writes what is derived from the operation table: operations.json, docs/operations.md and codes.go, and the golden
// files of operations. It works at any moment, and says last what is missing.
//
// Run it in the root of the repository, with go generate or by hand. With -check it writes nothing and fails when a
// file on disk is not what it would write, or something is missing.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// command is what a stale file tells its reader to run.
const command = "go generate ."

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
	do := func() error {
		if err := write(".", "."); err != nil {
			return err
		}
		return report(os.Stdout, ".")
	}
	if *check {
		do = func() error { return compare(".", ".") }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "catalogue:", err)
		os.Exit(1)
	}
}

// rendered passes each file on, from the table and the source.
func rendered(source string, to func(path string, content []byte) error) error {
	for _, f := range files {
		content, err := f.render(source)
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if err := to(f.path, content); err != nil {
			return err
		}
	}
	return nil
}

// write writes every file below root.
func write(source, root string) error {
	return rendered(source, func(path string, content []byte) error {
		path = filepath.Join(root, filepath.FromSlash(path))
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644))
	})
}

// compare reports the first file below root that is not what write would make it, or else the first part that is missing.
func compare(source, root string) error {
	err := rendered(source, func(path string, want []byte) error {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err == nil && !bytes.Equal(got, want) {
			err = fmt.Errorf("%s is stale", path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w; run %s", err, command)
	}
	list, err := missing(source)
	if err == nil && len(list) > 0 {
		err = errors.New(list[0].String())
	}
	return err
}
