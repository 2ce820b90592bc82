package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// teammate makes a change, as another client.
func teammate(t *testing.T, sb *sandbox.Sandbox, change func(c *prospectkit.Client) error) {
	t.Helper()
	require.NoError(t, change(SandboxClient(t, sb)))
}

// reviewEdits are changes to what was reviewed, and the sections that they show in.
var reviewEdits = map[string]struct {
	change func(t *testing.T, sb *sandbox.Sandbox)
	in     []string
}{
	"name": {func(t *testing.T, sb *sandbox.Sandbox) {
		teammate(t, sb, func(c *prospectkit.Client) error {
			_, err := c.Campaigns.Adjust(t.Context(), CampaignID, prospectkit.CampaignChanges{Extra: prospectkit.Fields{"name": "Autumn"}})
			return err
		})
	}, []string{"campaign changed"}},
	"step": {func(t *testing.T, sb *sandbox.Sandbox) {
		teammate(t, sb, func(c *prospectkit.Client) error {
			_, err := c.Campaigns.Adjust(t.Context(), CampaignID, prospectkit.CampaignChanges{Extra: prospectkit.Fields{"steps": []prospectkit.Fields{{"type": "email", "subject": "Hi", "body": "Buy now!"}}}})
			return err
		})
	}, []string{"steps changed"}},
	"send": {func(t *testing.T, sb *sandbox.Sandbox) {
		teammate(t, sb, func(c *prospectkit.Client) error {
			_, err := c.Campaigns.EditSend(t.Context(), SendID, prospectkit.Fields{"subject": "Last chance"})
			return err
		})
	}, []string{"sends changed"}},
	"state of a send": {func(_ *testing.T, sb *sandbox.Sandbox) {
		sb.Do(func(tx *sandbox.Tx) { tx.MoveSend(SendID, "approval_required") })
	}, []string{"sends changed"}},
	"lists": {func(t *testing.T, sb *sandbox.Sandbox) {
		teammate(t, sb, func(c *prospectkit.Client) error {
			_, err := c.Campaigns.Adjust(t.Context(), CampaignID, prospectkit.CampaignChanges{ListIDs: []string{ListID, SourceID}})
			return err
		})
	}, []string{"campaign changed", "lists changed: 1 reviewed, 2 now", "contacts changed: 2 reviewed, 3 now"}},
	"contact": {func(_ *testing.T, sb *sandbox.Sandbox) {
		sb.Do(func(tx *sandbox.Tx) {
			tx.RemoveRows(ListID, StepID)
			tx.AddRows(ListID, sandbox.Row{"firstName": "Eve", "email": "eve@else.example"})
		})
	}, []string{"contacts changed"}},
	"name of a list": {func(_ *testing.T, sb *sandbox.Sandbox) {
		sb.Do(func(tx *sandbox.Tx) { tx.RenameList(ListID, "Paris") })
	}, []string{"lists changed"}},
}

// Any change between review and approval, also while the approval reads, sends nothing.
func TestApprove_Edits(t *testing.T) {
	gaps := []string{"", "campaigns.list", "campaigns.steps", "campaigns.scheduled-sends", "lists.get", "lists.rows"}
	for name, edit := range reviewEdits {
		for _, gap := range gaps {
			t.Run(name+"/"+gap, func(t *testing.T) {
				start := time.Now()
				sb := EverySandbox(t, start, sandbox.WithClock(sandbox.NewManualClock(start)))
				if gap != "" {
					sb.Between(gap, func(tx *sandbox.Tx) {
						if tx.Gap() == 1 {
							edit.change(t, sb)
						}
					})
				}
				client := SandboxClient(t, sb)
				r, err := client.Campaigns.Review(t.Context(), CampaignID)
				require.NoError(t, err)
				if gap == "" {
					edit.change(t, sb)
				}
				_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
				refused, ok := errors.AsType[*prospectkit.RefusedError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, prospectkit.RuleReview, refused.Rule)
				var got []string
				for _, v := range refused.Violations {
					got = append(got, v.Param+" "+v.Problem)
				}
				if gap == "" {
					require.Equal(t, edit.in, got)
				}
				require.Contains(t, err.Error(), got[0])
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
				require.Zero(t, sb.Calls("campaigns.approve"))
				sb.Advance(48 * time.Hour)
				require.Empty(t, sb.Outbox())
			})
		}
	}
}

// While the contacts are read for the last time, which may take minutes, no change goes unnoticed either.
func TestApprove_EditsWhileContactsAreRead(t *testing.T) {
	for name, edit := range reviewEdits {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			sb := EverySandbox(t, start, sandbox.WithClock(sandbox.NewManualClock(start)))
			sb.Between("lists.rows", func(tx *sandbox.Tx) {
				if tx.Gap() == 2 {
					edit.change(t, sb)
				}
			})
			client := SandboxClient(t, sb)
			r, err := client.Campaigns.Review(t.Context(), CampaignID)
			require.NoError(t, err)
			_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
			refused, ok := errors.AsType[*prospectkit.RefusedError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, prospectkit.RuleReview, refused.Rule)
			require.Equal(t, 3, sb.Calls("lists.rows"), "the edit was made")
			require.Zero(t, sb.Calls("campaigns.approve"))
		})
	}
}

// Without a change, one approval is sent, however much later and in whatever order the keys come.
func TestApprove_Unchanged(t *testing.T) {
	synctest.Test(t, approveUnchanged)
}

func approveUnchanged(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	n := 0
	shuffled, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := sb.Transport().RoundTrip(r)
		if err != nil || r.Method != http.MethodGet {
			return resp, err
		}
		n++
		return rewritten(t, resp, n), nil
	})), prospectkit.WithJournal(new(journal.MemoryJournal)))
	require.NoError(t, err)
	r, err := shuffled.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	plain, err := SandboxClient(t, sb).Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	require.Equal(t, plain.Digest(), r.Digest())
	_, err = shuffled.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.NoError(t, err)
	require.Equal(t, 1, sb.Calls("campaigns.approve"))
	require.Positive(t, n)
}

// rewritten is a response whose records say when they were read, and whose keys come in another order.
func rewritten(t *testing.T, resp *http.Response, n int) *http.Response {
	t.Helper()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	var b bytes.Buffer
	backwards(&b, v, time.Unix(int64(n), 0).UTC().Format(time.RFC3339))
	resp.Body, resp.ContentLength = io.NopCloser(&b), int64(b.Len())
	resp.Header.Del("Content-Length")
	return resp
}

// backwards writes a JSON value with the keys of objects in falling order.
func backwards(b *bytes.Buffer, v any, readAt string) {
	switch v := v.(type) {
	case map[string]any:
		fmt.Fprintf(b, `{"readAt":%q`, readAt)
		for _, key := range slices.Backward(slices.Sorted(maps.Keys(v))) {
			fmt.Fprintf(b, `, %q :`, key)
			backwards(b, v[key], readAt)
		}
		b.WriteString("}")
	case []any:
		b.WriteString("[")
		for i := range v {
			if i > 0 {
				b.WriteString(",")
			}
			backwards(b, v[i], readAt)
		}
		b.WriteString("]")
	default:
		text, _ := json.Marshal(v)
		b.Write(text)
	}
}

func TestReview_Text(t *testing.T) {
	sb := EverySandbox(t, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	r, err := SandboxClient(t, sb, prospectkit.ReadOnly(), prospectkit.NoSpend()).Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	text := r.String()
	for _, want := range []string{"name: Spring", "Step 1 of 1", "subject: Hello {{firstName}}", "name: Berlin", "messages: 1 step, to the 2 contacts in its lists, by email.", "Scheduled send 1 of 1", "subject: Hello Ada"} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 2, r.ContactsCount)
}

func TestApprove_Refusals(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	client := SandboxClient(t, sb)
	_, err := client.Campaigns.Approve(t.Context(), CampaignID, "yes")
	require.ErrorIs(t, err, prospectkit.CodeValidationFailed)
	require.Empty(t, sb.Journal())
	_, err = client.Campaigns.Review(t.Context(), FactID)
	require.ErrorIs(t, err, prospectkit.CodeCampaignNotFound)
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	for _, mode := range []prospectkit.ClientOption{prospectkit.ReadOnly(), prospectkit.NoSend()} {
		_, err = SandboxClient(t, sb, mode).Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	}
	require.Zero(t, sb.Calls("campaigns.approve"))
}

// Without a journal, nothing would show that a review was used.
func TestApprove_WithoutJournal(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.ErrorIs(t, err, prospectkit.ErrInvalid)
	require.ErrorContains(t, err, "WithJournal is required")
	require.Zero(t, sb.Calls("campaigns.approve"))
}

// No read proves that an approval did not happen: nothing is approved, until a person has looked, and seen the campaign again.
func TestApprove_AfterResolve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
		client := SandboxClient(t, sb, prospectkit.WithJournal(j))
		r, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropBefore())
		for range 2 {
			_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
			require.Equal(t, 1, sb.Calls("campaigns.approve"))
		}
		unknown, _ := errors.AsType[*prospectkit.OutcomeUnknownError](err)
		sb.Fail("campaigns.list", sandbox.Nth(1), sandbox.Status(401, "UNAUTHORIZED"))
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.ErrorIs(t, err, prospectkit.CodeUnauthorized, "whether it is active cannot be read")
		found, err := unknown.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.OutcomeUnknown, found.Outcome)
		require.True(t, found.Again.After(time.Now()), "it may still become active")
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		require.Equal(t, 1, sb.Calls("campaigns.approve"))
		require.NoError(t, j.Settle(t.Context(), unknown.Ticket().ID, journal.Settlement{Outcome: journal.NotApplied, By: "Ada", Because: "it is a draft"}))
		again, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, again.Digest())
		require.NoError(t, err)
	})
}

// Two calls with one digest, in two processes at once: each stores its ticket and looks for that of the other.
func TestApprove_AtOnce(t *testing.T) { synctest.Test(t, testApproveAtOnce) }

func testApproveAtOnce(t *testing.T) {
	t.Helper()
	sb := EverySandbox(t, time.Now())
	j := new(journal.MemoryJournal)
	client := SandboxClient(t, sb, prospectkit.WithJournal(j))
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	other := journal.Ticket{Version: journal.Version, ID: "other", Op: "campaigns.approve", Service: sb.BaseURL(), Workspace: j.Workspace(), IDs: []string{CampaignID}, Lookup: journal.Lookup{Digest: r.Digest()}}
	sending := sync.OnceFunc(func() { require.NoError(t, j.Sending(t.Context(), other)) })
	sb.Between("campaigns.steps", func(*sandbox.Tx) { sending() })
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	refused, ok := errors.AsType[*prospectkit.RefusedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, prospectkit.RuleInProgress, refused.Rule)
	require.EqualError(t, err, "prospectkit: campaigns.approve: refused locally: another call may be doing this: ticket other has no outcome yet")
	require.Equal(t, NoWait, Waits(err))
	require.Zero(t, sb.Calls("campaigns.approve"))
	require.NoError(t, j.Ended(t.Context(), other.ID, journal.End{Outcome: journal.NotApplied}))
	ended := other
	ended.ID = "ended"
	sending = sync.OnceFunc(func() {
		require.NoError(t, j.Sending(t.Context(), ended))
		require.NoError(t, j.Ended(t.Context(), ended.ID, journal.End{Outcome: journal.Applied}))
	})
	approval, err := client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	requireAlready(t, approval, err, "draft")
	require.Zero(t, sb.Calls("campaigns.approve"))
	r, err = client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.ErrorIs(t, err, prospectkit.RuleResume, "its activation is not over, or it was stopped")
	require.ErrorContains(t, err, "campaign was approved at ")
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest(), prospectkit.AllowResume())
	require.NoError(t, err)

	broken := errors.New("the database is away")
	client = SandboxClient(t, sb, prospectkit.WithJournal(&brokenHistory{err: broken}))
	_, err = client.Campaigns.Review(t.Context(), CampaignID)
	require.ErrorIs(t, err, broken)
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.ErrorIs(t, err, broken)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.Equal(t, 1, sb.Calls("campaigns.approve"))
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
		_, err = client.Campaigns.Approve(run.Context(), CampaignID, digest)
		return err
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
	for how, approve := range map[string]func(*testing.T, *sandbox.Sandbox, *prospectkit.Client){
		"blind": func(t *testing.T, _ *sandbox.Sandbox, client *prospectkit.Client) {
			t.Helper()
			_, err := client.Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
			require.NoError(t, err)
		},
		"newer": func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
			t.Helper()
			var rows []string
			sb.Do(func(tx *sandbox.Tx) { rows = tx.AddRows(ListID, sandbox.Row{"firstName": "Eve"}) })
			newer, err := client.Campaigns.Review(t.Context(), CampaignID)
			require.NoError(t, err)
			_, err = client.Campaigns.Approve(t.Context(), CampaignID, newer.Digest(), prospectkit.AllowResume())
			require.NoError(t, err)
			sb.Do(func(tx *sandbox.Tx) { tx.RemoveRows(ListID, rows...) })
		},
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb := EverySandbox(t, time.Now())
				client := SandboxClient(t, sb, prospectkit.WithJournal(new(journal.MemoryJournal)))
				stop := func() {
					time.Sleep(time.Minute)
					sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) })
					time.Sleep(time.Minute)
				}
				_, err := client.Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
				require.NoError(t, err)
				stop()
				older, err := client.Campaigns.Review(t.Context(), CampaignID)
				require.NoError(t, err)
				approve(t, sb, client)
				_, err = client.Campaigns.Approve(t.Context(), CampaignID, older.Digest())
				if how == "blind" {
					refusedAsActive(t, err)
				}
				stop()
				_, err = client.Campaigns.Approve(t.Context(), CampaignID, older.Digest())
				require.ErrorIs(t, err, prospectkit.RuleReview)
				require.ErrorContains(t, err, "other calls have approved it, or may have: 1 reviewed, 2 now")
				require.Equal(t, 2, sb.Calls("campaigns.approve"))
			})
		})
	}
}

// So is it while another process approves, by whatever review: it finds the ticket.
func TestApprove_WhileAnotherIsApproved(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	j := new(journal.MemoryJournal)
	client := SandboxClient(t, sb, prospectkit.WithJournal(j))
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	other := journal.Ticket{Version: journal.Version, ID: "other", Op: "campaigns.approve", Service: sb.BaseURL(), Workspace: j.Workspace(), IDs: []string{CampaignID}}
	sending := sync.OnceFunc(func() { require.NoError(t, j.Sending(t.Context(), other)) })
	sb.Between("campaigns.steps", func(*sandbox.Tx) { sending() })
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.ErrorIs(t, err, prospectkit.RuleInProgress)
	require.Zero(t, sb.Calls("campaigns.approve"))
}

// A review that counts an approval which turns out not to have been applied is void after another one: as many, but not the same.
func TestApprove_AsManyApprovals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
		client := SandboxClient(t, sb, prospectkit.WithJournal(j))
		approve := func() error {
			_, err := client.Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
			return err
		}
		stop := func() {
			time.Sleep(time.Minute)
			sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) })
			time.Sleep(time.Minute)
		}
		require.NoError(t, approve())
		stop()
		sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropBefore())
		unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](approve())
		require.True(t, ok)
		older, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		require.Equal(t, 2, older.Approvals)
		require.NoError(t, j.Settle(t.Context(), unknown.Ticket().ID, journal.Settlement{Outcome: journal.NotApplied, By: "Ada", Because: "it was still stopped"}))
		require.NoError(t, approve())
		stop()
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, older.Digest())
		require.ErrorIs(t, err, prospectkit.RuleReview)
		require.Equal(t, 3, sb.Calls("campaigns.approve"))
	})
}

// The campaign could be approved a moment ago. If the service refuses that, it was approved or stopped since, by a teammate, or approved
// by this request, which a gateway has repeated: the agreement is used up.
func TestApprove_OfOneThatHasJustBecomeActive(t *testing.T) {
	for _, code := range []string{"CAMPAIGN_NOT_APPROVABLE", "CAMPAIGN_BUSY"} {
		t.Run(code, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { repeatedApproval(t, code) }) })
	}
}

func repeatedApproval(t *testing.T, code string) {
	t.Helper()
	sb := EverySandbox(t, time.Now())
	var reasons []string
	decided := Watch(func(e prospectkit.Event) {
		if e.Next != "" {
			reasons = append(reasons, e.Reason)
		}
	})
	client := SandboxClient(t, sb, prospectkit.WithJournal(new(journal.MemoryJournal)), decided)
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.Applied(), sandbox.Status(409, code))
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	require.True(t, ok)
	require.Equal(t, []string{"perhaps refused for its own effect"}, reasons)
	time.Sleep(time.Minute)
	sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) })
	time.Sleep(time.Minute)
	resolved, err := unknown.Resolve(t.Context())
	require.NoError(t, err)
	require.Equal(t, prospectkit.OutcomeUnknown, resolved.Outcome, "a person settles it")
	sent := sb.Calls("campaigns.approve")
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	require.Equal(t, sent, sb.Calls("campaigns.approve"))
}

// Nobody has approved it, and it stays a draft: that proves nothing.
func TestApprove_OfOneThatIsBusyAndStaysADraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now())
		client := SandboxClient(t, sb, prospectkit.WithJournal(new(journal.MemoryJournal)))
		r, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.Status(409, "CAMPAIGN_BUSY"))
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
		require.True(t, ok)
		time.Sleep(time.Hour)
		resolved, err := unknown.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.OutcomeUnknown, resolved.Outcome)
		require.Zero(t, resolved.Again, "waiting does not help")
	})
}

// What a cache shows may be what the person has seen, and no longer what is there.
func TestApprove_WhatACacheShows(t *testing.T) {
	for _, path := range []string{"/campaigns", "/steps", "/scheduled-sends", "/rows", "/lists/" + ListID} {
		t.Run(path, func(t *testing.T) {
			sb := EverySandbox(t, time.Now())
			aged := false
			cache := RoundTrip(func(r *http.Request) (*http.Response, error) {
				resp, err := sb.Transport().RoundTrip(r)
				if err == nil && aged && strings.HasSuffix(r.URL.Path, path) {
					resp.Header.Set("Age", "30")
				}
				return resp, err
			})
			client := SandboxClient(t, sb, prospectkit.WithTransport(cache))
			r, err := client.Campaigns.Review(t.Context(), CampaignID)
			require.NoError(t, err)
			aged = true
			_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
			require.ErrorContains(t, err, "may be old by its Age, which is that of a cache, or of a gateway that finds Date too old; nothing was approved: keep responses of this API out of caches")
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Equal(t, NoWait, Waits(err))
			require.Zero(t, sb.Calls("campaigns.approve"))
		})
	}
}

// Nor is a campaign active because it was when a cache read it: an earlier approval stays unknown.
func TestApprove_ActiveInACache(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	cached := false
	client := SandboxClient(t, sb, prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := sb.Transport().RoundTrip(r)
		if err == nil && cached && r.Method == http.MethodGet {
			resp.Header.Set("Age", "30")
		}
		return resp, err
	})))
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropAfter())
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	cached = true
	_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	cached = false
	approval, err := client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	requireAlready(t, approval, err, prospectkit.CampaignActive)
}
