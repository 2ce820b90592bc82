package outbound

import (
	"bytes"
	"errors"
	"strconv"
	"unicode"

	"example.com/prospectkit/internal/jsonscan"
)

// Empty returns the paths of null, of empty arrays and objects, and of texts without a visible character, in a JSON text. The path of an
// element ends in its position, as in "names[1]".
func Empty(path, text string) (found []string) {
	c := jsonscan.New([]byte(text))
	addEmpty(&found, path, &c)
	return found
}

func addEmpty(found *[]string, path string, c *jsonscan.Cursor) {
	some := false
	switch {
	case c.Is('{'):
		c.Object()
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			some = true
			addEmpty(found, path+"."+string(key), c)
		}
	case c.Is('['):
		c.Array()
		for i := 0; c.Element(); i++ {
			some = true
			addEmpty(found, path+"["+strconv.Itoa(i)+"]", c)
		}
	case c.Is('"'):
		some = bytes.ContainsFunc(c.Text(), visible)
	case !c.Null():
		c.Skip()
		some = true
	}
	if !some {
		*found = append(*found, path)
	}
}

func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

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
