package sandbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

const resolve = "/business/contacts/resolve"

func timelineOf(n int) string { return "/business/contacts/" + id(n) + "/activities" }

// busyContact has 250 activities, the oldest first in the seed, and two steps that are still scheduled.
func busyContact() []sandbox.Option {
	ws := sandbox.Workspace{Lists: []sandbox.List{
		{ID: id(1), Name: "people", Rows: sandbox.Rows(
			sandbox.Row{"id": id(101), "email": "ada@engines.example", "socialUrl": "https://social.example/in/ada"},
			sandbox.Row{"id": id(102), "email": "bob@engines.example"},
		)},
		{ID: id(2), Name: "firms", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(sandbox.Row{"id": id(103), "email": "firm@engines.example"})},
	}}
	for n := range 250 {
		ws.Activities = append(ws.Activities, sandbox.Activity{ContactID: id(101), Type: fmt.Sprint("a", n), At: start.Add(time.Duration(n) * time.Minute)})
	}
	for n := range 2 {
		ws.Activities = append(ws.Activities, sandbox.Activity{ContactID: id(101), Type: fmt.Sprint("s", n), At: start, Scheduled: true})
	}
	return []sandbox.Option{
		sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{ws}}),
		sandbox.WithRoute("contacts.timeline", "GET /business/contacts/{contactId}/activities"),
	}
}

func types(page object) (out []string) {
	for _, a := range page["activities"].([]any) {
		out = append(out, a.(object)["type"].(string))
	}
	return out
}

func TestTimeline(t *testing.T) {
	onEachRoad(t, busyContact(), func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		page := c.get(timelineOf(101)).ok(200)
		require.Equal(t, id(101), page["contactId"])
		require.Len(t, page["activities"], 102, "the first page holds a few more")
		require.Equal(t, []string{"s0", "s1", "a249", "a248"}, types(page)[:4])
		require.Equal(t, true, at(page, "activities", 0, "scheduled"))

		sb.Do(func(tx *sandbox.Tx) { tx.Put("activities", sandbox.Row{"contactId": id(101), "type": "new"}) })
		cursor := page["nextCursor"].(string)
		page = c.get(timelineOf(101), "cursor", cursor).ok(200)
		require.Len(t, page["activities"], 100)
		require.Equal(t, "a149", types(page)[0], "what happens meanwhile shifts nothing")
		page = c.get(timelineOf(101), "cursor", page["nextCursor"].(string)).ok(200)
		require.Equal(t, "a0", types(page)[49])
		require.Contains(t, page, "nextCursor")
		require.Nil(t, page["nextCursor"])
		require.Equal(t, "a149", types(c.get(timelineOf(101), "cursor", cursor).ok(200))[0], "a cursor can be used again")
	})
}

func TestTimelineBounds(t *testing.T) {
	onEachRoad(t, busyContact(), func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		for limit, want := range map[string]int{"1": 3, "100": 102} {
			require.Len(t, c.get(timelineOf(101), "limit", limit).ok(200)["activities"], want)
		}
		forged := func(left string) string { return id(101) + "-" + left }
		c.get(timelineOf(101), "cursor", forged("250")).ok(200)
		for param, values := range map[string][]string{
			"limit":  {"0", "101", "x", ""},
			"cursor": {"", strings.Repeat("c", 501), strings.Repeat("c", 500), "x", c.get(timelineOf(101)).ok(200)["nextCursor"].(string) + ".", forged("0"), forged("-5"), forged("251"), forged("x")},
		} {
			for _, value := range values {
				refused, _ := c.get(timelineOf(101), param, value).fails(422, "VALIDATION_FAILED")
				require.Equal(t, param, refused)
			}
		}
		cursor := c.get(timelineOf(101)).ok(200)["nextCursor"].(string)
		c.get(timelineOf(102), "cursor", cursor).fails(422, "VALIDATION_FAILED")
		page := c.get(timelineOf(102)).ok(200)
		require.Equal(t, []any{}, page["activities"])
		require.Nil(t, page["nextCursor"])
		for _, n := range []int{103, 999} {
			c.get(timelineOf(n)).fails(404, "CONTACT_NOT_FOUND")
		}
		c.get("/business/contacts/x/activities").fails(422, "VALIDATION_FAILED")
	})
	c := inPlace(t, sandbox.New(t))
	c.get(timelineOf(101)).fails(404, "ENDPOINT_NOT_FOUND")
}

func TestScheduledSendsArePinnedToTheTimeline(t *testing.T) {
	state := sandbox.State{Workspaces: []sandbox.Workspace{{
		Lists: []sandbox.List{{ID: id(1), Name: "people", Rows: sandbox.Rows(sandbox.Row{"id": id(101)})}},
		Campaigns: []sandbox.Campaign{{
			ID: id(41), Name: "c", Channels: []string{"email"}, Steps: []sandbox.Step{{ID: id(51), Type: "email", Subject: "s", Body: "b"}},
			Sends: []sandbox.Send{
				{ID: id(61), StepID: id(51), ContactID: id(101), DueAt: start.Add(time.Hour), State: "scheduled"},
				{ID: id(62), StepID: id(51), ContactID: id(101), DueAt: start.Add(-time.Hour), State: "skipped"},
			},
		}},
		Activities: []sandbox.Activity{{ContactID: id(101), Type: "note", At: start.Add(2 * time.Hour)}},
	}}}
	sb := sandbox.New(t, sandbox.Seed(state), manual(), busyContact()[1])
	page := inPlace(t, sb).get(timelineOf(101)).ok(200)
	require.Equal(t, []string{"campaign_step", "note"}, types(page))
	require.Equal(t, object{"type": "campaign_step", "at": "2026-03-01T10:00:00.000Z", "scheduled": true, "campaignId": id(41), "sendId": id(61)}, at(page, "activities", 0))
}

func TestResolveContact(t *testing.T) {
	onEachRoad(t, busyContact(), func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		for _, body := range []object{{"email": "ADA@engines.example"}, {"socialUrl": "https://social.example/in/ada"}, {"email": "nobody", "socialUrl": "https://social.example/in/ada"}} {
			require.Equal(t, object{"contactId": id(101)}, c.do("POST", resolve, body).ok(200))
		}
		for _, body := range []object{{"email": "eve@engines.example"}, {"email": "firm@engines.example"}, {"email": ""}} {
			c.do("POST", resolve, body).fails(404, "CONTACT_NOT_FOUND")
		}
		for _, body := range []object{{}, {"email": 5}} {
			c.do("POST", resolve, body).fails(422, "VALIDATION_FAILED")
		}
		require.Empty(t, sb.Ledger())
	})
	priced := sandbox.New(t, append(busyContact(), sandbox.Credits(3), sandbox.WithPrices(sandbox.Prices{"contacts.resolve": 2}))...)
	c := inPlace(t, priced)
	c.do("POST", resolve, object{"email": "ada@engines.example"}).ok(200)
	c.do("POST", resolve, object{"email": "ada@engines.example"}).fails(402, "INSUFFICIENT_CREDITS")
	require.Equal(t, []int64{-2}, amounts(priced))
}
