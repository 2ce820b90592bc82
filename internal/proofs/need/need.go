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
	"time"

	"github.com/stretchr/testify/require"
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

// Dir is a directory of a program, which may give up its rights before it writes there.
func Dir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "proof") //nolint:usetesting // not below a directory that is closed to others, see Chmod
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777)) //nolint:gosec // other accounts write there
	return dir
}

// Start starts a program, waits until it listens on an address, and ends it with the test.
func Start(t *testing.T, cmd *exec.Cmd, address string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		ended := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		ended.Stop()
	})
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		said, _ := os.ReadFile(log.Name())
		require.True(t, time.Now().Before(until), "%s does not listen: %s", cmd.Path, said)
	}
}
