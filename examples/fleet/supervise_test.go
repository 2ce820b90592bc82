package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	prospectpg "example.com/prospectkit/contrib/postgres"
	"example.com/prospectkit/internal/tests/pgserver"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

//go:embed schema.sql
var schema string

// supervisor is everything but the workers: the service, the database, the person who says yes, and what kills.
type supervisor struct {
	options

	out      io.Writer
	sb       *sandbox.Sandbox
	clock    *shifted
	database *pgserver.Server
	fleet    *fleet // its own part, which works no jobs
	starts   atomic.Int64
	aimed    int    // kills while a write was in progress
	helped   int    // jobs that a person has run again
	logs     string // a file
}

// limit is for how long all may take, however slow the machine is.
const limit = 15 * time.Minute

func supervise(ctx context.Context, o options, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err = fmt.Fprintf(out, "%d workspaces, %d worker processes; %d workers and the database %d times will be killed.\n",
		o.workspaces, o.workers, o.kills, o.databases)
	if err != nil {
		return err
	}
	began := time.Now()
	s := &supervisor{options: o, out: out}
	seen := make(chan int, 1)
	s.sb, s.clock = service(o, seen)
	api := httptest.NewServer(s.sb.Handler())
	defer api.Close()
	if s.database, err = startDatabase(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.database.Remove()) }()
	s.logs = filepath.Join(s.database.Dir, "workers")
	j := config{Name: "supervisor", DSN: s.database.DSN(""), BaseURL: api.URL + "/api/v1", Tokens: map[string]string{}}
	for _, w := range s.sb.Snapshot().Workspaces {
		j.Tokens[w.Name] = s.sb.Workspace(w.Name).Token()
	}
	if s.fleet, err = newFleet(ctx, j); err != nil {
		return err
	}
	defer s.fleet.pool.Close()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if err := s.live(ctx, j, seen); err != nil {
		text, _ := os.ReadFile(s.logs)
		return fmt.Errorf("%w\nthe workers say:\n%s", err, tail(text))
	}
	return s.tell(ctx, time.Since(began))
}

// tell prints what River went through, and the judgement.
func (s *supervisor) tell(ctx context.Context, took time.Duration) error {
	var jobs, rescued int
	err := s.fleet.pool.QueryRow(ctx, `SELECT count(*), sum((SELECT count(*) FROM unnest(errors) e WHERE e->>'error' LIKE 'Stuck%'))
		FROM river_job`).Scan(&jobs, &rescued)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%d jobs were done after %s, by %d starts of workers. %d kills were while a call was in progress. %d times, the job\n"+
		"of a dead worker was run again. %d times, a person settled a ticket.\n\n", jobs, took.Round(time.Second), s.starts.Load(), s.aimed, rescued, s.helped)
	return s.judge(ctx)
}

func tail(text []byte) []byte { return text[max(0, len(text)-4000):] }

// prepare makes the tables, and enqueues a job for each workspace, one a second, so that kills meet their writes.
func (s *supervisor) prepare(ctx context.Context) error {
	pool := s.fleet.pool
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, schema); err != nil {
		return err
	}
	if err := prospectpg.Migrate(ctx, pool); err != nil {
		return err
	}
	for name := range s.fleet.workspaces {
		if err := prospectpg.AddWorkspace(ctx, pool, name); err != nil {
			return err
		}
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		at := time.Now()
		for name := range s.fleet.workspaces {
			if _, err := s.fleet.river.InsertTx(ctx, tx, prepareArgs{Workspace: name}, &river.InsertOpts{ScheduledAt: at}); err != nil {
				return err
			}
			at = at.Add(time.Second)
		}
		return nil
	})
}

// live runs the workers until their jobs are done, and kills meanwhile.
func (s *supervisor) live(ctx context.Context, j config, seen chan int) error {
	running, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	seats := make([]*seat, s.workers)
	for i := range seats {
		j.Name = fmt.Sprint(workerName, i)
		seats[i] = &seat{config: j, supervisor: s}
		all.Go(func() { seats[i].keep(running) })
	}
	all.Go(func() { s.person(running) })
	for kill := range s.kills {
		if err := s.killOne(ctx, kill, seats, seen); err != nil {
			return err
		}
	}
	return s.wait(ctx)
}

// killOne kills a worker: while one of its writes is in progress, or at any moment. Some kills hit the database, too.
func (s *supervisor) killOne(ctx context.Context, kill int, seats []*seat, seen chan int) error {
	pause(ctx, 300*time.Millisecond+rand.N(700*time.Millisecond))
	victim := rand.IntN(len(seats))
	if kill%3 != 2 {
		victim = s.aim(ctx, seen, victim)
	}
	for !seats[victim].kill() && ctx.Err() == nil { // it is starting
		pause(ctx, 20*time.Millisecond)
	}
	if s.databases*(kill+1)/s.kills == s.databases*kill/s.kills {
		return nil
	}
	s.database.Kill()
	return s.database.Start(ctx)
}

func startDatabase(ctx context.Context) (*pgserver.Server, error) {
	return pgserver.Start(ctx, "max_connections=300")
}

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// aim waits for a worker that has just sent something, for a while, and for a moment before, during or after the response.
func (s *supervisor) aim(ctx context.Context, arrived <-chan int, otherwise int) (victim int) {
	select {
	case <-arrived: // long ago
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, 6*time.Second)
	defer cancel()
	select {
	case victim = <-arrived:
		s.aimed++
		pause(ctx, rand.N(3*time.Millisecond))
		return victim
	case <-ctx.Done():
		return otherwise
	}
}

// seat has one worker at a time, and starts another when it is gone.
type seat struct {
	config     config
	supervisor *supervisor

	mu  sync.Mutex
	cmd *exec.Cmd
}

func (s *seat) keep(ctx context.Context) {
	for ctx.Err() == nil {
		cmd, err := s.start(ctx)
		if err != nil {
			fmt.Fprintln(s.supervisor.out, err)
			return
		}
		_ = cmd.Wait() // killed, stopped, or unable to start without the database
		pause(ctx, 100*time.Millisecond)
	}
}

func (s *seat) start(ctx context.Context) (*exec.Cmd, error) {
	text, err := json.Marshal(s.config)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(s.supervisor.logs, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), workerVar+"=1", "PROSPECTKIT_FLEET="+string(text))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * jobTimeout
	if _, err := cmd.StdinPipe(); err != nil { // a worker ends if this process does
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd = cmd
	s.supervisor.starts.Add(1)
	return cmd, cmd.Start()
}

// kill ends the worker at once, as a lack of memory does. It reports whether there was one.
func (s *seat) kill() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil || s.cmd.Process == nil {
		return false
	}
	cmd := s.cmd
	s.cmd = nil
	return cmd.Process.Kill() == nil
}

// person says yes to what is shown, and enqueues the approval with it. In a program, this is a page with a button.
func (s *supervisor) person(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		_ = s.help(ctx)
		if err := s.sayYes(ctx); err == nil && i%10 == 0 {
			// A new leader looks for the jobs of dead workers at once, an old one every 30 s: too slow for a demonstration.
			_ = s.fleet.river.Notify().RequestResign(ctx)
		}
		pause(ctx, 500*time.Millisecond)
	}
}

// help does what a person does after a job was cancelled, because its worker was killed before the request left, or no read showed the
// approval: it looks at the campaign, settles the ticket, and runs the job again.
func (s *supervisor) help(ctx context.Context) error {
	rows, err := s.fleet.pool.Query(ctx, "SELECT id, args->>'workspace' FROM river_job WHERE kind = 'approve' AND state = 'cancelled'")
	if err != nil {
		return err
	}
	type cancelled struct {
		ID        int64
		Workspace string
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[cancelled])
	if err != nil {
		return err
	}
	for _, job := range all {
		found := "not-applied"
		if s.sb.Workspace(job.Workspace).Campaigns()[0].Status == "active" {
			found = "applied"
		}
		for e, err := range s.fleet.workspaces[job.Workspace].store.Calls(ctx, "campaigns.approve") {
			if err != nil {
				return err
			}
			if e.Outcome == journal.Unknown {
				if err := s.fleet.settle(ctx, []string{job.Workspace, e.Ticket.ID, found, strconv.FormatInt(job.ID, 10), "test", "I looked"}); err != nil {
					return err
				}
				s.helped++
			}
		}
	}
	return nil
}

func (s *supervisor) sayYes(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.fleet.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT workspace, campaign_id, digest FROM fleet.review r
			WHERE NOT EXISTS (SELECT FROM river_job WHERE kind = 'approve' AND args->>'workspace' = r.workspace)`)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[approveArgs])
		if err != nil {
			return err
		}
		for _, args := range all {
			if _, err := s.fleet.river.InsertTx(ctx, tx, args, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// wait waits until every campaign is approved.
func (s *supervisor) wait(ctx context.Context) error {
	for failures := 0; failures < 20; pause(ctx, 200*time.Millisecond) {
		open, failed, err := s.progress(ctx)
		switch {
		case failed != "":
			return errors.New(failed)
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), err)
		case err != nil: // connections to a database that was killed fail once
			failures++
		case open == 0:
			return nil
		default:
			failures = 0
		}
	}
	_, _, err := s.progress(ctx)
	return errors.Join(errors.New("the database does not respond"), err)
}

// progress counts the jobs that are not done, and tells of a job that needs a person.
func (s *supervisor) progress(ctx context.Context) (open int, failed string, err error) {
	err = s.fleet.pool.QueryRow(ctx, `SELECT
		$1 - (SELECT count(*) FROM river_job WHERE state = 'completed'),
		coalesce((SELECT kind || ' ' || args::text || ': ' || coalesce(errors[1]->>'error', '')
			FROM river_job WHERE state = 'discarded' OR state = 'cancelled' AND finalized_at < now() - interval '30 seconds' LIMIT 1), '')`, 2*s.workspaces).Scan(&open, &failed)
	return open, strings.TrimSpace(failed), err
}
