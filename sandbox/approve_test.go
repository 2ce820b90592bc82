package sandbox_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func approvalOf(c caller, id string) result { return c.do("POST", campaignPath(id, "approve"), nil) }

func TestApproval(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		require.Equal(t, object{"campaignId": drafted, "status": "active"}, approvalOf(c, drafted).ok(202))
		approvalOf(c, drafted).fails(409, "CAMPAIGN_BUSY")
		require.Empty(t, sb.Sends(drafted), "the activation runs in the background")
		sb.Advance(3 * time.Second)
		approvalOf(c, drafted).fails(409, "CAMPAIGN_NOT_APPROVABLE")
		require.Len(t, sb.Sends(drafted), 2, "one contact cannot be reached")
		require.Empty(t, sb.Outbox())

		approvalOf(c, active).fails(409, "CAMPAIGN_NOT_APPROVABLE")
		approvalOf(c, locked).fails(409, "CAMPAIGN_BUSY")
		for _, invisible := range []string{deleted, shared, handed, id(77)} {
			approvalOf(c, invisible).fails(404, "CAMPAIGN_NOT_FOUND")
		}
		approvalOf(c.as(sb.Workspace("b").Token()), locked).fails(404, "CAMPAIGN_NOT_FOUND")
		param, _ := approvalOf(c, "12").fails(422, "VALIDATION_FAILED")
		require.Equal(t, "campaignId", param)
		_, message := approvalOf(c, running).fails(422, "CAMPAIGN_NOT_READY")
		require.Contains(t, message, "the end of its preparation")
		sb.Advance(time.Minute)
		approvalOf(c, running).ok(202)
		approvalOf(c, locked).ok(202)
	})
}

func TestTheActivationLock(t *testing.T) {
	onEachOutreach(t, []sandbox.Option{sandbox.ActivatesFor(0)}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		sb.Do(func(tx *sandbox.Tx) {
			tx.Put("campaigns", sandbox.Row{"id": drafted, "lockedUntil": start.Add(time.Minute)})
		})
		sb.Advance(time.Minute - 1)
		approvalOf(c, drafted).fails(409, "CAMPAIGN_BUSY")
		sb.Advance(1)
		approvalOf(c, drafted).ok(202)
		approvalOf(c, drafted).fails(409, "CAMPAIGN_NOT_APPROVABLE")
		sb.Do(func(tx *sandbox.Tx) {
			tx.Put("campaigns", sandbox.Row{"id": drafted, "lockedUntil": start.Add(time.Minute + time.Second)})
		})
		approvalOf(c, drafted).fails(409, "CAMPAIGN_BUSY")
	})
}

func TestReadiness(t *testing.T) {
	social := func(types ...string) func(*sandbox.Campaign) {
		return func(c *sandbox.Campaign) {
			c.Channels, c.Steps = []string{"social"}, nil
			for _, kind := range types {
				c.Steps = append(c.Steps, sandbox.Step{Type: kind})
			}
		}
	}
	for name, tc := range map[string]struct {
		change func(*sandbox.Campaign)
		want   string
	}{
		"ready":                        {func(*sandbox.Campaign) {}, ""},
		"a topic will do":              {func(c *sandbox.Campaign) { c.Steps = []sandbox.Step{{Type: "email", Topic: "x"}} }, ""},
		"a connection needs no note":   {social("social_connection"), ""},
		"no source list":               {func(c *sandbox.Campaign) { c.ListIDs = nil }, "lacks a source list."},
		"a list that is gone":          {func(c *sandbox.Campaign) { c.ListIDs = []string{id(77)} }, "a source list"},
		"no subject":                   {func(c *sandbox.Campaign) { c.Steps[0].Subject = "" }, "a subject of step 1"},
		"no body":                      {func(c *sandbox.Campaign) { c.Steps[0].Body = "" }, "a body of step 1"},
		"a message without words":      {social("social_connection", "social_message"), "a body of step 2"},
		"no step":                      {func(c *sandbox.Campaign) { c.Steps = nil }, "a step"},
		"no channel":                   {func(c *sandbox.Campaign) { c.Channels = nil }, "a channel"},
		"being prepared":               {func(c *sandbox.Campaign) { c.InitializationStatus = "running" }, "preparation"},
		"failed to be, but is all set": {func(c *sandbox.Campaign) { c.InitializationStatus = "failed" }, ""},
		"several at once": {
			func(c *sandbox.Campaign) { c.ListIDs, c.Steps[0].Subject = nil, "" },
			"The campaign lacks a source list, a subject of step 1.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			sb := sandbox.New(t, outreachOptions()...)
			seed := sandbox.ReadyCampaign("x", reached)
			tc.change(&seed)
			var made string
			sb.Do(func(tx *sandbox.Tx) { made = tx.CreateCampaign(seed) })
			r := approvalOf(inPlace(t, sb), made)
			if tc.want == "" {
				r.ok(202)
				return
			}
			_, message := r.fails(422, "CAMPAIGN_NOT_READY")
			require.Contains(t, message, tc.want)
			require.Empty(t, sb.Journal()[0].Effects)
		})
	}
}

// connected seeds a state whose first workspace has these accounts.
func connected(state sandbox.State, channels ...string) sandbox.Option {
	state.Workspaces[0].Accounts = channels
	return sandbox.Seed(state)
}

func TestEachChannelNeedsAnAccount(t *testing.T) {
	onEachOutreach(t, []sandbox.Option{connected(outreachState(), "email")}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		c.do("PATCH", campaignPath(drafted), object{"channels": []string{"email", "social"}}).ok(200)
		_, message := approvalOf(c, drafted).fails(422, "CAMPAIGN_NOT_READY")
		require.Equal(t, "The campaign lacks a connected account for social.", message)
		sb.Do(func(tx *sandbox.Tx) {
			tx.ConnectAccount("social")
			tx.ConnectAccount("social")
		})
		approvalOf(c, drafted).ok(202)
	})
}

// sentBy are the contacts that a campaign reached.
func sentBy(sb *sandbox.Sandbox, campaignID string) (to []string) {
	for _, m := range sb.Outbox() {
		if m.CampaignID == campaignID {
			to = append(to, m.To)
		}
	}
	return to
}

func TestMessagesGoOutByTheClock(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		c.do("PATCH", campaignPath(drafted), object{"channels": []string{"email", "social"}, "steps": []object{
			{"type": "email", "topic": "For {{firstName}}"}, {"type": "social_message", "body": "Hi"},
		}}).ok(200)
		r := approvalOf(c, drafted)
		r.ok(202)
		sb.Advance(3*time.Second + time.Minute - 1)
		require.Empty(t, sentBy(sb, drafted))
		require.Contains(t, sb.Advance(1), sandbox.Event{Time: start.Add(63 * time.Second), Kind: "messages sent", Subject: drafted})
		require.Equal(t, []string{id(101), id(102)}, sentBy(sb, drafted))
		first := sb.Outbox()[0]
		sends := sb.Sends(drafted)
		require.Equal(t, sandbox.Outgoing{
			Time: start.Add(63 * time.Second), RequestID: r.header.Get("X-Sandbox-Request"), Kind: "message", To: id(101), Count: 1,
			CampaignID: drafted, SendID: sends[0].ID,
		}, first)
		require.Equal(t, "For Ada", sends[0].Body)
		require.Equal(t, "sent", sends[0].State)

		approvals := slices.DeleteFunc(sb.Journal(), func(e sandbox.Entry) bool { return e.RequestID != first.RequestID })
		require.Len(t, approvals, 1)
		require.Equal(t, "campaigns.approve", approvals[0].Op)
		require.Equal(t, []string{"campaign approved: " + drafted}, approvals[0].Effects)

		sb.Advance(24 * time.Hour)
		require.Equal(t, []string{id(101), id(102), id(102)}, sentBy(sb, drafted), "the second step reaches one")
		sb.Advance(100 * 24 * time.Hour)
		require.Len(t, sentBy(sb, drafted), 3)
		c.get(campaigns).ok(200)
	})
}

func TestAStoppedCampaignGoesOnWhereItWas(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		c.do("PATCH", campaignPath(drafted), object{"steps": []object{{"type": "email", "topic": "x"}, {"type": "email", "topic": "y"}}}).ok(200)
		approvalOf(c, drafted).ok(202)
		sb.Advance(time.Hour)
		require.Len(t, sentBy(sb, drafted), 2)
		sb.Do(func(tx *sandbox.Tx) {
			tx.StopCampaign(drafted)
			tx.AddRows(reached, sandbox.Row{"id": id(105), "email": "new@engines.example"})
		})
		parked := sb.Sends(drafted)
		approvalOf(c, drafted).fails(409, "CAMPAIGN_BUSY")
		sb.Advance(48 * time.Hour)
		require.Len(t, sentBy(sb, drafted), 2, "nothing goes out meanwhile")
		require.Equal(t, parked, sb.Sends(drafted), "the rows stay as they are")

		approvalOf(c, drafted).ok(202)
		sb.Advance(3 * time.Second)
		require.Len(t, sentBy(sb, drafted), 4, "what was overdue")
		sb.Advance(48 * time.Hour)
		require.Len(t, sentBy(sb, drafted), 6, "and both steps for the new contact")
		require.Len(t, sb.Sends(drafted), 6)
		approvalOf(c, stopped).ok(202)
	})
}

func TestWhatIsStoppedInTimeNeverGoesOut(t *testing.T) {
	for name, act := range map[string]func(*sandbox.Tx){
		"stopped": func(tx *sandbox.Tx) { tx.StopCampaign(drafted) },
		"deleted": func(tx *sandbox.Tx) { tx.Put("campaigns", sandbox.Row{"id": drafted, "access": "deleted"}) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, after := range []time.Duration{0, time.Minute} {
				sb := sandbox.New(t, outreachOptions()...)
				approvalOf(inPlace(t, sb), drafted).ok(202)
				sb.Advance(after)
				sb.Do(act)
				sb.Advance(48 * time.Hour)
				require.Empty(t, sentBy(sb, drafted))
			}
		})
	}
}

func TestWithoutAnAccountWhatIsDueFails(t *testing.T) {
	sb := sandbox.New(t, outreachOptions()...)
	approvalOf(inPlace(t, sb), drafted).ok(202)
	sb = sandbox.New(t, outreachOptions(connected(sb.Snapshot()))...)
	sb.Advance(time.Hour)
	require.Empty(t, sb.Outbox())
	require.Equal(t, "failed", sb.Sends(drafted)[0].State)
}

func TestAnApprovalWhoseAnswerIsLostHasHappened(t *testing.T) {
	sb := sandbox.New(t, outreachOptions()...)
	sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropAfter())
	sb.Fail("campaigns.approve", sandbox.Nth(2), sandbox.DropBefore())
	c := inPlace(t, sb)
	for _, campaign := range []string{drafted, stopped} {
		_, err := c.send(c.request("POST", campaignPath(campaign, "approve"), nil))
		require.Error(t, err)
	}
	sb.Advance(time.Hour)
	require.Len(t, sentBy(sb, drafted), 2)
	require.Empty(t, sentBy(sb, stopped))
}
