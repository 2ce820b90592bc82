package tests

import (
	"bytes"
	"errors"
	"io"
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

// doubtful is a stopped campaign, and an approval of it whose outcome is unknown.
type doubtful struct {
	sb     *sandbox.Sandbox
	book   *journal.MemoryJournal
	client *prospectkit.Client
	ticket journal.Ticket
	sent   int // approvals so far
}

func (d *doubtful) review(t *testing.T) *prospectkit.Review {
	t.Helper()
	r, err := d.client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	return r
}

func (d *doubtful) approve(t *testing.T, r *prospectkit.Review) error {
	t.Helper()
	_, err := d.client.Campaigns.Approve(t.Context(), CampaignID, r.Digest(), prospectkit.AllowResume())
	return err
}

func (d *doubtful) settle(t *testing.T, outcome journal.Outcome) {
	t.Helper()
	require.NoError(t, d.book.Settle(t.Context(), d.ticket.ID, journal.Settlement{Outcome: outcome, By: "Ada", Because: "she has looked"}))
}

func stopCampaign(sb *sandbox.Sandbox) {
	time.Sleep(time.Minute)
	sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) })
	time.Sleep(time.Minute)
}

// inDoubt runs a test after an approval by a review, or by ApproveUnreviewed, whose request is lost.
func inDoubt(t *testing.T, test func(t *testing.T, d *doubtful)) {
	t.Helper()
	for _, reviewed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d := &doubtful{sb: EverySandbox(t, time.Now()), book: new(journal.MemoryJournal)}
			d.client = SandboxClient(t, d.sb, prospectkit.WithJournal(d.book))
			require.NoError(t, d.approve(t, d.review(t)))
			stopCampaign(d.sb)
			seen := d.review(t)
			d.sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropBefore())
			approve := func() error { return d.approve(t, seen) }
			if !reviewed {
				approve = func() error {
					_, err := d.client.Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
					return err
				}
			}
			unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](approve())
			require.True(t, ok)
			d.ticket, d.sent = unknown.Ticket(), d.sb.Calls("campaigns.approve")
			test(t, d)
		})
	}
}

// While an approval of a campaign is in doubt, no review of it is approved: the first request may still arrive.
func TestApprove_WhileOneIsInDoubt(t *testing.T) {
	inDoubt(t, func(t *testing.T, d *doubtful) {
		seen := d.review(t)
		require.Contains(t, seen.String(), "\nApproved before: 1\nAn earlier approval is IN DOUBT, it may have happened: until ticket "+d.ticket.ID+" is resolved or settled, nothing is approved; make this review again then.\n")
		require.Equal(t, 2, seen.Approvals)
		err := d.approve(t, seen)
		unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, d.ticket.ID, unknown.Ticket().ID)
		require.EqualError(t, err, "prospectkit: campaigns.approve: outcome unknown, it may have happened: this call was not sent, because an earlier one is in doubt: Resolve it, "+
			"or settle ticket "+d.ticket.ID+", as prospectkit settle does")
		r, err := unknown.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, "it is stopped")
		require.ErrorIs(t, d.approve(t, seen), prospectkit.ErrOutcomeUnknown)
		require.Equal(t, d.sent, d.sb.Calls("campaigns.approve"))
	})
}

// Once a person has settled it, a review says so, and can be approved: one that was made in doubt says something else.
func TestApprove_AfterTheDoubt(t *testing.T) {
	for outcome, says := range map[journal.Outcome]string{journal.Applied: "Approved before: 2\n", journal.NotApplied: "Approved before: 1\n"} {
		t.Run(string(outcome), func(t *testing.T) {
			inDoubt(t, func(t *testing.T, d *doubtful) {
				older := d.review(t)
				d.settle(t, outcome)
				require.ErrorIs(t, d.approve(t, older), prospectkit.RuleReview)
				require.Equal(t, d.sent, d.sb.Calls("campaigns.approve"))
				seen := d.review(t)
				require.Contains(t, seen.String(), says)
				require.NotContains(t, seen.String(), "IN DOUBT")
				require.NoError(t, d.approve(t, seen))
				require.Equal(t, d.sent+1, d.sb.Calls("campaigns.approve"))
			})
		})
	}
}

// An approval that has happened after all is found, and no person has to settle anything.
func TestApprove_TheOneInDoubtHasHappened(t *testing.T) {
	inDoubt(t, func(t *testing.T, d *doubtful) {
		seen := d.review(t)
		_, err := SandboxClient(t, d.sb).Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
		require.NoError(t, err, "the request arrives late")
		time.Sleep(time.Minute)
		refusedAsActive(t, d.approve(t, seen))
		for _, err := range d.client.InDoubt(t.Context()) {
			require.NoError(t, err)
			require.Fail(t, "in doubt")
		}
	})
}

// A double click: while an approval is being sent, another call of the same process sends nothing, and asks no person.
func TestApprove_WhileItIsSent(t *testing.T) {
	file, err := journal.Open(filepath.Join(t.TempDir(), "journal"), "acme")
	require.NoError(t, err)
	defer file.Close()
	for _, j := range []journal.Journal{file, new(journal.MemoryJournal)} {
		synctest.Test(t, func(t *testing.T) {
			sb := EverySandbox(t, time.Now())
			second := func() {}
			client := SandboxClient(t, sb, prospectkit.WithJournal(j), prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/approve") {
					second()
				}
				return sb.Transport().RoundTrip(r)
			})))
			seen, err := client.Campaigns.Review(t.Context(), CampaignID)
			require.NoError(t, err)
			clicked := false
			second = func() {
				clicked = true
				_, err := client.Campaigns.Approve(t.Context(), CampaignID, seen.Digest())
				require.ErrorIs(t, err, prospectkit.RuleInProgress)
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			}
			_, err = client.Campaigns.Approve(t.Context(), CampaignID, seen.Digest())
			require.NoError(t, err)
			require.True(t, clicked)
			require.Equal(t, 1, sb.Calls("campaigns.approve"))
			approval, err := client.Campaigns.Approve(t.Context(), CampaignID, seen.Digest())
			requireAlready(t, approval, err, prospectkit.CampaignActive)
		})
	}
}

// Whoever reviews and approves without a person, in a cron job or a queue, does not undo what a teammate has stopped.
func TestApprove_ResumesIfAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, remembers := range []bool{true, false} { // a job on a new machine knows the status only
			sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
			resumes := false
			approve := func(opts ...prospectkit.CallOption) error {
				client := SandboxClient(t, sb, prospectkit.WithJournal(j))
				r, err := client.Campaigns.Review(t.Context(), CampaignID)
				require.NoError(t, err)
				require.Equal(t, resumes, r.Resumes())
				_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest(), opts...)
				return err
			}
			require.NoError(t, approve())
			refusedAsActive(t, approve()) // there is nothing to resume
			if !remembers {
				j = new(journal.MemoryJournal)
			}
			stopCampaign(sb)
			resumes = true
			err := approve()
			require.ErrorIs(t, err, prospectkit.RuleResume)
			require.ErrorContains(t, err, "campaign is stopped: pass AllowResume")
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Equal(t, 1, sb.Calls("campaigns.approve"))
			require.NoError(t, approve(prospectkit.AllowResume()), "a person has agreed")
			require.Equal(t, 2, sb.Calls("campaigns.approve"))
			_, err = SandboxClient(t, sb).Campaigns.ApproveUnreviewed(t.Context(), CampaignID, prospectkit.AllowResume())
			require.ErrorContains(t, err, "AllowResume is for Approve")
		}
	})
}

// A test of a program may make a review by hand.
func TestReview_ResumesWithoutACampaign(t *testing.T) {
	require.True(t, new(prospectkit.Review).Resumes())
}

// A listing without the status, which is undocumented there, may hide that a teammate has stopped the campaign.
func TestApprove_ResumesWithoutAStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now())
		_, err := SandboxClient(t, sb).Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
		require.NoError(t, err)
		stopCampaign(sb)
		client := SandboxClient(t, sb, prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := sb.Transport().RoundTrip(r)
			if err == nil && strings.HasSuffix(r.URL.Path, "/campaigns") {
				body, _ := io.ReadAll(resp.Body)
				body = bytes.ReplaceAll(body, []byte(`"status":"stopped"`), []byte(`"status":null`))
				resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			}
			return resp, err
		})))
		seen, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		require.True(t, seen.Resumes())
		require.Contains(t, seen.String(), "\nIts status is unknown: if it was STOPPED, approving resumes it.\n")
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, seen.Digest())
		require.ErrorIs(t, err, prospectkit.RuleResume)
		require.ErrorContains(t, err, "campaign may be stopped: the listing does not show its status: pass AllowResume")
		require.Equal(t, 1, sb.Calls("campaigns.approve"))
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, seen.Digest(), prospectkit.AllowResume())
		require.NoError(t, err, "a person has agreed")
	})
}
