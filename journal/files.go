package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// files is what a journal needs of a file system. Tests put faults in here.
type files interface {
	lock(name string) (file, error) // creates the file; ErrLocked if another journal holds it
	stat(name string) (fs.FileInfo, error)
	same(a, b fs.FileInfo) bool
	open(name string, flag int) (file, error)
	rename(from, to string) error
	remove(name string) error
	syncDir(name string) error // makes names durable
}

type file interface {
	io.Reader
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// osFiles is the file system of the machine.
type osFiles struct{}

func (osFiles) lock(name string) (file, error)        { return lockFile(name) }
func (osFiles) stat(name string) (fs.FileInfo, error) { return os.Stat(name) }
func (osFiles) same(a, b fs.FileInfo) bool            { return os.SameFile(a, b) }
func (osFiles) remove(name string) error              { return os.Remove(name) }

func (osFiles) rename(from, to string) error {
	return os.Rename(from, to) //nolint:gosec,nolintlint // G703: the caller names the file; only some runs of gosec see it
}

func (osFiles) open(name string, flag int) (file, error) {
	f, err := os.OpenFile(name, flag, 0o600) //nolint:gosec // G304: the caller names the file
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osFiles) syncDir(name string) error {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" {
		return nil // no such thing
	}
	dir, err := os.Open(name) //nolint:gosec // G304: the directory of the journal
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
