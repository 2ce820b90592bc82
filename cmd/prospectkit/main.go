// Command prospectkit is for the first day with the service, and for the day after a crash.
//
//	go run example.com/prospectkit/cmd/prospectkit help
//
// It asks a service what it is like, serves the sandbox, and settles calls whose outcome a crash left in doubt.
// See docs/guide.md, docs/testing.md and docs/safety.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/cmd/prospectkit/internal/sandbox"
	"example.com/prospectkit/cmd/prospectkit/internal/tickets"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the command at once
	commands := slices.Concat([]cli.Command{firstcontact.New(), sandbox.New()}, tickets.New())
	status := cli.Main(ctx, cli.Std{Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}, commands, os.Args[1:])
	stop()
	os.Exit(status)
}
