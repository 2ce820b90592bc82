// Package filesystem is what a journal needs of a file system, so that a simulation can put its own below; and where a link leads.
package filesystem

import (
	"errors"
	"io"
	"io/fs"
)

// FS is a file system.
type FS interface {
	Lock(name string) (File, error) // creates the file; ErrLocked if another journal holds it
	Stat(name string) (fs.FileInfo, error)
	Same(a, b fs.FileInfo) bool
	Open(name string, flag int) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(name string) error // makes names durable
	Text() string              // that no other file holds
}

// File is an open file.
type File interface {
	io.Reader
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// ErrLocked says that another journal has the file open.
var ErrLocked = errors.New("another journal has the file open")

// OpenJournal opens a journal on another file system than that of the machine. The package journal sets it; the result is
// a *journal.FileJournal.
var OpenJournal func(on FS, path, workspace string) (any, error)
