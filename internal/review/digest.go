package review

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// The form of a digest.
const (
	version   = "review3" // how a digest begins
	sumLength = 16        // of the sum of a section: 128 bits
)

// Outdated reports whether a text is a digest of an earlier version, which left out the order of steps, or which calls have approved.
func Outdated(digest string) bool {
	return strings.HasPrefix(digest, "review1.") || strings.HasPrefix(digest, "review2.")
}

// Valid reports whether a text is a digest.
func Valid(digest string) bool {
	parts := strings.Split(digest, ".")
	if len(parts) != 1+2*len(sections) || parts[0] != version || strings.ContainsAny(digest, "\r\n") {
		return false
	}
	for i := 1; i < len(parts); i += 2 {
		n, err := strconv.Atoi(parts[i])
		h, wrong := base64.RawURLEncoding.Strict().DecodeString(parts[i+1])
		if err != nil || wrong != nil || n < 0 || strconv.Itoa(n) != parts[i] || len(h) != sumLength {
			return false // or one digest could be written, and used, twice
		}
	}
	return true
}
