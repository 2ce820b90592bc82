package pagewalk

import (
	"slices"
	"strings"
	"unicode"
)

// shortestCut is how many letters of a name are left at least, if a server cuts it.
const shortestCut = 32

// Near reports whether a server that was sent a name may show it in another form: that differs at most in case, in spaces
// and in the composition of accented letters, or is cut off after 32 letters or more. It errs on the side of yes: the standard library
// cannot compose letters, so a letter with marks is near every letter beyond ASCII with fewer of them, whatever the letters are.
func Near(shown, sent string) bool {
	a, b := lettersOf(shown), lettersOf(sent)
	if len(a) >= shortestCut && len(a) < len(b) {
		b = b[:len(a)]
	}
	return slices.EqualFunc(a, b, func(x, y letter) bool {
		if x.marks > y.marks {
			x, y = y, x
		}
		return x.marks < y.marks && x.base > unicode.MaxASCII || x.marks == y.marks && strings.EqualFold(string(x.base), string(y.base))
	})
}

// SearchFor returns the longest part of the beginning of a name that is in every form of it, but for its case: what a server finds by it
// holds them all. It is empty if there is none.
func SearchFor(name string) (longest string) {
	runes, part := []rune(strings.TrimSpace(name)), ""
	for i, r := range runes[:min(len(runes), shortestCut)] {
		composed := r > unicode.MaxASCII || i+1 < len(runes) && runes[i+1] > unicode.MaxASCII
		if composed || !unicode.IsPrint(r) || r == ' ' && strings.HasSuffix(part, " ") {
			part = ""
			continue
		}
		part += string(r)
		if trimmed := strings.TrimSpace(part); len(trimmed) > len(longest) {
			longest = trimmed
		}
	}
	return longest
}

// letter is a character with the marks that follow it.
type letter struct {
	base  rune
	marks int
}

func lettersOf(name string) (letters []letter) {
	for _, r := range strings.Join(strings.Fields(name), " ") {
		switch {
		case unicode.In(r, unicode.Cc, unicode.Cf): // invisible
		case len(letters) > 0 && (unicode.IsMark(r) || r >= 0x1160 && r <= 0x11ff): // the latter compose to Korean syllables
			letters[len(letters)-1].marks++
		default:
			letters = append(letters, letter{base: r})
		}
	}
	return letters
}
