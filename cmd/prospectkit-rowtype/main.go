// Command prospectkit-rowtype writes a Go type for the rows of one list of your workspace, with its custom columns, ready for
// prospectkit.RowsOf. Later it says whether the rows still fit.
//
//	export PROSPECTKIT_BASE_URL=https://.../api/v1 PROSPECTKIT_TOKEN=...
//	go run example.com/prospectkit/cmd/prospectkit-rowtype -list ID -o contact_gen.go
//	go run example.com/prospectkit/cmd/prospectkit-rowtype -check contact_gen.go
//
// It only reads: one request for the list, and one for each 1,000 rows that it looks at. It writes names and types into the file,
// and no value of a row. See -h for the flags.
//
// A field is a pointer if rows had null in it or lacked it. A field of which rows had several types is a json.RawMessage. The file
// has what else a field needs so that a row is decoded and encoded again without loss: methods for keys that no struct tag can hold,
// and a type for timestamps with milliseconds.
//
// The exit status is 0 if all went well, 3 if -check found rows that do not fit, and 2 if the command could not do its work.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
