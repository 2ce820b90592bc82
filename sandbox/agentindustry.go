package sandbox

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// industry reports whether a filter, named by its path, is that of industries.
func (f AgentFields) industry(filter string) bool {
	own := filter[strings.LastIndexByte(filter, '.')+1:]
	if f.Industry != "" {
		return f.Industry == own || f.Industry == filter
	}
	return strings.Contains(strings.ToLower(own), "industr")
}

// closest maps each text to the known industry that it resembles most. One that resembles none is omitted.
func closest(known, texts []string) []string {
	var found []string
	for _, text := range texts {
		best, bestScore := "", score{}
		for _, industry := range known {
			if s := resemblance(text, industry); s.compare(bestScore) > 0 {
				best, bestScore = industry, s
			}
		}
		if best != "" && !slices.Contains(found, best) {
			found = append(found, best)
		}
	}
	return found
}

// score tells how many words a text shares with an industry, and how many the industry has without a partner.
type score struct{ shared, lacking int }

func (s score) compare(other score) int {
	return cmp.Or(cmp.Compare(s.shared, other.shared), cmp.Compare(other.lacking, s.lacking))
}

func resemblance(text, industry string) (s score) {
	words := wordsOf(text)
	for _, want := range wordsOf(industry) {
		if slices.ContainsFunc(words, func(word string) bool { return akin(word, want) }) {
			s.shared++
		} else {
			s.lacking++
		}
	}
	return s
}

func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(words, func(word string) bool { return word == "and" || word == "the" || word == "of" })
}

// akin reports whether two words are the same, or begin with the same five letters, or one of four letters begins the other.
func akin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= 4 && strings.HasPrefix(b, a[:min(len(a), 5)])
}
