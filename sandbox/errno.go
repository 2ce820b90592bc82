//go:build !windows && !plan9

package sandbox

import "syscall"

const (
	errRefused = syscall.ECONNREFUSED
	errReset   = syscall.ECONNRESET
)
