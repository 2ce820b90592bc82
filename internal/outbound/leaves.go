package outbound

import (
	"bytes"
	"errors"
	"strconv"
	"unicode"

	"example.com/prospectkit/internal/jsonscan"
)

// Empty returns the paths of null, of empty arrays and objects, and of texts without a visible character, in a JSON text, and whether it
// holds no value at all: only null and empty arrays and objects. The path of an element ends in its position, as in "names[1]".
func Empty(path, text string) (found []string, blank bool) {
	c := jsonscan.New([]byte(text))
	blank = !addEmpty(&found, path, &c)
	return found, blank
}

func addEmpty(found *[]string, path string, c *jsonscan.Cursor) (holds bool) {
	some := false
	switch {
	case c.Is('{'):
		c.Object()
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			some, holds = true, addEmpty(found, path+"."+string(key), c) || holds
		}
	case c.Is('['):
		c.Array()
		for i := 0; c.Element(); i++ {
			some, holds = true, addEmpty(found, path+"["+strconv.Itoa(i)+"]", c) || holds
		}
	case c.Is('"'):
		some, holds = bytes.ContainsFunc(c.Text(), visible), true
	case !c.Null():
		c.Skip()
		some, holds = true, true
	}
	if !some {
		*found = append(*found, path)
	}
	return holds
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
