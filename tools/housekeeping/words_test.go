package housekeeping

import (
	_ "embed"
	"fmt"
	"iter"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// phrases has two columns, divided by a tab: a regular expression for what nobody writes here, in any case of letters, and what
// to write instead.
//
//go:embed phrases.txt
var phrases string

// words finds phrases that read as translated, in Markdown outside of code, and in the comments and texts of Go files.
func words(root string) ([]string, error) {
	type phrase struct {
		*regexp.Regexp

		better string
	}
	var forbidden []phrase
	for line := range strings.Lines(phrases) {
		if bad, better, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			forbidden = append(forbidden, phrase{regexp.MustCompile(`(?i)\b(?:` + bad + `)\b`), better})
		}
	}
	pages, err := read(root, func(p string) bool {
		return (path.Ext(p) == ".md" || path.Ext(p) == ".go" || p == agentPage) && p != "CHANGELOG.md" // what was written then
	})
	var findings []string
	for _, p := range pages {
		lines := prose(p.text)
		if path.Ext(p.path) == ".go" {
			lines = said(p.text)
		}
		for number, line := range lines {
			for _, f := range forbidden {
				if found := f.FindString(line); found != "" {
					findings = append(findings, fmt.Sprintf("%s:%d: %q: say %s", p.path, number, found, f.better))
				}
			}
		}
	}
	return findings, err
}

// said yields the lines of a Go file that hold a comment or a text, with their numbers.
func said(source string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range strings.Lines(source) {
			number++
			if (strings.ContainsAny(line, "\"`") || strings.Contains(line, "//")) && !yield(number, line) {
				return
			}
		}
	}
}

func TestWords(t *testing.T) {
	doubt := "It is a " + "doubt.\n"
	require.Equal(t, []string{
		`README.md:1: "a ` + `doubt": say outcome unknown`,
		`a.go:3: "A ` + `doubt": say outcome unknown`,
		`a.go:4: "sure` + `ly": say definitely, or nothing`,
	}, findings(t, words, map[string]string{
		"README.md":    doubt + "```sh\n" + doubt + "```\nundoubted, in doubtful ways\n",
		"CHANGELOG.md": doubt,
		"a.go":         "package a\n\n// A " + "doubt, wait.\nvar text = \"sure" + "ly\"\nvar inDoubt = 1\n",
	}))
}

// Each phrase is found by its rule, and what to write instead breaks none.
func TestPhrases(t *testing.T) {
	for line := range strings.Lines(phrases) {
		require.Equal(t, 1, strings.Count(line, "\t"), line)
		_, better, _ := strings.Cut(line, "\t")
		require.Empty(t, findings(t, words, map[string]string{"x.md": better}))
	}
}
