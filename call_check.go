package prospectkit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/prospectkit/internal/outbound"
)

// checks collects violations: only what the service is documented to refuse.
type checks []Violation

func (c *checks) add(param, format string, args ...any) {
	*c = append(*c, Violation{Param: param, Problem: fmt.Sprintf(format, args...)})
}

// text refuses text that is not valid UTF-8: encoding would change it, and what it names would not
// be found.
func (c *checks) text(param string, texts ...string) {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			c.add(strings.ToValidUTF8(param, "\uFFFD"), "is not valid UTF-8")
			return
		}
	}
}

// invalid refuses the texts of a body at some paths.
func (c *checks) invalid(paths []string) {
	for _, path := range paths {
		c.add(cmp.Or(path, "body"), "is not valid UTF-8")
	}
}

const emptyFilter = "is empty, which could mean everything: leave it out if you mean that"

// filled refuses null and empty arrays and objects anywhere in a filter. The service may take such a
// filter for none, with a longer or a more expensive response.
func (c *checks) filled(param, text string) {
	for _, path := range outbound.Empty(param, text) {
		c.add(path, emptyFilter)
	}
}

// filledIn is filled for a value. One that cannot be encoded is refused later.
func (c *checks) filledIn(param string, v any) {
	if text, err := json.Marshal(v); err == nil {
		c.filled(param, string(text))
	}
}

// id requires 24 hexadecimal digits, of either case.
func (c *checks) id(param, value string) {
	if !isID(value) {
		c.add(param, "must be 24 hexadecimal digits")
	}
}

func isID(s string) bool {
	if len(s) != 24 {
		return false
	}
	for i := range len(s) {
		switch b := s[i]; {
		case '0' <= b && b <= '9', 'a' <= b && b <= 'f', 'A' <= b && b <= 'F':
		default:
			return false
		}
	}
	return true
}

// sameID reports whether ids are equal, whatever their case.
func sameID(a, b string) bool { return strings.EqualFold(a, b) }

// optionalID is id, or the zero value.
func (c *checks) optionalID(param, value string) {
	if value != "" {
		c.id(param, value)
	}
}

// between requires low <= value <= high, or zero, the default.
func (c *checks) between(param string, value, low, high int) {
	if value != 0 && (value < low || value > high) {
		c.add(param, "is %d, must be %d to %d", value, low, high)
	}
}

// atLeast requires value >= low, or zero, the default.
func (c *checks) atLeast(param string, value, low int) {
	if value != 0 && value < low {
		c.add(param, "is %d, must be at least %d", value, low)
	}
}

// length requires low to high characters, counted as code points.
func (c *checks) length(param, value string, low, high int) {
	if n := utf8.RuneCountInString(value); n < low || n > high {
		c.add(param, "has %d characters, must have %d to %d", n, low, high)
	}
}

// optionalLength is length, or the zero value.
func (c *checks) optionalLength(param, value string, low, high int) {
	if value != "" {
		c.length(param, value, low, high)
	}
}

// oneOf requires one of the documented values, or the zero value, the default.
func oneOf[T ~string](c *checks, param string, value T, allowed ...T) {
	if value == "" {
		return
	}
	if !slices.Contains(allowed, value) {
		c.add(param, "is %q, must be one of %q", value, allowed)
	}
}
