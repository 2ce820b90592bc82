package outbound

import (
	"errors"

	"example.com/prospectkit/internal/jsonscan"
)

// Strings lists the strings in a JSON text, without keys. The only error is [jsonscan.ErrTooMuch].
func Strings(text []byte) (all []string, err error) {
	const header = 16 // bytes of a string beside its text
	c := jsonscan.New(text)
	visitLeaves(&c, func() {
		if c.Is('"') && c.Spend(header) {
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
	visitLeaves(&c, func() {
		if !c.Null() {
			c.Skip()
			blank = false
		}
	})
	return blank
}

// visitLeaves calls visit before every value that is neither object nor array, at any depth. visit reads it.
func visitLeaves(c *jsonscan.Cursor, visit func()) {
	switch {
	case c.Is('{'):
		c.Object()
		for _, ok := c.Member(); ok; _, ok = c.Member() {
			visitLeaves(c, visit)
		}
	case c.Is('['):
		c.Array()
		for c.Element() {
			visitLeaves(c, visit)
		}
	default:
		visit()
	}
}
