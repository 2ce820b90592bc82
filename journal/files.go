package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/filesystem"
)

type file = filesystem.File

func init() {
	filesystem.OpenJournal = func(on filesystem.FS, path, workspace string) (any, error) { return openFile(on, path, workspace) }
}

// osFiles is the file system of the machine.
type osFiles struct{}

func (osFiles) Lock(name string) (file, error)        { return lockFile(name) }
func (osFiles) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }
func (osFiles) Same(a, b fs.FileInfo) bool            { return os.SameFile(a, b) }
func (osFiles) Remove(name string) error              { return os.Remove(name) }
func (osFiles) Text() string                          { return chance.Text(context.Background()) }

func (osFiles) Rename(from, to string) error {
	return os.Rename(from, to) //nolint:gosec,nolintlint // G703: the caller names the file; only some runs of gosec see it
}

func (osFiles) Open(name string, flag int) (file, error) {
	f, err := os.OpenFile(name, flag, 0o600) //nolint:gosec // G304: the caller names the file
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osFiles) SyncDir(name string) error {
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
