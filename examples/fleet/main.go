// Command fleet launches campaigns in many workspaces and copies all their lists every night, as durable jobs on River, in several worker
// processes. It kills workers and the database at random moments. At the end, the sandbox says what the service did: every row was read
// and stored once, every workspace has one agent and one approved campaign, and nobody got a message twice.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `Usage: fleet [flags]

Launches campaigns in many workspaces and copies their lists, with jobs on River in several worker processes, kills workers and the
database at random moments, and proves that everything was done once. It runs on a sandbox in this process and on a PostgreSQL that it
starts itself. It needs no account, and reads nothing of yours from the environment.

The proof at full size: fleet -kills 50 -databases 3

`

// workerVar has what a worker is told.
const workerVar = "PROSPECTKIT_EXAMPLE_FLEET"

// options are the flags.
type options struct {
	workspaces, workers, kills, databases, rows, pageSize int
}

func main() {
	var o options
	flag.IntVar(&o.workspaces, "workspaces", 20, "how many there are")
	flag.IntVar(&o.workers, "workers", 4, "worker processes")
	flag.IntVar(&o.kills, "kills", 10, "how many workers are killed")
	flag.IntVar(&o.databases, "databases", 1, "how often the database is killed, meanwhile")
	flag.IntVar(&o.rows, "rows", 300, "in each of the two lists of a workspace")
	flag.IntVar(&o.pageSize, "page", 20, "rows a request, up to 1000")
	out := begin(usage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if os.Getenv(workerVar) != "" {
		out.end(work(ctx))
		return
	}
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	out.end(run(ctx, o, out))
}

func (o options) check() error {
	switch {
	case o.workspaces < 1 || o.workers < 1 || o.rows < 1 || o.kills < 0 || o.databases < 0:
		return errors.New("workspaces, workers and rows must be at least 1, and no number negative")
	case o.pageSize < 1 || o.pageSize > 1000:
		return fmt.Errorf("-page is %d, must be from 1 to 1000", o.pageSize)
	case o.databases > o.kills:
		return fmt.Errorf("-databases is %d, must be at most the number of kills, %d", o.databases, o.kills)
	}
	return nil
}
