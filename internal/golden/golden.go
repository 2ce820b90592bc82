// Package golden compares texts with files. A test that fails says in lines what differs, and which command writes the file.
package golden

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// Update is the flag -update, which writes the files of the tests that run.
var Update = flag.Bool("update", false, "write the golden files")

// Equal demands that a file holds a text. With -update it writes the file first.
func Equal(tb testing.TB, path, text string) {
	tb.Helper()
	if *Update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			tb.Fatal(err)
		}
	}
	content, err := os.ReadFile(path)                         //nolint:gosec // G304: the test names the file
	file := strings.ReplaceAll(string(content), "\r\n", "\n") // as git may check it out
	switch {
	case os.IsNotExist(err):
		tb.Fatalf("%s does not exist.\n%s", path, Command(tb))
	case err != nil:
		tb.Fatal(err)
	case file != text:
		tb.Fatalf("%s is not what the test made (-: the file, +: the test).\n%s\n%s", path, Command(tb), Difference(file, text))
	}
}

// Command says how to write the files of a test.
func Command(tb testing.TB) string {
	tb.Helper()
	test, _, _ := strings.Cut(tb.Name(), "/")
	info, _ := debug.ReadBuildInfo() // which every test has, with the path of its package
	place := "." + strings.TrimPrefix(strings.TrimSuffix(info.Path, ".test"), info.Main.Path)
	return fmt.Sprintf("If that is meant: go test %s -run '^%s$' -update", place, test)
}

const (
	mostLines = 20  // of each side
	longest   = 200 // of a line, in bytes
)

// Difference shows the lines between what two texts have in common at their begin and at their end.
func Difference(file, text string) string {
	before, after := strings.Split(file, "\n"), strings.Split(text, "\n")
	first := common(before, after)
	before, after = before[first:], after[first:]
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	same := 0 // of the first line on both sides
	if len(before) > 0 && len(after) > 0 {
		same = common([]byte(before[0]), []byte(after[0]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "from line %d on:\n", first+1)
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"-", before}, {"+", after}} {
		for i, line := range side.lines {
			if i == mostLines {
				fmt.Fprintf(&b, "%s ... %d more lines\n", side.sign, len(side.lines)-mostLines)
				break
			}
			cut := 0
			if i == 0 {
				cut = max(0, same-longest/2)
			}
			fmt.Fprintf(&b, "%s %s\n", side.sign, part(line, cut))
		}
	}
	return b.String()
}

// common is how much of their begin two texts share.
func common[T comparable](a, b []T) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// part is what is shown of a line, from a byte on.
func part(line string, from int) string {
	shown := strings.ToValidUTF8(line[from:min(len(line), from+longest)], "?")
	if from > 0 {
		shown = "..." + shown
	}
	if from+longest < len(line) {
		shown += "..."
	}
	return shown
}
