package main

import (
	"context"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// workerVar makes this test binary the worker.
const workerVar = "PROSPECTKIT_FLEET_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerVar) != "" {
		go func() { // without a supervisor, it ends
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
		main()
		return
	}
	os.Exit(m.Run())
}

// options are the size of the proof.
type options struct {
	workspaces, workers, kills, databases, contacts int
}

var (
	kills     = flag.Int("kills", 6, "how many workers are killed")
	databases = flag.Int("databases", 1, "how often the database is killed, meanwhile")
	size      = flag.Int("workspaces", 12, "how many there are")
)

// However it is killed, everything is done once: supervise fails otherwise.
func TestFleet(t *testing.T) {
	var out strings.Builder
	o := options{workspaces: *size, workers: 3, kills: *kills, databases: *databases, contacts: 3}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	require.NoError(t, supervise(ctx, o, &out), "%s", &out)
	t.Log(out.String())
}
