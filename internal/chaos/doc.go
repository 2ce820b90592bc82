// Package chaos holds tests that put real trouble between the client and the sandbox: a proxy that cuts, slows and resets
// connections, and a server that speaks HTTP/2 frames by hand. It is a module of its own, because the trouble comes from libraries
// that the client must not depend on.
package chaos
