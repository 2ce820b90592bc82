package sandbox

// What this system says of a connection.
const (
	ConnRefused = connRefused
	ConnReset   = connReset
)
