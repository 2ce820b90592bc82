package main

import (
	"context"
	"errors"
	"time"

	"example.com/prospectkit"
)

const (
	passes = 3 // over a collection that changes meanwhile, until it stops changing

	// overlap is how far past the mark a walk over the changed rows continues, because changes may become visible out of order.
	overlap = time.Minute

	// changedLimit is the page size of that walk, which mostly ends on its first page.
	changedLimit = 100
)

// syncer copies lists and rows from the service into the store.
type syncer struct {
	lists     *prospectkit.ListsService
	store     *store
	bar       *bar
	pageSize  int
	fullEvery time.Duration // how long until all rows are read again

	run    int64
	report syncReport
}

// syncReport has the figures of a sync that are not in the tables.
type syncReport struct {
	continued  bool // an earlier process had not finished
	repeats    int
	recovered  int
	unsettled  []string // names of lists that kept changing
	walkedFull int      // lists of which all rows were read
	walkedNew  int      // lists of which the changed rows sufficed
}

// sync brings the store up to date. It may be killed at any moment and run again.
func (y *syncer) sync(ctx context.Context, baseURL string) (err error) {
	if y.run, y.report.continued, err = y.store.begin(ctx, baseURL); err != nil {
		return err
	}
	if err := y.syncLists(ctx); err != nil {
		return err
	}
	pending, err := y.store.pending(ctx, y.run)
	if err != nil {
		return err
	}
	rows, requests := 0, 0
	for _, l := range pending {
		rows += l.size
		requests += y.requests(l)
	}
	y.bar.begin(rows, requests)
	rows = 0
	for _, l := range pending {
		y.bar.at(l.name, rows, requests)
		rows += l.size
		requests -= y.requests(l) // before the walk changes the plan
		err := y.syncRows(ctx, l)
		if errors.Is(err, prospectkit.CodeListNotFound) {
			err = y.store.loseList(ctx, y.run, l)
		}
		if err != nil {
			return err
		}
		y.bar.at(l.name, rows, requests)
	}
	return y.store.finish(ctx, y.run)
}

// requests is how many a list will take.
func (y *syncer) requests(l *list) int {
	if y.plan(l) == changedRows {
		return 1
	}
	return 1 + (l.size+y.pageSize-1)/y.pageSize
}

// plan is the mode of the current walk, or of the next one.
func (y *syncer) plan(l *list) mode {
	switch {
	case l.mode != "":
		return l.mode
	case !l.mark.IsZero() && time.Since(l.fullAt) < y.fullEvery:
		return changedRows
	}
	return allRows
}

// syncLists stores the lists. It reads them all before it writes: a thousand come with one request.
func (y *syncer) syncLists(ctx context.Context) error {
	for pass := 1; ; pass++ {
		var progress prospectkit.Progress
		var found []prospectkit.List
		for l, err := range y.lists.All(ctx, prospectkit.ListsParams{}, prospectkit.WithProgress(&progress)) {
			if err != nil {
				return err
			}
			found = append(found, *l)
		}
		complete := settled(progress.Report(), len(found))
		if complete || pass == passes {
			y.note(progress.Report())
			return y.store.saveLists(ctx, y.run, found, complete)
		}
	}
}

// syncRows brings one list up to date. It continues the current walk, or walks over as few rows as is safe, and over all rows if the
// count shows that something was missed.
func (y *syncer) syncRows(ctx context.Context, l *list) error {
	walking := l.mode != ""
	l.mode = y.plan(l)
	for pass := 1; ; pass++ {
		if !walking {
			if err := y.startWalk(ctx, l); err != nil {
				return err
			}
		}
		ok, err := y.walk(ctx, l)
		if err != nil {
			return err
		}
		if ok || pass == passes {
			return y.endWalk(ctx, l, ok)
		}
		walking, l.mode = false, allRows
	}
}

// startWalk begins a walk. The change that is the latest now becomes the mark when it ends: whatever changes during the walk
// is later, by the service's own clock. A walk over changed rows meets that change first. Company lists cannot be sorted by
// change, so that they never have a mark.
func (y *syncer) startWalk(ctx context.Context, l *list) error {
	l.checkpoint, l.nextMark = "", time.Time{}
	if l.kind == prospectkit.ContactList && l.mode == allRows {
		latest, err := y.lists.RowsPage(ctx, l.id, prospectkit.RowsParams{Limit: 1, Sort: prospectkit.Descending("updatedAt")})
		if err != nil {
			return err
		}
		l.nextMark = firstChange(latest)
	}
	return y.store.startWalk(ctx, l)
}

func (y *syncer) endWalk(ctx context.Context, l *list, ok bool) error {
	switch {
	case !ok:
		y.report.unsettled = append(y.report.unsettled, l.name)
	case l.mode == allRows:
		y.report.walkedFull++
	default:
		y.report.walkedNew++
	}
	return y.store.endWalk(ctx, y.run, l, ok)
}

// walk reads rows page by page and stores each page with the checkpoint after it. It reports whether the store holds exactly
// the rows that the service counts.
func (y *syncer) walk(ctx context.Context, l *list) (ok bool, err error) {
	var progress prospectkit.Progress
	opts := []prospectkit.PageOption{prospectkit.WithProgress(&progress)}
	if l.checkpoint != "" {
		_, seen, err := y.store.count(ctx, l)
		if err != nil {
			return false, err
		}
		y.bar.page(seen, seen/y.pageSize)
		opts = append(opts, prospectkit.ResumeFrom(l.checkpoint))
	}
	inOrder, reached := true, false
	for page, err := range y.lists.RowsPages(ctx, l.id, y.params(l), opts...) {
		if l.checkpoint != "" && errors.Is(err, prospectkit.ErrRefusedLocally) {
			return false, nil // a checkpoint of another page size or version: start over
		}
		if err != nil {
			return false, err
		}
		rows := page.Items
		if l.mode == changedRows {
			if l.checkpoint == "" {
				l.nextMark = firstChange(page)
			}
			rows, inOrder, reached = sinceMark(rows, l.mark.Add(-overlap))
		}
		if err := y.store.saveRows(ctx, y.run, l, rows, progress.Checkpoint()); err != nil {
			return false, err
		}
		y.bar.page(len(rows), 1)
		if reached || !inOrder {
			break
		}
	}
	y.note(progress.Report())
	living, seen, err := y.store.count(ctx, l)
	if l.mode == allRows {
		living = seen
	}
	return inOrder && settled(progress.Report(), living), err
}

func (y *syncer) params(l *list) prospectkit.RowsParams {
	switch {
	case l.mode == changedRows:
		return prospectkit.RowsParams{Limit: min(changedLimit, y.pageSize), Sort: prospectkit.Descending("updatedAt")}
	case l.kind == prospectkit.CompanyList:
		return prospectkit.RowsParams{Limit: y.pageSize, Sort: prospectkit.Ascending("domain")}
	}
	return prospectkit.RowsParams{Limit: y.pageSize, Sort: prospectkit.Ascending("createdAt")}
}

// sinceMark cuts rows, last changed first, at the first one that is older than the mark. The service ignores a sort key that it
// does not know, and may send rows without the field: then they are out of order.
func sinceMark(rows []prospectkit.Row, mark time.Time) (fresh []prospectkit.Row, inOrder, reached bool) {
	var before time.Time
	for i := range rows {
		at := changed(&rows[i])
		if at.IsZero() || i > 0 && at.After(before) {
			return rows[:i], false, false
		}
		if at.Before(mark) {
			return rows[:i], true, true
		}
		before = at
	}
	return rows, true, false
}

// changed is when a row was changed last: the documented sort field of contacts, if the row has it.
func changed(row *prospectkit.Row) time.Time { return row.Time("updatedAt") }

func firstChange(p *prospectkit.Page[prospectkit.Row]) (latest time.Time) {
	if len(p.Items) > 0 {
		latest = changed(&p.Items[0])
	}
	return latest
}

// settled reports whether so many records are all that there were when the total was last told.
func settled(r prospectkit.Report, records int) bool {
	return !r.Incomplete && (!r.TotalKnown || records == r.Total)
}

func (y *syncer) note(r prospectkit.Report) {
	y.report.repeats += r.Repeats
	y.report.recovered += r.Recovered
}
