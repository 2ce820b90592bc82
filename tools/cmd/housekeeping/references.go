package main

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

// references finds links in Markdown files that lead to no file, or to no heading of it.
func references(root string) ([]string, error) {
	paths, err := walk(root, func(p string) bool { return path.Ext(p) == ".md" || p == agentPage })
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, p := range paths {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return nil, err
		}
		texts[p] = string(content)
	}
	var findings []string
	for _, p := range paths {
		outside, _ := withoutCode(texts[p])
		for _, match := range reference.FindAllStringSubmatch(outside, -1) {
			if strings.Contains(match[1], ":") {
				continue // elsewhere
			}
			target, anchor, _ := strings.Cut(match[1], "#")
			file := p
			if target != "" {
				file = path.Join(path.Dir(p), target)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
				findings = append(findings, fmt.Sprintf("%s: no file %s", p, match[1]))
				continue
			}
			if _, anchors := withoutCode(texts[file]); anchor != "" && !slices.Contains(anchors, anchor) {
				findings = append(findings, fmt.Sprintf("%s: no heading %s", p, match[1]))
			}
		}
	}
	return findings, nil
}

// withoutCode drops the fenced blocks, and lists the anchors of the headings.
func withoutCode(text string) (outside string, anchors []string) {
	var b strings.Builder
	for _, line := range prose(text) {
		b.WriteString(line)
		if heading := strings.TrimLeft(line, "#"); heading != line {
			anchor := noAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
		}
	}
	return b.String(), anchors
}
