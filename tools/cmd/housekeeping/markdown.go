package main

import (
	"iter"
	"path"
	"regexp"
	"strings"
)

// agentPage is the page for users with coding agents: Markdown by another name.
const agentPage = "llms.txt"

// forUsers reports whether a file is a page for users of the library.
func forUsers(p string) bool {
	return path.Base(p) == "README.md" || strings.HasPrefix(p, "docs/") && strings.HasSuffix(p, ".md") || p == agentPage
}

// A snippet is one block of Go code in a Markdown file.
type snippet struct {
	path  string // of the file
	line  int    // of the first line of code
	given string // parameters that the surrounding text supplies
	code  string
}

const (
	givenOpen  = "<!-- given:"
	givenClose = "-->"
)

// goBlocks finds the blocks fenced with ```go. The last line with text before a block may be a comment that names further
// parameters: <!-- given: list *prospectkit.List -->.
func goBlocks(path, text string) []snippet {
	var (
		list   []snippet
		inside bool // any fence
		isGo   bool
		last   string
		number int
	)
	for line := range strings.Lines(text) {
		number++
		trimmed := strings.TrimSpace(line)
		info, fence := strings.CutPrefix(trimmed, "```")
		switch {
		case fence && inside && info == "":
			inside, isGo = false, false
		case fence && !inside:
			inside = true
			if isGo = info == "go" || strings.HasPrefix(info, "go "); isGo {
				list = append(list, snippet{path: path, line: number + 1, given: given(last)})
			}
		case isGo:
			list[len(list)-1].code += line
		}
		if trimmed != "" {
			last = trimmed
		}
	}
	return list
}

// given reads the parameters from the comment before a block.
func given(comment string) string {
	rest, ok := strings.CutPrefix(comment, givenOpen)
	if !ok {
		return ""
	}
	rest, ok = strings.CutSuffix(rest, givenClose)
	if !ok {
		return ""
	}
	return strings.TrimSpace(rest)
}

var mention = regexp.MustCompile("`(\\*?)((?:client|sb|prospectkit|sandbox|fixture)\\.[A-Za-z0-9.]+)[(`]")

// mentions finds the names in the prose of a file, `client.Lists.Create` for example, and makes a snippet of each: they have to exist.
func mentions(path, text string) []snippet {
	var list []snippet
	for number, line := range prose(text) {
		for _, m := range mention.FindAllStringSubmatch(line, -1) {
			code := "_ = " + m[2]
			if m[1] != "" { // a type
				code = "_ = (*" + m[2] + ")(nil)"
			}
			list = append(list, snippet{path: path, line: number, given: "sb *sandbox.Sandbox", code: code})
		}
	}
	return list
}

// prose yields the lines outside the fenced blocks, with their numbers.
func prose(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		inside, number := false, 0
		for line := range strings.Lines(text) {
			number++
			fence := strings.HasPrefix(strings.TrimSpace(line), "```")
			if fence {
				inside = !inside
			}
			if !fence && !inside && !yield(number, line) {
				return
			}
		}
	}
}
