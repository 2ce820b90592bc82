package sandbox

import (
	"errors"
	"os"
	"path/filepath"

	"example.com/prospectkit/sandbox"
)

// writeState replaces a file atomically: readers, and a machine after a power cut, find the old state or the new one.
func writeState(path string, state sandbox.State) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = state.WriteTo(file)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
