package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func manyIDs(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = id(1000 + i)
	}
	return out
}

func crmLists() sandbox.Option {
	return sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		CRM: sandbox.CRM{Connected: []string{"crm-2"}},
		Lists: []sandbox.List{
			{ID: id(1), Name: "people", Rows: sandbox.Rows(sandbox.Row{"id": rid("r1")}, sandbox.Row{"id": rid("r2")})},
			{ID: id(2), Name: "firms", EntityType: sandbox.CompanyList},
		},
	}}})
}

func TestCRMPush(t *testing.T) {
	onEachRoad(t, []sandbox.Option{crmLists(), sandbox.WithClock(sandbox.NewManualClock(start))}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		push := lists + "/" + id(1) + "/crm-push"
		body := c.do("POST", push, object{"crm": "crm-2", "note": "unknown keys are ignored"}).ok(202)
		require.Equal(t, object{"crm": "crm-2", "listIds": []any{id(1)}}, body)
		c.do("POST", push, object{"crm": "crm-2", "contactIds": []string{id(7)}}).ok(202)

		pushes := sb.Outbox()
		require.Len(t, pushes, 2)
		require.Equal(t, sandbox.Outgoing{
			Time: start, RequestID: "req_000001", Kind: "crm", To: "crm-2", Count: 2, ListID: id(1), ContactIDs: []string{rid("r1"), rid("r2")},
		}, pushes[0])
		require.Equal(t, []string{id(7)}, pushes[1].ContactIDs, "not intersected with the list")
		require.True(t, pushes[1].Overwrite)
		require.Empty(t, sb.Ledger(), "a push costs nothing")
	})
}

func TestCRMPushRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		list   string
		body   any
		status int
		code   string
		param  string
	}{
		"500 ids":         {id(1), object{"crm": "crm-2", "contactIds": manyIDs(500)}, 202, "", ""},
		"one id":          {id(1), object{"crm": "crm-2", "contactIds": manyIDs(1)}, 202, "", ""},
		"no ids":          {id(1), object{"crm": "crm-2", "contactIds": []string{}}, 422, "VALIDATION_FAILED", "contactIds"},
		"501 ids":         {id(1), object{"crm": "crm-2", "contactIds": manyIDs(501)}, 422, "VALIDATION_FAILED", "contactIds"},
		"bad id":          {id(1), object{"crm": "crm-2", "contactIds": []string{"r1"}}, 422, "VALIDATION_FAILED", "contactIds"},
		"null ids":        {id(1), object{"crm": "crm-2", "contactIds": nil}, 422, "VALIDATION_FAILED", "contactIds"},
		"ids not strings": {id(1), object{"crm": "crm-2", "contactIds": []int{1}}, 422, "VALIDATION_FAILED", "contactIds"},
		"no crm":          {id(1), object{}, 422, "VALIDATION_FAILED", "crm"},
		"crm not text":    {id(1), object{"crm": 5}, 422, "VALIDATION_FAILED", "crm"},
		"unsupported":     {id(1), object{"crm": "crm-9"}, 422, "VALIDATION_FAILED", "crm"},
		"not connected":   {id(1), object{"crm": "crm-1"}, 422, "CRM_NOT_CONNECTED", ""},
		"company list":    {id(2), object{"crm": "crm-1"}, 422, "CONTACT_LIST_REQUIRED", ""},
		"missing list":    {id(3), object{"crm": "crm-2"}, 404, "LIST_NOT_FOUND", ""},
		"bad list id":     {"x", object{"crm": "crm-2"}, 422, "VALIDATION_FAILED", "listId"},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, []sandbox.Option{crmLists()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
				t.Helper()
				r := c.do("POST", lists+"/"+tc.list+"/crm-push", tc.body)
				if tc.status == 202 {
					r.ok(202)
					require.Len(t, sb.Outbox(), 1)
					return
				}
				param, _ := r.fails(tc.status, tc.code)
				require.Equal(t, tc.param, param)
				require.Empty(t, sb.Outbox())
			})
		})
	}
}

func fillLists() sandbox.Option {
	return sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Credits: 10,
		Agents:  []sandbox.Agent{{Name: "Watcher"}},
		Lists: []sandbox.List{
			{ID: id(1), Name: "source", Rows: sandbox.Rows(sandbox.Row{"id": id(101), "n": 1}, sandbox.Row{"id": id(102), "n": 2}, sandbox.Row{"id": id(103), "n": 3})},
			{ID: id(2), Name: "target", Rows: sandbox.Rows(sandbox.Row{"id": id(101), "n": 1})},
			{ID: id(3), Name: "firms", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(sandbox.Row{"id": id(201)})},
			{ID: id(4), Name: "busy", CompletionStatus: "processing"},
			{ID: id(5), Name: "twice"},
			{ID: id(6), Name: "twice"},
		},
	}}})
}

func TestAddMembers(t *testing.T) {
	members := lists + "/" + id(2) + "/members"
	onEachRoad(t, []sandbox.Option{fillLists(), sandbox.WithPrices(sandbox.Prices{"lists.add-members": 3})}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		body := c.do("POST", members, object{"contactIds": []string{id(101), id(102), id(102)}}).ok(200)
		require.EqualValues(t, 1, body["addedCount"], "one was there, one was named twice")
		require.EqualValues(t, 2, at(body, "list", "contactsCount"))
		require.EqualValues(t, 7, sb.Balance())
		require.EqualValues(t, 0, c.do("POST", members, object{"contactIds": []string{id(102)}}).ok(200)["addedCount"])

		c.do("POST", members, object{"contactIds": []string{id(999)}}).fails(404, "CONTACT_NOT_FOUND")
		c.do("POST", members, object{"contactIds": []string{id(201)}}).fails(404, "CONTACT_NOT_FOUND")
		c.do("POST", members, object{}).fails(422, "VALIDATION_FAILED")
		c.do("POST", members, object{"contactIds": manyIDs(501)}).fails(422, "VALIDATION_FAILED")
		c.do("POST", lists+"/"+id(88)+"/members", object{"contactIds": []string{id(101)}}).fails(404, "LIST_NOT_FOUND")
		c.do("POST", lists+"/x/members", object{"contactIds": []string{id(101)}}).fails(422, "VALIDATION_FAILED")
		require.Len(t, sb.Rows(id(2)), 2)
		require.Len(t, sb.Ledger(), 1)
	})
}

func TestAddContacts(t *testing.T) {
	contacts := lists + "/" + id(2) + "/contacts"
	onEachRoad(t, []sandbox.Option{fillLists(), sandbox.WithPrices(sandbox.Prices{"lists.add-contacts": 2})}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		two := object{"contacts": []object{{"firstName": "Ada"}, {}}}
		first := c.do("POST", contacts, two).ok(201)
		again := c.do("POST", contacts, two).ok(201)
		require.NotEqual(t, first["contactIds"], again["contactIds"], "a repetition doubles the rows")
		require.Len(t, sb.Rows(id(2)), 5)
		require.EqualValues(t, 2, sb.Balance())

		c.do("POST", contacts, two).fails(402, "INSUFFICIENT_CREDITS")
		require.Len(t, sb.Rows(id(2)), 5, "nothing was added")
		require.EqualValues(t, 2, sb.Balance())
		c.do("POST", contacts, object{"contacts": []object{{}}}).ok(201)
		require.EqualValues(t, 0, sb.Balance(), "to the last credit")

		for _, bad := range []any{object{}, object{"contacts": []object{}}, object{"contacts": []int{1}}, object{"contacts": []object{{"id": id(1)}}}, object{"contacts": "x"}} {
			param, _ := c.do("POST", contacts, bad).fails(422, "VALIDATION_FAILED")
			require.Equal(t, "contacts", param)
		}
		c.do("POST", contacts, object{"contacts": make([]object, 501)}).fails(422, "VALIDATION_FAILED")
		c.do("POST", lists+"/"+id(88)+"/contacts", two).fails(404, "LIST_NOT_FOUND")

		ledger := sb.Ledger()
		require.Len(t, ledger, 3)
		require.Equal(t, "lists.add-contacts", ledger[0].Operation)
		require.Equal(t, "req_000001", ledger[0].RequestID)
		require.EqualValues(t, -4, ledger[0].Amount)
		require.EqualValues(t, 6, ledger[0].Balance)
		require.EqualValues(t, 4, sb.Journal()[0].Credits)
	})
}

func TestSaveToList(t *testing.T) {
	const save = "/business/lists/save-to-list"
	for name, tc := range map[string]struct {
		body   object
		status int
		code   string
		added  int
	}{
		"whole list":        {object{"sourceListId": id(1), "listId": id(2)}, 200, "", 2},
		"some":              {object{"sourceListId": id(1), "listId": id(2), "contactIds": []string{id(101), id(103)}}, 200, "", 1},
		"by name":           {object{"sourceListId": id(1), "listName": " target "}, 200, "", 2},
		"new list":          {object{"sourceListId": id(1), "listName": "fresh"}, 200, "", 3},
		"new company list":  {object{"sourceListId": id(3), "listName": "fresh"}, 200, "", 1},
		"ambiguous":         {object{"sourceListId": id(1), "listName": "twice"}, 409, "LIST_NAME_AMBIGUOUS", 0},
		"reserved":          {object{"sourceListId": id(1), "listName": "all contacts"}, 422, "LIST_NAME_RESERVED", 0},
		"name of an agent":  {object{"sourceListId": id(1), "listName": "Watcher"}, 409, "LIST_NAME_TAKEN", 0},
		"processing":        {object{"sourceListId": id(4), "listId": id(2)}, 409, "LIST_PROCESSING", 0},
		"no source":         {object{"sourceListId": id(77), "listId": id(2)}, 404, "LIST_NOT_FOUND", 0},
		"no target":         {object{"sourceListId": id(1), "listId": id(77)}, 404, "LIST_NOT_FOUND", 0},
		"not in list":       {object{"sourceListId": id(1), "listId": id(2), "contactIds": []string{id(201)}}, 422, "CONTACT_NOT_IN_LIST", 0},
		"another kind":      {object{"sourceListId": id(1), "listId": id(3)}, 422, "VALIDATION_FAILED", 0},
		"both targets":      {object{"sourceListId": id(1), "listId": id(2), "listName": "x"}, 422, "VALIDATION_FAILED", 0},
		"neither target":    {object{"sourceListId": id(1)}, 422, "VALIDATION_FAILED", 0},
		"no source id":      {object{"listId": id(2)}, 422, "VALIDATION_FAILED", 0},
		"source id not hex": {object{"sourceListId": "x", "listId": id(2)}, 422, "VALIDATION_FAILED", 0},
		"target id not hex": {object{"sourceListId": id(1), "listId": "x"}, 422, "VALIDATION_FAILED", 0},
		"blank name":        {object{"sourceListId": id(1), "listName": " "}, 422, "VALIDATION_FAILED", 0},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, []sandbox.Option{fillLists()}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
				t.Helper()
				r := c.do("POST", save, tc.body)
				if tc.status == 200 {
					require.EqualValues(t, tc.added, r.ok(200)["addedCount"])
					return
				}
				r.fails(tc.status, tc.code)
			})
		})
	}
}

func TestAccount(t *testing.T) {
	seed := sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Credits: 42, User: sandbox.User{ID: id(5), Email: "ada@x.example", Name: "Ada"}}}})
	onEachRoad(t, []sandbox.Option{seed}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		require.Equal(t, object{"user": object{"id": id(5), "email": "ada@x.example", "name": "Ada"}}, c.get("/business/me").ok(200))
		require.EqualValues(t, 42, at(c.get("/business/credits").ok(200), "credits", "balance"))
		sb.Do(func(tx *sandbox.Tx) { tx.AddCredits(-2, "spent in the app") })
		require.EqualValues(t, 40, at(c.get("/business/credits").ok(200), "credits", "balance"))
		require.Equal(t, "spent in the app", sb.Ledger()[0].Reason)
		r := c.get("/business/prospects/filter-options")
		require.NotEmpty(t, r.ok(200)["filterOptions"])
		r.requireRate(120, 119, 60)
	})
}
