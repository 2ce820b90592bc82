package sandbox_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func lettered(letters string) sandbox.List {
	l := sandbox.List{ID: id(1), Name: "letters"}
	for _, c := range letters {
		l.Rows = append(l.Rows, sandbox.Rows(sandbox.Row{"id": rid(string(c))})...)
	}
	return l
}

func TestBetweenPagesRowsShiftRepeatAndVanish(t *testing.T) {
	onEachRoad(t, []sandbox.Option{oneList(lettered("abcdef"))}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		var gaps []int
		sb.Between("lists.rows", func(tx *sandbox.Tx) {
			gaps = append(gaps, tx.Gap())
			switch tx.Gap() {
			case 1:
				tx.RemoveRows(id(1), rid("a")) // c moves to the page that has been read
			case 2:
				tx.InsertRows(id(1), 0, sandbox.Row{"id": rid("x")}, sandbox.Row{"id": rid("y")}) // d and e come again
			}
		})
		page := func(n int) []string {
			return names(c.get(rowsOf(id(1)), "limit", "2", "pageNum", strconv.Itoa(n)).ok(200), "id")
		}
		require.Equal(t, []string{"a", "b"}, page(1))
		require.Equal(t, []string{"d", "e"}, page(2))
		require.Equal(t, []string{"d", "e"}, page(3))
		require.Equal(t, []string{"f"}, page(4))
		require.Equal(t, []int{1, 2, 3}, gaps)
	})
}

func TestAGapBelongsToAnAnswerAndToAWorkspace(t *testing.T) {
	sb := sandbox.New(t)
	acts := 0
	inPlace(t, sb).get(lists).ok(200) // before the rule: not counted
	sb.Between("lists.list", func(*sandbox.Tx) { acts++ })
	c := inPlace(t, sb)
	other := c.as(sb.Workspace("b").Token())
	c.get(lists).ok(200)
	other.get(lists).ok(200)
	require.Zero(t, acts)
	c.get(lists, "limit", "0").fails(422, "VALIDATION_FAILED")
	require.Equal(t, 1, acts)
	c.get(lists).ok(200)
	require.Equal(t, 1, acts, "the refused request opened no new gap")
	c.get("/business/me").ok(200)
	c.as("nobody").get(lists).fails(401, "UNAUTHORIZED")
	require.Equal(t, 1, acts)
	c.get(lists).ok(200)
	require.Equal(t, 2, acts)
}

func TestTeammatesActs(t *testing.T) {
	sb := sandbox.New(t, someLists(), sandbox.WithClock(sandbox.NewManualClock(start)))
	c := inPlace(t, sb)
	var made string
	sb.Do(func(tx *sandbox.Tx) {
		made = tx.CreateList(sandbox.List{Name: "made", Rows: sandbox.Rows(sandbox.Row{"id": rid("m")})})
		tx.Put("lists", sandbox.Row{"id": made, "folderId": id(1)})
		tx.Put("lists", sandbox.Row{"id": made, "name": "renamed"})
		tx.Delete("lists", id(12))
		ids := tx.AddRows(made, sandbox.Row{"n": 1}, sandbox.Row{"id": rid("n")})
		tx.RemoveRows(made, ids[0])
		tx.ChangeRow(made, sandbox.Row{"id": rid("n"), "n": 2})
		tx.ChangeRow(made, sandbox.Row{"id": rid("n"), "m": int64(1<<60 + 1), "updatedAt": "never"})
		tx.ChangeRow(made, sandbox.Row{"id": rid("m"), "n": nil})
		tx.AddCredits(5, "gift")
		tx.ConnectCRM("crm-3")
		tx.ConnectCRM("crm-4")
	})
	require.Equal(t, []string{"renamed", "berlin_2", "Berlin 100%"}, names(c.get(lists).ok(200), "name"))
	require.Equal(t, id(1), at(c.get(lists+"/"+made).ok(200), "list", "folderId"))
	c.get(lists+"/"+id(12)).fails(404, "LIST_NOT_FOUND")
	require.Equal(t, []string{"m", "n"}, names(c.get(rowsOf(made)).ok(200), "id"))
	require.JSONEq(t, fmt.Sprintf(`{"id": %q, "n": 2, "m": 1152921504606846977, "updatedAt": "never"}`, rid("n")), string(sb.Rows(made)[1]))
	require.JSONEq(t, fmt.Sprintf(`{"id": %q, "n": null, "updatedAt": %q}`, rid("m"), start.UTC().Format("2006-01-02T15:04:05.000Z")), string(sb.Rows(made)[0]))
	require.Equal(t, []sandbox.LedgerEntry{{Time: start, Amount: 5, Reason: "gift", Balance: 5}}, sb.Ledger())
	require.Equal(t, []string{"crm-3", "crm-4"}, sb.Snapshot().Workspaces[0].CRM.Connected)
	sb.Do(func(tx *sandbox.Tx) { tx.Put("lists", sandbox.Row{"id": made, "folderId": ""}) })
	require.Nil(t, at(c.get(lists+"/"+made).ok(200), "list", "folderId"))
}

// What refers to something that a teammate deletes refers to nothing: other acts and snapshots stay valid.
func TestWhatIsDeletedLeavesNothingBehind(t *testing.T) {
	sb := sandbox.New(t, someLists())
	c := inPlace(t, sb)
	sb.Do(func(tx *sandbox.Tx) {
		results := tx.CreateList(sandbox.List{Name: "Results", FolderID: id(1)})
		agent := tx.CreateAgent(sandbox.Agent{Name: "Legacy", Status: "active", ListID: results})
		tx.Delete("folders", id(1))
		tx.Delete("lists", results)
		tx.CreateList(sandbox.List{Name: "another"})
		require.Nil(t, at(c.get(agents+"/"+agent).ok(200), "agent", "listId"))
	})
	require.Nil(t, at(c.get(lists+"/"+id(11)).ok(200), "list", "folderId"))
	require.NoError(t, sb.Snapshot().Validate())
}

func TestIDsThatATeammateGivesAreNotGivenAgain(t *testing.T) {
	sb := sandbox.New(t)
	sb.Do(func(tx *sandbox.Tx) {
		l := tx.CreateList(sandbox.List{Name: "x"})
		first := tx.AddRows(l, sandbox.Row{})[0]
		next := first[:23] + string(first[23]+1)
		ids := append(tx.AddRows(l, sandbox.Row{}, sandbox.Row{"id": next}), tx.AddRows(l, sandbox.Row{})...)
		slices.Sort(ids)
		require.Len(t, slices.Compact(ids), 3)
	})
}

func TestSenselessActsAreReported(t *testing.T) {
	for name, act := range map[string]func(*sandbox.Tx){
		"create: no name":        func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{}) },
		"create: id taken":       func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{ID: id(11), Name: "x"}) },
		"create: no such folder": func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "x", FolderID: id(77)}) },
		"create: bad rows":       func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "x", Rows: []json.RawMessage{[]byte("1")}}) },
		"delete":                 func(tx *sandbox.Tx) { tx.Delete("lists", id(77)) },
		"rename":                 func(tx *sandbox.Tx) { tx.Put("lists", sandbox.Row{"id": id(11), "name": ""}) },
		"create: other folder":   func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "x", FolderID: id(2)}) },
		"move":                   func(tx *sandbox.Tx) { tx.Put("lists", sandbox.Row{"id": id(11), "folderId": id(77)}) },
		"move: other folder":     func(tx *sandbox.Tx) { tx.Put("lists", sandbox.Row{"id": id(11), "folderId": id(2)}) },
		"add: there already":     func(tx *sandbox.Tx) { tx.AddRows(id(11), sandbox.Row{"id": rid("r1")}) },
		"add: in capitals":       func(tx *sandbox.Tx) { tx.AddRows(id(11), sandbox.Row{"id": strings.ToUpper(rid("r1"))}) },
		"add: twice":             func(tx *sandbox.Tx) { tx.AddRows(id(11), sandbox.Row{"id": rid("q")}, sandbox.Row{"id": rid("q")}) },
		"add: no id":             func(tx *sandbox.Tx) { tx.AddRows(id(11), sandbox.Row{"id": "ada"}) },
		"add: no list":           func(tx *sandbox.Tx) { tx.AddRows(id(77), sandbox.Row{}) },
		"insert: too far":        func(tx *sandbox.Tx) { tx.InsertRows(id(11), 3, sandbox.Row{}) },
		"remove":                 func(tx *sandbox.Tx) { tx.RemoveRows(id(11), rid("r1"), rid("gone")) },
		"change: no such row":    func(tx *sandbox.Tx) { tx.ChangeRow(id(11), sandbox.Row{"id": rid("gone")}) },
		"change: no id":          func(tx *sandbox.Tx) { tx.ChangeRow(id(11), sandbox.Row{"n": 1}) },
		"change: no list":        func(tx *sandbox.Tx) { tx.ChangeRow(id(77), sandbox.Row{"id": rid("r1")}) },
		"credits":                func(tx *sandbox.Tx) { tx.AddCredits(-1, "too much") },
		"connect":                func(tx *sandbox.Tx) { tx.ConnectCRM("unheard-of") },
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			sb := sandbox.New(rec, someLists())
			before := sb.Snapshot()
			sb.Do(act)
			require.Len(t, rec.errors, 1)
			require.Regexp(t, here, rec.errors[0])
			sameState(t, before, sb.Snapshot())
		})
	}
}

// here ends a report of what this file did wrong.
const here = `\(tx_test\.go:\d+\)$`

func TestReportsOfActsSayWhatIsWrong(t *testing.T) {
	for want, act := range map[string]func(*sandbox.Tx){
		`Tx.Delete: "list" is no kind of object: the kinds are ["lists" "activities"`:                    func(tx *sandbox.Tx) { tx.Delete("list", id(11)) },
		`Tx.Put: "list" is no kind of object`:                                                            func(tx *sandbox.Tx) { tx.Put("list", sandbox.Row{}) },
		`Tx.Put: json: unknown field "title" (`:                                                          func(tx *sandbox.Tx) { tx.Put("lists", sandbox.Row{"title": "x"}) },
		`Tx.Put: json: unsupported type`:                                                                 func(tx *sandbox.Tx) { tx.Put("lists", func() {}) },
		`Tx.CreateList: list "x": unknown entity type "people", which is none of ["contactList" "compan`: func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "x", EntityType: "people"}) },
		`Tx.Delete: none of the lists has the id "gone"`:                                                 func(tx *sandbox.Tx) { tx.Delete("lists", "gone") },
		`Tx.InsertRows: none of the lists has the id "` + id(77):                                         func(tx *sandbox.Tx) { tx.AddRows(id(77), sandbox.Row{}) },
		`Tx.InsertRows: row 0: another row has the id ` + rid("r1"):                                      func(tx *sandbox.Tx) { tx.AddRows(id(11), sandbox.Row{"id": rid("r1")}) },
		`Tx.InsertRows: the list has only 2 rows`:                                                        func(tx *sandbox.Tx) { tx.InsertRows(id(11), 3, sandbox.Row{}) },
		`Tx.RemoveRows: the list has no row with the id ` + rid("gone"):                                  func(tx *sandbox.Tx) { tx.RemoveRows(id(11), rid("gone")) },
		`Tx.ChangeRow: the list has no row with the id gone`:                                             func(tx *sandbox.Tx) { tx.ChangeRow(id(11), sandbox.Row{"id": "gone"}) },
		`Tx.AddCredits: the balance is only 0`:                                                           func(tx *sandbox.Tx) { tx.AddCredits(-1, "") },
		`Tx.ConnectAccount: "fax" is none of ["email" "social"]`:                                         func(tx *sandbox.Tx) { tx.ConnectAccount("fax") },
		`Tx.StopCampaign: the campaign is not active: its status is draft`:                               func(tx *sandbox.Tx) { tx.StopCampaign(tx.CreateCampaign(sandbox.Campaign{Name: "x"})) },
		`Tx.Upload: this is an import, and no reserved upload`:                                           func(tx *sandbox.Tx) { tx.Upload(tx.Put("imports", sandbox.Row{"name": "a.csv"}), "a.csv", nil) },
	} {
		rec := &recorder{}
		sandbox.New(rec, someLists()).Do(act)
		require.Len(t, rec.errors, 1, want)
		require.Contains(t, rec.errors[0], want)
	}
}

func TestMisuseIsReported(t *testing.T) {
	for name, misuse := range map[string]func(*sandbox.Sandbox){
		"calls":           func(sb *sandbox.Sandbox) { sb.Calls("lists.rowz") },
		"between":         func(sb *sandbox.Sandbox) { sb.Between("lists.rowz", func(*sandbox.Tx) {}) },
		"between all":     func(sb *sandbox.Sandbox) { sb.Between("*", func(*sandbox.Tx) {}) },
		"between nothing": func(sb *sandbox.Sandbox) { sb.Between("lists.rows", nil) },
		"key":             func(sb *sandbox.Sandbox) { sb.Key("list") },
		"revoke":          func(sb *sandbox.Sandbox) { sb.Revoke("nobody") },
		"widen nobody":    func(sb *sandbox.Sandbox) { sb.Widen("nobody", "lists") },
		"widen by what":   func(sb *sandbox.Sandbox) { sb.Widen(sb.Token(), "list") },
		"consume":         func(sb *sandbox.Sandbox) { sb.Consume("list", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			misuse(sandbox.New(rec))
			require.Len(t, rec.errors, 1)
			require.Regexp(t, here, rec.errors[0])
			require.Panics(t, func() { misuse(sandbox.New(nil)) })
		})
	}
	for name, opt := range map[string]sandbox.Option{
		"seed":           sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Credits: -1}}}),
		"clock":          sandbox.WithClock(nil),
		"credits":        sandbox.Credits(-1),
		"price":          sandbox.WithPrices(sandbox.Prices{"lists.list": 1}),
		"no price":       sandbox.WithPrices(sandbox.Prices{"agents.activate": 1}), // what it starts has that of its creation
		"negative price": sandbox.WithPrices(sandbox.Prices{"lists.add-members": -1}),
		"every":          sandbox.Agents(sandbox.AgentPlan{Every: -1}),
		"initializes":    sandbox.InitializesFor(-1),
		"activates":      sandbox.ActivatesFor(-1),
		"surface":        sandbox.Limits(map[string]sandbox.Limit{"list": {}}),
		"negative limit": sandbox.Limits(map[string]sandbox.Limit{"lists": {PerDay: -1}}),
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			inPlace(t, sandbox.New(rec, opt)).get("/business/me").ok(200)
			require.Len(t, rec.errors, 1)
			require.Regexp(t, here, rec.errors[0])
			require.Panics(t, func() { sandbox.New(nil, opt) })
		})
	}
}

func TestASnapshotSeedsTheSameSandbox(t *testing.T) {
	sb := sandbox.New(t, someLists(), sandbox.WithClock(sandbox.NewManualClock(start)))
	c := inPlace(t, sb)
	c.do("POST", lists, create("x")).ok(201)
	token := sb.Key("lists")
	sb.Revoke(sb.Key())
	sb.Workspace("b").Do(func(tx *sandbox.Tx) { tx.AddCredits(1, "") })
	snapshot := sb.Snapshot()

	again := sandbox.New(t, sandbox.Seed(snapshot), sandbox.WithClock(sandbox.NewManualClock(start)))
	sameState(t, snapshot, again.Snapshot())
	require.Equal(t, sb.Token(), again.Token())
	require.Equal(t, c.get(lists).raw, inPlace(t, again).get(lists).raw)

	snapshot.Workspaces[0].Lists[0].Name = "changed by the caller"
	snapshot.Workspaces[0].Keys[1].Scopes[0] = "agents"
	require.NotEqual(t, snapshot, sb.Snapshot(), "a snapshot is a copy")
	c.as(token).get(lists).ok(200)
}
