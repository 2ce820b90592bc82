package main

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests/docruns"
	"example.com/prospectkit/sandbox"
)

var state = sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{Name: "acme"}, {Name: "globex"}}})

func program(run *sandbox.Run) error {
	tokens := map[string]string{"acme": run.Workspace("acme").Token(), "globex": run.Workspace("globex").Token()}
	clients, err := connect(run.BaseURL(), tokens, run.Transport(), slog.New(slog.DiscardHandler))
	require.NoError(run, err)
	_, err = ensure(run.Context(), clients, "Newsletter")
	return err
}

// Whatever fails, each workspace has the list once at the end, and a failure in one keeps no other from its list.
func TestEveryFailure(t *testing.T) {
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		missing := 0
		for _, name := range []string{"acme", "globex"} {
			switch n := len(run.Workspace(name).Lists()); {
			case n > 1:
				return fmt.Errorf("%s has %d lists", name, n)
			case n == 0:
				missing++
			}
		}
		if missing > 1 || missing == 1 && run.Err() == nil {
			return fmt.Errorf("%d workspaces have no list", missing)
		}
		return nil
	}, state)
	docruns.Example(t, program, state)
}

// No workspace waits for the limits of another one, and none sees the lists of another one. The error and the log name the workspace.
func TestEachHasItsOwnLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, state)
		sb.Workspace("acme").Consume("lists", 120)
		var log strings.Builder
		tokens := map[string]string{"acme": sb.Workspace("acme").Token(), "globex": sb.Workspace("globex").Token()}
		sb.Revoke(tokens["acme"])
		clients, err := connect(sb.BaseURL(), tokens, sb.Transport(), slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		lists, err := ensure(t.Context(), clients, "Newsletter")
		require.ErrorContains(t, err, "workspace acme: ")
		require.ErrorIs(t, err, prospectkit.CodeUnauthorized)
		require.Len(t, lists, 1)
		require.Equal(t, sb.Workspace("globex").Lists()[0].ID, lists["globex"].ID)
		require.Empty(t, sb.Workspace("acme").Lists())
		require.Contains(t, log.String(), "workspace=acme")
		for _, token := range tokens {
			require.NotContains(t, log.String()+err.Error(), token)
		}
	})
}
