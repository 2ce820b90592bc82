package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"example.com/prospectkit"
	prospectpg "example.com/prospectkit/contrib/postgres"
	"example.com/prospectkit/examples/fleet/engine"
	"example.com/prospectkit/examples/fleet/launch"
)

// The times are those of a demonstration. A job ends before River takes it for stuck, and a ticket is anybody's only after the attempt
// it is for. With these, a job is never run twice at once, unless a process is stopped and continues.
const (
	attemptTimeout = 3 * time.Second
	lease          = 5 * time.Second
	jobTimeout     = 8 * time.Second
	stuckAfter     = 10 * time.Second
)

// job is what a worker process is told, in workerVar.
type job struct {
	Name, DSN, BaseURL string
	Tokens             map[string]string // by workspace
	Workers            int               // processes
	PageSize           int
}

// workspace is one customer's, with a client of its own.
type workspace struct {
	launch.Workspace

	store *prospectpg.Store
	fleet *fleet
}

// fleet is this process's part of it.
type fleet struct {
	job

	pool       *pgxpool.Pool
	workspaces map[string]*workspace
}

func newFleet(ctx context.Context, j job) (*fleet, error) {
	pool, err := pgxpool.New(ctx, j.DSN+"&pool_max_conns=20")
	if err != nil {
		return nil, err
	}
	f := &fleet{job: j, pool: pool, workspaces: map[string]*workspace{}}
	for name, token := range j.Tokens {
		w, err := f.workspace(name, token)
		if err != nil {
			pool.Close()
			return nil, err
		}
		f.workspaces[name] = w
	}
	return f, nil
}

func (f *fleet) workspace(name, token string) (*workspace, error) {
	store, err := prospectpg.New(f.pool, prospectpg.Config{Workspace: name, Lease: lease})
	if err != nil {
		return nil, err
	}
	client, err := prospectkit.New(f.BaseURL, token,
		prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{Store: store, StoreTimeout: time.Second, Processes: f.Workers})),
		prospectkit.WithJournal(launch.Once(store)), prospectkit.WithWorkspace(name), prospectkit.WithUserAgent(f.Name),
		prospectkit.WithAttemptTimeout(attemptTimeout), prospectkit.WithMaxWait(time.Second)) // a longer wait is no work: it gives its slot away
	return &workspace{Workspace: launch.Workspace{Name: name, Client: client, Store: store, Lease: lease}, store: store, fleet: f}, err
}

// of is a workspace as a job uses it. All attempts of the job have the same name.
func (f *fleet) of(name string, row *rivertype.JobRow) (*workspace, error) {
	w, ok := f.workspaces[name]
	if !ok {
		return nil, river.JobCancel(fmt.Errorf("no such workspace: %s", name))
	}
	named := *w
	named.Job = fmt.Sprint("job ", row.ID)
	return &named, nil
}

// work runs jobs until the context ends.
func work(ctx context.Context) error {
	var j job
	if err := json.Unmarshal([]byte(os.Getenv(workerVar)), &j); err != nil {
		return err
	}
	f, err := newFleet(ctx, j)
	if err != nil {
		return err
	}
	defer f.pool.Close()
	client, err := f.river(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	go func() { // without a supervisor, it ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	<-ctx.Done()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobTimeout)
	defer cancel()
	return client.Stop(end)
}

func (f *fleet) river(log *slog.Logger) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &launcher{fleet: f})
	river.AddWorker(workers, &syncer{fleet: f})
	return river.NewClient(riverpgxv5.New(f.pool), &river.Config{
		ID: f.Name, Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 8}},
		JobTimeout: jobTimeout, RescueStuckJobsAfter: stuckAfter, MaxAttempts: 1000, FetchPollInterval: 500 * time.Millisecond,
		RetryPolicy: backoff{}, PeriodicJobs: f.nights(), Logger: log,
	})
}

// nights enqueues the sync of each workspace every night. Whoever becomes the leader asks for tonight's, too: the arguments are unique,
// so each night has one.
func (f *fleet) nights() (jobs []*river.PeriodicJob) {
	for _, name := range slices.Sorted(maps.Keys(f.workspaces)) {
		jobs = append(jobs, river.NewPeriodicJob(atNight{}, func() (river.JobArgs, *river.InsertOpts) {
			return syncArgs{Workspace: name, Night: night(time.Now())}, nil
		}, &river.PeriodicJobOpts{ID: "sync-" + name, RunOnStart: true}))
	}
	return jobs
}

// atNight is a schedule: at two o'clock.
type atNight struct{}

func (atNight) Next(now time.Time) time.Time {
	return now.UTC().Add(-2 * time.Hour).Truncate(24 * time.Hour).Add(26 * time.Hour)
}

func night(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// backoff is how River waits after an error that no verdict has a time for.
type backoff struct{}

func (backoff) NextRetry(row *rivertype.JobRow) time.Time {
	return time.Now().Add(min(time.Duration(1+len(row.Errors))*500*time.Millisecond, 5*time.Second))
}

// outcome tells River what to do after an error.
func outcome(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil { // the time of the job is over, which is no failure
		return river.JobSnooze(0)
	}
	switch v := engine.Judge(err); {
	case v.Person:
		return river.JobCancel(err)
	case v.After > 0:
		return river.JobSnooze(v.After)
	}
	return err
}
