// Command modproxy writes the modules of this repository as a file-system module proxy, for teams that have no forge yet:
//
//	go -C tools run ./cmd/modproxy v0.1.0 /srv/modules
//	GOPROXY=file:///srv/modules,$(go env GOPROXY) GONOSUMDB=example.com/* go get example.com/prospectkit@v0.1.0
//
// The directory keeps the versions that it has already.
package main

import (
	"flag"
	"fmt"
	"os"

	"example.com/prospectkit/tools/internal/modproxy"
)

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "Usage: go -C tools run ./cmd/modproxy VERSION DIRECTORY\n\nWrites the modules of this clone into a directory that GOPROXY can name, under a version.\n")
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	written, err := modproxy.Write("..", flag.Arg(0), flag.Arg(1))
	if err != nil {
		fmt.Fprintln(os.Stderr, "modproxy:", err)
		os.Exit(1)
	}
	for _, m := range written {
		fmt.Println(m)
	}
}
