package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/changes"
	"example.com/prospectkit/internal/sim"
	"example.com/prospectkit/sandbox"
)

// Programs that read a list while teammates change it.

const (
	walkedID  = "65f0c0ffee65f0c0ffee9999"
	keyPrefix = "simulated_key_"
)

func rowIDs() (ids []string) {
	for i := range 9 {
		ids = append(ids, fmt.Sprintf("65f0c0ffee65f0c0ffee8%03d", i))
	}
	return ids
}

// touched is a row that changes now.
func touched(id string) sandbox.Row {
	row := sandbox.Row{"firstName": "W", "updatedAt": time.Now().UTC().Format("2006-01-02T15:04:05.000Z")}
	if id != "" {
		row["id"] = id
	}
	return row
}

// teammate adds and removes rows, and rotates the key, all at times of its own.
func (r *run) teammate(s *sim.Start) error {
	random := s.Random(1)
	ctx := s.Context("main")
	for range 3 + random.IntN(5) {
		time.Sleep(time.Duration(random.Int64N(int64(3 * time.Minute))))
		kind := random.IntN(5)
		err := s.Do(ctx, "edit", "edit", func(*sim.Turn) string {
			r.service.Do(func(tx *sandbox.Tx) { r.edit(tx, kind, rowIDs()[random.IntN(9)]) })
			return strconv.Itoa(kind)
		})
		if err != nil {
			return err
		}
	}
	if random.IntN(4) == 0 {
		time.Sleep(100 * 24 * time.Hour) // until all agents have expired
		r.laws.again()
	}
	return nil
}

func (r *run) edit(tx *sandbox.Tx, kind int, id string) {
	r.laws.Lock()
	defer r.laws.Unlock()
	r.laws.edits++
	switch {
	case kind < 2:
		tx.AddRows(walkedID, touched(""), touched(""))
		r.laws.appended = true
	case kind == 2 && !r.laws.removed[id]:
		tx.RemoveRows(walkedID, id)
		r.laws.removed[id] = true
	case kind == 3:
		tx.InsertRows(walkedID, 0, touched(""))
	case kind == 4 && r.key == keyPrefix+"1":
		r.key = keyPrefix + "2"
		r.service.Revoke(keyPrefix + "1")
		r.laws.mark("the key was rotated")
	}
}

// walker reads all rows of a list, two a page, and stores each with its checkpoint.
func walker(u *user) error {
	var progress prospectkit.Progress
	opts := []prospectkit.PageOption{prospectkit.WithProgress(&progress)}
	var ids []string
	if saved := u.Load("walk"); saved != "" {
		ids = strings.Split(saved, "\n")
		opts = append(opts, prospectkit.ResumeFrom(ids[0]))
		ids = ids[1:]
	}
	for row, err := range u.client.Lists.Rows(u.ctx, walkedID, prospectkit.RowsParams{Limit: 2}, opts...) {
		if err != nil {
			return err
		}
		ids = append(ids, row.ID())
		if err := u.Save(u.ctx, "walk", strings.Join(append([]string{progress.Checkpoint()}, ids...), "\n")); err != nil {
			return err
		}
		time.Sleep(20 * time.Second)
	}
	if !u.Alive() {
		return nil
	}
	u.laws.Lock()
	defer u.laws.Unlock()
	for _, id := range rowIDs() { // internal/pagewalk: an insert behind the place can hide a delete from the total
		if !u.laws.removed[id] && !u.laws.appended && !slices.Contains(ids, id) {
			u.laws.breach(everyRowOnce, "row %s is missing in %q", id, ids)
		}
	}
	slices.Sort(ids)
	if once := slices.Compact(slices.Clone(ids)); len(once) < len(ids) {
		u.laws.breach(everyRowOnce, "a row came twice: %q", ids)
	}
	return nil
}

// mirror is a copy of a list.
type mirror struct {
	Rows    map[string]string
	Saved   string
	Walking string // the checkpoint for the time after the full sync in progress
}

// follower keeps a copy of a list.
func follower(u *user) error {
	m := mirror{Rows: map[string]string{}}
	if text := u.Load("copy"); text != "" {
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return err
		}
	}
	for range 6 {
		edits := u.editsSoFar()
		if err := u.follow(&m); err != nil {
			return err
		}
		if edits == u.editsSoFar() && u.Alive() && m.Walking == "" {
			u.compare(&m)
		}
		time.Sleep(2 * time.Minute)
	}
	return nil
}

func (u *user) editsSoFar() int {
	u.laws.Lock()
	defer u.laws.Unlock()
	return u.laws.edits
}

func (u *user) rowsRemoved() bool {
	u.laws.Lock()
	defer u.laws.Unlock()
	return len(u.laws.removed) > 0
}

func (u *user) saveCopy(m *mirror) error {
	text, err := json.Marshal(m)
	return errors.Join(err, u.Save(u.ctx, "copy", string(text)))
}

// follow brings the copy up to date.
func (u *user) follow(m *mirror) error {
	if m.Walking == "" {
		var opts []changes.Option
		if u.holds() {
			opts = append(opts, changes.Holding(func(context.Context) (int, error) { return len(m.Rows), nil }))
		}
		for change, err := range u.client.Lists.Changes(u.ctx, walkedID, m.Saved, opts...) {
			full, required := errors.AsType[*changes.FullSyncRequiredError](err)
			switch {
			case required && full.After != "":
				u.laws.reach("full sync: %s", full.Reason)
				m.Walking = full.After
			case err != nil:
				return err
			default:
				m.Rows[change.Row.ID()], m.Saved = change.Row.Text("updatedAt"), change.Checkpoint()
			}
			if err := u.saveCopy(m); err != nil {
				return err
			}
		}
	}
	if m.Walking == "" {
		return nil
	}
	rows := map[string]string{}
	for row, err := range u.client.Lists.Rows(u.ctx, walkedID, prospectkit.RowsParams{Sort: prospectkit.Ascending("createdAt")}) {
		if err != nil {
			return err
		}
		rows[row.ID()] = row.Text("updatedAt")
	}
	m.Rows, m.Saved, m.Walking = rows, m.Walking, ""
	return u.saveCopy(m)
}

// holds is whether the program tells the feed how many rows it has. Otherwise a removed row can hide behind an added one.
func (u *user) holds() bool { return u.Random(3).IntN(2) == 0 }

// compare holds the copy against the list, which nobody has changed meanwhile.
func (u *user) compare(m *mirror) {
	want := map[string]string{}
	for _, raw := range u.service.Rows(walkedID) {
		var row struct{ ID, UpdatedAt string }
		if json.Unmarshal(raw, &row) == nil {
			want[row.ID] = row.UpdatedAt
		}
	}
	if hidden := !u.holds() && u.rowsRemoved(); !hidden && !maps.Equal(m.Rows, want) {
		_ = u.laws.fails(noChangeMissed, fmt.Errorf("%d rows, not %d", len(m.Rows), len(want)))
	}
}
