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
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// requireAlready asserts that a call tells that its digest has approved the campaign before, and what its status is now.
func requireAlready(t *testing.T, approval *prospectkit.Approval, err error, status prospectkit.CampaignStatus) {
	t.Helper()
	require.NoError(t, err)
	require.Equal(t, &prospectkit.Approval{CampaignID: CampaignID, Status: status, Already: true}, approval)
}

// refusedAsActive asserts that a call was refused because another one has approved the campaign.
func refusedAsActive(t *testing.T, err error) {
	t.Helper()
	refused, ok := errors.AsType[*prospectkit.RefusedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, prospectkit.RuleReview, refused.Rule)
	require.ErrorContains(t, err, "campaign is active: another call has approved it")
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
}

// What a digest has approved is a success, whoever asks with the same journal. Who does not know of it sees that the campaign is active.
func TestApprove_AlreadyApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
		client := SandboxClient(t, sb, prospectkit.WithJournal(j))
		r, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		approval, err := client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.NoError(t, err)
		require.False(t, approval.Already, "this call did it")
		derived, err := client.With(prospectkit.WithMaxWait(0))
		require.NoError(t, err)
		for _, again := range []*prospectkit.Client{client, derived, SandboxClient(t, sb, prospectkit.WithJournal(j))} {
			approval, err = again.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
			requireAlready(t, approval, err, prospectkit.CampaignActive)
		}
		_, err = SandboxClient(t, sb).Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		refusedAsActive(t, err)
		time.Sleep(time.Minute)
		active, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		require.False(t, active.Resumes())
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, active.Digest())
		refusedAsActive(t, err)
		require.Equal(t, 1, sb.Calls("campaigns.approve"))
	})
}

// It costs one read of the listing, whatever the client may not send, and whatever its gates say: there is nothing to send.
func TestApprove_AlreadyApprovedSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, j := EverySandbox(t, time.Now()), prospectkit.WithJournal(new(journal.MemoryJournal))
		client := SandboxClient(t, sb, j)
		r, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.NoError(t, err)
		stopCampaign(sb)
		sent := len(sb.Journal())
		for n, mode := range []prospectkit.ClientOption{prospectkit.ReadOnly(), prospectkit.NoSend(), until(time.Time{})} {
			approval, err := SandboxClient(t, sb, j, mode).Campaigns.Approve(t.Context(), CampaignID, r.Digest())
			requireAlready(t, approval, err, prospectkit.CampaignStopped)
			require.Len(t, sb.Journal(), sent+n+1)
			require.Equal(t, "campaigns.list", sb.Journal()[sent+n].Op)
		}
	})
}

// The journal alone proves it: where the status cannot be read, it is empty, and still a success.
func TestApprove_AlreadyApprovedWithoutAStatus(t *testing.T) {
	for name, breaks := range map[string]func(*http.Response) (*http.Response, error){
		"the read fails": func(*http.Response) (*http.Response, error) { return nil, ErrBroken },
		"it came from a cache": func(resp *http.Response) (*http.Response, error) {
			resp.Header.Set("Age", "30")
			return resp, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb, broken := EverySandbox(t, time.Now()), false
				client := SandboxClient(t, sb, prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
					resp, err := sb.Transport().RoundTrip(r)
					if err == nil && broken {
						return breaks(resp)
					}
					return resp, err
				})))
				r, err := client.Campaigns.Review(t.Context(), CampaignID)
				require.NoError(t, err)
				_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
				require.NoError(t, err)
				broken = true
				approval, err := client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
				requireAlready(t, approval, err, "")
			})
		})
	}
}

// A digest is used up by one approval: a teammate who stops the campaign after it is not overruled, until a person agrees again.
func TestApprove_UsedUp(t *testing.T) {
	for name, several := range map[string]bool{"one process": false, "several": true} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { usedUp(t, several) }) })
	}
}

func usedUp(t *testing.T, several bool) {
	t.Helper()
	sb := EverySandbox(t, time.Now())
	memory := new(journal.MemoryJournal)
	made := SandboxClient(t, sb, prospectkit.WithJournal(memory))
	client := func() *prospectkit.Client { return made }
	if several { // another process each time
		client = func() *prospectkit.Client { return SandboxClient(t, sb, prospectkit.WithJournal(memory)) }
	}
	stop := func() { sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) }) }
	review := func() string {
		r, err := client().Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		return r.Digest()
	}
	approve := func(digest string) (*prospectkit.Approval, error) {
		return client().Campaigns.Approve(t.Context(), CampaignID, digest, prospectkit.AllowResume())
	}
	already := func(digest string, status prospectkit.CampaignStatus) {
		approval, err := approve(digest)
		requireAlready(t, approval, err, status)
	}
	_, err := client().Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
	require.NoError(t, err)
	stop()

	time.Sleep(time.Minute)
	first := review()
	require.NoError(t, Discard(approve(first)))
	already(first, prospectkit.CampaignActive)
	stop()
	already(first, prospectkit.CampaignStopped)
	again, err := client().Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	require.Equal(t, 2, again.Approvals, "with the one that had no review")
	require.Contains(t, again.String(), "Approved before: 2\n")
	sent := sb.Calls("campaigns.approve")

	time.Sleep(time.Minute)
	second := review()
	require.NotEqual(t, first, second)
	sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropAfter())
	require.ErrorIs(t, Discard(approve(second)), prospectkit.ErrOutcomeUnknown)
	stop()
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](Discard(approve(second)))
	require.True(t, ok, "it may have been approved")
	require.Equal(t, second, unknown.Ticket().Lookup.Digest)
	r, err := unknown.Resolve(t.Context())
	require.NoError(t, err)
	require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, "a teammate may have stopped it")
	already(first, prospectkit.CampaignStopped)
	require.Equal(t, sent+1, sb.Calls("campaigns.approve"))
	time.Sleep(time.Minute)
	require.ErrorIs(t, Discard(approve(review())), prospectkit.ErrOutcomeUnknown, "so is another agreement, as long as it is in doubt")
	require.NoError(t, memory.Settle(t.Context(), unknown.Ticket().ID, journal.Settlement{Outcome: journal.Applied, By: "Ada", Because: "it was active"}))
	already(second, prospectkit.CampaignStopped)
	require.NoError(t, Discard(approve(review())), "a person who agrees again is obeyed")
	require.Equal(t, sent+2, sb.Calls("campaigns.approve"))
}

// Who sees that the campaign is active knows the outcome of an approval in doubt: it was approved, and blocks no later one.
func TestApprove_SettlesWhatIsActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now())
		client := SandboxClient(t, sb)
		review := func() string {
			r, err := client.Campaigns.Review(t.Context(), CampaignID)
			require.NoError(t, err)
			return r.Digest()
		}
		sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropAfter())
		digest := review()
		_, err := client.Campaigns.Approve(t.Context(), CampaignID, digest)
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		for range 2 {
			approval, err := client.Campaigns.Approve(t.Context(), CampaignID, digest)
			requireAlready(t, approval, err, prospectkit.CampaignActive)
		}
		for _, err := range client.InDoubt(t.Context()) {
			require.NoError(t, err)
			require.Fail(t, "in doubt")
		}
		stopCampaign(sb)
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, review(), prospectkit.AllowResume())
		require.NoError(t, err)
	})
}

// What cannot be settled stays in doubt, also for who sees that the campaign is active.
func TestApprove_ActiveAndNotSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, j := EverySandbox(t, time.Now()), new(fullJournal)
		client := SandboxClient(t, sb, prospectkit.WithJournal(j))
		r, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropAfter())
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		j.full = true
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		j.full = false
		approval, err := client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		requireAlready(t, approval, err, prospectkit.CampaignActive)
	})
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
				t.Run(fmt.Sprint(gap, " ", nth, " ", stops), func(t *testing.T) {
					quietly(t, func(t *testing.T, logger prospectkit.ClientOption) { approvedMeanwhile(t, gap, nth, stops, logger) })
				})
			}
		}
	}
}

// quietly demands that nobody has to look, and that nothing is in doubt.
func quietly(t *testing.T, f func(t *testing.T, logger prospectkit.ClientOption)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		lines, _ := LogLines(t, slog.LevelInfo, func(logger prospectkit.ClientOption) { f(t, logger) })
		for _, line := range lines {
			require.NotEqual(t, "WARN", line["level"], line)
			require.NotEqual(t, "unknown", line["outcome"], line)
		}
	})
}

func approvedMeanwhile(t *testing.T, gap string, nth int, stops bool, logger prospectkit.ClientOption) {
	t.Helper()
	sb, j := EverySandbox(t, time.Now()), prospectkit.WithJournal(new(journal.MemoryJournal))
	client, other := SandboxClient(t, sb, j, logger), SandboxClient(t, sb, j)
	status, digest, done := prospectkit.CampaignActive, "", false
	sb.Between(gap, func(tx *sandbox.Tx) { // before the first look of the approval, or the last one
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
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	digest = r.Digest()
	approval, err := client.Campaigns.Approve(t.Context(), CampaignID, digest)
	require.True(t, done)
	requireAlready(t, approval, err, status)
	require.Equal(t, 1, sb.Calls("campaigns.approve"))
}

// So it is if the other one has approved while this one stores its ticket: each looks for the other after that.
func TestApprove_AlreadyApprovedWhileItStores(t *testing.T) {
	quietly(t, func(t *testing.T, logger prospectkit.ClientOption) {
		sb, j := EverySandbox(t, time.Now()), new(failingJournal)
		client := SandboxClient(t, sb, prospectkit.WithJournal(j), logger)
		r, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		other := journal.Ticket{Version: journal.Version, ID: "other", Op: "campaigns.approve", Service: sb.BaseURL(), Workspace: j.Workspace(), IDs: []string{CampaignID}, Lookup: journal.Lookup{Digest: r.Digest()}}
		j.stored = func() error {
			require.NoError(t, j.MemoryJournal.Sending(t.Context(), other))
			return j.Ended(t.Context(), other.ID, journal.End{Outcome: journal.Applied})
		}
		approval, err := client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		requireAlready(t, approval, err, "draft")
		require.Zero(t, sb.Calls("campaigns.approve"))
		for _, err := range client.InDoubt(t.Context()) {
			require.NoError(t, err)
			require.Fail(t, "in doubt")
		}
	})
}

// A campaign that a teammate has approved and stopped since the review is not what was reviewed, and the refusal says so.
func TestApprove_StoppedSinceTheReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now())
		client := SandboxClient(t, sb)
		r, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		_, err = SandboxClient(t, sb).Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
		require.NoError(t, err)
		stopCampaign(sb)
		for range 2 {
			_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest(), prospectkit.AllowResume())
			require.ErrorIs(t, err, prospectkit.RuleReview)
			require.ErrorContains(t, err, "campaign changed: it is stopped")
		}
		require.Equal(t, 1, sb.Calls("campaigns.approve"))
	})
}

// A yes is good for seven days. Later, the campaign has to be reviewed again, unless this digest has approved it.
func TestApprove_SevenDays(t *testing.T) {
	for age, good := range map[time.Duration]bool{7*24*time.Hour - time.Minute: true, 7*24*time.Hour + 2*time.Second: false} {
		for _, before := range []bool{false, true} {
			t.Run(fmt.Sprint(age, " approved ", before), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { approveAtAge(t, age, good, before) })
			})
		}
	}
}

func approveAtAge(t *testing.T, age time.Duration, good, before bool) {
	t.Helper()
	sb := EverySandbox(t, time.Now())
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal"), "acme")
	require.NoError(t, err)
	defer j.Close()
	client := SandboxClient(t, sb, prospectkit.WithJournal(j))
	r, err := client.Campaigns.Review(t.Context(), CampaignID)
	require.NoError(t, err)
	reviewed := time.Now()
	if before {
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.NoError(t, err)
		stopCampaign(sb)
	}
	time.Sleep(age - time.Since(reviewed))
	sent := len(sb.Journal())
	approval, err := client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
	switch {
	case before:
		requireAlready(t, approval, err, prospectkit.CampaignStopped)
	case good:
		require.NoError(t, err)
	default:
		require.ErrorIs(t, err, prospectkit.RuleReview)
		require.ErrorContains(t, err, "more than seven days ago: review the campaign again")
		require.Len(t, sb.Journal(), sent, "nothing was read for it")
		again, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, again.Digest())
		require.NoError(t, err)
	}
	require.Equal(t, 1, sb.Calls("campaigns.approve"))
}

// One that is too old and may have approved stays unknown: its age says nothing of what it did.
func TestApprove_SevenDaysInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now())
		client := SandboxClient(t, sb)
		r, err := client.Campaigns.Review(t.Context(), CampaignID)
		require.NoError(t, err)
		sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropAfter())
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest())
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		stopCampaign(sb)
		time.Sleep(8 * 24 * time.Hour)
		_, err = client.Campaigns.Approve(t.Context(), CampaignID, r.Digest(), prospectkit.AllowResume())
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		require.Equal(t, 1, sb.Calls("campaigns.approve"))
	})
}

// Clocks of two machines differ by minutes. A digest of a later time is refused, because it would be good for more than seven days.
func TestApprove_OfATimeToCome(t *testing.T) {
	for ahead, good := range map[time.Duration]bool{4 * time.Minute: true, 6 * time.Minute: false} {
		synctest.Test(t, func(t *testing.T) {
			client := SandboxClient(t, EverySandbox(t, time.Now()))
			r, err := client.Campaigns.Review(t.Context(), CampaignID)
			require.NoError(t, err)
			digest := regexp.MustCompile(`^review4\.\d+`).ReplaceAllString(r.Digest(), fmt.Sprintf("review4.%d", time.Now().Add(ahead).Unix()))
			_, err = client.Campaigns.Approve(t.Context(), CampaignID, digest)
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
