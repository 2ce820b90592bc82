package tests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// What the client promises, under every failure at every request.

// everySweep is a service with what EveryCall needs, an hour old.
func everySweep(more ...sandbox.SweepOption) []sandbox.SweepOption {
	opts := append([]sandbox.SweepOption{sandbox.Setup(func(*sandbox.Run) { time.Sleep(time.Hour) })}, more...)
	for _, o := range everyOption(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) {
		opts = append(opts, o)
	}
	return opts
}

// TestEveryFailure_EveryCall holds what each call claims about itself, and what Resolve finds out, to what the journal says.
func TestEveryFailure_EveryCall(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		var unknown *prospectkit.OutcomeUnknownError
		var resolved *prospectkit.Resolution
		leavesTraces := false
		sandbox.EveryFailure(t, func(run *sandbox.Run) error {
			_, err := call(run.Context(), clientOf(run))
			if errors.As(err, &unknown) {
				resolved, _ = unknown.Resolve(run.Context())
			}
			return err
		}, func(run *sandbox.Run) error {
			applied, cost := 0, int64(0)
			for _, e := range run.Journal() {
				if e.Op == row.Name {
					applied, cost = applied+len(e.Effects), cost+e.Credits
				}
			}
			if row.Class == op.Read {
				return run.Err()
			}
			if applied = min(1, applied+int(cost)); len(run.Failures()) == 0 {
				leavesTraces = applied > 0
			}
			if prospectkit.OutcomeOf(run.Err()) == prospectkit.OutcomeApplied && leavesTraces && applied == 0 {
				return errors.New("claimed as applied, but it was not")
			}
			return judgeCall(run, row, resolved, applied)
		}, everySweep(sandbox.Twice(), sandbox.Only(sandbox.RequestLost, sandbox.ResponseLost, sandbox.FailedAfter, sandbox.ResponseCut, sandbox.RateLimited),
			sandbox.Setup(func(*sandbox.Run) { time.Sleep(time.Hour); unknown, resolved = nil, nil }))...)
	})
}

// judgeCall compares the claims of a call with what happened.
func judgeCall(run *sandbox.Run, row *op.Op, resolved *prospectkit.Resolution, applied int) error {
	outcome := prospectkit.OutcomeOf(run.Err())
	harmless := []int{429}
	if row.Class == op.PaidRead { // documented: a failed request costs nothing
		harmless = append(harmless, 500)
	}
	switch {
	case effective(run, row.Name, harmless...) > 1:
		return errors.New("it was sent again")
	case outcome == prospectkit.OutcomeNotApplied && applied > 0:
		return errors.New("claimed as not applied, but it was")
	case resolved == nil:
		return nil
	case resolved.Verdict == prospectkit.VerdictHappened && applied == 0, resolved.Verdict == prospectkit.VerdictNotSeen && applied > 0:
		return fmt.Errorf("resolved as %s, but it was applied %d times", resolved.Verdict, applied)
	}
	return nil
}

// TestEveryFailure_Ensure: one list, and the truth about who made it, after every pair of failures.
func TestEveryFailure_Ensure(t *testing.T) {
	var got *prospectkit.Ensured
	var began time.Time
	sandbox.EveryFailure(t, func(run *sandbox.Run) (err error) {
		got, began = nil, time.Now()
		got, err = clientOf(run).Lists.Ensure(run.Context(), prospectkit.NewList{Name: "Q1"})
		return err
	}, func(run *sandbox.Run) error {
		require.NoError(run, run.Err())
		lists := run.Lists()
		require.Len(run, lists, 1)
		require.Equal(run, lists[0].ID, got.List.ID)
		if got.Certain {
			require.Equal(run, !lists[0].CreatedAt.Before(began.Truncate(time.Millisecond)), got.Created, "created at %v", lists[0].CreatedAt)
		}
		return nil
	}, sandbox.Twice(), sandbox.UntilDone(2), sandbox.RestartAfter(10*time.Minute))
}

// Reads survive every single failure, and hand out each element once, or once more after a stop.
func TestEveryFailure_Iterators(t *testing.T) {
	type reads func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.PageOption) iter.Seq2[string, error]
	rows := func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.PageOption) iter.Seq2[string, error] {
		return idsOf(c.Lists.Rows(ctx, ListID, prospectkit.RowsParams{Limit: 1}, opts...), (*prospectkit.Row).ID)
	}
	for name, c := range map[string]struct {
		read    reads
		opts    []prospectkit.PageOption
		resumes bool
		n       int
	}{
		"rows":             {rows, nil, true, 2},
		"rows, prefetched": {rows, []prospectkit.PageOption{prospectkit.Prefetch(2)}, true, 2},
		"lists": {func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.PageOption) iter.Seq2[string, error] {
			return idsOf(c.Lists.All(ctx, prospectkit.ListsParams{Limit: 1}, opts...), func(l *prospectkit.List) string { return l.ID })
		}, nil, true, 3},
		"agents": {func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.PageOption) iter.Seq2[string, error] {
			return idsOf(c.Agents.All(ctx, opts...), func(a *prospectkit.Agent) string { return a.ID })
		}, nil, false, 2},
		"activities": {func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.PageOption) iter.Seq2[string, error] {
			opts = append(opts, TimelineRoute)
			return idsOf(c.Contacts.Activities(ctx, ContactID, prospectkit.ActivityParams{Limit: 1}, opts...),
				func(o *prospectkit.Object) string { return o.Text("type") })
		}, nil, false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			program := func(run *sandbox.Run) error {
				var progress prospectkit.Progress
				var ids []string
				opts := append(slices.Clip(c.opts), prospectkit.WithProgress(&progress))
				if state, begun := run.Load("state"); begun && c.resumes {
					ids = strings.Split(state, "\n")
					opts = append(opts, prospectkit.ResumeFrom(ids[0]))
					ids = ids[1:]
				}
				for id, err := range c.read(run.Context(), clientOf(run), opts...) {
					if err != nil {
						return err
					}
					ids = append(ids, id) // and the checkpoint, in one transaction
					run.Save("state", strings.Join(append([]string{progress.Checkpoint()}, ids...), "\n"))
				}
				return nil
			}
			kinds := []sandbox.FailureKind{
				sandbox.RequestLost, sandbox.ResponseLost, sandbox.FailedAfter, sandbox.ResponseCut, sandbox.RateLimited,
				sandbox.StopBefore, sandbox.StopAfter,
			}
			sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
				require.NoError(run, run.Err())
				state, _ := run.Load("state")
				ids := strings.Split(state, "\n")[1:]
				require.Len(run, ids, c.n)
				slices.Sort(ids)
				require.Len(run, slices.Compact(ids), c.n)
				return nil
			}, everySweep(sandbox.Twice(), sandbox.Only(kinds...))...)
		})
	}
}

// idsOf is an iterator over the ids of elements.
func idsOf[T any](seq iter.Seq2[*T, error], id func(*T) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for v, err := range seq {
			if err != nil {
				yield("", err)
				return
			}
			if !yield(id(v), nil) {
				return
			}
		}
	}
}

// A search never pays for more than one page beyond those that it hands out, and says how it ended.
func TestEveryFailure_PaidSearch(t *testing.T) {
	for name, search := range map[string]func(ctx context.Context, c *prospectkit.Client) iter.Seq2[*prospectkit.Profile, error]{
		"prospects": func(ctx context.Context, c *prospectkit.Client) iter.Seq2[*prospectkit.Profile, error] {
			return c.Search.Prospects(ctx, prospectkit.SearchParams{Filters: vps, Size: 1}, prospectkit.MaxPaidPages(3))
		},
		"saved": func(ctx context.Context, c *prospectkit.Client) iter.Seq2[*prospectkit.Profile, error] {
			return c.Search.RunSaved(ctx, SavedID, prospectkit.RunParams{Size: 1}, prospectkit.MaxPaidPages(3))
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := map[string]int{}
			sandbox.EveryFailure(t, func(run *sandbox.Run) error {
				clear(found)
				for profile, err := range search(run.Context(), clientOf(run)) {
					if err != nil {
						return err
					}
					found[profile.SocialURL]++
				}
				return nil
			}, func(run *sandbox.Run) error {
				paid := int64(0)
				for _, e := range run.Ledger() {
					paid -= e.Amount
				}
				if run.Starts() == 1 {
					require.LessOrEqual(run, paid, int64(len(found)+1))
				}
				require.LessOrEqual(run, paid, int64(2*run.Starts()))
				if run.Err() == nil {
					require.Len(run, found, 2)
				}
				for _, n := range found {
					require.Equal(run, 1, n)
				}
				return nil
			}, everySweep(sandbox.Twice())...)
		})
	}
}

// Waits survive every single failure.
func TestEveryFailure_Waits(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, c *prospectkit.Client) error{
		"agent": func(ctx context.Context, c *prospectkit.Client) error {
			_, err := c.Agents.Activate(ctx, DraftID)
			if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied && !errors.Is(err, prospectkit.ErrConflict) {
				return err
			}
			_, err = c.Agents.WaitSettled(ctx, DraftID)
			return err
		},
		"list": func(ctx context.Context, c *prospectkit.Client) error {
			polls := 0
			_, err := c.Lists.WaitFor(ctx, ListID, func(*prospectkit.List) bool { polls++; return polls == 3 })
			return err
		},
		"campaign": func(ctx context.Context, c *prospectkit.Client) error {
			_, err := c.Campaigns.WaitInitialized(ctx, CampaignID)
			return err
		},
		"values": func(ctx context.Context, c *prospectkit.Client) error {
			_, err := c.Agents.CheckValues(ctx, prospectkit.ValueCheck{
				Field: prospectkit.AutocompleteTitle, Values: []string{"Head of Sales", "Wizard"}, TextParam: "text",
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			sandbox.EveryFailure(t, func(run *sandbox.Run) error { return wait(run.Context(), clientOf(run)) }, func(run *sandbox.Run) error {
				if errors.Is(run.Err(), prospectkit.ErrNotStarted) && run.Failures()[0].Kind == sandbox.RequestLost {
					return nil // the activation never arrived
				}
				return run.Err()
			}, everySweep()...)
		})
	}
}

// Nothing is started twice, after every pair of failures.
func TestEveryFailure_CreateAndStart(t *testing.T) {
	ways := map[string]func(ctx context.Context, c *prospectkit.Client) error{
		"CreateAndStart": func(ctx context.Context, c *prospectkit.Client) error {
			_, err := c.Agents.CreateAndStart(ctx, heads)
			return err
		},
		"Ensure": func(ctx context.Context, c *prospectkit.Client) error {
			started := heads
			started.Start = true
			_, err := c.Agents.Ensure(ctx, started)
			return err
		},
	}
	for name, begin := range ways {
		t.Run(name, func(t *testing.T) {
			sandbox.EveryFailure(t, func(run *sandbox.Run) error { return begin(run.Context(), clientOf(run)) }, func(run *sandbox.Run) error {
				return cmp.Or(run.Err(), oneAgent(run))
			}, sandbox.RestartAfter(10*time.Minute), sandbox.UntilDone(3), sandbox.Twice())
		})
	}
}
