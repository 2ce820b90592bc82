package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// desk is where somebody reviews and approves the campaign of EverySandbox.
type desk struct {
	t      *testing.T
	sb     *sandbox.Sandbox
	book   *journal.MemoryJournal
	client *client
}

// atDesk runs a test in virtual time. Its client has the book, unless the options give it another journal.
func atDesk(t *testing.T, name string, test func(t *testing.T, d *desk)) {
	t.Helper()
	InBubble(t, name, func(t *testing.T) {
		d := &desk{t: t, sb: EverySandbox(t, time.Now()), book: new(journal.MemoryJournal)}
		d.client = d.process()
		test(t, d)
	})
}

// process is the client of another process, with the same journal.
func (d *desk) process(opts ...prospectkit.ClientOption) *client {
	d.t.Helper()
	return SandboxClient(d.t, d.sb, append(opts, prospectkit.WithJournal(d.book))...)
}

// An alteration changes the response to a request, or loses it.
type alteration func(r *http.Request, resp *http.Response) error

// through sends what comes from now on through a transport that alters responses.
func (d *desk) through(alter alteration, opts ...prospectkit.ClientOption) {
	d.t.Helper()
	d.client = d.process(append(opts, prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := d.sb.Transport().RoundTrip(r)
		if err == nil {
			err = alter(r, resp)
		}
		return resp, err
	})))...)
}

func (d *desk) review() *prospectkit.Review {
	d.t.Helper()
	r, err := d.client.Campaigns.Review(d.t.Context(), CampaignID)
	require.NoError(d.t, err)
	return r
}

func (d *desk) approve(r *prospectkit.Review, opts ...option) error {
	return Discard(d.client.Campaigns.Approve(d.t.Context(), CampaignID, r.Digest(), opts...))
}

// already demands that the digest of a review has approved the campaign before, and what its status is now.
func (d *desk) already(r *prospectkit.Review, status prospectkit.CampaignStatus) {
	d.t.Helper()
	approval, err := d.client.Campaigns.Approve(d.t.Context(), CampaignID, r.Digest())
	require.NoError(d.t, err)
	require.Equal(d.t, &prospectkit.Approval{CampaignID: CampaignID, Status: status, Already: true}, approval)
}

// blind approves without a review.
func (d *desk) blind() error {
	return Discard(d.client.Campaigns.ApproveUnreviewed(d.t.Context(), CampaignID))
}

// teammate approves without a review, and without the journal.
func (d *desk) teammate() {
	d.t.Helper()
	require.NoError(d.t, Discard(SandboxClient(d.t, d.sb).Campaigns.ApproveUnreviewed(d.t.Context(), CampaignID)))
}

// stop is what a teammate does a minute later.
func (d *desk) stop() {
	time.Sleep(time.Minute)
	d.sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) })
	time.Sleep(time.Minute)
}

// fails makes the next approval fail.
func (d *desk) fails(fault ...sandbox.FaultOption) {
	d.sb.Fail("campaigns.approve", append(fault, sandbox.Nth(1))...)
}

func (d *desk) settle(ticket journal.Ticket, outcome journal.Outcome) {
	d.t.Helper()
	s := journal.Settlement{Outcome: outcome, By: "Ada", Because: "she has looked"}
	require.NoError(d.t, d.book.Settle(d.t.Context(), ticket.ID, s))
}

// sent demands how many approvals were sent so far.
func (d *desk) sent(n int) {
	d.t.Helper()
	require.Equal(d.t, n, d.sb.Calls("campaigns.approve"))
}

func (d *desk) nothingInDoubt() {
	d.t.Helper()
	for ticket, err := range d.client.InDoubt(d.t.Context()) {
		require.NoError(d.t, err)
		require.Empty(d.t, ticket, "in doubt")
	}
}

// ticket is that of another process, for an approval by a digest.
func (d *desk) ticket(id, digest string) journal.Ticket {
	return journal.Ticket{
		Version: journal.Version, ID: id, Op: "campaigns.approve", Service: d.sb.BaseURL(), Workspace: d.book.Workspace(),
		IDs: []string{CampaignID}, Lookup: journal.Lookup{Digest: digest},
	}
}

// refusedBy demands a refusal by a rule, and returns what it says.
func refusedBy(t *testing.T, err error, rule prospectkit.SafetyRule) (problems []string) {
	t.Helper()
	refused, ok := errors.AsType[*prospectkit.RefusedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, rule, refused.Rule)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	for _, v := range refused.Violations {
		problems = append(problems, v.Param+" "+v.Problem)
	}
	return problems
}

// refusedAsActive demands that a call was refused because another one has approved the campaign.
func refusedAsActive(t *testing.T, err error) {
	t.Helper()
	refusedBy(t, err, prospectkit.RuleReview)
	require.ErrorContains(t, err, "campaign is active: another call has approved it")
}

// reviewEdits are changes to what was reviewed, and the sections that they show in.
var reviewEdits = map[string]struct {
	change func(ctx ctxt, c *client, sb *sandbox.Sandbox) error
	in     []string
}{
	"name": {adjusts(prospectkit.CampaignChanges{Extra: fields{"name": "Autumn"}}), []string{"campaign changed"}},
	"step": {
		adjusts(prospectkit.CampaignChanges{Extra: fields{"steps": []fields{{"type": "email", "subject": "Hi", "body": "Buy now!"}}}}),
		[]string{"steps changed"},
	},
	"send": {func(ctx ctxt, c *client, _ *sandbox.Sandbox) error {
		return Discard(c.Campaigns.EditSend(ctx, SendID, fields{"subject": "Last chance"}))
	}, []string{"sends changed"}},
	"state of a send": {func(_ ctxt, _ *client, sb *sandbox.Sandbox) error {
		sends := sb.Sends(CampaignID)
		sends[0].State = "approval_required"
		sb.Do(func(tx *sandbox.Tx) { tx.Put("campaigns", sandbox.Row{"id": CampaignID, "sends": sends}) })
		return nil
	}, []string{"sends changed"}},
	"lists": {
		adjusts(prospectkit.CampaignChanges{ListIDs: []string{ListID, SourceID}}),
		[]string{"campaign changed", "lists changed: 1 reviewed, 2 now", "contacts changed: 2 reviewed, 3 now"},
	},
	"contact": {edits(func(tx *sandbox.Tx) {
		tx.RemoveRows(ListID, StepID)
		tx.AddRows(ListID, sandbox.Row{"firstName": "Eve", "email": "eve@else.example"})
	}), []string{"contacts changed"}},
	"name of a list": {edits(func(tx *sandbox.Tx) { tx.Put("lists", sandbox.Row{"id": ListID, "name": "Paris"}) }), []string{"lists changed"}},
}

func adjusts(changes prospectkit.CampaignChanges) func(ctxt, *client, *sandbox.Sandbox) error {
	return func(ctx ctxt, c *client, _ *sandbox.Sandbox) error {
		return Discard(c.Campaigns.Adjust(ctx, CampaignID, changes))
	}
}

func edits(change func(*sandbox.Tx)) func(ctxt, *client, *sandbox.Sandbox) error {
	return func(_ ctxt, _ *client, sb *sandbox.Sandbox) error { sb.Do(change); return nil }
}

// Any change between review and approval, also while the approval reads, sends nothing.
func TestApprove_Edits(t *testing.T) {
	for name, edit := range reviewEdits {
		for _, gap := range []struct {
			op  string
			nth int
		}{
			{},
			{"campaigns.list", 1},
			{"campaigns.steps", 1},
			{"campaigns.scheduled-sends", 1},
			{"lists.get", 1},
			{"lists.rows", 1},
			{"lists.rows", 2}, // while the contacts are read for the last time, which may take minutes
		} {
			atDesk(t, fmt.Sprint(name, " ", gap.op, gap.nth), func(t *testing.T, d *desk) {
				change := func() { require.NoError(t, edit.change(t.Context(), SandboxClient(t, d.sb), d.sb)) }
				if gap.nth > 0 {
					d.sb.Between(gap.op, func(tx *sandbox.Tx) {
						if tx.Gap() == gap.nth {
							change()
						}
					})
				}
				r := d.review()
				if gap.nth == 0 {
					change()
				}
				err := d.approve(r)
				got := refusedBy(t, err, prospectkit.RuleReview)
				if gap.nth == 0 {
					require.Equal(t, edit.in, got)
				}
				if gap.nth == 2 {
					require.Equal(t, 3, d.sb.Calls("lists.rows"), "the edit was made")
				}
				require.ErrorContains(t, err, got[0])
				d.sent(0)
				time.Sleep(48 * time.Hour)
				require.Empty(t, d.sb.Outbox())
			})
		}
	}
}

// Without a change, one approval is sent, however much later and in whatever order the keys come.
func TestApprove_Unchanged(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		plain, n := d.review(), 0
		d.through(func(r *http.Request, resp *http.Response) error {
			if r.Method == http.MethodGet {
				n++
				rewrite(t, resp, n)
			}
			return nil
		})
		r := d.review()
		require.Equal(t, plain.Digest(), r.Digest())
		require.NoError(t, d.approve(r))
		d.sent(1)
		require.Positive(t, n)
	})
}

// rewrite makes the records of a response say when they were read, and puts their keys in another order, with spaces.
func rewrite(t *testing.T, resp *http.Response, n int) {
	t.Helper()
	var v any
	d := json.NewDecoder(resp.Body)
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	readNow(v, time.Unix(int64(n), 0).UTC().Format(time.RFC3339))
	text, err := json.MarshalIndent(v, "", " ") // in the order of the names
	require.NoError(t, err)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	resp.Header.Del("Content-Length")
}

// readNow adds a field to each object.
func readNow(v any, at string) {
	switch v := v.(type) {
	case map[string]any:
		for _, field := range v {
			readNow(field, at)
		}
		v["readAt"] = at
	case []any:
		for _, element := range v {
			readNow(element, at)
		}
	}
}

func TestReview_Text(t *testing.T) {
	sb := EverySandbox(t, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	r, err := SandboxClient(t, sb, prospectkit.ReadOnly(), prospectkit.NoSpend()).Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	for _, want := range []string{
		"name: Spring", "Step 1 of 1", "subject: Hello {{firstName}}", "name: Berlin",
		"messages: 1 step, to the 2 contacts in its lists, by email.", "Scheduled send 1 of 1", "subject: Hello Ada",
	} {
		require.Contains(t, r.String(), want)
	}
	require.Equal(t, 2, r.ContactsCount)
}

func TestApprove_Refusals(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		_, err := d.client.Campaigns.Approve(t.Context(), CampaignID, "yes")
		require.ErrorIs(t, err, prospectkit.CodeValidationFailed)
		require.Empty(t, d.sb.Journal())
		_, err = d.client.Campaigns.Review(t.Context(), FactID)
		require.ErrorIs(t, err, prospectkit.CodeCampaignNotFound)
		r := d.review()
		for _, mode := range []prospectkit.ClientOption{prospectkit.ReadOnly(), prospectkit.NoSend()} {
			d.client = d.process(mode)
			require.ErrorAs(t, d.approve(r), new(*prospectkit.RefusedError))
		}
		d.client, err = prospectkit.New(d.sb.BaseURL(), d.sb.Token(), prospectkit.WithTransport(d.sb.Transport()))
		require.NoError(t, err)
		err = d.approve(d.review())
		require.ErrorIs(t, err, prospectkit.ErrInvalid)
		require.ErrorContains(t, err, "WithJournal is required", "without one, nothing would show that a review was used")
		d.sent(0)
	})
}

// No read proves that an approval did not happen: nothing is approved, until a person has looked, and seen the campaign again.
func TestApprove_AfterResolve(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		r := d.review()
		d.fails(sandbox.DropBefore())
		var unknown *prospectkit.OutcomeUnknownError
		for range 2 {
			unknown = Unknown(t, d.approve(r))
			d.sent(1)
		}
		d.sb.Fail("campaigns.list", sandbox.Nth(1), sandbox.Status(401, "UNAUTHORIZED"))
		require.ErrorIs(t, d.approve(r), prospectkit.CodeUnauthorized, "whether it is active cannot be read")
		found := Resolved(t, unknown)
		require.Equal(t, prospectkit.OutcomeUnknown, found.Outcome)
		require.True(t, found.Again.After(time.Now()), "it may still become active")
		require.ErrorIs(t, d.approve(r), prospectkit.ErrOutcomeUnknown)
		d.sent(1)
		d.settle(unknown.Ticket(), journal.NotApplied)
		require.NoError(t, d.approve(d.review()))
	})
}

// Two calls in two processes at once, with one digest or others: each stores its ticket and looks for that of the other.
func TestApprove_AtOnce(t *testing.T) {
	atDesk(t, "any digest", func(t *testing.T, d *desk) {
		r, sending := d.review(), sync.OnceFunc(func() { require.NoError(t, d.book.Sending(t.Context(), d.ticket("other", ""))) })
		d.sb.Between("campaigns.steps", func(*sandbox.Tx) { sending() })
		require.ErrorIs(t, d.approve(r), prospectkit.RuleInProgress)
		d.sent(0)
	})
	atDesk(t, "the same", func(t *testing.T, d *desk) {
		r, other, ended := d.review(), d.ticket("other", ""), d.ticket("ended", "")
		other.Lookup.Digest, ended.Lookup.Digest = r.Digest(), r.Digest()
		sending := sync.OnceFunc(func() { require.NoError(t, d.book.Sending(t.Context(), other)) })
		d.sb.Between("campaigns.steps", func(*sandbox.Tx) { sending() })
		err := d.approve(r)
		refusedBy(t, err, prospectkit.RuleInProgress)
		require.EqualError(t, err, "prospectkit: campaigns.approve: refused locally: another call may be doing this: ticket other has no outcome yet")
		require.Equal(t, NoWait, Waits(err))
		require.NoError(t, d.book.Ended(t.Context(), other.ID, journal.End{Outcome: journal.NotApplied}))
		sending = sync.OnceFunc(func() {
			require.NoError(t, d.book.Sending(t.Context(), ended))
			require.NoError(t, d.book.Ended(t.Context(), ended.ID, journal.End{Outcome: journal.Applied}))
		})
		d.already(r, "draft")
		d.sent(0)
		r = d.review()
		err = d.approve(r)
		require.ErrorIs(t, err, prospectkit.RuleResume, "its activation is not over, or it was stopped")
		require.ErrorContains(t, err, "campaign was approved at ")
		require.NoError(t, d.approve(r, prospectkit.AllowResume()))
		d.sent(1)
	})
}

// What a journal that cannot be read may hold keeps everything back.
func TestApprove_HistoryThatCannotBeRead(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		r, broken := d.review(), errors.New("the database is away")
		d.client = SandboxClient(t, d.sb, prospectkit.WithJournal(&brokenHistory{err: broken}))
		require.ErrorIs(t, Discard(d.client.Campaigns.Review(t.Context(), CampaignID)), broken)
		err := d.approve(r)
		require.ErrorIs(t, err, broken)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		d.sent(0)
	})
}

// Every pair of failures: at most one approval, and only of what was reviewed.
func TestEveryFailure_Approve(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		file, err := journal.Open(filepath.Join(run.Dir(), "journal"), "acme")
		if err != nil {
			return err
		}
		defer file.Close()
		client := clientOf(run, prospectkit.WithJournal(file))
		digest, kept := run.Load("digest")
		if !kept {
			r, err := client.Campaigns.Review(run.Context(), CampaignID)
			if err != nil {
				return err
			}
			digest = r.Digest()
			run.Save("digest", digest)
		}
		return Discard(client.Campaigns.Approve(run.Context(), CampaignID, digest))
	}, func(run *sandbox.Run) error {
		applied := 0
		for _, e := range run.Journal() {
			if e.Op == "campaigns.approve" {
				applied += min(1, len(e.Effects))
			}
		}
		switch outcome := prospectkit.OutcomeOf(run.Err()); {
		case applied > 1:
			return fmt.Errorf("approved %d times", applied)
		case outcome == prospectkit.OutcomeApplied && applied == 0, outcome == prospectkit.OutcomeNotApplied && applied > 0 && run.Starts() == 1:
			return fmt.Errorf("claims %s, but %d approvals", outcome, applied)
		}
		return nil
	}, everySweep()...)
}

// An agreement to what a stopped campaign was is void after any later approval, even if the campaign is as it was again.
func TestApprove_OlderThanAnotherApproval(t *testing.T) {
	for how, approve := range map[string]func(*testing.T, *desk){
		"blind": func(t *testing.T, d *desk) { t.Helper(); require.NoError(t, d.blind()) },
		"newer": func(t *testing.T, d *desk) {
			t.Helper()
			var rows []string
			d.sb.Do(func(tx *sandbox.Tx) { rows = tx.AddRows(ListID, sandbox.Row{"firstName": "Eve"}) })
			require.NoError(t, d.approve(d.review(), prospectkit.AllowResume()))
			d.sb.Do(func(tx *sandbox.Tx) { tx.RemoveRows(ListID, rows...) })
		},
	} {
		atDesk(t, how, func(t *testing.T, d *desk) {
			require.NoError(t, d.blind())
			d.stop()
			older := d.review()
			approve(t, d)
			err := d.approve(older)
			if how == "blind" {
				refusedAsActive(t, err)
			}
			d.stop()
			err = d.approve(older)
			require.ErrorIs(t, err, prospectkit.RuleReview)
			require.ErrorContains(t, err, "other calls have approved it, or may have: 1 reviewed, 2 now")
			d.sent(2)
		})
	}
}

// A review that counts an approval which turns out not to have been applied is void after another one: as many, but not the same.
func TestApprove_AsManyApprovals(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		require.NoError(t, d.blind())
		d.stop()
		d.fails(sandbox.DropBefore())
		unknown := Unknown(t, d.blind())
		older := d.review()
		require.Equal(t, 2, older.Approvals)
		d.settle(unknown.Ticket(), journal.NotApplied)
		require.NoError(t, d.blind())
		d.stop()
		require.ErrorIs(t, d.approve(older), prospectkit.RuleReview)
		d.sent(3)
	})
}

// The campaign could be approved a moment ago. If the service refuses that, it was approved or stopped since, by a teammate, or approved
// by this request, which a gateway has repeated: the agreement is used up. If it stays a draft, nobody has approved it: that proves nothing.
func TestApprove_OfOneThatHasJustBecomeActive(t *testing.T) {
	for name, faults := range map[string][]sandbox.FaultOption{
		"approved": {sandbox.Applied(), sandbox.Status(409, "CAMPAIGN_NOT_APPROVABLE")},
		"busy":     {sandbox.Applied(), sandbox.Status(409, "CAMPAIGN_BUSY")},
		"a draft":  {sandbox.Status(409, "CAMPAIGN_BUSY")},
	} {
		atDesk(t, name, func(t *testing.T, d *desk) {
			var reasons []string
			d.client = d.process(Watch(func(e prospectkit.Event) {
				if e.Next != "" {
					reasons = append(reasons, e.Reason)
				}
			}))
			r := d.review()
			d.fails(faults...)
			unknown := Unknown(t, d.approve(r))
			require.Equal(t, []string{"perhaps refused for its own effect"}, reasons)
			if name == "a draft" {
				time.Sleep(time.Hour)
			} else {
				d.stop()
			}
			resolved := Resolved(t, unknown)
			require.Equal(t, prospectkit.OutcomeUnknown, resolved.Outcome, "a person settles it")
			if name == "a draft" {
				require.Zero(t, resolved.Again, "waiting does not help")
			}
			sent := d.sb.Calls("campaigns.approve")
			require.ErrorIs(t, d.approve(r), prospectkit.ErrOutcomeUnknown)
			d.sent(sent)
		})
	}
}

// What a cache shows may be what the person has seen, and no longer what is there.
func TestApprove_WhatACacheShows(t *testing.T) {
	for _, path := range []string{"/campaigns", "/steps", "/scheduled-sends", "/rows", "/lists/" + ListID} {
		atDesk(t, path, func(t *testing.T, d *desk) {
			r := d.review()
			d.through(aged(path))
			err := d.approve(r)
			require.ErrorContains(t, err, "may be old by its Age, which is that of a cache, or of a gateway that finds Date too old; nothing was approved: keep responses of this API out of caches")
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Equal(t, NoWait, Waits(err))
			d.sent(0)
		})
	}
}

// aged gives the responses to reads of some paths the Age that a cache gives them.
func aged(suffix string) alteration {
	return func(r *http.Request, resp *http.Response) error {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, suffix) {
			resp.Header.Set("Age", "30")
		}
		return nil
	}
}
