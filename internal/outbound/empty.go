package outbound

import (
	"bytes"
	"unicode"

	"example.com/prospectkit/internal/jsonscan"
)

// Empty returns the paths of null, of empty arrays and objects, and of texts without a visible character, in a JSON text. The elements
// of an array have its path.
func Empty(path, text string) []string {
	var found []string
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
		for c.Element() {
			some = true
			addEmpty(found, path, c)
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
