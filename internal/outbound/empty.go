package outbound

import (
	"strings"

	"example.com/prospectkit/internal/jsonscan"
)

// Empty returns the paths of null, and of empty arrays and objects, in a JSON text that encoding/json
// wrote. The elements of an array have its path.
func Empty(path, text string) []string {
	var found []string
	for _, empty := range []string{"[]", "{}", "null"} {
		if strings.Contains(text, empty) { // it may still be in a string
			c := jsonscan.New([]byte(text))
			addEmpty(&found, path, &c)
			break
		}
	}
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
	case !c.Null():
		c.Skip()
		some = true
	}
	if !some {
		*found = append(*found, path)
	}
}
