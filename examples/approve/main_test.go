package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
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

// spring makes a campaign that sends one message to each of two people.
func spring(tx *sandbox.Tx) (campaignID string) {
	tx.ConnectAccount("email")
	return tx.CreateCampaign(sandbox.ReadyCampaign("Spring", tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(
		sandbox.Row{"firstName": "Grace", "email": "grace@navy.example"}, sandbox.Row{"firstName": "Alan", "email": "alan@park.example"},
	)})))
}

// office is a sandbox with two campaigns, the person with their key, and the job.
type office struct {
	*sandbox.Sandbox

	person, job *prospectkit.Client
	key         ed25519.PrivateKey
	public      ed25519.PublicKey
	file        string
	end         func() // of the job
	campaigns   [2]string
}

func newOffice(t *testing.T) *office {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	o := &office{Sandbox: sandbox.New(t), key: key, public: public, file: filepath.Join(t.TempDir(), "yes.txt")}
	o.Do(func(tx *sandbox.Tx) {
		tx.ConnectCRM("crm-1")
		o.campaigns[0] = spring(tx)
		o.campaigns[1] = tx.CreateCampaign(sandbox.ReadyCampaign("Autumn", o.Lists()[0].ID))
	})
	o.end = o.start(t)
	return o
}

// start starts the job in a process of its own: it finds the journal that an earlier one has closed.
func (o *office) start(t *testing.T) (end func()) {
	t.Helper()
	j, err := journal.Open(o.file+".journal", "acme")
	require.NoError(t, err)
	end = func() { _ = j.Close() }
	t.Cleanup(end)
	o.person, err = prospectkit.New(o.BaseURL(), o.Token(), prospectkit.WithTransport(o.Transport()), prospectkit.WithJournal(j))
	require.NoError(t, err)
	o.job, err = o.person.With(prospectkit.WithGate(gate(o.public, o.file)))
	require.NoError(t, err)
	return end
}

func (o *office) sign(t *testing.T, answer string) error {
	t.Helper()
	return sign(t.Context(), o.person, o.campaigns[0], o.key, o.file, strings.NewReader(answer), io.Discard)
}

// unsent is a check that nothing has left, and of the error.
func (o *office) unsent(t *testing.T, about string, err, why error) {
	t.Helper()
	require.ErrorIs(t, err, why, about)
	require.Zero(t, o.Calls("campaigns.approve")+o.Calls("lists.crm-push"), about)
}

// full is a terminal that is gone.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// Without a yes, nothing is sent: not after a no, at the end of the input, or where nobody has seen the review.
func TestNothingIsSentWithoutAYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		for _, answer := range []string{"", "no\n", "yes", "Yes, but\n"} {
			require.ErrorContains(t, o.sign(t, answer), "nothing was signed")
		}
		require.Error(t, sign(t.Context(), o.person, o.campaigns[0], o.key, o.file, strings.NewReader("yes\n"), full{}))
		o.unsent(t, "no file", send(t.Context(), o.job, o.campaigns[0], o.file), prospectkit.ErrInvalid)
	})
}

// Who holds the client and not the key sends nothing, whatever they change in a yes, and by whatever call.
func TestNobodyElseSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		ctx, id := t.Context(), o.campaigns[0]
		signed := func() { require.NoError(t, o.sign(t, "yes\n")) }
		signed()
		o.unsent(t, "another campaign", send(ctx, o.job, o.campaigns[1], o.file), prospectkit.RuleReview)
		_, err := o.job.Campaigns.ApproveUnreviewed(ctx, id)
		o.unsent(t, "not reviewed", err, prospectkit.RuleGate)
		_, err = o.job.Lists.PushToCRM(ctx, o.Lists()[0].ID, prospectkit.CRMPush{CRM: "crm-1", All: true})
		o.unsent(t, "a CRM", err, prospectkit.RuleGate)
		quiet := prospectkit.Operation{
			Name: "quiet", Method: "POST", Path: "/business/campaigns/" + id + "/approve", Surface: "campaigns",
			Free: true, SendsNothing: true,
		}
		o.unsent(t, "a call under another name", o.job.Call(ctx, quiet, nil, nil), prospectkit.ErrInvalid)
		rerouted, err := o.job.With(prospectkit.WithRoutes(map[string]string{"agents.pause": "POST /business/campaigns/{id}/approve"}))
		require.NoError(t, err)
		_, err = rerouted.Agents.Pause(ctx, id)
		o.unsent(t, "a method with another route", err, prospectkit.ErrInvalid)

		write := func(digest string, signature []byte) {
			require.NoError(t, os.WriteFile(o.file, fmt.Appendf(nil, "%s %x", digest, signature), 0o600))
		}
		digest, signature := load(o.file)
		write(digest, nil)
		o.unsent(t, "no signature", send(ctx, o.job, id, o.file), prospectkit.RuleGate)
		_, other, err := ed25519.GenerateKey(nil)
		require.NoError(t, err)
		write(digest, ed25519.Sign(other, []byte(digest)))
		o.unsent(t, "another key", send(ctx, o.job, id, o.file), prospectkit.RuleGate)
		review, err := o.job.Campaigns.Review(ctx, o.campaigns[1])
		require.NoError(t, err)
		write(review.Digest(), signature)
		o.unsent(t, "another review", send(ctx, o.job, o.campaigns[1], o.file), prospectkit.RuleGate)
		write("", signature)
		o.unsent(t, "no digest", send(ctx, o.job, id, o.file), prospectkit.ErrInvalid)
		signed()
		time.Sleep(8 * 24 * time.Hour)
		o.unsent(t, "too late", send(ctx, o.job, id, o.file), prospectkit.RuleReview)
		signed()
		o.Do(func(tx *sandbox.Tx) { tx.AddRows(o.Lists()[0].ID, sandbox.Row{"email": "new@navy.example"}) })
		o.unsent(t, "another audience", send(ctx, o.job, id, o.file), prospectkit.RuleReview)
	})
}

// A yes is for one approval: a teammate who stops the campaign is overruled neither by it nor, out of habit, by another one.
func TestAStopIsNotOverruled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		require.NoError(t, o.sign(t, "yes\n"))
		require.NoError(t, send(t.Context(), o.job, o.campaigns[0], o.file))
		time.Sleep(time.Minute)
		o.Do(func(tx *sandbox.Tx) { tx.StopCampaign(o.campaigns[0]) })
		for range 2 {
			require.NoError(t, send(t.Context(), o.job, o.campaigns[0], o.file), "it was done")
			o.end()
			o.end = o.start(t)
		}
		require.NoError(t, o.sign(t, "yes\n"))
		require.ErrorIs(t, send(t.Context(), o.job, o.campaigns[0], o.file), prospectkit.RuleResume)
		require.Equal(t, 1, o.Calls("campaigns.approve"))
	})
}

// start is one start of the job, with a person who says yes to what is shown, once.
func start(public ed25519.PublicKey, key ed25519.PrivateKey) func(run *sandbox.Run) error {
	return func(run *sandbox.Run) error {
		j, err := journal.Open(filepath.Join(run.Dir(), "journal"), "acme")
		require.NoError(run, err)
		defer j.Close() // also if it is stopped: another start needs the file
		id, file := run.Campaigns()[0].ID, filepath.Join(run.Dir(), "yes.txt")
		job, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(j),
			prospectkit.WithGate(gate(public, file)))
		require.NoError(run, err)
		if digest, _ := load(file); digest == "" {
			if err := sign(run.Context(), job, id, key, file, strings.NewReader("yes\n"), io.Discard); err != nil {
				return err
			}
		}
		return send(run.Context(), job, id, file)
	}
}

var setup = sandbox.Setup(func(run *sandbox.Run) { run.Do(func(tx *sandbox.Tx) { spring(tx) }) })

func approvals(run *sandbox.Run) (n int) {
	for _, e := range run.Journal() {
		if e.Op == "campaigns.approve" && e.Processed {
			n++
		}
	}
	return n
}

// Whatever fails, and wherever it is stopped and run again, there is one approval and one message to each person. If it says that it is done,
// it is.
func TestEveryFailure(t *testing.T) {
	public, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	program := start(public, key)
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
func TestAStopBetweenTwoRuns(t *testing.T) {
	public, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	program := start(public, key)
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
