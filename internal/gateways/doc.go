// Package gateways holds tests that put real gateways between the client and the sandbox: nginx, haproxy, apache2 and caddy, as Debian
// has them, with configurations that are usual and some that mislead. It is a module of its own, because it starts programs that
// not every machine has.
package gateways
