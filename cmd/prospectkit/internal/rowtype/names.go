package rowtype

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestName is in runes. Numbers of duplicates may follow.
const longestName = 48

var initialisms = map[string]bool{"api": true, "crm": true, "html": true, "http": true, "id": true, "ip": true, "json": true, "uri": true, "url": true, "uuid": true}

// goName returns an exported Go name for any text: its letters and digits, each word with a capital. Without a letter or digit, it is
// the fallback. If the first letter has no capital, it follows the fallback.
func goName(text, fallback string) string {
	var b strings.Builder
	length := 0
	for _, word := range words(text) {
		if initialisms[strings.ToLower(word)] {
			word = strings.ToUpper(word)
		}
		first, size := utf8.DecodeRuneInString(word)
		word = string(unicode.ToUpper(first)) + word[size:]
		for _, r := range word {
			if length++; length <= longestName {
				b.WriteRune(r)
			}
		}
	}
	name := b.String()
	if first, _ := utf8.DecodeRuneInString(name); !unicode.IsUpper(first) {
		name = fallback + name
	}
	return name
}

// divided finds where a capital follows a small letter.
var divided = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// words splits a text at everything but letters and digits, and where a capital follows a small letter. Apostrophes and
// marks, as in decomposed letters, divide nothing.
func words(text string) []string {
	joined := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r == '\u200d' || r == '\'' || r == '\u2019' || unicode.IsMark(r) {
			return -1
		}
		return r
	}, text)
	return strings.FieldsFunc(divided.ReplaceAllString(joined, "$1 $2"), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// names gives out each name once.
type names map[string]bool

func (n names) take(name string) string {
	unique := name
	for i := 2; n[unique]; i++ {
		unique = name + strconv.Itoa(i)
	}
	n[unique] = true
	return unique
}

// taggable reports whether encoding/json finds a key in the tag of a field.
func taggable(key string) bool {
	odd := func(r rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return key != "" && key != "-" && utf8.ValidString(key) && !strings.ContainsFunc(key, odd)
}

var (
	plainKey = regexp.MustCompile(`^[\pL_$][\pL\pN_$-]{0,63}$`)
	dataKey  = regexp.MustCompile(`\S@\S|://|(?i:\b[0-9a-f]{16,}\b)|(?i:\b[0-9a-f]{8}-[0-9a-f]{4}-)|\d{4}-\d\d-\d\d|\d{6}|^[\d\s+().,/:-]{7,}$`)
)

const longestKey = 1000

// looksLikeData reports whether a key is rather somebody's data than the name of a field: an address, an id, a date, a long number.
func looksLikeData(key string) bool { return len(key) > longestKey || dataKey.MatchString(key) }

// shown is a text as a message or a comment shows it: quoted, unless it is a plain name or id.
func shown(text string) string {
	if text != "" && plainKey.MatchString("_"+text) {
		return text
	}
	return quoted(text)
}

// quoted is a text on one line, without characters that nobody sees.
func quoted(text string) string {
	const longest = 80
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return strconv.Quote(text)
}
