package simulation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/sim"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// Programs that read a list while teammates change it.

const (
	walkedID  = "65f0c0ffee65f0c0ffee9999"
	keyPrefix = "simulated_key_"
	pageSize  = 2
)

func rowIDs() (ids []string) {
	for i := range 9 {
		ids = append(ids, fmt.Sprintf("65f0c0ffee65f0c0ffee8%03d", i))
	}
	return ids
}

// newRow is a row without an id, which the service gives it.
func newRow() sandbox.Row { return sandbox.Row{"firstName": "W"} }

// teammate adds and removes rows, rotates the key, and sets the clock of the service, all at times of its own.
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
	id := rowIDs()[which]
	if r.adds && (kind == 2 || kind == 9) {
		kind = 3
	}
	switch {
	case r.most > 0: // the totals show no change
	case kind < 2 && r.grows:
		tx.AddRows(walkedID, newRow(), newRow())
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
			tx.InsertRows(walkedID, 0, newRow())
		}
	case kind == 4 && r.key == keyPrefix+"1" && !r.hurried:
		r.key = keyPrefix + "2"
		r.service.Revoke(keyPrefix + "1")
		r.laws.mark("the key was rotated")
	case kind == 7 && (which >= 4 || !r.hurried): // after a jump back, 429s count no more
		r.clock.jump(time.Duration(which-4) * 5 * time.Second)
		r.laws.limits = r.laws.limits && which >= 4 // a window that ends later than it was told to
		r.laws.mark("the service's clock jumped")
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
			tx.Put("lists", sandbox.Row{"id": list.ID, "name": "Renamed"})
		case made && kind == 1:
			tx.Delete("lists", list.ID)
		}
	}
	for _, agent := range r.service.Agents() {
		if strings.HasSuffix(agent.Name, " "+mark) {
			tx.Delete("agents", agent.ID)
		}
	}
	tx.Put("lists", sandbox.Row{"id": tests.ListID, "folderId": ""})
}

// walker reads all rows of a list, two a page, and stores each with its checkpoint.
func walker(u *user) error {
	var progress prospectkit.Progress
	opts := []prospectkit.PageOption{prospectkit.WithProgress(&progress)}
	var ids []string
	if saved := u.Load("walk"); saved != "" {
		ids = strings.Split(saved, "\n")
		progress.ResumeFrom, ids = ids[0], ids[1:]
	}
	known := max(0, len(ids)-16) // internal/pagewalk: a checkpoint names the last 16
	for row, err := range u.client.Lists.Rows(u.ctx, walkedID, prospectkit.RowsParams{Limit: pageSize}, opts...) {
		if err != nil {
			if errors.Is(err, prospectkit.ErrRecordsMissing) && u.Alive() {
				u.counts(ids, known, progress.Report())
			}
			if strings.Contains(err.Error(), "bring nothing new") && u.onlyInserts() {
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
	u.counts(ids, known, progress.Report())
	return nil
}

// counts holds what a walk has delivered against what is there. The rows of a page that was empty may be missing, if the walk has told.
func (u *user) counts(ids []string, known int, r prospectkit.Report) {
	told := r.Missing > 0 || r.Incomplete || r.Rewound && !r.OrderKnown // some may have been skipped
	u.laws.Lock()
	defer u.laws.Unlock()
	var missing []string
	for _, id := range rowIDs() { // internal/pagewalk: an insert behind the place can hide a delete from the total
		if !u.laws.removed[id] && !u.laws.appended && !slices.Contains(ids, id) {
			missing = append(missing, id)
		}
	}
	if u.laws.short = u.laws.short || told; len(missing) > pageSize*u.laws.empty || len(missing) > 0 && !u.laws.short {
		u.laws.breach(everyRowOnce, "%q are missing in %q, %d pages were empty, told: %t", missing, ids, u.laws.empty, u.laws.short)
	}
	ids = ids[known:]
	slices.Sort(ids)
	if once := slices.Compact(slices.Clone(ids)); len(once) < len(ids) {
		u.laws.breach(everyRowOnce, "a row came twice: %q", ids)
	}
}

// onlyInserts reports whether nothing but inserts and a single empty page can make a walk stop.
func (u *user) onlyInserts() bool {
	u.laws.Lock()
	defer u.laws.Unlock()
	return len(u.laws.removed) == 0 && u.laws.empty < 2
}

// hurrier reads as fast as it may, or more often than it may all the time: then a minute that slides gives back one request after the other.
func hurrier(u *user) error {
	for u.Load("told") == "" { // the limit, which is lower than the documented one
		if _, err := u.client.Lists.Get(u.ctx, walkedID); err != nil && u.Alive() {
			time.Sleep(time.Minute)
			continue
		}
		if err := u.Save(u.ctx, "told", "yes"); err != nil {
			return err
		}
	}
	var all sync.WaitGroup
	rest, reads := []time.Duration{0, 10 * time.Second}[u.Random(1).IntN(2)], 12
	if u.network != "lossy" {
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
				_, _ = u.client.Lists.Get(ctx, walkedID, prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
			}
		})
	}
	all.Wait()
	return nil
}
