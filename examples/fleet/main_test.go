package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain makes this test binary the worker.
func TestMain(m *testing.M) {
	if os.Getenv(workerVar) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// However it is killed, everything is done once: run fails otherwise.
func TestFleet(t *testing.T) {
	var out strings.Builder
	o := options{workspaces: 3, workers: 3, kills: 4, databases: 1, rows: 150, pageSize: 10}
	require.NoError(t, o.check())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	require.NoError(t, run(ctx, o, &out), "%s", &out)
	t.Log(out.String())
}
