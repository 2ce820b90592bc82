package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/changes"
	"example.com/prospectkit/sandbox"
)

// programVar makes this test binary the program.
const programVar = "PROSPECTKIT_EXAMPLE_SYNC"

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
	rows, err := db.QueryContext(ctx, `SELECT id, body FROM contact`)
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

// The program as it is run, on real sockets: a first run, one that reads what has changed, and one after a removal, which no change shows.
func TestProgram(t *testing.T) {
	sb := sandbox.New(t, sandbox.NoLimits())
	var listID string
	sb.Do(func(tx *sandbox.Tx) {
		listID = tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(people(2500)...)})
	})
	server := httptest.NewServer(sb.Handler())
	defer server.Close()
	file := filepath.Join(t.TempDir(), "contacts.db")
	requests := func(change func(*sandbox.Tx)) int {
		sb.Do(change)
		before := sb.Calls("lists.rows")
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-list", listID, "-db", file)
		cmd.Env = append(os.Environ(), programVar+"=1", prospectkit.EnvBaseURL+"="+server.URL+"/api/v1", prospectkit.EnvToken+"="+sb.Token())
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NoError(t, isCopy(t.Context(), sb, file))
		return sb.Calls("lists.rows") - before
	}
	now := func() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }
	require.Equal(t, 1+3+1, requests(func(*sandbox.Tx) {}), "the place of the feed, the pages, the changes since")
	require.Equal(t, 1, requests(func(tx *sandbox.Tx) {
		tx.AddRows(listID, sandbox.Row{"firstName": "Ada", "createdAt": now(), "updatedAt": now()})
	}))
	var row struct{ ID string }
	require.NoError(t, json.Unmarshal(sb.Rows(listID)[7], &row))
	require.Equal(t, 1+3+1, requests(func(tx *sandbox.Tx) { tx.RemoveRows(listID, row.ID) }))
}

// A list that cannot be followed is read once by each run, which says so.
func TestCannotBeFollowed(t *testing.T) {
	sb := sandbox.New(t, sandbox.NoLimits())
	var listID string
	sb.Do(func(tx *sandbox.Tx) {
		listID = tx.CreateList(sandbox.List{Name: "Berlin", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(people(2500)...)})
	})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "companies.db")
	for run := 1; run <= 2; run++ {
		require.ErrorContains(t, sync(t.Context(), client.Lists, listID, file), string(changes.ReasonNoOrder))
		require.NoError(t, isCopy(t.Context(), sb, file))
		require.Equal(t, run*(1+3+1), sb.Calls("lists.rows"))
		var row struct{ ID string }
		require.NoError(t, json.Unmarshal(sb.Rows(listID)[7], &row))
		sb.Do(func(tx *sandbox.Tx) { tx.RemoveRows(listID, row.ID) })
	}
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What a full sync has not shown, although the totals count it, stays in the copy.
func TestMissing(t *testing.T) {
	sb := sandbox.New(t, sandbox.NoLimits())
	var listID string
	sb.Do(func(tx *sandbox.Tx) {
		listID = tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(people(2500)...)})
	})
	requests, hidden := 0, 0
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := sb.Transport().RoundTrip(r)
		if requests++; requests != hidden {
			return resp, err
		}
		var page map[string]json.RawMessage
		var rows []json.RawMessage
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&page))
		require.NoError(t, json.Unmarshal(page["data"], &rows))
		page["data"], err = json.Marshal(rows[1:])
		require.NoError(t, err)
		body, err := json.Marshal(page)
		require.NoError(t, err)
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return resp, nil
	})))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "contacts.db")
	require.NoError(t, sync(t.Context(), client.Lists, listID, file))
	require.Equal(t, 1+3+1, requests)
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `UPDATE place SET feed = ''`)
	require.NoError(t, errors.Join(err, db.Close()))
	hidden = requests + 3
	require.NoError(t, sync(t.Context(), client.Lists, listID, file))
	require.NoError(t, isCopy(t.Context(), sb, file))
	require.Equal(t, 2*(1+3+1), requests, "a row that was dropped would have to be read again")
}

// A run that begins before another has ended, as those of a schedule may, is refused: the older one may store what it has read before.
func TestOneRunAtATime(t *testing.T) {
	sb := sandbox.New(t, sandbox.NoLimits())
	var listID string
	sb.Do(func(tx *sandbox.Tx) {
		listID = tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(people(3)...)})
	})
	file, reading, proceed := filepath.Join(t.TempDir(), "contacts.db"), make(chan bool), make(chan bool)
	run := func(opts ...prospectkit.ClientOption) error {
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), opts...)
		require.NoError(t, err)
		return sync(t.Context(), client.Lists, listID, file)
	}
	first := make(chan error)
	go func() {
		first <- run(prospectkit.WithTransport(roundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := sb.Transport().RoundTrip(r)
			reading <- true
			<-proceed
			return resp, err
		})))
	}()
	<-reading
	require.ErrorContains(t, run(prospectkit.WithTransport(sb.Transport())), "locked")
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
	require.NoError(t, run(prospectkit.WithTransport(sb.Transport())))
}

// Whatever fails, wherever the program is stopped, and whatever a teammate changes between two requests, the runs after it complete the copy.
func TestEveryFailure(t *testing.T) {
	for _, moving := range []bool{false, true} {
		sandbox.EveryFailure(t, func(run *sandbox.Run) error {
			client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.ReadOnly())
			require.NoError(run, err)
			return sync(run.Context(), client.Lists, run.Lists()[0].ID, filepath.Join(run.Dir(), "contacts.db"))
		}, func(run *sandbox.Run) error {
			file := filepath.Join(run.Dir(), "contacts.db")
			calm, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Sandbox.Transport()))
			require.NoError(run, err)
			if moving { // the last change may have come after the last request
				run.Clear()
				err = sync(run.Context(), calm.Lists, run.Lists()[0].ID, file)
			}
			return errors.Join(run.Err(), err, isCopy(run.Context(), run.Sandbox, file))
		}, sandbox.UntilDone(2), sandbox.Setup(func(run *sandbox.Run) {
			var listID string
			run.Do(func(tx *sandbox.Tx) {
				listID = tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(people(1200)...)})
			})
			if !moving {
				return
			}
			run.Between("lists.rows", func(tx *sandbox.Tx) {
				if tx.Gap() > 4 {
					return
				}
				var row struct{ ID string }
				_ = json.Unmarshal(run.Rows(listID)[100*tx.Gap()], &row)
				at := run.Clock().Now().UTC().Format("2006-01-02T15:04:05.000Z")
				if tx.Gap() == 2 { // which only the number of rows shows
					tx.AddRows(listID, sandbox.Row{"firstName": "Old", "createdAt": at, "updatedAt": "1999-01-01T00:00:00.000Z"})
					return
				}
				tx.RemoveRows(listID, row.ID)
				tx.AddRows(listID, sandbox.Row{"firstName": "New", "createdAt": at, "updatedAt": at})
			})
		}))
	}
}
