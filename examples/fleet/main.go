// Command fleet is a worker: it launches a campaign in each of many workspaces, as durable jobs on River. It may be killed at any moment.
// PROSPECTKIT_FLEET holds its configuration, as JSON.
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
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/prospectkit"
	prospectpg "example.com/prospectkit/contrib/postgres"
	"example.com/prospectkit/journal"
)

// The times are short, for tests: set minutes. A job ends before River takes it for stuck, and a ticket is anybody's only after the attempt
// it is for. With these, a job is never run twice at once, unless a process is stopped and continues.
const (
	attemptTimeout = 2 * time.Second // an attempt takes twice that at most: until the headers, and then for a small body
	lease          = 5 * time.Second
	jobTimeout     = 8 * time.Second
	stuckAfter     = 10 * time.Second
	patience       = 20 * time.Second // longer than a request may take
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

func run(ctx context.Context, args []string) error {
	var c config
	if err := json.Unmarshal([]byte(os.Getenv("PROSPECTKIT_FLEET")), &c); err != nil {
		return fmt.Errorf("PROSPECTKIT_FLEET: %w", err)
	}
	f, err := newFleet(ctx, c)
	if err != nil {
		return err
	}
	defer f.pool.Close()
	if len(args) > 0 {
		return f.settle(ctx, args)
	}
	if err := f.river.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	<-ctx.Done()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobTimeout)
	defer cancel()
	return f.river.Stop(end)
}

// config is that of a worker process.
type config struct {
	Name, DSN, BaseURL string
	Tokens             map[string]string // by workspace
}

// fleet is this process's part of it.
type fleet struct {
	pool       *pgxpool.Pool
	river      *river.Client[pgx.Tx]
	workspaces map[string]*workspace
}

func newFleet(ctx context.Context, c config) (*fleet, error) {
	pool, err := pgxpool.New(ctx, c.DSN)
	if err != nil {
		return nil, err
	}
	f := &fleet{pool: pool, workspaces: map[string]*workspace{}}
	for name, token := range c.Tokens {
		store, err := prospectpg.New(pool, prospectpg.Config{Workspace: name, Lease: lease})
		if err != nil {
			return nil, err
		}
		client, err := prospectkit.New(c.BaseURL, token, prospectkit.WithJournal(store), prospectkit.WithUserAgent(c.Name),
			prospectkit.WithAttemptTimeout(attemptTimeout), prospectkit.WithMaxWait(time.Second)) // a longer wait gives its slot away
		if err != nil {
			return nil, err
		}
		f.workspaces[name] = &workspace{name, client, store, patience}
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(f.prepare))
	river.AddWorker(workers, river.WorkFunc(f.approve))
	f.river, err = river.NewClient(riverpgxv5.New(pool), &river.Config{
		ID: c.Name, Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 8}},
		JobTimeout: jobTimeout, RescueStuckJobsAfter: stuckAfter, MaxAttempts: 1000, FetchPollInterval: 500 * time.Millisecond,
	})
	return f, err
}

// settle ends a ticket with what a person has found, and runs its job again: it then does what is missing, or nothing.
func (f *fleet) settle(ctx context.Context, args []string) error {
	if len(args) != 6 || f.workspaces[args[0]] == nil {
		return errors.New("the arguments are those of a workspace: WORKSPACE TICKET applied|not-applied JOB NAME WHY")
	}
	job, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		return err
	}
	found := journal.Settlement{Outcome: journal.Outcome(strings.ReplaceAll(args[2], "-", " ")), By: args[4], Because: args[5]}
	err = f.workspaces[args[0]].store.Settle(ctx, args[1], found)
	if err != nil && !errors.Is(err, journal.ErrNotInDoubt) { // such as of a command that was stopped before it came to the job
		return err
	}
	_, failed := f.river.JobRetry(ctx, job)
	return errors.Join(err, failed)
}
