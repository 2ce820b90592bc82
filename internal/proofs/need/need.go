// Package need finds the programs that proofs start.
package need

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
