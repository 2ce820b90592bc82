package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// rename gives the module, and those below it, another path, in every text file that git knows. The last element of the path
// has to stay: it is the name of the package.
func rename(root, to string) error {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	from := modfile.ModulePath(text)
	if err := module.CheckPath(to); err != nil {
		return err
	}
	if name := from[strings.LastIndex(from, "/")+1:]; !strings.HasSuffix(to, "/"+name) {
		return fmt.Errorf("%s has to end in /%s, the name of the package", to, name)
	}
	tracked, err := git(root, "ls-files", "-z")
	if err != nil {
		return err
	}
	escape := strings.NewReplacer(".", `\.`) // as it stands in regular expressions
	paths := strings.NewReplacer(from, to, escape.Replace(from), escape.Replace(to))
	for name := range strings.SplitSeq(strings.TrimSuffix(tracked, "\x00"), "\x00") {
		file := filepath.Join(root, filepath.FromSlash(name))
		old, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if bytes.IndexByte(old, 0) >= 0 {
			continue // not a text
		}
		if renamed := paths.Replace(string(old)); renamed != string(old) {
			if err := os.WriteFile(file, []byte(renamed), 0o644); err != nil { // which keeps the mode
				return err
			}
		}
	}
	return nil
}
