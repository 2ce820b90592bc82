// Command modproxy writes the modules of this repository as a file-system module proxy, for teams that have no forge yet:
//
//	go -C tools run ./cmd/modproxy v0.1.0 /srv/modules
//	GOPROXY=file:///srv/modules,$(go env GOPROXY) GONOSUMDB=example.com/* go get example.com/prospectkit@v0.1.0
//
// The directory keeps the versions that it has already.
package main

import (
	"fmt"
	"os"

	"example.com/prospectkit/tools/internal/modproxy"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: modproxy VERSION DIRECTORY")
		os.Exit(2)
	}
	written, err := modproxy.Write("..", os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "modproxy:", err)
		os.Exit(1)
	}
	for _, m := range written {
		fmt.Println(m)
	}
}
