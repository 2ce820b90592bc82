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
	"sync"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/changes"
	"example.com/prospectkit/internal/sim"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// Programs that read a list while teammates change it.

const (
	walkedID  = "65f0c0ffee65f0c0ffee9999"
	firmsID   = "65f0c0ffee65f0c0ffee9998"
	keyPrefix = "simulated_key_"
	rowTime   = "2006-01-02T15:04:05.000Z"
)

func rowIDs() (ids []string) {
	for i := range 9 {
		ids = append(ids, fmt.Sprintf("65f0c0ffee65f0c0ffee8%03d", i))
	}
	return ids
}

// crowd are rows beyond those, more than a checkpoint remembers.
func (r *run) crowd() (rows []sandbox.Row, ids []string) {
	for i := range 1000 {
		ids = append(ids, fmt.Sprintf("65f0c0ffee65f0c0fff%05d", i))
		rows = append(rows, r.touched(ids[i]))
	}
	return rows, ids
}

// touched is a row that changes now, by the clock of the service.
func (r *run) touched(id string) sandbox.Row {
	row := sandbox.Row{"firstName": "W", "updatedAt": r.clock.Now().UTC().Format(rowTime)}
	if id != "" {
		row["id"] = id
	}
	return row
}

// teammate adds, changes and removes rows, rotates the key, and sets the clock of the service, all at times of its own.
func (r *run) teammate(s *sim.Start) error {
	random := s.Random(1)
	ctx := s.Context("main")
	for range 3 + random.IntN(5) {
		time.Sleep(time.Duration(random.Int64N(int64(3 * time.Minute))))
		kind := random.IntN(10)
		err := s.Do(ctx, "edit", "edit", func(*sim.Turn) string {
			r.service.Do(func(tx *sandbox.Tx) { r.edit(tx, kind, random.IntN(9)) })
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

func (r *run) edit(tx *sandbox.Tx, kind, which int) {
	r.laws.Lock()
	defer r.laws.Unlock()
	r.laws.edits++
	id := rowIDs()[which]
	switch {
	case kind < 2 && r.grows:
		tx.AddRows(walkedID, r.touched(""), r.touched(""))
		r.laws.appended = true
	case kind == 2 && !r.laws.removed[id], kind == 9 && len(r.laws.removed) <= 3: // one row, or three that follow each other
		for _, id := range rowIDs()[which:min(which+1+kind/9*2, 9)] {
			if !r.laws.removed[id] {
				tx.RemoveRows(walkedID, id)
			}
			r.laws.removed[id] = true
		}
	case kind == 3:
		for range 1 + which/2 {
			tx.InsertRows(walkedID, 0, r.touched(""))
		}
	case kind == 4 && r.key == keyPrefix+"1" && !r.hurried:
		r.key = keyPrefix + "2"
		r.service.Revoke(keyPrefix + "1")
		r.laws.mark("the key was rotated")
	case kind == 5 && !r.crowded, kind == 6: // two rows at once
		late := time.Duration(which%3) * 25 * time.Second
		r.change(tx, id, late)
		r.change(tx, rowIDs()[(which+4)%9], late)
	case kind == 7 && (which >= 4 || !r.hurried): // after a jump back, 429s count no more
		r.clock.jump(time.Duration(which-4) * 5 * time.Second)
		r.laws.backward = r.laws.backward || which < 4
		r.laws.limits = r.laws.limits && which >= 4 // a window that ends later than it was told to
		r.laws.mark("the service's clock jumped")
	case kind == 8 && which == 8 && !r.crowded: // no list with such a row can be followed
		tx.AddRows(walkedID, sandbox.Row{"firstName": "W"})
		r.laws.appended = true
	case kind%3 == 2 && r.crowded: // all of them at one instant
		rows, ids := r.crowd()
		tx.RemoveRows(walkedID, ids...)
		tx.AddRows(walkedID, rows...)
	}
}

// undo undoes a call: a teammate deletes or renames what it has made, or makes another of its name.
func (r *run) undo(tx *sandbox.Tx, mark string, kind int) {
	shortly := 15 * time.Minute
	if kind > 1 {
		tx.CreateList(sandbox.List{Name: "L " + mark})
		shortly += 5*time.Minute + max(0, time.Since(r.clock.Now())) // by every clock
	}
	r.laws.undone(mark, shortly)
	for _, list := range r.service.Lists() {
		switch made := strings.HasSuffix(list.Name, " "+mark); {
		case made && kind == 0:
			tx.RenameList(list.ID, "Renamed")
		case made && kind == 1:
			tx.DeleteList(list.ID)
		}
	}
	for _, agent := range r.service.Agents() {
		if strings.HasSuffix(agent.Name, " "+mark) {
			tx.DeleteAgent(agent.ID)
		}
	}
	tx.MoveList(tests.ListID, "")
}

// change changes a row, which keeps its place. It shows late, but within the minute that a feed allows for that and for a clock set back.
func (r *run) change(tx *sandbox.Tx, id string, late time.Duration) {
	for at, raw := range r.service.Rows(walkedID) {
		if strings.Contains(string(raw), id) {
			row, was := r.touched(id), ""
			if _, text, _ := strings.Cut(string(raw), `"updatedAt":"`); len(text) > 24 {
				was = text[:24]
			}
			switch early := r.clock.Now().Add(-late).UTC().Format(rowTime); {
			case row["updatedAt"].(string) <= was: // docs/guide.md: the clock was set back, and nothing tells
				return
			case early > was && !r.laws.backward:
				row["updatedAt"] = early
			}
			tx.RemoveRows(walkedID, id)
			tx.InsertRows(walkedID, at, row)
		}
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
	known := max(0, len(ids)-16) // internal/pagewalk: a checkpoint names the last 16
	for row, err := range u.client.Lists.Rows(u.ctx, walkedID, prospectkit.RowsParams{Limit: 2}, opts...) {
		if err != nil {
			if strings.Contains(err.Error(), "hold nothing but records that came before") && !u.rowsRemoved() {
				return u.laws.fails(insertsEndNoWalk, err)
			}
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
	ids = ids[known:]
	slices.Sort(ids)
	if once := slices.Compact(slices.Clone(ids)); len(once) < len(ids) {
		u.laws.breach(everyRowOnce, "a row came twice: %q", ids)
	}
	return nil
}

// mirror is a copy of a list.
type mirror struct {
	Rows    map[string]string
	Yielded map[string]bool
	Saved   string
	Walking string // the checkpoint for the time after the full sync in progress
}

// follower keeps a copy of a list.
func follower(u *user) error {
	m := mirror{Rows: map[string]string{}, Yielded: map[string]bool{}}
	if text := u.Load("copy"); text != "" {
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return err
		}
	}
	if u.Number == 1 {
		_, err := u.follow(&mirror{}, firmsID, 1)
		if full, ok := errors.AsType[*changes.FullSyncRequiredError](err); ok && full.Reason != changes.ReasonNoOrder {
			return u.laws.fails(noChangeMissed, err)
		}
	}
	for n := range 6 {
		random := u.Random(300 + n)
		batch := []int{1, 2, 1000, 1000}[random.IntN(4)] // some programs take a few changes at a time
		if u.crowded {
			batch = 900 + 13*min(batch, 3)
		}
		for more := true; more; time.Sleep(time.Second) {
			edits := u.editsSoFar()
			all, err := u.follow(&m, walkedID, batch)
			if err != nil {
				return err
			}
			if all && edits == u.editsSoFar() && u.Alive() {
				u.compare(&m)
			}
			more = !all && u.Alive() && random.IntN(4) > 0 // the others at once, or later
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

func (u *user) saveCopy(m *mirror, last *changes.Change[prospectkit.Row]) error {
	if last != nil {
		m.Saved = last.Checkpoint()
	}
	text, err := json.Marshal(m)
	return errors.Join(err, u.Save(u.ctx, "copy", string(text)))
}

// follow brings the copy up to date, by a batch of changes. It reports whether there were no more.
func (u *user) follow(m *mirror, list string, batch int) (all bool, err error) {
	if m.Walking == "" {
		var last *changes.Change[prospectkit.Row]
		var opts []changes.Option
		if u.holds() {
			opts = append(opts, changes.Holding(func(context.Context) (int, error) { return len(m.Rows), nil }))
		}
		for change, err := range u.client.Lists.Changes(u.ctx, list, m.Saved, opts...) {
			full, required := errors.AsType[*changes.FullSyncRequiredError](err)
			switch {
			case required:
				u.laws.reach("full sync: %s", full.Reason)
				if m.Walking = full.After; m.Walking == "" {
					return false, err
				}
			case err != nil:
				return false, err
			default:
				at, version := change.Row.Text("updatedAt"), change.Row.ID()+" "+change.Row.Text("updatedAt")
				if m.Yielded[version] {
					return false, u.laws.fails(noChangeMissed, fmt.Errorf("%s was yielded twice", version))
				}
				m.Rows[change.Row.ID()], m.Yielded[version], last = at, true, change
			}
			if batch--; batch > 0 && u.crowded && !required {
				continue // that would take long
			}
			if err := u.saveCopy(m, last); err != nil || batch == 0 {
				return false, err
			}
		}
		if m.Walking == "" {
			return true, u.saveCopy(m, last)
		}
	}
	rows := map[string]string{}
	for row, err := range u.client.Lists.Rows(u.ctx, walkedID, prospectkit.RowsParams{Sort: prospectkit.Ascending("createdAt")}) {
		if err != nil {
			return false, err
		}
		rows[row.ID()] = row.Text("updatedAt")
	}
	m.Rows, m.Saved, m.Walking = rows, m.Walking, ""
	return true, u.saveCopy(m, nil)
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

// hurrier reads as fast as it may, or more often than it may all the time: then a minute that slides gives back one request after the other.
func hurrier(u *user) error {
	for u.Load("told") == "" { // the limit, which is lower than the documented one
		if _, err := u.client.Lists.Get(u.ctx, walkedID, prospectkit.GetListParams{}); err != nil && u.Alive() {
			time.Sleep(time.Minute)
			continue
		}
		if err := u.Save(u.ctx, "told", "yes"); err != nil {
			return err
		}
	}
	var all sync.WaitGroup
	rest, reads := []time.Duration{0, 10 * time.Second}[u.Random(1).IntN(2)], 12
	if u.network == "late" {
		reads = 20
	}
	for n, strand := range []string{"a", "b", "c"} {
		all.Go(func() {
			ctx, random := u.Context(strand), u.Random(2+n)
			for range reads {
				time.Sleep(time.Duration(random.Int64N(int64(rest) + 1)))
				if u.Save(ctx, strand, "") != nil { // so that they begin one after the other
					return
				}
				// One attempt: a call that repeats it meets those that its report has just woken, and which asks first is chance.
				_, _ = u.client.Lists.Get(ctx, walkedID, prospectkit.GetListParams{}, prospectkit.WithRetry(prospectkit.NoRetry))
			}
		})
	}
	all.Wait()
	return nil
}
