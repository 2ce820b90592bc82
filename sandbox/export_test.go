package sandbox

// What this system says of a connection.
const (
	ErrRefused = errRefused
	ErrReset   = errReset
)
