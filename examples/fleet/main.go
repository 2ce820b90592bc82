// Command fleet is a worker: it launches campaigns in many workspaces and copies all their lists every night, as durable jobs on River.
// It may be killed at any moment. PROSPECTKIT_FLEET holds its configuration, as JSON.
//
// After a job was cancelled because nobody can read whether a call happened, a person looks, says what they found, and the job runs again:
//
//	fleet WORKSPACE TICKET applied|not-applied JOB NAME WHY
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"example.com/prospectkit"
	prospectpg "example.com/prospectkit/contrib/postgres"
	"example.com/prospectkit/examples/fleet/engine"
	"example.com/prospectkit/journal"
)

// The times are short, for tests: set minutes. A job ends before River takes it for stuck, and a ticket is anybody's only after the attempt
// it is for. With these, a job is never run twice at once, unless a process is stopped and continues.
const (
	attemptTimeout = 2 * time.Second // an attempt takes twice that at most: until the headers, and then for a small body
	lease          = 5 * time.Second
	jobTimeout     = 8 * time.Second
	stuckAfter     = 10 * time.Second
	patience       = 20 * time.Second // longer than a request may take: then a read that does not show its effect counts, or a person has to look
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	flag.Parse()
	err := run(ctx, flag.Args())
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// config is that of a worker process.
type config struct {
	Name, DSN, BaseURL string
	Tokens             map[string]string // by workspace
	PageSize           int
}

func run(ctx context.Context, args []string) error {
	if len(args) != 0 && len(args) != 6 {
		return errors.New("the arguments are none, or WORKSPACE TICKET applied|not-applied JOB NAME WHY")
	}
	var c config
	if err := json.Unmarshal([]byte(os.Getenv("PROSPECTKIT_FLEET")), &c); err != nil {
		return fmt.Errorf("PROSPECTKIT_FLEET: %w", err)
	}
	f, err := newFleet(ctx, c)
	if err != nil {
		return err
	}
	defer f.pool.Close()
	client, err := f.river()
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return work(ctx, client)
	}
	id, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		return err
	}
	found := journal.Settlement{Outcome: journal.Outcome(strings.ReplaceAll(args[2], "-", " ")), By: args[4], Because: args[5]}
	return f.settle(ctx, client, args[0], args[1], found, id)
}

// settle ends a ticket with what a person has found, and runs its job again: it then does what is missing, or nothing.
func (f *fleet) settle(ctx context.Context, client *river.Client[pgx.Tx], workspace, ticket string, found journal.Settlement, job int64) error {
	w := f.workspaces[workspace]
	if w == nil {
		return fmt.Errorf("there is no workspace %q", workspace)
	}
	err := w.checkpoints.Settle(ctx, ticket, found)
	if err != nil && !errors.Is(err, journal.ErrNotInDoubt) { // such as of a command that was stopped before it came to the job
		return err
	}
	_, failed := client.JobRetry(ctx, job)
	return errors.Join(err, failed)
}

// workspace is one customer's, as one job uses it.
type workspace struct {
	name   string
	client *prospectkit.Client
	store  journal.Journal
	job    string // in the tickets of its calls

	fleet       *fleet
	checkpoints *prospectpg.Store
	patience    time.Duration
}

// fleet is this process's part of it.
type fleet struct {
	config

	pool       *pgxpool.Pool
	workspaces map[string]*workspace
}

func newFleet(ctx context.Context, c config) (*fleet, error) {
	pool, err := pgxpool.New(ctx, c.DSN)
	if err != nil {
		return nil, err
	}
	f := &fleet{config: c, pool: pool, workspaces: map[string]*workspace{}}
	for name, token := range c.Tokens {
		s, err := prospectpg.New(pool, prospectpg.Config{Workspace: name, Lease: lease})
		if err != nil {
			return nil, err
		}
		client, err := prospectkit.New(c.BaseURL, token, prospectkit.WithJournal(s),
			prospectkit.WithUserAgent(c.Name), prospectkit.WithAttemptTimeout(attemptTimeout),
			prospectkit.WithMaxWait(time.Second)) // a longer wait is no work: it gives its slot away
		if err != nil {
			return nil, err
		}
		f.workspaces[name] = &workspace{name: name, client: client, store: s, checkpoints: s, fleet: f, patience: patience}
	}
	return f, nil
}

// of is a workspace as a job uses it. All attempts of the job have the same name.
func (f *fleet) of(name string, row *rivertype.JobRow) (*workspace, error) {
	w, ok := f.workspaces[name]
	if !ok {
		return nil, river.JobCancel(fmt.Errorf("no such workspace: %s", name))
	}
	named := *w
	named.job = fmt.Sprint("job ", row.ID)
	return &named, nil
}

// work runs jobs until the context ends.
func work(ctx context.Context, client *river.Client[pgx.Tx]) error {
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	<-ctx.Done()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobTimeout)
	defer cancel()
	return client.Stop(end)
}

func (f *fleet) river() (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &launcher{fleet: f})
	river.AddWorker(workers, &copier{fleet: f})
	var periodic []*river.PeriodicJob
	for _, name := range slices.Sorted(maps.Keys(f.workspaces)) {
		periodic = append(periodic, river.NewPeriodicJob(atNight{}, func() (river.JobArgs, *river.InsertOpts) {
			return copyArgs{Workspace: name, Night: night(time.Now())}, nil
		}, &river.PeriodicJobOpts{ID: "copy-" + name, RunOnStart: true}))
	}
	return river.NewClient(riverpgxv5.New(f.pool), &river.Config{
		ID: f.Name, Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 8}},
		JobTimeout: jobTimeout, RescueStuckJobsAfter: stuckAfter, MaxAttempts: 1000, FetchPollInterval: 500 * time.Millisecond,
		RetryPolicy: backoff{}, PeriodicJobs: periodic, Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
}

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
