package housekeeping

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	reference = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	noAnchor  = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

// fenceLine is a line that opens or closes a block: with a language, as some blocks of tests a second word, and nothing else.
var fenceLine = regexp.MustCompile("^```(\\w+( \\w+)?)?$")

// references finds links in Markdown files that lead to no file, or to no heading of it, and blocks that begin or end in the middle of a line.
func references(root string) ([]string, error) {
	pages, err := read(root, func(p string) bool { return path.Ext(p) == ".md" || p == agentPage })
	headings := map[string][]string{}
	for _, p := range pages {
		headings[p.path] = anchors(p.text)
	}
	var findings []string
	for _, p := range pages {
		for line := range strings.Lines(p.text) {
			if fence := strings.TrimSpace(line); strings.Contains(fence, "```") && !fenceLine.MatchString(fence) {
				findings = append(findings, fmt.Sprintf("%s: no block %s", p.path, fence))
			}
		}
		for _, line := range prose(p.text) {
			for _, match := range reference.FindAllStringSubmatch(line, -1) {
				target, anchor, _ := strings.Cut(match[1], "#")
				file := p.path
				if target != "" {
					file = path.Join(path.Dir(p.path), target)
				}
				if strings.Contains(match[1], ":") {
					continue // elsewhere
				}
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
					findings = append(findings, fmt.Sprintf("%s: no file %s", p.path, match[1]))
				} else if anchor != "" && !slices.Contains(headings[file], anchor) {
					findings = append(findings, fmt.Sprintf("%s: no heading %s", p.path, match[1]))
				}
			}
		}
	}
	return findings, err
}

// anchors are those of the headings of a file.
func anchors(text string) (all []string) {
	for _, line := range prose(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			anchor := noAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			all = append(all, strings.ReplaceAll(anchor, " ", "-"))
		}
	}
	return all
}
