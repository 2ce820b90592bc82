//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package journal

import (
	"errors"
	"os"
	"syscall"
)

// lockFile holds a lock until it is closed or the process ends.
func lockFile(name string) (file, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // G304: the caller names the file
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, os.NewSyscallError("flock", err)
	}
	return flocked{f}, nil
}

type flocked struct{ *os.File }

// Close gives the lock up first: a process that is just being started shares the file until it runs its program, and would keep the lock.
func (f flocked) Close() error {
	return errors.Join(os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN)), f.File.Close())
}
