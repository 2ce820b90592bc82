package journal

import (
	"os"
	"strings"
)

// lockFile opens a file that the system opens for one process at a time.
func lockFile(name string) (file, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600|os.ModeExclusive) //nolint:gosec // G304: the caller names the file
	if err == nil {
		return f, nil
	}
	if text := err.Error(); strings.Contains(text, "exclusive") || strings.Contains(text, "locked") {
		return nil, ErrLocked
	}
	return nil, err
}
