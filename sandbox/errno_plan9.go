package sandbox

import "syscall"

const (
	connRefused syscall.ErrorString = "connection refused"
	connReset   syscall.ErrorString = "connection reset"
)
