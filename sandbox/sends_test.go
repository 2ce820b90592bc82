package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func TestScheduledSendsArePaged(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		path := campaignPath(active, "scheduled-sends")
		body := c.get(path, "limit", "2", "pageNum", "2").ok(200)
		require.Equal(t, object{"pageNum": 2.0, "totalPages": 5.0, "totalRecords": 9.0}, body["pagination"])
		require.Equal(t, []string{"sent", "skipped"}, names(body, "state"))
		require.Equal(t, object{
			"id": id(60), "stepId": id(52), "contactId": id(101), "state": "scheduled", "dueAt": "2026-03-01T10:00:00.000Z",
			"subject": "Hello", "body": "",
		}, at(c.get(path).ok(200), "data", 0))
		c.get(path, "limit", "1000").ok(200)
		require.Empty(t, c.get(path, "pageNum", "6").ok(200)["data"])
		for _, wrong := range [][]string{{"limit", "1001"}, {"limit", "0"}, {"pageNum", "0"}} {
			c.get(path, wrong...).fails(422, "VALIDATION_FAILED")
		}
		c.get(campaignPath(deleted, "scheduled-sends")).fails(404, "CAMPAIGN_NOT_FOUND")
		c.get(campaignPath("12", "scheduled-sends")).fails(422, "VALIDATION_FAILED")
	})
}

func TestSendsAreEditedInTwoStates(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		for i, s := range sb.Sends(active) {
			r := c.do("PATCH", "/business/scheduled-sends/"+s.ID, object{"subject": "New", "body": "Words"})
			if i > 1 {
				_, message := r.fails(409, "SCHEDULED_SEND_NOT_EDITABLE")
				require.Contains(t, message, s.State)
				continue
			}
			edited := r.ok(200)["scheduledSend"].(object)
			require.Equal(t, "New", edited["subject"])
			require.Equal(t, s.State, edited["state"])
			require.Equal(t, "Words", sb.Sends(active)[i].Body)
		}
		edit := func(id string, body object) result { return c.do("PATCH", "/business/scheduled-sends/"+id, body) }
		for _, body := range []object{{}, {"subject": 1}, {"dueAt": "tomorrow"}, {"dueAt": nil}, {"dueAt": "1969-12-31T23:59:59.000Z"}, {"dueAt": "2026-03-01T10:30:00.000+01:00"}, {"dueAt": "2026-03-01T09:30:00Z"}, {"dueAt": "2026-03-01T09:30:00,000Z"}, {"dueAt": "2026-03-01T09:30:00.0000Z"}, {"dueAt": "2026-03-01t09:30:00.000z"}, {"state": "sent"}} {
			edit(id(60), body).fails(422, "VALIDATION_FAILED")
		}
		edit(id(77), object{"subject": ""}).fails(404, "SCHEDULED_SEND_NOT_FOUND")
		edit("12", object{"subject": ""}).fails(422, "VALIDATION_FAILED")
		sb.Do(func(tx *sandbox.Tx) { tx.Put("campaigns", sandbox.Row{"id": active, "access": "deleted"}) })
		edit(id(60), object{"subject": ""}).fails(404, "SCHEDULED_SEND_NOT_FOUND")
	})
}

func TestAnEditedSendIsDueWhenItSays(t *testing.T) {
	sb := sandbox.New(t, outreachOptions()...)
	c := inPlace(t, sb)
	c.do("PATCH", "/business/scheduled-sends/"+id(60), object{"dueAt": "2026-03-01T09:30:00.000Z"}).ok(200)
	sb.Advance(30*time.Minute - 1)
	require.Empty(t, sb.Outbox())
	sb.Advance(1)
	require.Equal(t, sandbox.Outgoing{
		Time: start.Add(30 * time.Minute), Kind: "message", To: id(101), Count: 1, CampaignID: active, SendID: id(60),
	}, sb.Outbox()[0], "the seed approved it: there is no request")
	sb.Advance(time.Hour)
	require.Len(t, sb.Outbox(), 1, "one that waits for an approval does not go out")
	c.do("PATCH", "/business/scheduled-sends/"+id(60), object{"subject": ""}).fails(409, "SCHEDULED_SEND_NOT_EDITABLE")

	moveSend(sb, active, 1, "scheduled")
	require.Len(t, sb.Outbox(), 2, "overdue, and let go")
	moveSend(sb, active, 0, "replied")
	require.Equal(t, "replied", sb.Sends(active)[0].State)
	require.Nil(t, sb.Sends(id(77)))
}

func TestSendsKeepTheirConnectionNotesShort(t *testing.T) {
	sb := sandbox.New(t, outreachOptions()...)
	c := inPlace(t, sb)
	c.do("PATCH", campaignPath(drafted), object{"channels": []string{"social"}, "steps": []object{{"type": "social_connection"}}}).ok(200)
	approvalOf(c, drafted).ok(202)
	sb.Advance(3 * time.Second)
	edit := func(runes int) result {
		return c.do("PATCH", "/business/scheduled-sends/"+sb.Sends(drafted)[0].ID, object{"body": strings.Repeat("ä", runes)})
	}
	edit(200).ok(200)
	edit(201).fails(422, "CONNECTION_NOTE_TOO_LONG")
	c.do("PATCH", "/business/scheduled-sends/"+id(60), object{"body": strings.Repeat("ä", 201)}).ok(200)
}

// Nothing has gone out in the time in which a campaign was stopped.
func TestWhatATeammateResumesGoesOutFromThenOn(t *testing.T) {
	for _, stopped := range []time.Duration{time.Second, time.Minute} { // in the activation, and after it
		sb := sandbox.New(t, outreachOptions()...)
		put := func(status string) {
			sb.Do(func(tx *sandbox.Tx) { tx.Put("campaigns", sandbox.Row{"id": drafted, "status": status}) })
		}
		approvalOf(inPlace(t, sb), drafted).ok(202)
		sb.Advance(stopped)
		put("stopped")
		sb.Advance(30 * time.Minute)
		require.Empty(t, sb.Outbox())
		again := sandbox.New(t, sandbox.Seed(sb.Snapshot()), sandbox.WithClock(sandbox.NewManualClock(start.Add(stopped+30*time.Minute))))
		sameState(t, sb.Snapshot(), again.Snapshot())
		put("active")
		resumed := start.Add(stopped + 30*time.Minute)
		sb.Advance(time.Minute)
		require.Len(t, sb.Outbox(), 2)
		for _, sent := range sb.Outbox() {
			require.False(t, sent.Time.Before(resumed), "%v", sent)
		}
	}
}

// moveSend lets a teammate set the state of a send.
func moveSend(sb *sandbox.Sandbox, campaign string, i int, state string) {
	sends := sb.Sends(campaign)
	sends[i].State = state
	sb.Do(func(tx *sandbox.Tx) { tx.Put("campaigns", sandbox.Row{"id": campaign, "sends": sends}) })
}
