package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/prospectkit/examples/fleet/launch"
)

// launchArgs is one step of the launch of a workspace. Each step is a job, and exists once.
type launchArgs struct {
	Workspace string      `json:"workspace"`
	Step      launch.Step `json:"step"`
}

func (launchArgs) Kind() string { return "launch" }

func (launchArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// launcher works the steps.
type launcher struct {
	river.WorkerDefaults[launchArgs]

	fleet *fleet
}

// Work runs one step, and stores its result together with the job of the next one and the end of this one.
func (l *launcher) Work(ctx context.Context, job *river.Job[launchArgs]) error {
	return outcome(ctx, l.run(ctx, job))
}

func (l *launcher) run(ctx context.Context, job *river.Job[launchArgs]) error {
	w, err := l.fleet.of(job.Args.Workspace, job.JobRow)
	if err != nil {
		return err
	}
	var at launch.Step
	var m launch.Made
	err = l.fleet.pool.QueryRow(ctx, "SELECT step, made FROM fleet.launch WHERE workspace = $1", w.Name).Scan(&at, &m)
	if err != nil || at != job.Args.Step { // an earlier attempt took this step, and was killed before River knew
		return err
	}
	next, err := w.Take(ctx, at, &m)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, l.fleet.pool, func(tx pgx.Tx) error {
		if err := moveOn(ctx, tx, river.ClientFromContext[pgx.Tx](ctx), w.Name, at, next, m); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}

// moveOn stores the result of a step, and enqueues the next one.
func moveOn(ctx context.Context, tx pgx.Tx, client *river.Client[pgx.Tx], workspace string, from, to launch.Step, m launch.Made) error {
	tag, err := tx.Exec(ctx, "UPDATE fleet.launch SET step = $3, made = $4 WHERE workspace = $1 AND step = $2", workspace, from, to, m)
	if err != nil || tag.RowsAffected() == 0 || to == launch.Yes || to == launch.Done {
		return err
	}
	_, err = client.InsertTx(ctx, tx, launchArgs{Workspace: workspace, Step: to}, nil)
	return err
}
