package main

import (
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
		err := rewrite(filepath.Join(root, filepath.FromSlash(name)), func(text string) (string, error) {
			if strings.Contains(text, "\x00") {
				return text, nil // no text
			}
			return paths.Replace(text), nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
