package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// Begins reports whether a text may be the beginning of JSON.
func Begins(text []byte) bool {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := d.Token(); err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// Completed returns the beginning of a JSON text as a whole text: without the value that broke off, and with what closes the arrays and
// objects that are open. A number may have broken off, too, and counts as whole only before a comma. What is damaged ends the beginning.
func Completed(text []byte) []byte {
	c := New(text)
	if c.Skip(); c.bad != "" {
		text = text[:c.pos]
	}
	var open []byte // what closes them
	end, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == ',':
			end = i
		case b == '{', b == '[':
			open, end = append(open, b+2), i+1 // the closing one is two further in ASCII
		case (b == '}' || b == ']') && len(open) > 0:
			open, end = open[:len(open)-1], i+1
		}
	}
	slices.Reverse(open)
	return slices.Concat(text[:end], open)
}
