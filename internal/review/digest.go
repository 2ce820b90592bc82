package review

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// The form of a digest.
const (
	version   = "review4" // how a digest begins
	sumLength = 16        // of the sum of a section: 128 bits
)

// Valid reports whether a text is a digest.
func Valid(digest string) bool {
	parts := strings.Split(digest, ".")
	if len(parts) != 2+2*len(sections) || parts[0] != version || !isCount(parts[1]) || strings.ContainsAny(digest, "\r\n") {
		return false
	}
	for i := 2; i < len(parts); i += 2 {
		h, wrong := base64.RawURLEncoding.Strict().DecodeString(parts[i+1])
		if wrong != nil || len(h) != sumLength || !isCount(parts[i]) {
			return false
		}
	}
	return true
}

// isCount reports whether a text is a number as a digest has it, or one digest could be written, and used, twice.
func isCount(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && n >= 0 && strconv.FormatInt(n, 10) == text
}
