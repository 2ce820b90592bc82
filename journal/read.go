package journal

import (
	"fmt"
	"iter"
	"os"
)

// Read yields the entries of the journal file at path, in the order of their first attempts: who made
// which call, when, and what its outcome is. It changes nothing and needs no lock, so it works while
// a process uses the file, and skips what that process has not written completely. An error comes
// last, after the entries that could be read.
func Read(path string) iter.Seq2[Entry, error] { return readEntries(osFiles{}, path) }

func readEntries(on files, path string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var all fold
		err := readInto(&all, on, path)
		for _, e := range all.list() {
			if !yield(e.Entry, nil) {
				return
			}
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("journal: read %s: %w", path, err))
		}
	}
}

func readInto(all *fold, on files, path string) error {
	f, err := on.open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = scan(f, all.add)
	return err
}
