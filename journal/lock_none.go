//go:build !unix && !windows && !plan9

package journal

import "os"

// lockProcesses does nothing: the system has no locks.
func lockProcesses(*os.File) error { return nil }
