package tests

import (
	"bytes"
	"fmt"
	"io"
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

// inDoubt runs a test after an approval by a review, or by ApproveUnreviewed, whose request is lost, of a campaign that was approved and
// stopped before. It gets the ticket.
func inDoubt(t *testing.T, name string, test func(t *testing.T, d *desk, lost journal.Ticket)) {
	t.Helper()
	for _, reviewed := range []bool{true, false} {
		atDesk(t, fmt.Sprint(name, " reviewed ", reviewed), func(t *testing.T, d *desk) {
			require.NoError(t, d.approve(d.review()))
			d.stop()
			seen := d.review()
			d.fails(sandbox.DropBefore())
			err := d.blindly(!reviewed, seen)
			test(t, d, Unknown(t, err).Ticket())
		})
	}
}

// blindly approves without a review, or what was seen.
func (d *desk) blindly(blind bool, seen *prospectkit.Review) error {
	if blind {
		return d.blind()
	}
	return d.approve(seen, prospectkit.AllowResume())
}

// While an approval of a campaign is in doubt, no review of it is approved: the first request may still arrive.
func TestApprove_WhileOneIsInDoubt(t *testing.T) {
	inDoubt(t, "", func(t *testing.T, d *desk, lost journal.Ticket) {
		sent, seen := d.sb.Calls("campaigns.approve"), d.review()
		require.Contains(t, seen.String(), "\nApproved before: 1\nAn earlier approval is IN DOUBT, it may have happened: until ticket "+lost.ID+" is resolved or settled, nothing is approved; make this review again then.\n")
		require.Equal(t, 2, seen.Approvals)
		err := d.approve(seen, prospectkit.AllowResume())
		require.Equal(t, lost.ID, Unknown(t, err).Ticket().ID)
		require.EqualError(t, err, "prospectkit: campaigns.approve: outcome unknown: this call was not sent, but an earlier one may have happened: Resolve reads it; if that does not tell, "+
			"look yourself, then run prospectkit settle "+lost.ID+" applied|not-applied, or call Settle of the journal")
		require.Equal(t, prospectkit.OutcomeUnknown, Resolved(t, err).Outcome, "it is stopped")
		require.ErrorIs(t, d.approve(seen, prospectkit.AllowResume()), prospectkit.ErrOutcomeUnknown)
		d.sent(sent)
	})
}

// Once a person has settled it, a review says so, and can be approved: one that was made in doubt says something else.
func TestApprove_AfterTheDoubt(t *testing.T) {
	for outcome, says := range map[journal.Outcome]string{journal.Applied: "Approved before: 2\n", journal.NotApplied: "Approved before: 1\n"} {
		inDoubt(t, string(outcome), func(t *testing.T, d *desk, lost journal.Ticket) {
			sent, older := d.sb.Calls("campaigns.approve"), d.review()
			d.settle(lost, outcome)
			require.ErrorIs(t, d.approve(older, prospectkit.AllowResume()), prospectkit.RuleReview)
			d.sent(sent)
			seen := d.review()
			require.Contains(t, seen.String(), says)
			require.NotContains(t, seen.String(), "IN DOUBT")
			require.NoError(t, d.approve(seen, prospectkit.AllowResume()))
			d.sent(sent + 1)
		})
	}
}

// An approval that has happened after all is found, and no person has to settle anything.
func TestApprove_TheOneInDoubtHasHappened(t *testing.T) {
	inDoubt(t, "", func(t *testing.T, d *desk, _ journal.Ticket) {
		seen := d.review()
		d.teammate() // the request arrives late
		time.Sleep(time.Minute)
		refusedAsActive(t, d.approve(seen, prospectkit.AllowResume()))
		d.nothingInDoubt()
	})
}

// A double click: while an approval is being sent, another call of the same process sends nothing, and asks no person.
func TestApprove_WhileItIsSent(t *testing.T) {
	file, err := journal.Open(filepath.Join(t.TempDir(), "journal"), "acme")
	require.NoError(t, err)
	defer file.Close()
	for _, j := range []journal.Journal{file, new(journal.MemoryJournal)} {
		atDesk(t, fmt.Sprintf("%T", j), func(t *testing.T, d *desk) {
			var seen *prospectkit.Review
			clicked := false
			d.client = SandboxClient(t, d.sb, prospectkit.WithJournal(j), prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/approve") {
					clicked = true
					refusedBy(t, d.approve(seen), prospectkit.RuleInProgress)
				}
				return d.sb.Transport().RoundTrip(r)
			})))
			seen = d.review()
			require.NoError(t, d.approve(seen))
			require.True(t, clicked)
			d.sent(1)
			d.already(seen, prospectkit.CampaignActive)
		})
	}
}

// Whoever reviews and approves without a person, in a cron job or a queue, does not undo what a teammate has stopped.
func TestApprove_ResumesIfAllowed(t *testing.T) {
	for _, remembers := range []bool{true, false} { // a job on a new machine knows the status only
		atDesk(t, fmt.Sprint("remembers ", remembers), func(t *testing.T, d *desk) {
			require.NoError(t, d.approve(d.review()))
			active := d.review()
			require.False(t, active.Resumes())
			refusedAsActive(t, d.approve(active)) // there is nothing to resume
			if !remembers {
				d.client = SandboxClient(t, d.sb)
			}
			d.stop()
			stopped := d.review()
			require.True(t, stopped.Resumes())
			err := d.approve(stopped)
			refusedBy(t, err, prospectkit.RuleResume)
			require.ErrorContains(t, err, "campaign is stopped: pass AllowResume")
			d.sent(1)
			require.NoError(t, d.approve(stopped, prospectkit.AllowResume()), "a person has agreed")
			d.sent(2)
			_, err = SandboxClient(t, d.sb).Campaigns.ApproveUnreviewed(t.Context(), CampaignID, prospectkit.AllowResume())
			require.ErrorContains(t, err, "AllowResume is for Approve")
		})
	}
}

// A test of a program may make a review by hand.
func TestReview_ResumesWithoutACampaign(t *testing.T) {
	require.True(t, new(prospectkit.Review).Resumes())
}

// A listing without the status, which is undocumented there, may hide that a teammate has stopped the campaign.
func TestApprove_ResumesWithoutAStatus(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		d.teammate()
		d.stop()
		d.through(func(r *http.Request, resp *http.Response) error {
			if strings.HasSuffix(r.URL.Path, "/campaigns") {
				body, _ := io.ReadAll(resp.Body)
				body = bytes.ReplaceAll(body, []byte(`"status":"stopped"`), []byte(`"status":null`))
				resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			}
			return nil
		})
		seen := d.review()
		require.True(t, seen.Resumes())
		require.Contains(t, seen.String(), "\nIts status is unknown: if it was STOPPED, approving resumes it.\n")
		err := d.approve(seen)
		require.ErrorIs(t, err, prospectkit.RuleResume)
		require.ErrorContains(t, err, "campaign may be stopped: the listing does not show its status: pass AllowResume")
		d.sent(1)
		require.NoError(t, d.approve(seen, prospectkit.AllowResume()), "a person has agreed")
	})
}
