package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// office has two contact lists and one company list of a thousand rows each.
func office(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	return sandbox.New(t, sandbox.Seed(fixture.Large(1, 3000)), sandbox.NoLimits())
}

func TestSecondSyncReadsWhatChanged(t *testing.T) {
	sb, s := office(t), testStore(t)
	y := synced(t, sb, s)
	requireCopy(t, sb, s)
	require.Equal(t, 3, y.report.walked)
	require.Equal(t, 32, sb.Calls("lists.rows"), "30 pages, and the latest change of each contact list")

	y = synced(t, sb, s)
	require.Equal(t, 2, y.report.followed)
	require.Equal(t, 32+10+2, sb.Calls("lists.rows"), "a company list cannot be sorted by change: it is read whole")
	require.Zero(t, number(t, s, `SELECT COUNT(*) FROM list_rows WHERE changed_run > 1 OR gone_run IS NOT NULL`))

	contacts := listOf(t, sb, sandbox.ContactList)
	edit(t, sb, contacts.ID, 7, time.Now())
	sb.Do(func(tx *sandbox.Tx) { tx.AddRows(contacts.ID, sandbox.Row{"firstName": "Ada", "updatedAt": now()}) })
	y = synced(t, sb, s)
	requireCopy(t, sb, s)
	require.Equal(t, 2, y.report.followed)
	require.Equal(t, 1, number(t, s, `SELECT COUNT(*) FROM list_rows WHERE first_run = 3`))
	require.Equal(t, 2, number(t, s, `SELECT COUNT(*) FROM list_rows WHERE changed_run = 3`))
}

// What changes during a walk is later than its mark, even if the row had been read before.
func TestChangesDuringASyncAreFoundByTheNext(t *testing.T) {
	sb, s := office(t), testStore(t)
	contacts := listOf(t, sb, sandbox.ContactList)
	sb.Between("lists.rows", func(tx *sandbox.Tx) {
		if tx.Gap() < 32 {
			edit(t, sb, contacts.ID, 30*tx.Gap()%1000, time.Now())
		}
	})
	synced(t, sb, s)
	y := synced(t, sb, s)
	require.Equal(t, 2, y.report.followed)
	requireCopy(t, sb, s)
}

func TestRowsThatVanishAreFoundByTheirNumber(t *testing.T) {
	sb, s := office(t), testStore(t)
	synced(t, sb, s)
	contacts := listOf(t, sb, sandbox.ContactList)
	gone := rowID(t, sb.Rows(contacts.ID)[500])
	sb.Do(func(tx *sandbox.Tx) { tx.RemoveRows(contacts.ID, gone) })
	y := synced(t, sb, s)
	requireCopy(t, sb, s)
	require.Equal(t, 1, y.report.followed, "the other contact list")
	require.Equal(t, 2, number(t, s, `SELECT gone_run FROM list_rows WHERE list_id = $1 AND id = $2`, contacts.ID, gone))
}

// One contact leaves, one that had not changed for long joins: the number is the same, and so is the latest change.
func TestAnExchangeIsFoundByReadingAll(t *testing.T) {
	sb, s := office(t), testStore(t)
	contacts := listOf(t, sb, sandbox.ContactList)
	synced(t, sb, s)
	sb.Do(func(tx *sandbox.Tx) {
		tx.RemoveRows(contacts.ID, rowID(t, sb.Rows(contacts.ID)[500]))
		tx.AddRows(contacts.ID, sandbox.Row{"firstName": "Old", "updatedAt": "2001-01-01T00:00:00.000Z"})
	})
	y := testSyncer(t, sb, s)
	y.fullEvery = 0
	require.NoError(t, y.sync(t.Context(), sb.BaseURL()))
	require.Zero(t, y.report.followed)
	requireCopy(t, sb, s)
}

func TestRowsWithoutATimeOfChangeAreAlwaysReadWhole(t *testing.T) {
	rows := sandbox.Rows(sandbox.Row{"firstName": "Ada"}, sandbox.Row{"firstName": "Grace"})
	sb := sandbox.New(t, sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
		Lists: []sandbox.List{{Name: "Plain", Rows: rows}, {Name: "Empty"}},
	}}}))
	s := testStore(t)
	for run := range 2 {
		y := synced(t, sb, s)
		require.Equal(t, 2-run, y.report.walked, "the empty list can be followed")
		require.Equal(t, run, y.report.followed)
		requireCopy(t, sb, s)
	}
	edited := sandbox.Row{"firstName": "Linus", "updatedAt": now()}
	plain := sb.Lists()[0]
	sb.Do(func(tx *sandbox.Tx) { tx.AddRows(plain.ID, edited, sandbox.Row{"firstName": "Ken"}) })
	synced(t, sb, s)
	y := synced(t, sb, s) // there is a mark now, but its rows have no time
	require.Empty(t, y.report.unsettled)
	requireCopy(t, sb, s)
}

func TestAListThatGoesTakesItsRows(t *testing.T) {
	sb, s := office(t), testStore(t)
	synced(t, sb, s)
	before, during := listOf(t, sb, sandbox.CompanyList), listOf(t, sb, sandbox.ContactList)
	sb.Do(func(tx *sandbox.Tx) { tx.DeleteList(before.ID) })
	sb.Fail("lists.rows", sandbox.Nth(1), sandbox.Status(404, "LIST_NOT_FOUND")) // the newest of those that are left
	synced(t, sb, s)
	require.Equal(t, 2, number(t, s, `SELECT COUNT(*) FROM lists WHERE gone_run = 2`))
	require.Equal(t, 2000, number(t, s, `SELECT COUNT(*) FROM list_rows WHERE gone_run = 2`))

	synced(t, sb, s) // it had only been missing for a moment
	require.NotEmpty(t, during.ID)
	requireCopy(t, sb, s)
}

func TestACheckpointOfAnotherPageSizeStartsOver(t *testing.T) {
	sb, s := office(t), testStore(t)
	sb.Fail("lists.rows", sandbox.Nth(5), sandbox.Status(422, "INVALID_ROW_FILTERS"))
	require.Error(t, testSyncer(t, sb, s).sync(t.Context(), sb.BaseURL()))
	y := testSyncer(t, sb, s)
	y.pageSize = 70
	require.NoError(t, y.sync(t.Context(), sb.BaseURL()))
	require.True(t, y.report.continued)
	requireCopy(t, sb, s)
	require.Equal(t, 4, number(t, s, `SELECT SUM(walk) FROM lists`))
}

// A list from which rows vanish all the time is stored as far as it was seen, loses nothing, and is read again.
func TestAListThatDoesNotHoldStill(t *testing.T) {
	sb, s := office(t), testStore(t)
	contacts, moving := listOf(t, sb, sandbox.ContactList), true
	sb.Between("lists.rows", func(tx *sandbox.Tx) {
		if moving {
			tx.RemoveRows(contacts.ID, rowID(t, sb.Rows(contacts.ID)[0]))
		}
	})
	y := synced(t, sb, s)
	require.Equal(t, []string{contacts.Name}, y.report.unsettled)
	require.Zero(t, number(t, s, `SELECT COUNT(*) FROM list_rows WHERE gone_run IS NOT NULL`))
	moving = false
	synced(t, sb, s)
	requireCopy(t, sb, s)
}

func TestTwoSyncsDoNotMix(t *testing.T) {
	sb, s := office(t), testStore(t)
	other := testSyncer(t, sb, s)
	met := false
	sb.Between("lists.rows", func(tx *sandbox.Tx) {
		if tx.Gap() == 5 {
			met = true
			require.NoError(t, other.sync(t.Context(), sb.BaseURL()))
		}
	})
	require.ErrorIs(t, testSyncer(t, sb, s).sync(t.Context(), sb.BaseURL()), errOtherSync)
	require.True(t, met)
	requireCopy(t, sb, s)
}

func TestAWarehouseHoldsTheListsOfOneService(t *testing.T) {
	sb, s := office(t), testStore(t)
	synced(t, sb, s)
	err := testSyncer(t, sb, s).sync(t.Context(), "https://other.example/api/v1")
	require.ErrorContains(t, err, "take another one")
	require.Equal(t, 1, number(t, s, `SELECT COUNT(*) FROM runs`))
}

func TestARowWithoutAnID(t *testing.T) {
	sb, s := office(t), testStore(t)
	sb.Fail("lists.rows", sandbox.Nth(1), sandbox.NullField("data.0.id"))
	require.ErrorContains(t, testSyncer(t, sb, s).sync(t.Context(), sb.BaseURL()), "a row has no id")
	require.Zero(t, number(t, s, `SELECT COUNT(*) FROM list_rows`), "nothing of the page was stored")
}

// A mark that this version did not write, such as a time, costs one walk.
func TestAMarkOfAnotherVersionStartsOver(t *testing.T) {
	sb, s := office(t), testStore(t)
	synced(t, sb, s)
	_, err := s.db.ExecContext(t.Context(), `UPDATE lists SET mark = '2026-01-01T00:00:00.000Z' WHERE kind = 'contactList'`)
	require.NoError(t, err)
	require.Equal(t, 3, synced(t, sb, s).report.walked)
	requireCopy(t, sb, s)
	require.Equal(t, 2, synced(t, sb, s).report.followed)
}

// More changes than are stored at once.
func TestManyChangesAreStoredInBatches(t *testing.T) {
	sb, s := office(t), testStore(t)
	synced(t, sb, s)
	contacts := listOf(t, sb, sandbox.ContactList)
	for i := range 250 {
		edit(t, sb, contacts.ID, i, time.Now())
	}
	y := synced(t, sb, s)
	requireCopy(t, sb, s)
	require.Equal(t, 2, y.report.followed)
	require.Equal(t, 250, number(t, s, `SELECT COUNT(*) FROM list_rows WHERE changed_run = 2`))
}
