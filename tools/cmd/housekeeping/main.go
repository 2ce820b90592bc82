// Command housekeeping checks the rules of this repository that no linter knows: that the paths of the service stand in its table only,
// what the library links, that every service has an example and every example runs, that the Go code in README files and in
// docs compiles, that the Go names in their text exist, that links in Markdown lead somewhere, and
// that no phrase of phrases.txt is used.
//
// Usage, in the tools directory:
//
//	go run ./cmd/housekeeping [root]
//
// It prints one line per finding and exits with status 1 if there is one. The root defaults to the parent directory.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// A check returns its findings, one line each, or an error if it could not look.
type check struct {
	name string
	run  func(root string) ([]string, error)
}

var checks = []check{
	{"paths", paths},
	{"examples", examples},
	{"links", links},
	{"snippets", snippets},
	{"names", names},
	{"references", references},
	{"words", words},
}

func main() {
	root := ".."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if !run(os.Stdout, root, checks) {
		os.Exit(1)
	}
}

// run prints what the checks find and reports whether they found nothing.
func run(w io.Writer, root string, checks []check) bool {
	clean := true
	for _, c := range checks {
		findings, err := c.run(root)
		if err != nil {
			findings = append(findings, err.Error())
		}
		for _, f := range findings {
			clean = false
			_, _ = fmt.Fprintf(w, "%s: %s\n", c.name, f)
		}
		if len(findings) == 0 {
			_, _ = fmt.Fprintf(w, "%s: ok\n", c.name)
		}
	}
	return clean
}

// goTool runs the go command in a directory and returns what it prints.
func goTool(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var errText strings.Builder
	cmd.Stderr = &errText
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(errText.String()))
	}
	return string(out), nil
}
