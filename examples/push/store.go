package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// batch is up to 500 contacts, for one call. In a program with a database, it is a row of a table.
type batch struct {
	ID         string
	ContactIDs []string
}

func load(file string) (batches []batch, err error) {
	text, err := os.ReadFile(file) //nolint:gosec // G304: the file that the caller names
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &batches)
	}
	return batches, err
}

// store replaces the file as a whole. When it returns, that is durable: what is lost of it would be pushed twice.
func store(file string, batches []batch) error {
	f, err := os.Create(file + ".new") //nolint:gosec // G304: beside that file
	if err != nil {
		return err
	}
	if err := errors.Join(json.NewEncoder(f).Encode(batches), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil || runtime.GOOS == "windows" { // which syncs no directory
		return err
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
