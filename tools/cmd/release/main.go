// Command release writes the commit that a tag makes a release, and checks one:
//
//	go -C tools run ./cmd/release v0.1.0                                # then: git tag v0.1.0 && git push --tags
//	go -C tools run ./cmd/release -module your.host/prospectkit v0.1.0  # with another module path, once
//	go -C tools run ./cmd/release -verify v0.1.0                        # prints the notes of the release
//
// The first commit stays on the branch: the path, and the changelog under the version and its date. The second one, which HEAD is left at,
// is for the tag alone: the published modules below the root require the release itself, in place of the clone around them.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "Usage: go -C tools run ./cmd/release [-module PATH | -verify] VERSION\n\nWrites the commits of a release, or checks one.\n\n")
		flag.PrintDefaults()
	}
	path := flag.String("module", "", "gives the module, and those below it, this `path`")
	verify := flag.Bool("verify", false, "check that HEAD is the release, print its notes, and change nothing")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	r := release{root: "..", version: flag.Arg(0), date: time.Now().UTC().Format(time.DateOnly)}
	do := func() error { return r.prepare(*path) }
	if *verify {
		do = r.verify
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	if *verify {
		fmt.Print(r.notes)
		return
	}
	fmt.Printf("HEAD is the commit of %s. Next:\n\n\tgit tag %[1]s && git push --tags\n\tgit switch -\n", r.version)
}
