package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// programVar makes this test binary the program.
const programVar = "PROSPECTKIT_EXAMPLE_COPY"

func TestMain(m *testing.M) {
	if os.Getenv(programVar) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func people(n int) (rows []sandbox.Row) {
	for i := range n {
		at := time.Date(1999, 1, 1, 0, i, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
		rows = append(rows, sandbox.Row{"firstName": fmt.Sprint("P", i), "createdAt": at, "updatedAt": at})
	}
	return rows
}

// berlin is a list of people, and what copies it into a file.
func berlin(t *testing.T, n int) (sb *sandbox.Sandbox, client *prospectkit.Client, listID, file string) {
	t.Helper()
	sb = sandbox.New(t, sandbox.NoLimits())
	sb.Do(func(tx *sandbox.Tx) {
		listID = tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(people(n)...)})
	})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	return sb, client, listID, filepath.Join(t.TempDir(), "copy.db")
}

// isCopy says how the database differs from the first list of the sandbox.
func isCopy(ctx context.Context, sb *sandbox.Sandbox, file string) error {
	wanted := map[string]string{}
	for _, raw := range sb.Rows(sb.Lists()[0].ID) {
		var row struct{ ID string }
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}
		wanted[row.ID] = string(raw)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT id, body FROM entry`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, body string
		if err := rows.Scan(&id, &body); err != nil {
			return err
		}
		if wanted[id] != body {
			return fmt.Errorf("row %s is %q, wanted %q", id, body, wanted[id])
		}
		delete(wanted, id)
	}
	if len(wanted) > 0 {
		return fmt.Errorf("%d rows are missing", len(wanted))
	}
	return rows.Err()
}

// The program as it is run, on real sockets: each run reads all, and shows what joined, changed and went, in lists of both kinds.
func TestProgram(t *testing.T) {
	for _, kind := range []string{sandbox.ContactList, sandbox.CompanyList} {
		sb := sandbox.New(t, sandbox.NoLimits())
		var listID string
		sb.Do(func(tx *sandbox.Tx) {
			listID = tx.CreateList(sandbox.List{Name: "Berlin", EntityType: kind, Rows: sandbox.Rows(people(2500)...)})
		})
		server := httptest.NewServer(sb.Handler())
		t.Cleanup(server.Close)
		file := filepath.Join(t.TempDir(), "copy.db")
		for run := range 4 {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-list", listID, "-db", file)
			cmd.Env = append(os.Environ(), programVar+"=1", "PROSPECTKIT_BASE_URL="+server.URL+"/api/v1", "PROSPECTKIT_TOKEN="+sb.Token())
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Empty(t, string(out))
			require.NoError(t, isCopy(t.Context(), sb, file))
			require.Equal(t, 3*(1+run), sb.Calls("lists.rows"))
			sb.Do(func(tx *sandbox.Tx) {
				ids := rowIDs(sb, listID)
				switch run {
				case 0:
					tx.AddRows(listID, sandbox.Row{"firstName": "Ada"})
				case 1:
					tx.ChangeRow(listID, sandbox.Row{"id": ids[7], "firstName": "Bob"})
				case 2:
					tx.RemoveRows(listID, ids[7], ids[1200])
				}
			})
		}
	}
}

func rowIDs(sb *sandbox.Sandbox, listID string) (ids []string) {
	for _, raw := range sb.Rows(listID) {
		var row struct{ ID string }
		_ = json.Unmarshal(raw, &row)
		ids = append(ids, row.ID)
	}
	return ids
}

// What only one fact says is gone stays in the copy: the list counts 12,500 rows, while its pages, each once, show none, or end at 10,000. Once
// both agree, it goes.
func TestOneFactDropsNothing(t *testing.T) {
	for _, shown := range []int{0, 10_000} {
		sb, client, listID, file := berlin(t, 12_501)
		run := func() int {
			require.NoError(t, copyList(t.Context(), client.Lists, listID, file))
			return held(t.Context(), t, file)
		}
		require.Equal(t, 12_501, run())
		rows := sb.Rows(listID)
		sb.Do(func(tx *sandbox.Tx) { tx.RemoveRows(listID, rowIDs(sb, listID)[0]) })
		for n := range shown/1000 + 1 { // the last one is empty
			page, err := json.Marshal(rows[1+1000*n : 1+min(1000*n+1000, shown)])
			require.NoError(t, err)
			body := fmt.Sprintf(`{"entityType":"contactList","data":%s,"pagination":{"pageNum":%d,"totalPages":%d,"totalRecords":%d}}`, page, n+1, shown/1000, shown)
			sb.Fail("lists.rows", sandbox.Nth(1+n), sandbox.RawBody(http.StatusOK, body))
		}
		require.Equal(t, 12_501, run(), "%d shown", shown)
		require.Equal(t, 12_500, run())
		require.NoError(t, isCopy(t.Context(), sb, file))
	}
}

// held is how many rows a copy has.
func held(ctx context.Context, t require.TestingT, file string) (n int) {
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.QueryRowContext(ctx, `SELECT count(*) FROM entry`).Scan(&n))
	return n
}

// A run changes the rows that have changed, and no other one: a trigger, or what replicates the database, sees nothing else.
func TestOnlyChanges(t *testing.T) {
	sb, client, listID, file := berlin(t, 1200)
	run := func() (changes int) {
		require.NoError(t, copyList(t.Context(), client.Lists, listID, file))
		db, err := sql.Open("sqlite", file)
		require.NoError(t, err)
		defer db.Close()
		_, err = db.ExecContext(t.Context(), `CREATE TABLE IF NOT EXISTS change (id TEXT);
			CREATE TRIGGER IF NOT EXISTS joined AFTER INSERT ON entry BEGIN INSERT INTO change VALUES (new.id); END;
			CREATE TRIGGER IF NOT EXISTS changed AFTER UPDATE ON entry BEGIN INSERT INTO change VALUES (new.id); END;
			CREATE TRIGGER IF NOT EXISTS gone AFTER DELETE ON entry BEGIN INSERT INTO change VALUES (old.id); END`)
		require.NoError(t, err)
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM change`).Scan(&changes))
		return changes
	}
	require.Zero(t, run())
	require.Zero(t, run())
	ids := rowIDs(sb, listID)
	sb.Do(func(tx *sandbox.Tx) { tx.ChangeRow(listID, sandbox.Row{"id": ids[7], "firstName": "Bob"}) })
	require.Equal(t, 1, run())
	sb.Do(func(tx *sandbox.Tx) {
		tx.RemoveRows(listID, ids[8])
		tx.AddRows(listID, sandbox.Row{"firstName": "Ada"}, sandbox.Row{"firstName": "Alan"})
	})
	require.Equal(t, 4, run())
	require.NoError(t, isCopy(t.Context(), sb, file))
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What a walk has not shown, although the totals count it, stays in the copy, also if the list counts one less, too.
func TestMissing(t *testing.T) {
	sb, client, listID, file := berlin(t, 2500)
	require.NoError(t, copyList(t.Context(), client.Lists, listID, file))
	last, err := json.Marshal(sb.Rows(listID)[2001:])
	require.NoError(t, err)
	sb.Fail("lists.rows", sandbox.Nth(3), sandbox.RawBody(http.StatusOK,
		fmt.Sprintf(`{"entityType":"contactList","data":%s,"pagination":{"pageNum":3,"totalPages":3,"totalRecords":2500}}`, last)))
	sb.Fail("lists.get", sandbox.RawBody(http.StatusOK,
		fmt.Sprintf(`{"list":{"id":%q,"name":"Berlin","entityType":"contactList","contactsCount":2499,"companiesCount":0}}`, listID)))
	require.NoError(t, copyList(t.Context(), client.Lists, listID, file))
	require.NoError(t, isCopy(t.Context(), sb, file))
}

// A run that begins before another has ended, as those of a schedule may, is refused: the older one may store what it has read before.
func TestOneRunAtATime(t *testing.T) {
	sb, client, listID, file := berlin(t, 3)
	first, reading, proceed := make(chan error), make(chan bool), make(chan bool)
	slow, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := sb.Transport().RoundTrip(r)
		reading <- true
		<-proceed
		return resp, err
	})))
	require.NoError(t, err)
	go func() { first <- copyList(t.Context(), slow.Lists, listID, file) }()
	<-reading
	require.ErrorContains(t, copyList(t.Context(), client.Lists, listID, file), "locked")
	for ended := false; !ended; {
		select {
		case proceed <- true:
		case <-reading:
		case err := <-first:
			require.NoError(t, err)
			ended = true
		}
	}
	require.NoError(t, isCopy(t.Context(), sb, file))
	require.NoError(t, copyList(t.Context(), client.Lists, listID, file))
}

// Whatever fails, wherever the program is stopped, and whatever a teammate changes between two requests, the runs after it complete the copy. A
// page that is empty once drops nothing.
func TestEveryFailure(t *testing.T) {
	for _, c := range []struct {
		moving  bool
		emptied []sandbox.SweepOption
	}{{}, {moving: true}, {emptied: []sandbox.SweepOption{sandbox.Only(sandbox.PageEmptied)}}} {
		moving, changes := c.moving, false
		sandbox.EveryFailure(t, func(run *sandbox.Run) error {
			client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.ReadOnly())
			require.NoError(run, err)
			return copyList(run.Context(), client.Lists, run.Lists()[0].ID, filepath.Join(run.Dir(), "copy.db"))
		}, func(run *sandbox.Run) error {
			file := filepath.Join(run.Dir(), "copy.db")
			calm, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Sandbox.Transport()))
			require.NoError(run, err)
			if c.emptied != nil {
				require.GreaterOrEqual(run, held(run.Context(), run, file), 1200)
			}
			if changes = false; moving || c.emptied != nil { // the last change may have come after the last request
				run.Clear()
				err = copyList(run.Context(), calm.Lists, run.Lists()[0].ID, file)
			}
			return errors.Join(run.Err(), err, isCopy(run.Context(), run.Sandbox, file))
		}, append(c.emptied, sandbox.UntilDone(2), sandbox.Setup(func(run *sandbox.Run) {
			var listID string
			run.Do(func(tx *sandbox.Tx) {
				listID = tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(people(1200)...)})
			})
			calm, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
			require.NoError(run, err)
			require.NoError(run, copyList(run.Context(), calm.Lists, listID, filepath.Join(run.Dir(), "copy.db")))
			change := func(tx *sandbox.Tx) {
				tx.RemoveRows(listID, rowIDs(run.Sandbox, listID)[100*tx.Gap()])
				tx.AddRows(listID, sandbox.Row{"firstName": "New"})
			}
			run.Do(change)
			changes = moving
			run.Between("lists.rows", func(tx *sandbox.Tx) {
				if changes && tx.Gap() <= 4 {
					change(tx)
				}
			})
		}))...)
	}
}
