package sandbox

import "syscall"

// The package syscall calls other numbers by the names of Unix, and this system never gives them.
const (
	errRefused syscall.Errno = 10061 // WSAECONNREFUSED
	errReset                 = syscall.WSAECONNRESET
)
