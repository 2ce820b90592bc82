// Package need finds the programs that proofs start, and ports for them.
package need

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// Program is where a program is, of a package of Debian. Where it is not installed, the test is skipped, or fails if REQUIRED names the step
// proofs of .ci/run.
func Program(t *testing.T, name, debian string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // what Debian keeps off the path
	for _, path := range append(places, "/usr/sbin/"+name, "/usr/lib/squid/"+name) {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	if slices.Contains(strings.Fields(os.Getenv("REQUIRED")), "proofs") {
		t.Fatalf("%s is not installed (Debian: apt-get install %s)", name, debian)
	}
	t.Skipf("%s is not installed (Debian: apt-get install %s)", name, debian)
	return ""
}

var ports atomic.Int32

// Port is one of 127.0.0.1 that nobody listens on, below those that the system hands out to others before a program gets to listen there.
func Port(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(20_000 + (os.Getpid()*50+int(ports.Add(1)))%10_000)
		if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}
