package shapes

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// The formats of strings and integers.
const (
	FormatID        = "id"        // 24 hexadecimal digits
	FormatUUID      = "uuid"      //
	FormatTimestamp = "timestamp" // ISO 8601 in UTC with milliseconds
	FormatSeconds   = "timestamp without milliseconds"
	FormatFraction  = "timestamp with other fractions of a second"
	FormatOffset    = "timestamp with an offset"
	FormatLocal     = "timestamp without a zone"
	FormatDate      = "date" // YYYY-MM-DD
	FormatEpoch     = "seconds since 1970"
	FormatEpochMS   = "milliseconds since 1970"
	FormatDigits    = "digits"
	FormatHex       = "hexadecimal digits"
	FormatEmpty     = "empty text"
	FormatText      = "text"
)

var formats = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{FormatEmpty, regexp.MustCompile(`^$`)},
	{FormatID, regexp.MustCompile(`^[0-9a-fA-F]{24}$`)},
	{FormatUUID, regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)},
	{FormatTimestamp, regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)},
	{FormatSeconds, regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$`)},
	{FormatFraction, regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$`)},
	{FormatOffset, regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:?\d\d)$`)},
	{FormatLocal, regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?UTC| GMT)?$`)},
	{FormatDate, regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)},
	{FormatDigits, regexp.MustCompile(`^\d+$`)},
	{FormatHex, regexp.MustCompile(`^[0-9a-fA-F]{16,}$`)},
}

// FormatOf names the format of a text.
func FormatOf(text string) string {
	if text != "" && !strings.Contains("0123456789abcdefABCDEF", text[:1]) {
		return FormatText // as most texts are, and expressions are slow
	}
	for _, f := range formats {
		if f.pattern.MatchString(text) {
			return f.name
		}
	}
	return FormatText
}

// formatOfInteger takes numbers of the right size for instants after 1998.
func formatOfInteger(n json.Number) string {
	v, err := n.Int64()
	switch {
	case err == nil && v >= 9e8 && v < 1e10:
		return FormatEpoch
	case err == nil && v >= 9e11 && v < 1e14:
		return FormatEpochMS
	}
	return FormatText
}

// kept reports whether a file names a format. The others are accidents of what people wrote.
func kept(format string) bool {
	return !slices.Contains([]string{FormatEmpty, FormatText, FormatDigits, FormatHex}, format)
}

var dataKey = regexp.MustCompile(`\d{5}|[0-9a-fA-F]{16}|\d{4}-\d\d`)

// IsName reports whether a key looks like a name that a programmer gave: not like an id, an address, a date or a
// sentence. A file, a report and a log may show only such keys.
func IsName(key string) bool {
	digits := false
	for i := range len(key) {
		switch c := key[i]; {
		case c >= '0' && c <= '9' && i > 0:
			digits = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '$', c == '@' && i == 0, c == '-' && i > 0:
		default:
			return false
		}
	}
	canBeData := digits || len(key) >= 16
	return key != "" && len(key) <= 48 && (!canBeData || !dataKey.MatchString(key))
}

var value = regexp.MustCompile(`^[a-z]+([A-Z][a-z]+)*([-_][a-z]+)*$`)

// IsValue reports whether the value of an enumeration looks like those that are documented.
func IsValue(text string) bool { return len(text) <= 40 && value.MatchString(text) }
