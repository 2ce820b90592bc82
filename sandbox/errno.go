//go:build !windows && !plan9

package sandbox

import "syscall"

const (
	connRefused = syscall.ECONNREFUSED
	connReset   = syscall.ECONNRESET
)
