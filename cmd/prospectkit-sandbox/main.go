// Command prospectkit-sandbox runs the sandbox on a port of this machine, for programs in any language and for curl.
//
//	go run example.com/prospectkit/cmd/prospectkit-sandbox
//
// It prints the two variables to export. Everything but the API is under /_sandbox/: state, reset, faults,
// clock, journal, ledger, overview, operations and windows, and in a browser a dashboard. See -help for the flags.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the command at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
