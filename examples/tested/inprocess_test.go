package tested_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/tested"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// start gives a test its own service, and a client for it.
func start(t *testing.T, opts ...prospectkit.ClientOption) (*sandbox.Sandbox, *prospectkit.Client) {
	t.Helper()
	sb := sandbox.New(t)
	sb.Do(spring)
	opts = append(opts, prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(new(journal.MemoryJournal)))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), opts...)
	require.NoError(t, err)
	return sb, client
}

// spring makes a list, and a campaign that is ready to be approved.
func spring(tx *sandbox.Tx) {
	list := tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(
		sandbox.Row{"firstName": "Grace", "email": "grace@navy.example"},
		sandbox.Row{"firstName": "Alan", "email": "alan@park.example"},
	)})
	tx.ConnectAccount("email")
	tx.CreateCampaign(sandbox.ReadyCampaign("Spring", list))
}

func TestExport(t *testing.T) {
	_, client := start(t)
	var out bytes.Buffer
	n, err := tested.Export(t.Context(), client, "Berlin", &out)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, "name,email\nGrace,grace@navy.example\nAlan,alan@park.example\n", out.String())
}

func TestExportWaitsForTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, client := start(t)
		sb.Fail("lists.rows", sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(90))
		began := time.Now()
		_, err := tested.Export(t.Context(), client, "Berlin", io.Discard)
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(began), 90*time.Second) // of virtual time: the test takes milliseconds
	})
}

func TestExportGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, client := start(t)
		sb.Fail("lists.rows", sandbox.Status(500, "UNEXPECTED_ERROR"))
		_, err := tested.Export(t.Context(), client, "Berlin", io.Discard)
		require.ErrorIs(t, err, prospectkit.CodeUnexpectedError)
		require.Equal(t, 3, sb.Calls("lists.rows"))
	})
}

func TestLaunchOnceAlthoughTheAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, client := start(t)
		sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropAfter()) // applied, but the response is lost
		campaign := sb.Campaigns()[0]
		seen, err := client.Campaigns.Review(t.Context(), campaign.ID)
		require.NoError(t, err)

		doubt, err := tested.Launch(t.Context(), client.Campaigns, campaign.ID, seen.Digest())
		require.NoError(t, errors.Join(doubt, err))
		require.Equal(t, 1, sb.Calls("campaigns.approve"))

		require.Empty(t, sb.Outbox())
		time.Sleep(time.Hour)
		require.Len(t, sb.Outbox(), 2) // one message to each contact; nothing is really sent
	})
}

func TestLaunchUnderEveryFailure(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		j, err := journal.Open(filepath.Join(run.Dir(), "writes.journal"), "acme")
		require.NoError(run, err)
		defer j.Close()
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(j))
		require.NoError(run, err)
		campaign := run.Campaigns()[0]
		digest, agreed := run.Load("yes")
		if !agreed {
			seen, err := client.Campaigns.Review(run.Context(), campaign.ID)
			if err != nil {
				return err
			}
			digest = seen.Digest()
			run.Save("yes", digest) // of a person
		}
		doubt, err := tested.Launch(run.Context(), client.Campaigns, campaign.ID, digest)
		if doubt != nil {
			run.Save("for a person", doubt.Error())
		}
		return err
	}, func(run *sandbox.Run) error {
		time.Sleep(time.Hour)
		_, asked := run.Load("for a person")
		if n := len(run.Outbox()); n > 2 || n < 2 && run.Err() == nil && !asked {
			return fmt.Errorf("%d messages", n)
		}
		return nil
	}, sandbox.Setup(func(run *sandbox.Run) { run.Do(spring) }))
}

func TestCopyUnderEveryFailure(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		return Copy(run.Context(), client, run.Lists()[0].ID, prospectkit.RowsParams{Limit: 1}, run.Dir())
	}, func(run *sandbox.Run) error {
		text, err := os.ReadFile(filepath.Join(run.Dir(), "addresses.txt"))
		if err == nil && string(text) != "grace@navy.example\nalan@park.example\n" {
			err = fmt.Errorf("it holds %q", text)
		}
		return err
	}, sandbox.Setup(func(run *sandbox.Run) { run.Do(spring) }), sandbox.UntilDone(1), sandbox.Twice())
}

// A queue repeats what returned an error. A teammate who stops the campaign in between is not overruled.
func TestLaunchInAQueue(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(new(journal.MemoryJournal)))
		require.NoError(run, err)
		campaign := run.Campaigns()[0]
		digest, agreed := run.Load("yes")
		if !agreed {
			seen, err := client.Campaigns.Review(run.Context(), campaign.ID)
			if err != nil {
				return err
			}
			digest = seen.Digest()
			run.Save("yes", digest)
		}
		for range 3 {
			_, err = tested.Launch(run.Context(), client.Campaigns, campaign.ID, digest)
			if err == nil {
				return nil
			}
			if run.Campaigns()[0].Status == string(prospectkit.CampaignActive) {
				run.Do(func(tx *sandbox.Tx) { tx.StopCampaign(campaign.ID) })
			}
			time.Sleep(time.Hour) // the service takes another approval by then
		}
		return err
	}, func(run *sandbox.Run) error {
		approvals := 0
		for _, e := range run.Journal() {
			approvals += len(e.Effects)
		}
		if approvals > 1 {
			return errors.New("approved twice")
		}
		return nil
	}, sandbox.Setup(func(run *sandbox.Run) { run.Do(spring) }), sandbox.Twice(),
		sandbox.Only(sandbox.RequestLost, sandbox.ResponseLost, sandbox.FailedAfter, sandbox.ResponseCut, sandbox.RateLimited, sandbox.SentTwice))
}

func TestLaunchThatNeverArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, client := start(t)
		sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropBefore())
		campaign := sb.Campaigns()[0]
		seen, err := client.Campaigns.Review(t.Context(), campaign.ID)
		require.NoError(t, err)
		doubt, err := tested.Launch(t.Context(), client.Campaigns, campaign.ID, seen.Digest())
		require.NoError(t, err)
		require.ErrorIs(t, doubt, prospectkit.ErrOutcomeUnknown)
		require.Equal(t, 1, sb.Calls("campaigns.approve"), "nobody but a person may try again")
		time.Sleep(24 * time.Hour)
		require.Empty(t, sb.Outbox())
	})
}

func TestExportGoesOnTomorrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, client := start(t, prospectkit.WithMaxWait(25*time.Hour))
		began := time.Now()
		for range 84 { // a teammate uses up the day, 120 requests a minute
			sb.Consume("lists", 120)
			time.Sleep(time.Minute)
		}
		_, err := tested.Export(t.Context(), client, "Berlin", io.Discard)
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(began), 24*time.Hour)
	})
}

func TestWhatTheServiceWasAsked(t *testing.T) {
	sb, client := start(t)
	_, err := tested.Export(t.Context(), client, "Berlin", io.Discard)
	require.NoError(t, err)
	for _, entry := range sb.Journal() {
		require.Equal(t, "GET", entry.Method, "an export changes nothing: %s", entry)
		require.Zero(t, entry.Credits)
	}
	require.Empty(t, sb.Ledger())
}

func TestAnotherKeyCannotExport(t *testing.T) {
	sb, client := start(t)
	narrow, err := prospectkit.New(sb.BaseURL(), sb.Key("campaigns"), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	_, err = tested.Export(t.Context(), narrow, "Berlin", io.Discard)
	require.ErrorIs(t, err, prospectkit.CodeInsufficientScope)

	sb.Do(func(tx *sandbox.Tx) { tx.DeleteList(sb.Lists()[0].ID) }) // a teammate, in the app
	_, err = tested.Export(t.Context(), client, "Berlin", io.Discard)
	require.EqualError(t, err, `there is no list "Berlin"`)
}

// approver is a fake of the only method that Launch calls.
type approver func(id string) error

func (f approver) Approve(_ context.Context, id, _ string, _ ...prospectkit.CallOption) (*prospectkit.Approval, error) {
	return nil, f(id)
}

func TestLaunchWithAFake(t *testing.T) {
	_, err := tested.Launch(t.Context(), approver(func(string) error { return prospectkit.CodeCampaignNotReady }), "any", "digest")
	require.ErrorIs(t, err, prospectkit.CodeCampaignNotReady)
	require.ErrorIs(t, err, prospectkit.ErrInvalid) // a code matches its class
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
}

func TestLaunchWithALostResponse(t *testing.T) {
	lost := &prospectkit.OutcomeUnknownError{Resolution: &prospectkit.Resolution{Outcome: prospectkit.OutcomeApplied}}
	doubt, err := tested.Launch(t.Context(), approver(func(string) error { return lost }), "any", "digest")
	require.NoError(t, err)
	require.NoError(t, doubt)
}

// lister is a fake of an iterator: it yields the lists, and then the error if there is one.
type lister struct {
	lists []prospectkit.List
	err   error
}

func (f lister) All(context.Context, prospectkit.ListsParams, ...prospectkit.PageOption) iter.Seq2[*prospectkit.List, error] {
	return func(yield func(*prospectkit.List, error) bool) {
		for i := range f.lists {
			if !yield(&f.lists[i], nil) {
				return
			}
		}
		if f.err != nil {
			yield(nil, f.err)
		}
	}
}

func TestFindWithAFake(t *testing.T) {
	lists := lister{lists: []prospectkit.List{{ID: "1", Name: "Berlin"}}, err: prospectkit.CodeRateLimited}
	found, err := tested.Find(t.Context(), lists, "Berlin")
	require.NoError(t, err)
	require.Equal(t, "1", found.ID)
	_, err = tested.Find(t.Context(), lists, "Paris")
	require.ErrorIs(t, err, prospectkit.CodeRateLimited)
}

func TestExportRunsNoFormula(t *testing.T) {
	sb, client := start(t)
	sb.Do(func(tx *sandbox.Tx) {
		tx.CreateList(sandbox.List{Name: "Bad", Rows: sandbox.Rows(sandbox.Row{"firstName": "=1+1", "email": "@SUM(A1)"})})
	})
	var out bytes.Buffer
	_, err := tested.Export(t.Context(), client, "Bad", &out)
	require.NoError(t, err)
	require.Equal(t, "name,email\n'=1+1,'@SUM(A1)\n", out.String())
}
