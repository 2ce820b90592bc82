package outbound

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode"

	"example.com/prospectkit/internal/jsonscan"
)

// Empty returns the paths of null, of empty arrays and objects, and of texts without a visible character, in a JSON text.
func Empty(path string, text []byte) []string {
	return pathsOf(path, text, func(text []byte) bool { return !bytes.ContainsFunc(text, visible) })
}

func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// pathsOf returns the paths of the names and the texts in a JSON text that are wanted. Null and what is empty are texts without a letter. The
// path of an element ends in its position, as in "names[1]".
func pathsOf(path string, text []byte, wanted func(text []byte) bool) (found []string) {
	c := jsonscan.New(text)
	addPaths(&found, path, &c, wanted)
	return found
}

func addPaths(found *[]string, path string, c *jsonscan.Cursor, wanted func(text []byte) bool) {
	add := func(path string, text []byte) {
		if wanted(text) {
			*found = append(*found, strings.ToValidUTF8(strings.TrimPrefix(path, "."), "\uFFFD"))
		}
	}
	some := false
	switch {
	case c.Is('{'):
		c.Object()
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			some = true
			inner := path + "." + string(key)
			add(inner, key)
			addPaths(found, inner, c, wanted)
		}
	case c.Is('['):
		c.Array()
		for i := 0; c.Element(); i++ {
			some = true
			addPaths(found, path+"["+strconv.Itoa(i)+"]", c, wanted)
		}
	case c.Is('"'):
		some = true
		add(path, c.Text())
	case !c.Null():
		c.Skip()
		some = true
	}
	if !some {
		add(path, nil)
	}
}

// Listed lists the strings within arrays of a JSON text, at any depth, without keys. The only error is [jsonscan.ErrTooMuch].
func Listed(text []byte) (all []string, err error) {
	c := jsonscan.New(text)
	addListed(&all, false, &c)
	if err = c.Err(); errors.Is(err, jsonscan.ErrTooMuch) {
		return nil, err
	}
	return all, nil
}

func addListed(all *[]string, listed bool, c *jsonscan.Cursor) {
	const header = 16 // bytes of a string beside its text
	switch {
	case c.Is('{'):
		c.Object()
		for _, ok := c.Member(); ok; _, ok = c.Member() {
			addListed(all, listed, c)
		}
	case c.Is('['):
		c.Array()
		for c.Element() {
			addListed(all, true, c)
		}
	case listed && c.Is('"') && c.Spend(header):
		*all = append(*all, c.String())
	default:
		c.Skip()
	}
}
