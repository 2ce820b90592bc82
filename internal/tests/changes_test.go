package tests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/changes"
	"example.com/prospectkit/sandbox"
)

// mirrored is what a program has of a list. It is stored as one, so that a kill leaves all of a change, or nothing.
type mirrored struct {
	Rows    map[string]string // by id
	Saved   string
	Walking string         // the checkpoint for the time after the full sync in progress
	Yielded map[string]int // rows, with their updatedAt
}

// follow brings the copy of a list up to date. store does one change to it, and says whether the program lives on.
func (m *mirrored) follow(ctx context.Context, lists *prospectkit.ListsService, listID string, store func(change func()) bool) error {
	if m.Walking == "" {
		held := changes.Holding(func(context.Context) (int, error) { return len(m.Rows), nil })
		for change, err := range lists.Changes(ctx, listID, m.Saved, held) {
			full, required := errors.AsType[*changes.FullSyncRequiredError](err)
			switch {
			case required && full.After != "":
				if !store(func() { m.Walking = full.After }) {
					return nil
				}
			case err != nil:
				return err
			case !store(func() {
				m.Yielded[change.Row.ID()+" "+change.Row.Text("updatedAt")]++
				m.Rows[change.Row.ID()], m.Saved = string(change.Row.Raw()), change.Checkpoint()
			}):
				return nil
			}
		}
	}
	if m.Walking == "" {
		return nil
	}
	rows := map[string]string{}
	for row, err := range lists.Rows(ctx, listID, prospectkit.RowsParams{Sort: prospectkit.Ascending("createdAt")}) {
		if err != nil {
			return err
		}
		rows[row.ID()] = string(row.Raw())
	}
	store(func() { m.Rows, m.Saved, m.Walking = rows, m.Walking, "" })
	return nil
}

func newMirrored() *mirrored { return &mirrored{Rows: map[string]string{}, Yielded: map[string]int{}} }

// isList compares the copy with the list.
func (m *mirrored) isList(sb *sandbox.Sandbox, listID string) error {
	rows := sb.Rows(listID)
	if len(m.Rows) != len(rows) {
		return fmt.Errorf("%d rows, not %d", len(m.Rows), len(rows))
	}
	for _, raw := range rows {
		var row struct{ ID string }
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}
		if m.Rows[row.ID] != string(raw) {
			return fmt.Errorf("row %s is %q, not %q", row.ID, m.Rows[row.ID], raw)
		}
	}
	for version, n := range m.Yielded {
		if n > 1 {
			return fmt.Errorf("%s was yielded %d times", version, n)
		}
	}
	return nil
}

// touched is a row that changes now.
func touched(name string) sandbox.Row {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	return sandbox.Row{"firstName": name, "createdAt": now, "updatedAt": now}
}

// Every pair of failures and stops: the copy is the list, and each change is yielded once.
func TestEveryFailure_Changes(t *testing.T) {
	program := func(run *sandbox.Run) error {
		m := newMirrored()
		if text, ok := run.Load("copy"); ok {
			if err := json.Unmarshal([]byte(text), m); err != nil {
				return err
			}
		}
		for visit := range 4 {
			err := m.follow(run.Context(), clientOf(run).Lists, ListID, func(change func()) bool {
				change()
				text, err := json.Marshal(m)
				require.NoError(run, err)
				run.Save("copy", string(text))
				return true
			})
			if err != nil {
				return err
			}
			done := fmt.Sprintf("teammate %d", visit)
			if _, was := run.Load(done); !was {
				run.Do(func(tx *sandbox.Tx) { visited(run.Sandbox, tx, visit) })
				time.Sleep(time.Second)
				run.Save(done, "")
			}
		}
		return nil
	}
	opts := []sandbox.SweepOption{sandbox.UntilDone(3), sandbox.Setup(func(run *sandbox.Run) {
		time.Sleep(time.Hour)
		run.Do(func(tx *sandbox.Tx) {
			tx.CreateList(sandbox.List{ID: ListID, Name: "Fair", Rows: sandbox.Rows(touched("Ada"), touched("Bob"))})
		})
		time.Sleep(time.Hour)
	})}
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		var m mirrored
		text, _ := run.Load("copy")
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return err
		}
		if run.Err() != nil {
			return run.Err()
		}
		return m.isList(run.Sandbox, ListID)
	}, opts...)
}

// visited changes the list after a visit; nothing changes after the second.
func visited(sb *sandbox.Sandbox, tx *sandbox.Tx, visit int) {
	switch visit {
	case 0:
		tx.AddRows(ListID, touched("Cyd"), touched("Dot"))
	case 1:
		var row sandbox.Row
		if err := json.Unmarshal(sb.Rows(ListID)[0], &row); err != nil {
			panic(err) // the sandbox keeps JSON objects only
		}
		id, _ := row["id"].(string)
		tx.RemoveRows(ListID, id)
	default:
	}
}

// slow takes a moment for each request, so that no row changes twice in a millisecond: updatedAt would not show that.
type slow struct{ http.RoundTripper }

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(50 * time.Millisecond)
	return s.RoundTripper.RoundTrip(r)
}

// refusals counts the requests that the rate limit has refused.
func refusals(sb *sandbox.Sandbox) (n int) {
	for _, e := range sb.Journal() {
		if e.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

// unsorted is a service that ignores the order, as it does with a key that it does not know.
type unsorted struct{ http.RoundTripper }

func (u unsorted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	query := r.URL.Query()
	query.Del("sortBy")
	r.URL.RawQuery = query.Encode()
	return u.RoundTripper.RoundTrip(r)
}

// Where nothing documents the order of changes, or the rows are not in it, the feed says so.
func TestChanges_WithoutAnOrder(t *testing.T) {
	sb := sandbox.New(t)
	var contacts, companies string
	sb.Do(func(tx *sandbox.Tx) {
		old, young := touched("Ada"), touched("Bob")
		old["updatedAt"] = "2001-01-01T00:00:00.000Z"
		contacts = tx.CreateList(sandbox.List{Name: "People", Rows: sandbox.Rows(old, young)})
		companies = tx.CreateList(sandbox.List{Name: "Companies", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(young, old)})
	})
	sorted := SandboxClient(t, sb)
	ignoring := SandboxClient(t, sb, prospectkit.WithTransport(unsorted{sb.Transport()}))
	for _, c := range []struct {
		client *prospectkit.Client
		listID string
		reason changes.Reason
		after  bool
	}{
		{sorted, contacts, changes.ReasonNoCheckpoint, true},
		{sorted, companies, changes.ReasonNoOrder, false},
		{ignoring, contacts, changes.ReasonUnordered, false},
	} {
		before := sb.Calls("lists.rows")
		for change, err := range c.client.Lists.Changes(t.Context(), c.listID, "") {
			require.Nil(t, change)
			require.ErrorIs(t, err, changes.ErrFullSyncRequired)
			require.EqualError(t, err, "prospectkit: lists.rows: full sync required: "+string(c.reason))
			full, ok := errors.AsType[*changes.FullSyncRequiredError](err)
			require.True(t, ok)
			require.Equal(t, c.reason, full.Reason)
			require.Equal(t, c.after, full.After != "")
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			advice := prospectkit.AdviceOf(err)
			require.Equal(t, prospectkit.ActionFixInput, advice.Action)
			require.Contains(t, advice.Hint, "read all rows and drop what is not among them; then continue from After")
			for _, err := range c.client.Lists.Changes(t.Context(), strings.ToUpper(c.listID), full.After) {
				require.ErrorIs(t, err, changes.ErrFullSyncRequired, "a list without an order")
			}
			for _, err := range c.client.Lists.Changes(t.Context(), SourceID, "x"+full.After) {
				require.ErrorIs(t, err, prospectkit.ErrRefusedLocally)
				require.ErrorContains(t, err, "saved is not a checkpoint of this list")
			}
		}
		require.Equal(t, 2, sb.Calls("lists.rows")-before)
	}
}
