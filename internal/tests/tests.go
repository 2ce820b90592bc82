// Package tests holds what cuts across the whole client: the tests of every operation, every class, every error, against the
// sandbox and against servers that fail. It holds what these tests, the topics in the folders below and the tests of the root
// share: transports, servers in memory, exchanges of testdata/http, and one call of each operation.
package tests

import (
	"os"
	"path/filepath"
	"runtime/debug"

	"example.com/prospectkit/internal/exchange"
)

// Tests make much garbage and keep little: so rare a collection takes a sixth less of the processor. Whatever a test keeps of a response
// is gone from the buffer that it came in.
func init() {
	debug.SetGCPercent(400)
	exchange.Wipe = func(b []byte) { clear(b) }
}

// Path is that of a file of the repository, whichever package is tested.
func Path(elements ...string) string {
	root := "."
	for range 9 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join("..", root)
	}
	return filepath.Join(append([]string{root}, elements...)...)
}
