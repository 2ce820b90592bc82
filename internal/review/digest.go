package review

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// The form of a digest.
const (
	version   = "review2" // how a digest begins
	sumLength = 16        // of the sum of a section: 128 bits
)

// Outdated reports whether a text is a digest of an earlier version, which left out the order of steps.
func Outdated(digest string) bool { return strings.HasPrefix(digest, "review1.") }

// Valid reports whether a text is a digest.
func Valid(digest string) bool {
	parts := strings.Split(digest, ".")
	if len(parts) != 2+2*len(sections) || parts[0] != version || strings.ContainsAny(digest, "\r\n") {
		return false
	}
	last := parts[len(parts)-1]
	if n, err := strconv.Atoi(last); err != nil || n < 0 || strconv.Itoa(n) != last {
		return false // or one digest could be written, and used, twice
	}
	for i := 1; i < len(parts)-1; i += 2 {
		n, err := strconv.Atoi(parts[i])
		h, wrong := base64.RawURLEncoding.Strict().DecodeString(parts[i+1])
		if err != nil || wrong != nil || n < 0 || len(h) != sumLength {
			return false
		}
	}
	return true
}
