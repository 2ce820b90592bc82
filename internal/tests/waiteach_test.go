package tests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// processing is a sandbox with so many agents that settle in the course of a day, and their ids.
func processing(t *testing.T, n int) (*sandbox.Sandbox, []string) {
	t.Helper()
	ids := make([]string, n)
	agents := make([]sandbox.Agent, n)
	for i := range agents {
		ids[i] = fmt.Sprintf("%024x", i+1)
		agents[i] = sandbox.Agent{ID: ids[i], Type: sandbox.PersonDiscovery, Name: fmt.Sprintf("agent %d", i), Status: "processing"}
	}
	sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Name: "main", Agents: agents}}}))
	return sb, ids
}

// day settles an agent every so often.
func day(ctx context.Context, sb *sandbox.Sandbox, ids []string) {
	for _, id := range ids {
		select {
		case <-ctx.Done():
			return
		case <-time.After(24 * time.Hour * 100 / 101 / time.Duration(len(ids))):
			sb.Do(func(tx *sandbox.Tx) { tx.Put("agents", sandbox.Row{"id": id, "status": "active"}) })
		}
	}
}

// A day with 100 agents takes at most 930 reads, and so does one with 20 loops at once.
func TestWaitEach_VirtualDay(t *testing.T) {
	for loops, n := range map[int]int{1: 100, 20: 20} {
		synctest.Test(t, func(t *testing.T) {
			sb, ids := processing(t, n)
			client := SandboxClient(t, sb)
			ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
			defer cancel()
			go day(ctx, sb, ids)
			var mu sync.Mutex
			settled := map[string]int{}
			var group sync.WaitGroup
			for part := range slices.Chunk(ids, len(ids)/loops) {
				group.Go(func() {
					derived, err := client.With(prospectkit.WithUserAgent("loop/1"))
					require.NoError(t, err)
					for agent, err := range derived.Agents.WaitEach(ctx, part...) {
						require.NoError(t, err)
						mu.Lock()
						settled[agent.ID]++
						mu.Unlock()
					}
				})
				time.Sleep(time.Minute / time.Duration(loops))
			}
			group.Wait()
			require.Len(t, settled, n)
			reads := 0
			for _, e := range sb.Journal() {
				reads++
				require.Equal(t, http.StatusOK, e.Status)
			}
			for id, n := range settled {
				require.Equal(t, 1, n, id)
			}
			require.LessOrEqual(t, reads, 930)
			require.Greater(t, reads, 915, "30 early, and one every 96 s until the last agent is done")
		})
	}
}

func TestWaitEach_Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, ids := processing(t, 3)
		var draft, unknown string
		sb.Do(func(tx *sandbox.Tx) {
			draft = tx.CreateAgent(sandbox.Agent{Type: sandbox.PersonDiscovery, Name: "draft", Status: "initializing"})
			tx.Put("agents", sandbox.Row{"id": ids[0], "status": "failed"})
		})
		unknown = strings.Repeat("f", 24)
		client := SandboxClient(t, sb)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var got []string
		for agent, err := range client.Agents.WaitEach(ctx, append(ids, strings.ToUpper(ids[1]), draft, unknown)...) {
			switch {
			case errors.Is(err, prospectkit.ErrNotSettled):
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Nil(t, agent)
				_, state, _ := strings.Cut(err.Error(), "last seen as ")
				got = append(got, state)
			case errors.Is(err, prospectkit.ErrNotStarted):
				require.Equal(t, draft, agent.ID)
				got = append(got, "draft")
			case err != nil:
				require.ErrorIs(t, err, prospectkit.CodeAgentNotFound)
				require.Equal(t, unknown, agent.ID)
				got = append(got, "missing")
			default:
				got = append(got, agent.Name)
			}
		}
		require.Equal(t, []string{"agent 0", "draft", "missing", "2 of 5 pending: context deadline exceeded"}, got)
		require.Equal(t, time.Hour, time.Since(sb.Journal()[0].Time).Round(time.Minute))
	})
}

func TestWaitEach_SendsNothing(t *testing.T) {
	sb, ids := processing(t, 2)
	client := SandboxClient(t, sb)
	for _, err := range client.Agents.WaitEach(t.Context()) {
		t.Error("nothing was awaited", err)
	}
	for agent, err := range client.Agents.WaitEach(t.Context(), ids[0], "agent 1") {
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
		require.Nil(t, agent)
	}
	require.Empty(t, sb.Journal())
}

// Every failure at every request: each agent settles once, and a read is all that is sent.
func TestEveryFailure_WaitEach(t *testing.T) {
	var settled []string
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client := clientOf(run, prospectkit.ReadOnly())
		settled = nil
		for agent, err := range client.Agents.WaitEach(run.Context(), RunsID, AgentID) {
			if err != nil {
				return err
			}
			settled = append(settled, agent.ID)
		}
		return nil
	}, func(run *sandbox.Run) error {
		require.NoError(run, run.Err())
		slices.Sort(settled)
		require.Len(run, slices.Compact(slices.Clone(settled)), len(settled))
		require.Len(run, settled, 2)
		return nil
	}, everySweep(sandbox.Twice(), sandbox.Setup(func(run *sandbox.Run) {
		time.Sleep(time.Hour)
		run.Do(func(tx *sandbox.Tx) {
			tx.CreateAgent(sandbox.Agent{ID: AgentID, Type: sandbox.PersonDiscovery, Name: "another", Status: "paused"})
		})
	}))...)
}

// A wait goes on while what was just made does not show yet, for as long as Resolve allows: 10 s, for agents 65 s. Then it ends.
func TestWaits_ForWhatDoesNotShowYet(t *testing.T) {
	for name, tc := range map[string]struct {
		op    string
		code  prospectkit.Code
		shows time.Duration // at the latest
		wait  func(ctxt, *client) error
	}{
		"WaitSettled": {"agents.get", prospectkit.CodeAgentNotFound, 65 * time.Second, func(ctx ctxt, c *client) error {
			return Discard(c.Agents.WaitSettled(ctx, RunsID))
		}},
		"WaitEach": {"agents.get", prospectkit.CodeAgentNotFound, 65 * time.Second, func(ctx ctxt, c *client) error {
			return Exhaust(c.Agents.WaitEach(ctx, RunsID))
		}},
		"WaitFor": {"lists.get", prospectkit.CodeListNotFound, 10 * time.Second, func(ctx ctxt, c *client) error {
			return Discard(c.Lists.WaitFor(ctx, ListID, func(*prospectkit.List) bool { return true }))
		}},
	} {
		for _, late := range []time.Duration{tc.shows / 2, tc.shows - time.Second, time.Hour} {
			InBubble(t, name+" "+late.String(), func(t *testing.T) {
				sb := EverySandbox(t, time.Now())
				if name == "WaitEach" {
					sb.Fail("agents.list", sandbox.Always(), sandbox.RawBody(200, `{"agents":[]}`))
				}
				began := time.Now()
				hidden := sandbox.When(func(*http.Request) bool { return time.Since(began) < late })
				sb.Fail(tc.op, hidden, sandbox.Status(404, string(tc.code)))
				err := tc.wait(t.Context(), SandboxClient(t, sb))
				if late < tc.shows {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, tc.code)
				require.NotErrorIs(t, err, prospectkit.ErrNotSettled)
				require.WithinRange(t, time.Now(), began.Add(tc.shows), began.Add(3*tc.shows))
			})
		}
	}
}
