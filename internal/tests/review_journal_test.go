package tests

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
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
	for name, same := range map[string]bool{"another service": false, "the same": true} {
		atDesk(t, name, func(t *testing.T, d *desk) {
			other, base := EverySandbox(t, time.Now()), staging
			if same {
				base = other.BaseURL()
			}
			second, err := prospectkit.New(base, other.Token(), prospectkit.WithJournal(d.book), at(other))
			require.NoError(t, err)
			seen, err := second.Campaigns.Review(t.Context(), CampaignID)
			require.NoError(t, err)
			require.NoError(t, d.approve(seen), "its content is the same")
			again, err := second.Campaigns.Review(t.Context(), CampaignID)
			require.NoError(t, err)
			approval, err := second.Campaigns.Approve(t.Context(), CampaignID, seen.Digest())
			require.NoError(t, err)
			require.Equal(t, same, approval.Already)
			require.Equal(t, same, again.Approvals == 1)
			require.Equal(t, !same, other.Calls("campaigns.approve") == 1)
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
	require.NoError(t, Discard(client.Account.Me(ctx)), "it needs no ticket")
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
	atDesk(t, "", func(t *testing.T, d *desk) {
		j, err := journal.Open(filepath.Join(t.TempDir(), "j"), "acme")
		require.NoError(t, err)
		defer j.Close()
		d.client = SandboxClient(t, d.sb, prospectkit.WithJournal(j))
		stopAndCompact := func() {
			d.stop()
			require.NoError(t, j.Compact(t.Context(), time.Now(), nil))
		}
		require.NoError(t, d.blind())
		stopAndCompact()
		first := d.review()
		require.NoError(t, d.blind())
		stopAndCompact()
		require.ErrorIs(t, d.approve(first), prospectkit.RuleReview, "it is from before another approval")
		second := d.review()
		require.NoError(t, d.approve(second, prospectkit.AllowResume()))
		stopAndCompact()
		d.already(second, prospectkit.CampaignStopped)
		d.sent(3)
	})
}

// A review is used up by whoever approves the campaign: a later start with the same yes does not resume what a teammate has stopped since.
func TestApprove_UsedUpByATeammate(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		d.teammate()
		d.stop()
		r := d.review()
		d.teammate()
		time.Sleep(10 * time.Second)
		for range 2 { // noted once
			_, err := d.client.Campaigns.Approve(prospectkit.WithActor(t.Context(), "job 7"), CampaignID, r.Digest())
			refusedAsActive(t, err)
		}
		d.stop()
		err := d.approve(r, prospectkit.AllowResume())
		require.ErrorIs(t, err, prospectkit.RuleReview)
		require.ErrorContains(t, err, "approvals other calls have approved it")
		d.sent(2)
		entries := d.book.Entries()
		require.Len(t, entries, 1)
		require.Equal(t, []any{"job 7", journal.Applied, "prospectkit"}, []any{entries[0].Ticket.Actor, entries[0].Outcome, entries[0].By})
		require.Contains(t, entries[0].Because, "another call")
		require.NoError(t, d.approve(d.review(), prospectkit.AllowResume()), "a person who agrees again is obeyed")
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
	for name, lost := range map[string]error{"the context ends": nil, "the response of the store is lost": errors.New("connection lost")} {
		atDesk(t, name, func(t *testing.T, d *desk) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			j := &failingJournal{stored: func() error {
				if lost == nil {
					cancel()
				}
				return lost
			}}
			d.client = SandboxClient(t, d.sb, prospectkit.WithJournal(j))
			r := d.review()
			d.teammate()
			_, err := d.client.Campaigns.Approve(ctx, CampaignID, r.Digest())
			refusedAsActive(t, err)
			require.Len(t, j.Entries(), 1)
			require.NotEqual(t, journal.Unknown, j.Entries()[0].Outcome)
		})
	}
}

// A review of an active campaign approves nothing, so there is nothing to use up: whoever reviews and approves on a schedule does not
// fill the journal.
func TestApprove_OfAnActiveCampaignNotesNothing(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		d.teammate()
		time.Sleep(10 * time.Second)
		r := d.review()
		refusedAsActive(t, d.approve(r))
		require.Empty(t, d.book.Entries())
		d.stop()
		require.ErrorIs(t, d.approve(r), prospectkit.RuleReview)
		d.sent(1)
	})
}
