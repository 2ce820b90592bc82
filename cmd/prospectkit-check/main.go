// Command prospectkit-check asks the service what it is like, before a program depends on it.
//
//	go run example.com/prospectkit/cmd/prospectkit-check
//
// It reads PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN, sends at most 45 GET requests that change nothing and cost
// nothing, and says what differs from the service's public API description, and from what the sandbox assumes. It
// shows names and types, never a value. See -help for the flags, and docs/first-contact.md for the first hour.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
