package sandbox

import "syscall"

const (
	errRefused syscall.ErrorString = "connection refused"
	errReset   syscall.ErrorString = "connection reset"
)
