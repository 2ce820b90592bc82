package main

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests/docruns"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// office is a sandbox with two campaigns, the second person with their key, and the job.
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
	o := &office{Sandbox: sandbox.New(t), key: key, public: public, file: filepath.Join(t.TempDir(), "yes.json")}
	o.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		tx.ConnectCRM("crm-1")
		list := tx.CreateList(sandbox.List{Name: "Berlin"})
		for i := range o.campaigns {
			o.campaigns[i] = tx.CreateCampaign(sandbox.ReadyCampaign(fmt.Sprint("Spring ", i), list))
		}
	})
	o.person, err = prospectkit.New(o.BaseURL(), o.Token(), prospectkit.WithTransport(o.Transport()))
	require.NoError(t, err)
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
	o.job, err = o.person.With(prospectkit.WithJournal(j), prospectkit.WithGate(gate(o.public, o.file)))
	require.NoError(t, err)
	return end
}

func agrees(string) bool { return true }

// edit changes what the second person has signed.
func (o *office) edit(t *testing.T, change func(*yes)) {
	t.Helper()
	var y yes
	text, err := os.ReadFile(o.file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &y))
	change(&y)
	text, err = json.Marshal(y)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(o.file, text, 0o600))
}

// Who holds the client and not the key sends nothing, whatever they change in a yes, and by whatever call.
func TestNoYesNothingSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		unsent := func(about string, err, why error) {
			require.ErrorIs(t, err, why, about)
			require.Zero(t, o.Calls("campaigns.approve")+o.Calls("lists.crm-push"), about)
		}
		refused := func(about string, err error) { unsent(about, err, prospectkit.RuleGate) }
		ctx, id := t.Context(), o.campaigns[0]
		unsent("no file", send(ctx, o.job, id, o.file), os.ErrNotExist)
		require.ErrorContains(t, sign(ctx, o.person, id, o.key, func(string) bool { return false }, o.file), "not signed")
		unsent("a no", send(ctx, o.job, id, o.file), os.ErrNotExist)

		signed := func() { require.NoError(t, sign(ctx, o.person, id, o.key, agrees, o.file)) }
		signed()
		unsent("another campaign", send(ctx, o.job, o.campaigns[1], o.file), prospectkit.RuleReview)
		_, err := o.job.Campaigns.ApproveUnreviewed(ctx, id)
		refused("not reviewed", err)
		_, err = o.job.Lists.PushToCRM(ctx, o.Lists()[0].ID, prospectkit.CRMPush{CRM: "crm-1", All: true})
		refused("a CRM", err)
		quiet := prospectkit.Operation{
			Name: "quiet", Method: "POST", Path: "/business/campaigns/" + id + "/approve", Surface: "campaigns",
			Free: true, SendsNothing: true,
		}
		unsent("a call under another name", o.job.Call(ctx, quiet, nil, nil), prospectkit.ErrInvalid)
		rerouted, err := o.job.With(prospectkit.WithRoutes(map[string]string{"agents.pause": "POST /business/campaigns/{id}/approve"}))
		require.NoError(t, err)
		_, err = rerouted.Agents.Pause(ctx, id)
		unsent("a method with another route", err, prospectkit.ErrInvalid)
		for about, change := range map[string]func(*yes){
			"a later end":    func(y *yes) { y.Until = y.Until.Add(time.Hour) },
			"another person": func(y *yes) { y.Who = "ada" },
			"no signature":   func(y *yes) { y.Signature = nil },
			"another review": func(y *yes) {
				r, err := o.job.Campaigns.Review(ctx, id)
				require.NoError(t, err)
				y.Digest = r.Digest()
			},
			"another key": func(y *yes) {
				_, other, err := ed25519.GenerateKey(nil)
				require.NoError(t, err)
				y.Signature = ed25519.Sign(other, y.text())
			},
		} {
			signed()
			time.Sleep(time.Minute)
			o.edit(t, change)
			refused(about, send(ctx, o.job, id, o.file))
		}
		signed()
		o.edit(t, func(y *yes) { y.Digest = "" })
		unsent("no digest", send(ctx, o.job, id, o.file), prospectkit.ErrInvalid)
		signed()
		time.Sleep(2 * time.Hour)
		refused("too late", send(ctx, o.job, id, o.file))
		signed()
		o.Do(func(tx *sandbox.Tx) { tx.AddRows(o.Lists()[0].ID, sandbox.Row{"email": "new@navy.example"}) })
		unsent("another audience", send(ctx, o.job, id, o.file), prospectkit.RuleReview)
	})
}

// A yes is for one approval: a teammate who stops the campaign is not overruled by it.
func TestAYesIsUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		require.NoError(t, sign(t.Context(), o.person, o.campaigns[0], o.key, agrees, o.file))
		require.NoError(t, send(t.Context(), o.job, o.campaigns[0], o.file))
		time.Sleep(time.Minute)
		o.Do(func(tx *sandbox.Tx) { tx.StopCampaign(o.campaigns[0]) })
		for range 2 {
			require.NoError(t, send(t.Context(), o.job, o.campaigns[0], o.file), "it was done")
			o.end()
			o.end = o.start(t)
		}
		require.Equal(t, 1, o.Calls("campaigns.approve"))
	})
}

// Whatever fails, and wherever the job is stopped and run again, a yes leads to one approval at most.
func TestEveryFailure(t *testing.T) {
	public, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	setup := sandbox.Setup(func(run *sandbox.Run) {
		var campaignID string
		run.Do(func(tx *sandbox.Tx) {
			tx.ConnectAccount("email")
			campaignID = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", tx.CreateList(sandbox.List{Name: "Berlin"})))
		})
		person, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		require.NoError(run, sign(run.Context(), person, campaignID, key, agrees, filepath.Join(run.Dir(), "yes.json")))
	})
	program := func(run *sandbox.Run) error {
		j, err := journal.Open(filepath.Join(run.Dir(), "journal"), "acme")
		require.NoError(run, err)
		defer j.Close()
		job, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(j),
			prospectkit.WithGate(gate(public, filepath.Join(run.Dir(), "yes.json"))))
		require.NoError(run, err)
		return send(run.Context(), job, run.Campaigns()[0].ID, filepath.Join(run.Dir(), "yes.json"))
	}
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		n := 0
		for _, e := range run.Journal() {
			if e.Op == "campaigns.approve" && e.Processed {
				n++
			}
		}
		if n > 1 || n < 1 && run.Err() == nil {
			return fmt.Errorf("%d approvals", n)
		}
		return nil
	}, sandbox.RestartAfter(time.Minute), setup)
	docruns.Example(t, program, setup)
}

func TestDemo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "yes.json")
	require.NoError(t, demo(t.Context(), file, io.Discard))
	kept := 0
	for entry, err := range journal.Read(file + ".journal") {
		require.NoError(t, err)
		require.Equal(t, journal.Applied, entry.Outcome)
		kept++
	}
	require.Equal(t, 1, kept, "a yes that was used stays used when the job starts again")
}
