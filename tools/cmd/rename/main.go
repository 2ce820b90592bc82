// Command rename gives the module, and the modules below it, another path, in every text file that git knows:
//
//	go -C tools run ./cmd/rename your.host/prospectkit
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "Usage: go -C tools run ./cmd/rename MODULE_PATH\n\nGives the module, and those below it, another path in every text file that git knows.\n")
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	changed, err := rename("..", flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
	fmt.Println(changed, "files changed")
}

// rename returns the number of files it changed. The last element of the path has to stay: it is the name of the package.
func rename(root, to string) (changed int, err error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return 0, err
	}
	from := modfile.ModulePath(text)
	if err := module.CheckPath(to); err != nil {
		return 0, err
	}
	if name := from[strings.LastIndex(from, "/")+1:]; !strings.HasSuffix(to, "/"+name) {
		return 0, fmt.Errorf("%s has to end in /%s, the name of the package", to, name)
	}
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	tracked, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("git ls-files: %w", err)
	}
	escape := strings.NewReplacer(".", `\.`) // as it stands in regular expressions
	paths := strings.NewReplacer(from, to, escape.Replace(from), escape.Replace(to))
	for name := range strings.SplitSeq(strings.TrimSuffix(string(tracked), "\x00"), "\x00") {
		file := filepath.Join(root, filepath.FromSlash(name))
		old, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return changed, err
		}
		if bytes.IndexByte(old, 0) >= 0 {
			continue // not a text
		}
		renamed := paths.Replace(string(old))
		if renamed == string(old) {
			continue
		}
		if err := os.WriteFile(file, []byte(renamed), 0o644); err != nil { // which keeps the mode
			return changed, err
		}
		changed++
	}
	return changed, nil
}
