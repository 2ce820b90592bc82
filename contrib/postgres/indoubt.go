package prospectpg

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/prospectkit/journal"
)

var (
	// Whoever is about to take one is passed over. A lease that is taken meanwhile no longer fits.
	claim = `UPDATE prospectkit.ticket SET owner = $2, leased_until = ` + fmt.Sprintf(lease, "$3::bigint") + `
		WHERE seq = (SELECT seq FROM prospectkit.ticket
			WHERE workspace = $1 AND outcome = 'unknown' AND (first_sent, seq) > (` + fmt.Sprintf(instant, "$4::bigint") + `, $5::bigint)
				AND (leased_until <= now() OR owner = $6 AND ended IS NOT NULL) AND id <> ALL ($7::text[])
			ORDER BY first_sent, seq LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING id, ticket::text, ` + fmt.Sprintf(micros, "first_sent") + `, seq`
	renew = `UPDATE prospectkit.ticket SET leased_until = ` + fmt.Sprintf(lease, "$3::bigint") + `
		WHERE workspace = $1 AND owner = $2 AND outcome = 'unknown'`
	// Its owner is nobody, so that renew does not lease it again.
	release = "UPDATE prospectkit.ticket SET owner = '', leased_until = now() WHERE workspace = $1 AND owner = $2 AND outcome = 'unknown'"
)

// InDoubt yields the tickets whose outcome is unknown, oldest first: those whose lease is over, and those of calls of this
// process that ended with an unknown outcome. It leaves out calls of this process that are in progress, however long they take.
// Each is leased to this loop while its body runs, so no other loop of any worker has it. If this worker dies, others find the
// ticket once the lease is over. A ticket that is still in doubt after the body is free again. Those that cannot be read are an error
// after all others.
//
// A worker that stops for longer than a lease, and then continues, may look at a ticket that another one has. What it finds does not count:
// Ended, and with it [prospectkit.Client.Resolve], fails with [ErrSettled] for all but the first.
func (s *Store) InDoubt(ctx context.Context) iter.Seq2[journal.Ticket, error] {
	return func(yield func(journal.Ticket, error) bool) {
		loop := s.owner + "/" + rand.Text()
		after := position{first: beginning}
		stop := s.keep(ctx, loop)
		defer stop()
		var unreadable []error
		for {
			id, text, next, err := s.claim(ctx, loop, after)
			if err != nil || next == after {
				if err = errors.Join(append(unreadable, err)...); err != nil {
					yield(journal.Ticket{}, err)
				}
				return
			}
			var t journal.Ticket
			if err := json.Unmarshal([]byte(text), &t); err != nil {
				unreadable = append(unreadable, fmt.Errorf("prospectpg: the ticket %q cannot be read: %w", id, err))
			} else if !yield(t, nil) {
				return
			}
			after = next
		}
	}
}

// position is where a loop is.
type position struct{ first, seq int64 }

// beginning is before any ticket, and within what the database has dates for.
const beginning = -200_000_000_000_000_000

// claim releases what the loop has, and leases the next ticket to it. At the end, the position stays.
func (s *Store) claim(ctx context.Context, loop string, after position) (id, text string, next position, err error) {
	err = s.note(ctx, s.persist, func(b *pgx.Batch) {
		next = after
		busy := slices.AppendSeq([]string{}, maps.Keys(s.calls))
		b.Queue(release, s.workspace, loop)
		b.Queue(claim, s.workspace, loop, s.lease.Microseconds(), after.first, after.seq, s.owner, busy).
			Query(each(&id, &text, &next.first, &next.seq))
	})
	return id, text, next, err
}

// keep renews the lease of what the loop has, three times a lease, until stop is called, which releases it.
func (s *Store) keep(ctx context.Context, loop string) (stop func()) {
	ctx = context.WithoutCancel(ctx)
	over := make(chan struct{})
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(s.lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				_ = s.try(ctx, func(b *pgx.Batch) { b.Queue(renew, s.workspace, loop, s.lease.Microseconds()) })
			}
		}
	})
	return func() {
		close(over)
		renewing.Wait()
		_ = s.try(ctx, func(b *pgx.Batch) { b.Queue(release, s.workspace, loop) })
	}
}
