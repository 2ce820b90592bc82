package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/prospectkit"
)

// copyArgs is the copy of all lists and rows of a workspace in one night.
type copyArgs struct {
	Workspace string `json:"workspace"`
	Night     string `json:"night"`
}

func (copyArgs) Kind() string { return "copy" }

func (copyArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}, Priority: 2} // after the steps of launches
}

// copier copies lists and rows.
type copier struct {
	river.WorkerDefaults[copyArgs]

	fleet *fleet
}

// Work copies for as long as a job may run, and then lets the job run again.
func (s *copier) Work(ctx context.Context, job *river.Job[copyArgs]) error {
	return outcome(ctx, s.run(ctx, job))
}

// slice leaves a job the time for its last page.
const slice = jobTimeout - 2*attemptTimeout

func (s *copier) run(ctx context.Context, job *river.Job[copyArgs]) error {
	w, err := s.fleet.of(job.Args.Workspace, job.JobRow)
	if err != nil {
		return err
	}
	until := time.Now().Add(slice)
	for list, err := range w.client.Lists.All(ctx, prospectkit.ListsParams{}) {
		if err != nil {
			return err
		}
		if err := w.copyList(ctx, job.Args.Night, list.ID, until); err != nil {
			return err
		}
	}
	return pgx.BeginFunc(ctx, s.fleet.pool, func(tx pgx.Tx) error {
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}

// copyList stores the rows of a list page by page, each with the checkpoint after it. It continues where an earlier attempt was killed.
func (w *workspace) copyList(ctx context.Context, night, listID string, until time.Time) error {
	walk := &walk{workspace: w, night: night, listID: listID}
	if done, err := walk.begin(ctx); err != nil || done {
		return err
	}
	progress := prospectkit.Progress{ResumeFrom: walk.checkpoint}
	pages := w.client.Lists.RowsPages(ctx, listID, prospectkit.RowsParams{Limit: w.fleet.PageSize},
		prospectkit.WithProgress(&progress))
	for page, err := range pages {
		if err != nil {
			return err
		}
		if err := walk.save(ctx, page.Items, progress.Checkpoint(), false); err != nil {
			return err
		}
		if time.Now().After(until) {
			return river.JobSnooze(0)
		}
	}
	return walk.save(ctx, nil, "", true)
}

// walk is one over the rows of a list.
type walk struct {
	*workspace
	night, listID string

	stored     int // pages, so far
	checkpoint string
}

func (k *walk) checkpointName() string { return k.night + " " + k.listID }

func (k *walk) begin(ctx context.Context) (done bool, err error) {
	err = k.fleet.pool.QueryRow(ctx, `INSERT INTO fleet.walk AS w (workspace, night, list_id) VALUES ($1, $2, $3)
		ON CONFLICT (workspace, night, list_id) DO UPDATE SET pages = w.pages RETURNING pages, done`, k.name, k.night, k.listID).Scan(&k.stored, &done)
	if err == nil && !done {
		k.checkpoint, err = k.checkpoints.Checkpoint(ctx, k.checkpointName())
	}
	return done, err
}

var errOvertaken = errors.New("another run of this job stored the page")

// save stores rows and the checkpoint after them, or neither.
func (k *walk) save(ctx context.Context, rows []prospectkit.Row, checkpoint string, done bool) error {
	err := pgx.BeginFunc(ctx, k.fleet.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE fleet.walk SET pages = pages + 1, done = $5
			WHERE workspace = $1 AND night = $2 AND list_id = $3 AND pages = $4`, k.name, k.night, k.listID, k.stored, done)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return errOvertaken
		}
		for i := range rows {
			_, err := tx.Exec(ctx, `INSERT INTO fleet.list_row AS r (workspace, night, list_id, row_id, body) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (workspace, night, list_id, row_id) DO UPDATE SET times = r.times + 1, body = excluded.body`,
				k.name, k.night, k.listID, rows[i].ID(), rows[i].Raw())
			if err != nil {
				return err
			}
		}
		return k.checkpoints.SaveCheckpoint(ctx, tx, k.checkpointName(), checkpoint)
	})
	k.stored++
	return err
}

// atNight is a schedule: at two o'clock. Whoever becomes the leader asks for tonight's copy, too: the arguments are unique, so
// each night has one.
type atNight struct{}

func (atNight) Next(now time.Time) time.Time {
	return now.UTC().Add(-2 * time.Hour).Truncate(24 * time.Hour).Add(26 * time.Hour)
}

func night(t time.Time) string { return t.UTC().Format(time.DateOnly) }
