package outbound

import (
	"errors"

	"example.com/prospectkit/internal/jsonscan"
)

// Listed lists the strings within arrays of a JSON text, at any depth, without keys. The only error is [jsonscan.ErrTooMuch].
func Listed(text []byte) (all []string, err error) {
	const header = 16 // bytes of a string beside its text
	c := jsonscan.New(text)
	visitLeaves(&c, false, func(listed bool) {
		if listed && c.Is('"') && c.Spend(header) {
			all = append(all, c.String())
		} else {
			c.Skip()
		}
	})
	if err = c.Err(); errors.Is(err, jsonscan.ErrTooMuch) {
		return nil, err
	}
	return all, nil
}

// Blank reports whether a JSON text holds no value: only null and empty arrays and objects, at any depth.
func Blank(text []byte) bool {
	blank, c := true, jsonscan.New(text)
	visitLeaves(&c, false, func(bool) {
		if !c.Null() {
			c.Skip()
			blank = false
		}
	})
	return blank
}

// visitLeaves calls visit before every value that is neither object nor array, at any depth. visit reads it, and
// is told whether it is within an array.
func visitLeaves(c *jsonscan.Cursor, listed bool, visit func(listed bool)) {
	switch {
	case c.Is('{'):
		c.Object()
		for _, ok := c.Member(); ok; _, ok = c.Member() {
			visitLeaves(c, listed, visit)
		}
	case c.Is('['):
		c.Array()
		for c.Element() {
			visitLeaves(c, true, visit)
		}
	default:
		visit(listed)
	}
}
