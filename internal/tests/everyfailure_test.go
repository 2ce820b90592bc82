package tests

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
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

// clientOf is the client of a program.
func clientOf(run *sandbox.Run, opts ...prospectkit.ClientOption) *prospectkit.Client {
	client, err := prospectkit.New(run.BaseURL(), run.Token(), append(opts, prospectkit.WithTransport(run.Transport()))...)
	require.NoError(run, err)
	return client
}

// effective counts the requests for an operation that may have been applied.
func effective(run *sandbox.Run, op string) (n int) {
	for _, e := range run.Journal() {
		if e.Op == op && e.Status != http.StatusTooManyRequests {
			n++
		}
	}
	return n
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

// oneAgent allows one agent and one start, whatever happens.
func oneAgent(run *sandbox.Run) error {
	starts := 0
	for _, e := range run.Journal() {
		if e.Op == "agents.activate" {
			starts += len(e.Effects)
		}
	}
	agents := run.Agents()
	if len(agents) > 1 || starts > 1 {
		return fmt.Errorf("%d agents, %d starts", len(agents), starts)
	}
	if run.Err() == nil && (len(agents) != 1 || agents[0].Status == "initializing") {
		return fmt.Errorf("the program is done, and the agents are %+v", agents)
	}
	return nil
}

var heads = prospectkit.PersonDiscovery{
	ListName: "Heads of sales", MaxCreditSpend: 1000, Filters: prospectkit.Fields{"jobTitles": []string{"Head of Sales"}},
}

// Nothing is started twice, after every pair of failures.
func TestEveryFailure_CreateAndStart(t *testing.T) {
	for name, begin := range map[string]AnyCall{
		"CreateAndStart": With((*agents).CreateAndStart, prospectkit.AgentSpec(heads)),
		"Ensure":         With((*agents).Ensure, prospectkit.AgentSpec(Altered(heads, func(d *DiscoveryOf) { d.Start = true }))),
	} {
		t.Run(name, func(t *testing.T) {
			sandbox.EveryFailure(t, func(run *sandbox.Run) error { return Discard(begin(run.Context(), clientOf(run))) }, func(run *sandbox.Run) error {
				return cmp.Or(run.Err(), oneAgent(run))
			}, sandbox.RestartAfter(10*time.Minute), sandbox.UntilDone(3), sandbox.Twice())
		})
	}
}

// What gateways and servers do to requests and responses, at every request.

// An idle connection that the server closes, and an Age that says how long the response took, are as if nothing had happened: each call
// succeeds, and arrives once.
func TestEveryFailure_IdleAndAge(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		tried := sandbox.EveryFailure(t, func(run *sandbox.Run) error {
			return Discard(call(run.Context(), clientOf(run, Routes())))
		}, func(run *sandbox.Run) error {
			require.NoError(run, run.Err())
			require.Equal(run, 1, run.Calls(row.Name))
			return nil
		}, everySweep(sandbox.Only(sandbox.IdleClosed, sandbox.AgedResponse))...)
		require.Equal(t, map[bool]int{true: 2, false: 3}[row.FreeRead()], tried.Runs)
	})
}

// What can be approved stays so behind a gateway that counts an Age: a review, and the approval with its digest.
func TestEveryFailure_ApproveWithAge(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client := clientOf(run, prospectkit.WithJournal(new(journal.MemoryJournal)))
		r, err := client.Campaigns.Review(run.Context(), CampaignID)
		if err != nil {
			return err
		}
		return Discard(client.Campaigns.Approve(run.Context(), CampaignID, r.Digest()))
	}, func(run *sandbox.Run) error { return run.Err() }, everySweep(sandbox.Only(sandbox.AgedResponse))...)
}

// A gateway sends a write without a body twice, and forwards the second response, a conflict. It is never "not applied", and Once sends
// nothing again, also if a teammate undoes it meanwhile.
func TestEveryFailure_SentTwice(t *testing.T) {
	for o := range guardedByState() {
		name := o.Name
		t.Run(name, func(t *testing.T) {
			var first, second error
			tried := sandbox.EveryFailure(t, func(run *sandbox.Run) error {
				client := clientOf(run, Routes(), prospectkit.WithJournal(new(journal.MemoryJournal)))
				_, first = EveryCall[name](run.Context(), client, prospectkit.Once("monday"))
				run.Do(func(tx *sandbox.Tx) {
					if name == "campaigns.approve" {
						tx.StopCampaign(CampaignID)
					}
				})
				_, second = EveryCall[name](run.Context(), client, prospectkit.Once("monday"))
				return nil
			}, func(run *sandbox.Run) error {
				if len(run.Failures()) == 0 {
					require.NoError(run, first)
					require.Equal(run, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(second), "%v", second)
				} else {
					require.ErrorIs(run, first, prospectkit.ErrOutcomeUnknown)
					require.ErrorIs(run, second, prospectkit.ErrOutcomeUnknown)
				}
				require.Equal(run, 1+len(run.Failures()), run.Calls(name))
				return nil
			}, everySweep(sandbox.Only(sandbox.SentTwice))...)
			require.Equal(t, 2, tried.Runs)
		})
	}
}

// A server in front refuses a long body: the write, or the file, was not applied.
func TestEveryFailure_BodyRefused(t *testing.T) {
	long := "firstName\n" + strings.Repeat("x", 9<<10)
	for name, write := range map[string]AnyCall{
		"lists.add-contacts": WithTwo((*lists).AddContacts, ListID, fields{"contacts": []fields{{"firstName": long}}}),
		"imports.create":     With((*imports).Upload, prospectkit.UploadFrom("c.csv", int64(len(long)), strings.NewReader(long))),
	} {
		t.Run(name, func(t *testing.T) {
			tried := sandbox.EveryFailure(t, func(run *sandbox.Run) error {
				return Discard(write(run.Context(), clientOf(run)))
			}, func(run *sandbox.Run) error {
				want := map[int]prospectkit.Outcome{0: prospectkit.OutcomeApplied, 1: prospectkit.OutcomeNotApplied}[len(run.Failures())]
				require.Equal(run, want, prospectkit.OutcomeOf(run.Err()), "%v", run.Err())
				require.Equal(run, 1, run.Calls(name))
				return nil
			}, everySweep(sandbox.Only(sandbox.BodyRefused))...)
			require.Equal(t, 2, tried.Runs)
		})
	}
}

// Totals that are capped lose nothing, from whatever page on.
func TestEveryFailure_TotalsCapped(t *testing.T) {
	var seen []string
	tried := sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		seen = nil
		client := clientOf(run)
		for row, err := range client.Lists.Rows(run.Context(), ListID, prospectkit.RowsParams{Limit: 2}) {
			if err != nil {
				return err
			}
			seen = append(seen, row.ID())
		}
		for list, err := range client.Lists.All(run.Context(), prospectkit.ListsParams{Limit: 2}) {
			if err != nil {
				return err
			}
			seen = append(seen, list.ID)
		}
		return nil
	}, func(run *sandbox.Run) error {
		require.NoError(run, run.Err())
		require.Len(run, seen, 7+len(run.Lists()))
		return nil
	}, everySweep(sandbox.Only(sandbox.TotalsCapped), sandbox.Setup(func(run *sandbox.Run) {
		run.Do(func(tx *sandbox.Tx) {
			for n := range 5 {
				tx.AddRows(ListID, sandbox.Row{"firstName": strconv.Itoa(n)})
			}
		})
	}))...)
	require.Greater(t, tried.Requests, 5)
}

// An empty page hides no contact from a review, and no list from Ensure.
func TestEveryFailure_PageEmptied(t *testing.T) {
	var r *prospectkit.Review
	sandbox.EveryFailure(t, func(run *sandbox.Run) (err error) {
		r, err = clientOf(run).Campaigns.Review(run.Context(), CampaignID)
		return err
	}, func(run *sandbox.Run) error {
		require.NoError(run, run.Err())
		require.Equal(run, 2, r.ContactsCount)
		require.Contains(run, r.String(), "to the 2 contacts in its lists")
		return nil
	}, everySweep(sandbox.Only(sandbox.PageEmptied))...)

	var got *prospectkit.Ensured
	sandbox.EveryFailure(t, func(run *sandbox.Run) (err error) {
		got, err = clientOf(run).Lists.Ensure(run.Context(), prospectkit.NewList{Name: "Berlin"})
		return err
	}, func(run *sandbox.Run) error {
		require.NoError(run, run.Err())
		require.Equal(run, ListID, got.List.ID)
		require.False(run, got.Created)
		return nil
	}, everySweep(sandbox.Only(sandbox.PageEmptied, sandbox.ResponseLost, sandbox.RequestLost), sandbox.Twice())...)
}

// A program whose walk reads ahead is the same program in each run of EveryFailure, and loses nothing: its pages are requested in their order.
func TestEveryFailure_ReadsAhead(t *testing.T) {
	const rows = 14
	program := func(r *sandbox.Run) error {
		client := clientOf(r)
		list, _ := r.Load("list")
		saved, _ := r.Load("ids") // with the place, in one
		ids := strings.Fields(saved)
		place := ""
		if len(ids) > 0 {
			place, ids = ids[0], ids[1:]
		}
		p := prospectkit.Progress{ResumeFrom: place}
		opts := []prospectkit.PageOption{prospectkit.WithProgress(&p)}
		for row, err := range client.Lists.Rows(r.Context(), list, prospectkit.RowsParams{Limit: 2}, opts...) {
			if err != nil {
				return err
			}
			if len(ids)%3 == 0 {
				if err := Discard(client.Lists.Get(r.Context(), list)); err != nil {
					return err
				}
			}
			ids = append(ids, row.ID())
			r.Save("ids", p.Checkpoint()+" "+strings.Join(ids, " "))
		}
		return nil
	}
	invariant := func(r *sandbox.Run) error {
		saved, _ := r.Load("ids")
		ids := strings.Fields(saved)
		ids = ids[min(1, len(ids)):]
		slices.Sort(ids)
		if once := slices.Compact(ids); r.Err() == nil && len(once) != rows {
			return fmt.Errorf("%d rows of %d", len(once), rows)
		}
		return nil
	}
	setup := sandbox.Setup(func(r *sandbox.Run) {
		r.Do(func(tx *sandbox.Tx) {
			list := tx.CreateList(sandbox.List{Name: "Long"})
			for i := range rows {
				tx.AddRows(list, sandbox.Row{"firstName": strconv.Itoa(i)})
			}
			r.Save("list", list)
		})
		r.Fail("lists.rows", sandbox.Always(), sandbox.Latency(time.Second))
	})
	first := sandbox.EveryFailure(t, program, invariant, setup)
	require.Equal(t, 8+5, first.Requests, "its pages, of which the last is full, and a call for every third row")
	require.Equal(t, first, sandbox.EveryFailure(t, program, invariant, setup))
}
