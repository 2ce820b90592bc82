package rowquery

import (
	"reflect"
	"unicode/utf8"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/outbound"
)

// maxFilterChars is the longest filter, as JSON.
const maxFilterChars = 8000

// CheckFilter refuses a filter that the service would refuse, whatever its kind, and one that is
// empty but not the zero value.
func CheckFilter(bad *check.Violations, filter any) {
	text, err := outbound.Text(filter)
	if err != nil {
		bad.Add("filters", "cannot be encoded: %v", err)
		return
	}
	if n := utf8.RuneCountInString(text); n > maxFilterChars {
		bad.Add("filters", "has %d characters, must have at most %d", n, maxFilterChars)
	}
	if outbound.Suspect(text) {
		bad.InvalidText(outbound.Inspect(filter, "filters").Invalid)
	}
	if !isZero(filter) {
		bad.NotEmpty("filters", text)
	}
}

// FilterText returns a filter as it is sent; empty for none, and for one that cannot be encoded.
func FilterText(filter any) string {
	if check.IsNil(filter) || isZero(filter) {
		return ""
	}
	text, err := outbound.Text(filter)
	if err != nil {
		return ""
	}
	return text
}

// isZero reports whether a filter is the zero value, which does not filter.
func isZero(filter any) bool { return reflect.Indirect(reflect.ValueOf(filter)).IsZero() }
