//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package journal

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process that starts another one shares its open files with it for a moment. Close frees the journal nevertheless.
func TestFile_ClosedWhileAProcessStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Open(path, "acme")
	require.NoError(t, err)
	shared, err := syscall.Dup(int(j.lock.(interface{ Fd() uintptr }).Fd()))
	require.NoError(t, err)
	defer syscall.Close(shared)
	_, err = Open(path, "acme")
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, j.Close())
	j, err = Open(path, "acme")
	require.NoError(t, err)
	require.NoError(t, j.Close())
}
