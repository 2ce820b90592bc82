package tests

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

const staging = "https://staging.prospectkit.invalid/api/v1"

// at is a sandbox that a client reaches by another base URL.
func at(sb *sandbox.Sandbox) prospectkit.ClientOption {
	return prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Host = strings.Split(sb.BaseURL(), "/")[2]
		return sb.Transport().RoundTrip(r)
	}))
}

// Staging is a copy of production, with the same ids, and both share a journal: what was approved in one is not approved in the other.
func TestApprove_OfAnotherService(t *testing.T) {
	for name, c := range map[string]struct{ staging, same bool }{
		"another service": {true, false},
		"the same":        {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := prospectkit.WithJournal(new(journal.MemoryJournal))
				one, two := EverySandbox(t, time.Now()), EverySandbox(t, time.Now())
				base := two.BaseURL()
				if c.staging {
					base = staging
				}
				first := SandboxClient(t, one, j)
				second, err := prospectkit.New(base, two.Token(), j, at(two))
				require.NoError(t, err)
				seen, err := second.Campaigns.Review(t.Context(), CampaignID)
				require.NoError(t, err)
				_, err = first.Campaigns.Approve(t.Context(), CampaignID, seen.Digest())
				require.NoError(t, err, "its content is the same")
				again, err := second.Campaigns.Review(t.Context(), CampaignID)
				require.NoError(t, err)
				approval, err := second.Campaigns.Approve(t.Context(), CampaignID, seen.Digest())
				require.NoError(t, err)
				require.Equal(t, c.same, approval.Already)
				require.Equal(t, c.same, again.Approvals == 1)
				require.Equal(t, !c.same, two.Calls("campaigns.approve") == 1)
			})
		})
	}
}

// What earlier runs did is what the journal has of this service and workspace.
func TestCalls_OfThisWorkspace(t *testing.T) {
	j := journal.NewMemory("acme")
	client := NewClient(t, Untouched(t), prospectkit.WithJournal(j))
	for id, c := range map[string][3]string{
		"0 ours": {"imports.create", client.BaseURL(), "acme"}, "unnamed": {"imports.create", client.BaseURL(), ""},
		"theirs": {"imports.create", client.BaseURL(), "globex"}, "staging": {"imports.create", staging, "acme"}, "a list": {"lists.create", client.BaseURL(), "acme"},
	} {
		tick := journal.Ticket{Version: journal.Version, ID: id, Op: c[0], Service: c[1], Workspace: c[2]}
		require.NoError(t, j.Sending(t.Context(), tick))
		require.NoError(t, j.Ended(t.Context(), id, journal.End{Outcome: journal.Applied}))
	}
	calls := func(client *prospectkit.Client) (ids []string) {
		for e, err := range client.Calls(t.Context(), "imports.create") {
			require.NoError(t, err)
			require.Equal(t, journal.Applied, e.Outcome)
			ids = append(ids, e.Ticket.ID)
		}
		return ids
	}
	require.ElementsMatch(t, []string{"0 ours"}, calls(client))
	for _, err := range client.Calls(t.Context(), "imports.create") {
		require.NoError(t, err)
		break
	}
	for _, opts := range [][]prospectkit.ClientOption{nil, {prospectkit.WithJournal(&brokenHistory{err: ErrBroken})}} {
		var last error
		for e, err := range NewClient(t, Untouched(t), opts...).Calls(t.Context(), "imports.create") {
			require.NoError(t, last, "it is the last element")
			require.Zero(t, e)
			last = err
		}
		require.Error(t, last, "nothing would say that nothing was done")
	}
}

// A name that is not text would be another one in the journal, which stores JSON: an earlier import would not be found by it, nor an approval.
func TestNamesThatNoJournalKeeps(t *testing.T) {
	const raw = "caf\xe9" // as of a hash that is not written in digits
	_, err := prospectkit.New(BaseURL, Token, prospectkit.WithTransport(Untouched(t)), prospectkit.WithJournal(journal.NewMemory(raw)))
	require.ErrorIs(t, err, prospectkit.ErrInvalid)
	sb := EverySandbox(t, time.Now())
	client, ctx := SandboxClient(t, sb, prospectkit.WithJournal(new(journal.MemoryJournal))), prospectkit.WithActor(t.Context(), raw)
	_, err = client.Account.Me(ctx)
	require.NoError(t, err, "it needs no ticket")
	_, err = client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
	require.ErrorIs(t, err, prospectkit.ErrInvalid)
	hooked, err := client.With(prospectkit.WithObserver(func(context.Context, prospectkit.Event) context.Context { return ctx }))
	require.NoError(t, err)
	_, err = hooked.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
	require.ErrorIs(t, err, prospectkit.ErrInvalid)
	own := prospectkit.Operation{Name: raw, Method: http.MethodPost, Path: "/business/lists", Surface: "lists"}
	require.ErrorIs(t, client.Call(t.Context(), own, prospectkit.Fields{"name": "Q1"}, nil), prospectkit.ErrInvalid)
	require.Zero(t, sb.Calls("lists.create"))
}

// A journal that is compacted still knows which digests are used up, and which reviews an approval came after.
func TestApprove_AfterCompact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now())
		j, err := journal.Open(filepath.Join(t.TempDir(), "j"), "acme")
		require.NoError(t, err)
		defer j.Close()
		client := SandboxClient(t, sb, prospectkit.WithJournal(j))
		review := func() string {
			r, err := client.Campaigns.Review(t.Context(), CampaignID)
			require.NoError(t, err)
			return r.Digest()
		}
		stopAndCompact := func() {
			sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) })
			time.Sleep(time.Minute)
			require.NoError(t, j.Compact(t.Context(), time.Now(), nil))
		}
		var first string
		for range 2 {
			_, err = client.Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
			require.NoError(t, err)
			stopAndCompact()
			if first == "" {
				first = review()
			}
		}
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, first)
		require.ErrorIs(t, err, prospectkit.RuleReview, "it is from before another approval")
		second := review()
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, second, prospectkit.AllowResume())
		require.NoError(t, err)
		stopAndCompact()
		approval, err := client.Campaigns.Approve(t.Context(), CampaignID, second)
		requireAlready(t, approval, err, prospectkit.CampaignStopped)
		require.Equal(t, 3, sb.Calls("campaigns.approve"))
	})
}

// A review is used up by whoever approves the campaign: a later start with the same yes does not resume what a teammate has stopped since.
func TestApprove_UsedUpByATeammate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
		client, teammate := SandboxClient(t, sb, prospectkit.WithJournal(j)), SandboxClient(t, sb)
		restarted := func() {
			_, err := teammate.Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
		}
		stop := func() {
			sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) })
			time.Sleep(10 * time.Second)
		}
		restarted()
		stop()
		r, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		restarted()
		for range 2 { // noted once
			_, err = client.Campaigns.Approve(prospectkit.WithActor(t.Context(), "job 7"), CampaignID, r.Digest())
			refusedAsActive(t, err)
		}
		stop()
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest(), prospectkit.AllowResume())
		require.ErrorIs(t, err, prospectkit.RuleReview)
		require.ErrorContains(t, err, "approvals other calls have approved it")
		require.Equal(t, 2, sb.Calls("campaigns.approve"))
		entries := j.Entries()
		require.Len(t, entries, 1)
		require.Equal(t, []any{"job 7", journal.Applied, "prospectkit"}, []any{entries[0].Ticket.Actor, entries[0].Outcome, entries[0].By})
		require.Contains(t, entries[0].Because, "another call")
		r, err = client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest(), prospectkit.AllowResume())
		require.NoError(t, err, "a person who agrees again is obeyed")
	})
}

// failingJournal stores a ticket and then loses the response, or ends the context once the ticket is stored.
type failingJournal struct {
	journal.MemoryJournal
	stored func() error
}

func (j *failingJournal) Sending(ctx context.Context, t journal.Ticket) error {
	if err := j.MemoryJournal.Sending(ctx, t); err != nil {
		return err
	}
	return j.stored()
}

// What notes that a review is used up leaves nothing in doubt: no approval was sent, and a ticket in doubt would keep back all later ones.
func TestApprove_UsedUpIsNeverInDoubt(t *testing.T) {
	for name, lose := range map[string]bool{"the context ends": false, "the response of the store is lost": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb, j := EverySandbox(t, time.Now()), new(failingJournal)
				client, teammate := SandboxClient(t, sb, prospectkit.WithJournal(j)), SandboxClient(t, sb)
				r, err := client.Campaigns.Review(t.Context(), CampaignID)
				require.NoError(t, err)
				_, err = teammate.Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				j.stored = func() error {
					if lose {
						return errors.New("connection lost")
					}
					cancel()
					return nil
				}
				_, err = client.Campaigns.Approve(ctx, CampaignID, r.Digest())
				refusedAsActive(t, err)
				require.Len(t, j.Entries(), 1)
				require.NotEqual(t, journal.Unknown, j.Entries()[0].Outcome)
			})
		})
	}
}

// A review of an active campaign approves nothing, so there is nothing to use up: whoever reviews and approves on a schedule does not
// fill the journal.
func TestApprove_OfAnActiveCampaignNotesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
		client, teammate := SandboxClient(t, sb, prospectkit.WithJournal(j)), SandboxClient(t, sb)
		_, err := teammate.Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		r, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		refusedAsActive(t, err)
		require.Empty(t, j.Entries())
		sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) })
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.ErrorIs(t, err, prospectkit.RuleReview)
		require.Equal(t, 1, sb.Calls("campaigns.approve"))
	})
}
