package housekeeping

import (
	"iter"
	"path"
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

// A part of a Markdown file is a fenced block or what is between two of them.
type part struct {
	line  int    // the first
	fence string // that opens a block; empty between them
	text  string
}

// parts divides a file. What is between two blocks may be empty.
func parts(text string) (list []part) {
	at, number := part{line: 1}, 0
	for line := range strings.Lines(text) {
		number++
		fence := strings.TrimSpace(line)
		switch open := strings.HasPrefix(fence, "```"); {
		case open && at.fence == "":
			list = append(list, at)
			at = part{line: number + 1, fence: fence}
		case fence == "```":
			list = append(list, at)
			at = part{line: number + 1}
		default:
			at.text += line
		}
	}
	return append(list, at)
}

// goBlocks finds the blocks fenced with ```go. The last line with text before a block may be a comment that names further
// parameters: <!-- given: list *prospectkit.List -->.
func goBlocks(path, text string) (list []snippet) {
	all := parts(text)
	for i, p := range all {
		if language, _, _ := strings.Cut(p.fence, " "); language == "```go" {
			before := strings.TrimSpace(all[i-1].text)
			list = append(list, snippet{path, p.line, given(before[strings.LastIndex(before, "\n")+1:]), p.text})
		}
	}
	return list
}

// given reads the parameters from the comment before a block.
func given(comment string) string {
	rest, opens := strings.CutPrefix(comment, "<!-- given:")
	rest, closes := strings.CutSuffix(rest, "-->")
	if !opens || !closes {
		return ""
	}
	return strings.TrimSpace(rest)
}

// prose yields the lines outside the fenced blocks, with their numbers.
func prose(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for _, p := range parts(text) {
			number := p.line
			for line := range strings.Lines(p.text) {
				if p.fence == "" && !yield(number, line) {
					return
				}
				number++
			}
		}
	}
}
