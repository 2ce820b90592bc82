// Command release writes the commit of a release, and verifies its tag:
//
//	go -C tools run ./cmd/release -path your.host/prospectkit v0.1.0
//	git tag v0.1.0 && git push --tags
//
// The path is needed once. The tree has to be clean; if the command fails, it changes nothing. The forge's workflow runs it with -verify on
// the tag. It tags the modules below the library at the same commit, prints these tags, and writes the notes, the checksums and the bill
// of materials.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `Usage: go -C tools run ./cmd/release [-path MODULE_PATH] VERSION
       go -C tools run ./cmd/release -verify DIRECTORY VERSION

`)
		flag.PrintDefaults()
	}
	path := flag.String("path", "", "the `path` that the module gets, if it has another")
	dist := flag.String("verify", "", "verify the tag, tag the modules below, and write notes, checksums and the bill of materials into the `directory`")
	flag.Parse()
	if flag.NArg() != 1 || *path != "" && *dist != "" {
		flag.Usage()
		os.Exit(2)
	}
	root, err := filepath.Abs("..")
	if err == nil {
		err = run(root, *path, *dist, flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(root, path, dist, version string) error {
	if dist == "" {
		if err := prepare(root, path, version); err != nil {
			return err
		}
		fmt.Printf("The commit is written. To release it:\n\n\tgit tag %s && git push --tags\n", version)
		return nil
	}
	tags, err := verify(root, version, dist)
	for _, tag := range tags {
		fmt.Println(tag)
	}
	return err
}
