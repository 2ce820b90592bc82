package sandbox_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

const lists = "/business/lists"

func someLists() sandbox.Option {
	return sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main",
		Folders: []sandbox.Folder{
			{ID: id(1), Name: "people", Type: sandbox.ContactList},
			{ID: id(2), Name: "firms", Type: sandbox.CompanyList},
			{ID: id(3), Name: "runs", Type: sandbox.CampaignFolder},
		},
		Agents: []sandbox.Agent{{Name: "Watcher"}},
		Lists: []sandbox.List{
			{ID: id(11), Name: "Berlin 100%", FolderID: id(1), CreatedAt: start.Add(-3 * time.Hour), Rows: sandbox.Rows(sandbox.Row{"id": rid("r1")}, sandbox.Row{"id": rid("r2")})},
			{ID: id(12), Name: "Paris", EntityType: sandbox.CompanyList, CreatedAt: start.Add(-2 * time.Hour), Rows: sandbox.Rows(sandbox.Row{"id": rid("c1")})},
			{ID: id(13), Name: "Everybody", System: true, CreatedAt: start.Add(-90 * time.Minute)},
			{ID: id(14), Name: "berlin_2", CreatedAt: start.Add(-time.Hour), Columns: []sandbox.Column{{ID: id(99), Name: "Score", Type: "number"}}},
		},
	}}})
}

func TestListsListing(t *testing.T) {
	for name, tc := range map[string]struct {
		query []string
		want  []string
	}{
		"newest first, system hidden": {nil, []string{"berlin_2", "Paris", "Berlin 100%"}},
		"contact lists":               {[]string{"entityType", "contactList"}, []string{"berlin_2", "Berlin 100%"}},
		"company lists":               {[]string{"entityType", "companyList"}, []string{"Paris"}},
		"folder":                      {[]string{"folderId", id(1)}, []string{"Berlin 100%"}},
		"empty folder":                {[]string{"folderId", id(2)}, []string{}},
		"missing folder":              {[]string{"folderId", id(77)}, []string{}},
		"search ignores case":         {[]string{"search", "BERLIN"}, []string{"berlin_2", "Berlin 100%"}},
		"percent is literal":          {[]string{"search", "0%"}, []string{"Berlin 100%"}},
		"underscore is literal":       {[]string{"search", "n_"}, []string{"berlin_2"}},
		"no wildcard":                 {[]string{"search", "b*n"}, []string{}},
		"all together":                {[]string{"search", "berlin", "entityType", "contactList", "folderId", id(1), "limit", "1"}, []string{"Berlin 100%"}},
		"second page":                 {[]string{"limit", "2", "pageNum", "2"}, []string{"Berlin 100%"}},
		"past the end":                {[]string{"limit", "2", "pageNum", "3"}, []string{}},
		"far past the end":            {[]string{"limit", "1000", "pageNum", "9223372036854775807"}, []string{}},
		"unknown parameter":           {[]string{"order", "asc"}, []string{"berlin_2", "Paris", "Berlin 100%"}},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, []sandbox.Option{someLists()}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
				t.Helper()
				require.Equal(t, tc.want, names(c.get(lists, tc.query...).ok(200), "name"))
			})
		})
	}
}

func TestListsAreListedByTheirCreation(t *testing.T) {
	day := func(n int) time.Time { return start.AddDate(0, 0, -n) }
	sb := sandbox.New(t, sandbox.WithClock(sandbox.NewManualClock(start)), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Lists: []sandbox.List{
		{Name: "three days", CreatedAt: day(3)}, {Name: "undated"}, {Name: "four days", CreatedAt: day(4)},
	}}}}))
	c := inPlace(t, sb)
	c.do("POST", lists, create("now")).ok(201)
	sb.Do(func(tx *sandbox.Tx) {
		tx.CreateList(sandbox.List{Name: "two days", CreatedAt: day(2)})
		tx.CreateList(sandbox.List{Name: "now, too"})
		tx.Put("lists", sandbox.Row{"name": "a day", "createdAt": day(1)})
	})
	require.Equal(t, []string{"now, too", "now", "undated", "a day", "two days", "three days", "four days"}, names(c.get(lists).ok(200), "name"))
}

func TestListsListingRow(t *testing.T) {
	sb := sandbox.New(t, someLists(), sandbox.WithClock(sandbox.NewManualClock(start)))
	body := inPlace(t, sb).get(lists, "limit", "2").ok(200)
	require.Equal(t, object{"pageNum": 1.0, "totalPages": 2.0, "totalRecords": 3.0}, body["pagination"])
	require.Equal(t, object{
		"id": id(12), "name": "Paris", "entityType": "companyList", "contactsCount": 0.0, "companiesCount": 1.0,
		"createdAt": "2026-03-01T07:00:00.000Z", "folderId": nil,
	}, at(body, "data", 1))
	body = inPlace(t, sb).get(lists, "pageNum", "2", "limit", "2").ok(200)
	require.Equal(t, id(1), at(body, "data", 0, "folderId"))
	require.EqualValues(t, 2, at(body, "data", 0, "contactsCount"))
}

func TestListsListingBounds(t *testing.T) {
	holdBounds(t, nil, lists, []bound{
		{"limit", "0", false},
		{"limit", "1", true},
		{"limit", "1000", true},
		{"limit", "1001", false},
		{"limit", "-1", false},
		{"limit", "ten", false},
		{"limit", "", false},
		{"limit", "1.5", false},
		{"pageNum", "0", false},
		{"pageNum", "1", true},
		{"pageNum", "99999", true},
		{"pageNum", "99999999999999999999", false},
		{"entityType", "list", false},
		{"entityType", "", false},
		{"folderId", strings.Repeat("a", 23), false},
		{"folderId", strings.Repeat("A", 24), true},
		{"folderId", strings.Repeat("a", 25), false},
		{"folderId", strings.Repeat("g", 24), false},
		{"folderId", "", false},
		{"search", "", false},
		{"search", strings.Repeat("é", 200), true},
		{"search", strings.Repeat("é", 201), false},
	})
}

func TestListsListingDefaultsAndAllOffenders(t *testing.T) {
	var seed []sandbox.List
	for i := range 51 {
		seed = append(seed, sandbox.List{Name: "list " + strconv.Itoa(i)})
	}
	sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Lists: seed}}}))
	c := inPlace(t, sb)
	body := c.get(lists).ok(200)
	require.Len(t, body["data"], 50)
	require.Equal(t, "list 50", at(body, "data", 0, "name"), "the last of the seed is the newest")

	param, message := c.get(lists, "limit", "0", "pageNum", "x", "search", "").fails(422, "VALIDATION_FAILED")
	require.Equal(t, "limit", param)
	require.Contains(t, message, "pageNum")
	require.Contains(t, message, "search")
}

func TestListsCreate(t *testing.T) {
	onEachRoad(t, []sandbox.Option{someLists(), sandbox.WithClock(sandbox.NewManualClock(start))}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		body := c.do("POST", lists, object{"name": "  Q1 \n"}).ok(201)
		list := body["list"].(object)
		require.Regexp(t, "^[0-9a-f]{24}$", list["id"])
		require.Equal(t, object{
			"id": list["id"], "name": "Q1", "entityType": "contactList", "contactsCount": 0.0, "companiesCount": 0.0,
			"createdAt": "2026-03-01T09:00:00.000Z", "folderId": nil,
		}, list)
		c.do("POST", lists, object{"name": "Q2", "entityType": "companyList"}).ok(201)
		require.Equal(t, []string{"Q2", "Q1", "berlin_2"}, names(c.get(lists).ok(200), "name")[:3])
		require.Equal(t, []string{`list created: "Q1"`}, sb.Journal()[0].Effects)
	})
}

func TestListsCreateRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		body   any
		status int
		code   string
		param  string
	}{
		"missing":         {object{}, 422, "VALIDATION_FAILED", "name"},
		"nothing sent":    {nil, 422, "VALIDATION_FAILED", "name"},
		"blank":           {object{"name": " \t "}, 422, "VALIDATION_FAILED", "name"},
		"null":            {object{"name": nil}, 422, "VALIDATION_FAILED", "name"},
		"number":          {object{"name": 7}, 422, "VALIDATION_FAILED", "name"},
		"255 characters":  {object{"name": strings.Repeat("ä", 255)}, 201, "", ""},
		"255 and space":   {object{"name": "  " + strings.Repeat("ä", 255) + "  "}, 201, "", ""},
		"256 characters":  {object{"name": strings.Repeat("ä", 256)}, 422, "VALIDATION_FAILED", "name"},
		"one character":   {object{"name": "x"}, 201, "", ""},
		"unknown key":     {object{"name": "x", "folderId": id(1)}, 422, "VALIDATION_FAILED", "folderId"},
		"bad kind":        {object{"name": "x", "entityType": "list"}, 422, "VALIDATION_FAILED", "entityType"},
		"null kind":       {object{"name": "x", "entityType": nil}, 422, "VALIDATION_FAILED", "entityType"},
		"taken":           {object{"name": "Paris"}, 409, "LIST_NAME_TAKEN", ""},
		"taken, trimmed":  {object{"name": " Paris "}, 409, "LIST_NAME_TAKEN", ""},
		"other case":      {object{"name": "paris"}, 201, "", ""},
		"taken by agent":  {object{"name": "Watcher"}, 409, "LIST_NAME_TAKEN", ""},
		"system list":     {object{"name": "everybody"}, 422, "LIST_NAME_RESERVED", ""},
		"system title":    {object{"name": "All Contacts"}, 422, "LIST_NAME_RESERVED", ""},
		"not JSON":        {"{", 400, "INVALID_REQUEST", ""},
		"not an object":   {"[]", 400, "INVALID_REQUEST", ""},
		"two documents":   {`{"name":"x"}{}`, 400, "INVALID_REQUEST", ""},
		"first of many":   {object{"zeta": 1, "alpha": 1, "entityType": 5}, 422, "VALIDATION_FAILED", "name"},
		"unknown is last": {object{"name": "x", "zeta": 1, "alpha": 1}, 422, "VALIDATION_FAILED", "alpha"},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, []sandbox.Option{someLists()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
				t.Helper()
				before := len(sb.Lists())
				r := c.do("POST", lists, tc.body)
				if tc.status == 201 {
					r.ok(201)
					return
				}
				param, _ := r.fails(tc.status, tc.code)
				require.Equal(t, tc.param, param)
				require.Len(t, sb.Lists(), before)
			})
		})
	}
}

func TestBodiesHaveToBeDeclared(t *testing.T) {
	c := inPlace(t, sandbox.New(t))
	for contentType, valid := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "Application/JSON": true,
		"text/plain": false, "": false, "application/jsonp": false,
	} {
		req := c.request("POST", lists, object{"name": "x " + contentType})
		req.Header.Set("Content-Type", contentType)
		r, err := c.send(req)
		require.NoError(t, err)
		if valid {
			r.ok(201)
		} else {
			r.fails(422, "VALIDATION_FAILED")
		}
	}
}

func TestListsGet(t *testing.T) {
	onEachRoad(t, []sandbox.Option{someLists()}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		body := c.get(lists + "/" + id(14)).ok(200)
		require.Equal(t, "berlin_2", at(body, "list", "name"))
		require.NotContains(t, body["list"], "columns")
		body = c.get(lists+"/"+id(14), "include", "columns").ok(200)
		require.Equal(t, []any{object{"id": id(99), "name": "Score", "type": "number"}}, at(body, "list", "columns"))
		body = c.get(lists+"/"+id(12), "include", "columns").ok(200)
		require.Equal(t, []any{}, at(body, "list", "columns"))
		c.get(lists+"/"+id(55)).fails(404, "LIST_NOT_FOUND")
		param, _ := c.get(lists+"/12").fails(422, "VALIDATION_FAILED")
		require.Equal(t, "listId", param)
	})
}

func TestIdsMayBeInUpperCase(t *testing.T) {
	sb := sandbox.New(t, someLists())
	c := inPlace(t, sb)
	require.Equal(t, "Berlin 100%", at(c.get(lists+"/"+strings.ToUpper(id(11))).ok(200), "list", "name"))
	require.Len(t, c.get(rowsOf(strings.ToUpper(id(11)))).ok(200)["data"], 2)
	row := strings.ToUpper(rid("r1"))
	require.EqualValues(t, 1, c.do("POST", lists+"/"+id(14)+"/members", object{"contactIds": []string{row}}).ok(200)["addedCount"])
	sb.Do(func(tx *sandbox.Tx) { tx.ChangeRow(id(14), sandbox.Row{"id": row, "n": 1}) })
	require.Equal(t, []string{"r1"}, names(c.get(rowsOf(id(14))).ok(200), "id"))
	sb.Do(func(tx *sandbox.Tx) { tx.RemoveRows(id(14), row) })
	require.Empty(t, sb.Rows(id(14)))
}

// The results list of an agent may have space around its name.
func TestSpaceAroundANameMakesNoOtherName(t *testing.T) {
	sb := sandbox.New(t, someLists())
	c := inPlace(t, sb)
	sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: " Results "}) })
	c.do("POST", lists, object{"name": "Results"}).fails(409, "LIST_NAME_TAKEN")
	saved := c.do("POST", lists+"/save-to-list", object{"sourceListId": id(11), "listName": "Results"}).ok(200)
	require.Equal(t, " Results ", at(saved, "list", "name"))
}

func TestListsMove(t *testing.T) {
	onEachRoad(t, []sandbox.Option{someLists()}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		list := lists + "/" + id(14)
		require.Equal(t, id(1), at(c.do("PATCH", list, object{"folderId": id(1)}).ok(200), "list", "folderId"))
		require.Equal(t, []string{"berlin_2", "Berlin 100%"}, names(c.get(lists, "folderId", id(1)).ok(200), "name"))
		require.Nil(t, at(c.do("PATCH", list, object{"folderId": nil}).ok(200), "list", "folderId"))
		c.do("PATCH", list, object{"folderId": id(2)}).fails(404, "FOLDER_NOT_FOUND")
		c.do("PATCH", list, object{"folderId": id(7)}).fails(404, "FOLDER_NOT_FOUND")
		c.do("PATCH", lists+"/"+id(7), object{"folderId": id(1)}).fails(404, "LIST_NOT_FOUND")
		for _, bad := range []object{{}, {"folderId": "root"}, {"folderId": 1}, {"folderId": id(1), "name": "x"}} {
			c.do("PATCH", list, bad).fails(422, "VALIDATION_FAILED")
		}
		require.Nil(t, at(c.get(list).ok(200), "list", "folderId"), "no refusal moved it")
	})
}

func TestFolders(t *testing.T) {
	onEachRoad(t, []sandbox.Option{someLists()}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		require.Equal(t, object{"folders": []any{object{"id": id(1), "name": "people", "type": "contactList"}}}, c.get("/business/folders", "type", "contactList").ok(200))
		require.Len(t, c.get("/business/folders", "type", "campaign").ok(200)["folders"], 1)
		require.Empty(t, c.get("/business/folders", "type", "agent").ok(200)["folders"])
		for _, query := range [][]string{{}, {"type", ""}, {"type", "list"}} {
			param, _ := c.get("/business/folders", query...).fails(422, "VALIDATION_FAILED")
			require.Equal(t, "type", param)
		}
	})
}

func TestIdsAreTheSameInEveryRunAndNeverCollide(t *testing.T) {
	run := func(state sandbox.State) (ids []string, _ sandbox.State) {
		sb := sandbox.New(t, sandbox.Seed(state), sandbox.WithClock(sandbox.NewManualClock(start)))
		c := inPlace(t, sb)
		for i := range 3 {
			ids = append(ids, at(c.do("POST", lists, object{"name": fmt.Sprint(len(sb.Lists()), i)}).ok(201), "list", "id").(string))
		}
		return ids, sb.Snapshot()
	}
	first, snapshot := run(sandbox.State{})
	again, _ := run(sandbox.State{})
	require.Equal(t, first, again)
	later, _ := run(snapshot)
	for _, id := range later {
		require.NotContains(t, first, id)
	}
}
