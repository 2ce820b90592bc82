package tests

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// What a digest has approved is a success, whoever asks with the same journal. Who does not know of it sees that the campaign is active.
func TestApprove_AlreadyApproved(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		r := d.review()
		approval, err := d.client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.NoError(t, err)
		require.False(t, approval.Already, "this call did it")
		first := d.client
		derived, err := first.With(prospectkit.WithMaxWait(0))
		require.NoError(t, err)
		for _, d.client = range []*prospectkit.Client{first, derived, d.process()} {
			d.already(r, prospectkit.CampaignActive)
		}
		d.client = SandboxClient(t, d.sb)
		refusedAsActive(t, d.approve(r))
		time.Sleep(time.Minute)
		d.client = first
		active := d.review()
		require.False(t, active.Resumes())
		refusedAsActive(t, d.approve(active))
		d.sent(1)
	})
}

// It costs one read of the listing, whatever the client may not send, and whatever its gates say: there is nothing to send.
func TestApprove_AlreadyApprovedSendsNothing(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		r := d.review()
		require.NoError(t, d.approve(r))
		d.stop()
		sent := len(d.sb.Journal())
		for n, mode := range []prospectkit.ClientOption{prospectkit.ReadOnly(), prospectkit.NoSend(), until(time.Time{})} {
			d.client = d.process(mode)
			d.already(r, prospectkit.CampaignStopped)
			require.Len(t, d.sb.Journal(), sent+n+1)
			require.Equal(t, "campaigns.list", d.sb.Journal()[sent+n].Op)
		}
	})
}

// The journal alone proves it: where the status cannot be read, it is empty, and still a success.
func TestApprove_AlreadyApprovedWithoutAStatus(t *testing.T) {
	for name, breaks := range map[string]alteration{
		"the read fails":       func(*http.Request, *http.Response) error { return ErrBroken },
		"it came from a cache": aged(""),
	} {
		atDesk(t, name, func(t *testing.T, d *desk) {
			r := d.review()
			require.NoError(t, d.approve(r))
			d.through(breaks)
			d.already(r, "")
		})
	}
}

// A digest is used up by one approval: a teammate who stops the campaign after it is not overruled, until a person agrees again.
func TestApprove_UsedUp(t *testing.T) {
	for name, several := range map[string]bool{"one process": false, "several": true} {
		atDesk(t, name, func(t *testing.T, d *desk) { usedUp(t, d, several) })
	}
}

func usedUp(t *testing.T, d *desk, several bool) {
	t.Helper()
	next := func() {
		if several { // another process each time
			d.client = d.process()
		}
	}
	approve := func(r *prospectkit.Review) error { next(); return d.approve(r, prospectkit.AllowResume()) }
	already := func(r *prospectkit.Review, status prospectkit.CampaignStatus) {
		t.Helper()
		next()
		d.already(r, status)
	}
	review := func() *prospectkit.Review { next(); return d.review() }
	require.NoError(t, d.blind())
	d.stop()

	first := review()
	require.NoError(t, approve(first))
	already(first, prospectkit.CampaignActive)
	d.stop()
	already(first, prospectkit.CampaignStopped)
	second := review()
	require.Equal(t, 2, second.Approvals, "with the one that had no review")
	require.Contains(t, second.String(), "Approved before: 2\n")
	require.NotEqual(t, first.Digest(), second.Digest())
	sent := d.sb.Calls("campaigns.approve")

	d.fails(sandbox.DropAfter())
	require.ErrorIs(t, approve(second), prospectkit.ErrOutcomeUnknown)
	d.stop()
	unknown := Unknown(t, approve(second)) // it may have been approved
	require.Equal(t, second.Digest(), unknown.Ticket().Lookup.Digest)
	require.Equal(t, prospectkit.OutcomeUnknown, Resolved(t, unknown).Outcome, "a teammate may have stopped it")
	already(first, prospectkit.CampaignStopped)
	d.sent(sent + 1)
	require.ErrorIs(t, approve(review()), prospectkit.ErrOutcomeUnknown, "so is another agreement, as long as it is in doubt")
	d.settle(unknown.Ticket(), journal.Applied)
	already(second, prospectkit.CampaignStopped)
	require.NoError(t, approve(review()), "a person who agrees again is obeyed")
	d.sent(sent + 2)
}

// Who sees that the campaign is active knows the outcome of an approval in doubt: it was approved, and blocks no later one. What cannot be settled
// stays in doubt. So does what a cache shows as active, and one that is stopped, however old: its age says nothing of what it did.
func TestApprove_SettlesWhatIsActive(t *testing.T) {
	book := new(fullJournal)
	for name, then := range map[string]func(t *testing.T, d *desk, r *prospectkit.Review){
		"active": func(t *testing.T, d *desk, r *prospectkit.Review) {
			t.Helper()
			d.already(r, prospectkit.CampaignActive)
			d.nothingInDoubt()
			d.stop()
			require.NoError(t, d.approve(d.review(), prospectkit.AllowResume()))
		},
		"not settled": func(t *testing.T, d *desk, r *prospectkit.Review) {
			t.Helper()
			book.full = true
			require.ErrorIs(t, d.approve(r), prospectkit.ErrOutcomeUnknown)
			book.full = false
		},
		"active in a cache": func(t *testing.T, d *desk, r *prospectkit.Review) {
			t.Helper()
			before := d.client
			d.through(aged(""))
			require.ErrorIs(t, d.approve(r), prospectkit.ErrOutcomeUnknown)
			d.client = before
		},
		"stopped": func(t *testing.T, d *desk, r *prospectkit.Review) {
			t.Helper()
			d.stop()
			time.Sleep(8 * 24 * time.Hour)
			require.ErrorIs(t, d.approve(r, prospectkit.AllowResume()), prospectkit.ErrOutcomeUnknown)
			d.sent(1)
		},
	} {
		atDesk(t, name, func(t *testing.T, d *desk) {
			if name == "not settled" {
				d.client = SandboxClient(t, d.sb, prospectkit.WithJournal(book))
			}
			r := d.review()
			d.fails(sandbox.DropAfter())
			require.ErrorIs(t, d.approve(r), prospectkit.ErrOutcomeUnknown)
			then(t, d, r)
			if name != "stopped" {
				d.already(r, prospectkit.CampaignActive)
			}
		})
	}
}

// fullJournal notes no outcome while its disk is full.
type fullJournal struct {
	journal.MemoryJournal
	full bool
}

func (j *fullJournal) Ended(ctx context.Context, id string, end journal.End) error {
	if j.full {
		return errors.New("no space left")
	}
	return j.MemoryJournal.Ended(ctx, id, end)
}

// The same yes in two processes at once, and a teammate who stops the campaign in between: whenever the other one has approved, it is a
// success, and nothing more is sent.
func TestApprove_AlreadyApprovedMeanwhile(t *testing.T) {
	for _, gap := range []string{"campaigns.steps", "campaigns.scheduled-sends", "campaigns.list", "lists.rows", "lists.get"} {
		for _, nth := range []int{1, 2} {
			for _, stops := range []bool{false, true} {
				quietly(t, fmt.Sprint(gap, " ", nth, " ", stops), func(t *testing.T, d *desk, logger prospectkit.ClientOption) {
					d.client = d.process(logger)
					approvedMeanwhile(t, d, gap, nth, stops)
				})
			}
		}
	}
}

// quietly demands that nobody has to look, and that nothing is in doubt.
func quietly(t *testing.T, name string, test func(t *testing.T, d *desk, logger prospectkit.ClientOption)) {
	t.Helper()
	atDesk(t, name, func(t *testing.T, d *desk) {
		lines, _ := LogLines(t, slog.LevelInfo, func(logger prospectkit.ClientOption) { test(t, d, logger) })
		for _, line := range lines {
			require.NotEqual(t, "WARN", line["level"], line)
			require.NotEqual(t, "unknown", line["outcome"], line)
		}
	})
}

func approvedMeanwhile(t *testing.T, d *desk, gap string, nth int, stops bool) {
	t.Helper()
	other, status, digest, done := d.process(), prospectkit.CampaignActive, "", false
	d.sb.Between(gap, func(tx *sandbox.Tx) { // before the first look of the approval, or the last one
		if tx.Gap() != nth || done {
			return
		}
		done = true
		approval, err := other.Campaigns.Approve(t.Context(), CampaignID, digest)
		require.NoError(t, err)
		require.False(t, approval.Already)
		if stops {
			status = prospectkit.CampaignStopped
			tx.StopCampaign(CampaignID)
		}
	})
	r := d.review()
	digest = r.Digest()
	approval, err := d.client.Campaigns.Approve(t.Context(), CampaignID, digest)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, &prospectkit.Approval{CampaignID: CampaignID, Status: status, Already: true}, approval)
	d.sent(1)
}

// So it is if the other one has approved while this one stores its ticket: each looks for the other after that.
func TestApprove_AlreadyApprovedWhileItStores(t *testing.T) {
	quietly(t, "", func(t *testing.T, d *desk, logger prospectkit.ClientOption) {
		r, j := d.review(), new(failingJournal)
		other := d.ticket("other", r.Digest())
		j.stored = func() error {
			require.NoError(t, j.MemoryJournal.Sending(t.Context(), other))
			return j.Ended(t.Context(), other.ID, journal.End{Outcome: journal.Applied})
		}
		d.client = SandboxClient(t, d.sb, prospectkit.WithJournal(j), logger)
		d.already(r, "draft")
		d.sent(0)
		d.nothingInDoubt()
	})
}

// A campaign that a teammate has approved and stopped since the review is not what was reviewed, and the refusal says so.
func TestApprove_StoppedSinceTheReview(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		r := d.review()
		d.teammate()
		d.stop()
		for range 2 {
			err := d.approve(r, prospectkit.AllowResume())
			require.ErrorIs(t, err, prospectkit.RuleReview)
			require.ErrorContains(t, err, "campaign changed: it is stopped")
		}
		d.sent(1)
	})
}

// A yes is good for seven days. Later, the campaign has to be reviewed again, unless this digest has approved it.
func TestApprove_SevenDays(t *testing.T) {
	for age, good := range map[time.Duration]bool{7*24*time.Hour - time.Minute: true, 7*24*time.Hour + 2*time.Second: false} {
		for _, before := range []bool{false, true} {
			atDesk(t, fmt.Sprint(age, " approved ", before), func(t *testing.T, d *desk) { approveAtAge(t, d, age, good, before) })
		}
	}
}

func approveAtAge(t *testing.T, d *desk, age time.Duration, good, before bool) {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal"), "acme")
	require.NoError(t, err)
	defer j.Close()
	d.client = SandboxClient(t, d.sb, prospectkit.WithJournal(j))
	r, reviewed := d.review(), time.Now()
	if before {
		require.NoError(t, d.approve(r))
		d.stop()
	}
	time.Sleep(age - time.Since(reviewed))
	sent := len(d.sb.Journal())
	switch {
	case before:
		d.already(r, prospectkit.CampaignStopped)
	case good:
		require.NoError(t, d.approve(r))
	default:
		err := d.approve(r)
		require.ErrorIs(t, err, prospectkit.RuleReview)
		require.ErrorContains(t, err, "more than seven days ago: review the campaign again")
		require.Len(t, d.sb.Journal(), sent, "nothing was read for it")
		require.NoError(t, d.approve(d.review()))
	}
	d.sent(1)
}

// Clocks of two machines differ by minutes. A digest of a later time is refused, because it would be good for more than seven days.
func TestApprove_OfATimeToCome(t *testing.T) {
	for ahead, good := range map[time.Duration]bool{4 * time.Minute: true, 6 * time.Minute: false} {
		atDesk(t, ahead.String(), func(t *testing.T, d *desk) {
			later := fmt.Sprintf("review4.%d", time.Now().Add(ahead).Unix())
			digest := regexp.MustCompile(`^review4\.\d+`).ReplaceAllString(d.review().Digest(), later)
			_, err := d.client.Campaigns.Approve(t.Context(), CampaignID, digest)
			if good {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, prospectkit.RuleReview)
			require.ErrorContains(t, err, "which is to come")
		})
	}
}

// A digest of an earlier version says nothing of its time, or of more.
func TestApprove_OfAnEarlierVersion(t *testing.T) {
	client := NewClient(t, Untouched(t), prospectkit.WithJournal(new(journal.MemoryJournal)))
	sums := strings.Repeat(".1.QAaVQakY9hX_bdlYzL-m-g", 6)
	for _, digest := range []string{"review1" + sums, "review2" + sums, "review3" + sums} {
		_, err := client.Campaigns.Approve(t.Context(), CampaignID, digest)
		require.ErrorIs(t, err, prospectkit.ErrInvalid)
		require.ErrorContains(t, err, "review the campaign again")
	}
}
