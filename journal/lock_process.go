//go:build aix || (solaris && !illumos) || (!unix && !windows && !plan9)

package journal

import (
	"os"
	"sync"
)

// locked has the names of the files that this process has locked: what the system offers here does
// not keep a process from locking a file twice.
var locked sync.Map

type processLock struct {
	*os.File

	name string
}

// lockFile holds a lock until it is closed or the process ends.
func lockFile(name string) (file, error) {
	if _, held := locked.LoadOrStore(name, true); held {
		return nil, ErrLocked
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // G304: the caller names the file
	if err == nil {
		if err = lockProcesses(f); err == nil {
			return processLock{f, name}, nil
		}
		_ = f.Close()
	}
	locked.Delete(name)
	return nil, err
}

// Close ends the lock.
func (l processLock) Close() error {
	defer locked.Delete(l.name)
	return l.File.Close()
}
