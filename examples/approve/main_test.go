package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests/docruns"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

var setup = sandbox.Setup(func(run *sandbox.Run) { run.Do(func(tx *sandbox.Tx) { spring(tx) }) })

// program is one start of the program, with a person who says yes to whatever is shown.
func program(run *sandbox.Run) (err error) {
	j, err := journal.Open(filepath.Join(run.Dir(), "journal"), "acme")
	require.NoError(run, err)
	defer j.Close() // also if it is stopped: another start needs the file
	client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(j))
	require.NoError(run, err)
	return approve(run.Context(), client, run.Campaigns()[0].ID, strings.NewReader("yes\n"), io.Discard)
}

func approvals(run *sandbox.Run) (n int) {
	for _, e := range run.Journal() {
		if e.Op == "campaigns.approve" && e.Processed {
			n++
		}
	}
	return n
}

// Whatever fails, and wherever the program is stopped and run again, there is one approval and one message to each person. If it says that
// it is done, it is.
func TestEveryFailure(t *testing.T) {
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		time.Sleep(time.Hour)
		if n, sent := approvals(run), len(run.Outbox()); n > 1 || sent > 2 || run.Err() == nil && sent != 2 {
			return fmt.Errorf("%d approvals, %d messages", n, sent)
		}
		return nil
	}, sandbox.RestartAfter(time.Minute), setup)
	docruns.Example(t, program, setup)
}

// A queue runs the program again as long as it returns an error. A teammate who stops the campaign in between is not overruled without a
// person who settles the ticket.
func TestAStopIsNotOverruled(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) (err error) {
		for range 3 {
			if err = program(run); err == nil {
				return nil
			}
			if c := run.Campaigns()[0]; c.Status == string(prospectkit.CampaignActive) {
				run.Do(func(tx *sandbox.Tx) { tx.StopCampaign(c.ID) })
			}
			time.Sleep(time.Minute)
		}
		return err
	}, func(run *sandbox.Run) error {
		if n := approvals(run); n > 1 {
			return fmt.Errorf("%d approvals", n)
		}
		return nil
	}, setup,
		sandbox.Only(sandbox.RequestLost, sandbox.ResponseLost, sandbox.FailedAfter, sandbox.ResponseCut, sandbox.RateLimited,
			sandbox.SentTwice, sandbox.IdleClosed, sandbox.AgedResponse, sandbox.PageEmptied))
}

// full is a terminal that is gone.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// Without a yes, nothing is sent: not after a no, at the end of the input, or where nobody has seen the review.
func TestNothingIsSentWithoutAYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Do(func(tx *sandbox.Tx) { spring(tx) })
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(new(journal.MemoryJournal)))
		require.NoError(t, err)
		for _, answer := range []string{"", "no\n", "yes", "Yes, but\n"} {
			require.Error(t, approve(t.Context(), client, sb.Campaigns()[0].ID, strings.NewReader(answer), io.Discard))
		}
		require.Error(t, approve(t.Context(), client, sb.Campaigns()[0].ID, strings.NewReader("yes\n"), full{}))
		require.Zero(t, sb.Calls("campaigns.approve"))
	})
}

// A yes is not enough to resume what a teammate has stopped.
func TestAStopTakesAnotherWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Do(func(tx *sandbox.Tx) { spring(tx) })
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(new(journal.MemoryJournal)))
		require.NoError(t, err)
		id := sb.Campaigns()[0].ID
		answer := func(text string) error {
			return approve(t.Context(), client, id, strings.NewReader(text+"\n"), io.Discard)
		}
		require.NoError(t, answer("yes"))
		time.Sleep(time.Minute)
		sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(id) })
		time.Sleep(time.Minute)
		require.Error(t, answer("yes"))
		require.Equal(t, 1, sb.Calls("campaigns.approve"))
		require.NoError(t, answer("resume"))
		require.Equal(t, 2, sb.Calls("campaigns.approve"))
	})
}
