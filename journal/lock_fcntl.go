//go:build aix || (solaris && !illumos)

package journal

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lockProcesses holds a lock against other processes until the file is closed.
func lockProcesses(f *os.File) error {
	err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart})
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EAGAIN) {
		return ErrLocked
	}
	return os.NewSyscallError("fcntl", err)
}
