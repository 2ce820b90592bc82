package main

import (
	"context"
	"errors"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/changes"
)

const (
	passes = 3   // over a collection that changes meanwhile, until it stops changing
	batch  = 100 // changed rows are stored at once
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
	continued bool // an earlier process had not finished
	repeats   int
	recovered int
	unsettled []string // names of lists that kept changing
	walked    int      // lists of which all rows were read
	followed  int      // lists of which the changes sufficed
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
	if y.follows(l) {
		return 1
	}
	return 1 + (l.size+y.pageSize-1)/y.pageSize
}

// follows reports whether the changes of a list suffice: no walk over all rows is in progress, or due.
func (y *syncer) follows(l *list) bool {
	return !l.walking && l.mark != "" && time.Since(l.fullAt) < y.fullEvery
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

// syncRows brings one list up to date: by its changes if they tell all, otherwise by a walk over all rows, or what is left of it.
func (y *syncer) syncRows(ctx context.Context, l *list) error {
	if y.follows(l) {
		err := y.follow(ctx, l)
		if err == nil {
			y.report.followed++
			return y.store.endSync(ctx, y.run, l)
		}
		full, required := errors.AsType[*changes.FullSyncRequiredError](err)
		switch {
		case required:
			l.nextMark = full.After
		case !errors.Is(err, prospectkit.ErrRefusedLocally): // a mark of another version
			return err
		}
	}
	for pass := 1; ; pass++ {
		if !l.walking {
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
		l.walking = false
	}
}

// follow stores the rows that are new or have changed, each batch with the mark after it. The feed compares their number with the service's.
func (y *syncer) follow(ctx context.Context, l *list) error {
	var rows []prospectkit.Row
	mark := l.mark
	save := func() error {
		if len(rows) == 0 {
			return nil
		}
		err := y.store.saveRows(ctx, y.run, l, rows, mark)
		y.bar.page(len(rows), 1)
		rows = rows[:0]
		return err
	}
	held := changes.Holding(func(ctx context.Context) (int, error) {
		if err := save(); err != nil {
			return 0, err
		}
		living, _, err := y.store.count(ctx, l)
		return living, err
	})
	for change, err := range y.lists.Changes(ctx, l.id, l.mark, held) {
		if err != nil {
			return err
		}
		rows, mark = append(rows, *change.Row), change.Checkpoint()
		if len(rows) == batch {
			if err := save(); err != nil {
				return err
			}
		}
	}
	return save()
}

// startWalk begins a walk over all rows. The mark that the list gets at its end is taken before. The changes of company lists have
// no documented order, so that they never have a mark.
func (y *syncer) startWalk(ctx context.Context, l *list) error {
	l.walking, l.checkpoint = true, ""
	if l.kind == prospectkit.ContactList && l.nextMark == "" {
		for _, err := range y.lists.Changes(ctx, l.id, "") {
			full, ok := errors.AsType[*changes.FullSyncRequiredError](err)
			if !ok {
				return err
			}
			l.nextMark = full.After
		}
	}
	return y.store.startWalk(ctx, l)
}

func (y *syncer) endWalk(ctx context.Context, l *list, ok bool) error {
	if ok {
		y.report.walked++
	} else {
		y.report.unsettled = append(y.report.unsettled, l.name)
	}
	return y.store.endWalk(ctx, y.run, l, ok)
}

// walk reads all rows page by page and stores each page with the checkpoint after it. It reports whether it saw as many rows as the
// service counts.
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
	params := prospectkit.RowsParams{Limit: y.pageSize, Sort: prospectkit.Ascending("createdAt")}
	if l.kind == prospectkit.CompanyList {
		params.Sort = prospectkit.Ascending("domain")
	}
	for page, err := range y.lists.RowsPages(ctx, l.id, params, opts...) {
		if l.checkpoint != "" && errors.Is(err, prospectkit.ErrRefusedLocally) {
			return false, nil // a checkpoint of another page size or version: start over
		}
		if err != nil {
			return false, err
		}
		if err := y.store.saveRows(ctx, y.run, l, page.Items, progress.Checkpoint()); err != nil {
			return false, err
		}
		y.bar.page(len(page.Items), 1)
	}
	y.note(progress.Report())
	_, seen, err := y.store.count(ctx, l)
	return settled(progress.Report(), seen), err
}

// settled reports whether so many records are all that there were when the total was last told.
func settled(r prospectkit.Report, records int) bool {
	return !r.Incomplete && (!r.TotalKnown || records == r.Total)
}

func (y *syncer) note(r prospectkit.Report) {
	y.report.repeats += r.Repeats
	y.report.recovered += r.Recovered
}
