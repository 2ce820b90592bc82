package prospectpg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/prospectkit/journal"
)

// ErrSettled says that another worker has taken over a ticket, or settled it first. Do not act on the resolution that came with it:
// the other worker does.
var ErrSettled = errors.New("prospectpg: another worker has taken over or settled this ticket")

// Instants are microseconds on the wire, so that no time zone and no date style of a session matters.
const (
	instant = "(timestamptz 'epoch' + %s * interval '1 microsecond')"
	lease   = "clock_timestamp() + %s * interval '1 microsecond'"
	micros  = "(extract(epoch FROM %s) * 1000000)::bigint"
)

var (
	sending = `INSERT INTO prospectkit.ticket AS j (workspace, id, ticket, actor, first_sent, owner, leased_until)
		VALUES ($1, $2, $3::json, $4, ` + fmt.Sprintf(instant, "$5::bigint") + `, $6, ` + fmt.Sprintf(lease, "$7::bigint") + `)
		ON CONFLICT (workspace, id) DO UPDATE
		SET ticket = excluded.ticket, first_sent = excluded.first_sent, leased_until = excluded.leased_until, ended = NULL
		WHERE j.owner = excluded.owner AND j.outcome = 'unknown'`
	ended = `UPDATE prospectkit.ticket SET outcome = $3, ended = clock_timestamp(), owner = $4, result_id = $5
		WHERE workspace = $1 AND id = $2 AND outcome = 'unknown'`
	endedUnknown = `UPDATE prospectkit.ticket SET ended = clock_timestamp(), leased_until = ` + fmt.Sprintf(lease, "$4::bigint") + `
		WHERE workspace = $1 AND id = $2 AND outcome = 'unknown' AND owner = $3 AND ended IS NULL`
)

// Sending stores a ticket, and leases it to this process. It waits up to 5 s for the database. It fails with [ErrSettled] if the
// lease of an earlier attempt was over, and another worker has resolved the call.
func (s *Store) Sending(ctx context.Context, t journal.Ticket) error {
	if !storable(t.ID) {
		return errors.New("prospectpg: a ticket needs an ID, in UTF-8 and without NUL")
	}
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("prospectpg: %w", err)
	}
	s.mu.Lock()
	s.calls[t.ID] = true
	s.mu.Unlock()
	var stored bool
	err = s.note(ctx, s.persist, func(b *pgx.Batch) {
		b.Queue(sending, s.workspace, t.ID, string(text), searchable(t.Actor), t.FirstSent.UnixMicro(), s.owner, s.lease.Microseconds()).
			Exec(func(tag pgconn.CommandTag) error { stored = tag.RowsAffected() == 1; return nil })
	})
	if err == nil && !stored {
		return ErrSettled
	}
	return err
}

// searchable is a text as a column holds it.
func searchable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Ended notes an outcome. A ticket whose outcome is unknown stays with this process for a lease, and is then anybody's. The first
// settled outcome stays: [ErrSettled] tells a worker that comes later. If the database is away, the outcome of a call is kept in memory,
// and noted with the next change. What Resolve finds about a ticket from InDoubt is not kept: Ended waits up to 5 s for the database. After an
// error, it may be noted or not.
func (s *Store) Ended(ctx context.Context, id string, e journal.End) error {
	o := e.Outcome
	if o != journal.Applied && o != journal.NotApplied && o != journal.Unknown {
		return fmt.Errorf("prospectpg: %q is not an outcome", o)
	}
	if !storable(id) {
		return nil // nobody's
	}
	s.mu.Lock()
	ours := s.calls[id]
	if ours {
		s.calls[id] = false // InDoubt leaves it out until its outcome is noted
	}
	s.mu.Unlock()
	write := s.persist
	if ours {
		write = s.try
	}
	var now, by string
	err := s.note(ctx, write, func(b *pgx.Batch) {
		s.end(b, id, e)
		b.Queue(primary+"SELECT outcome, owner FROM prospectkit.ticket WHERE workspace = $1 AND id = $2", s.workspace, id).
			Query(each(&now, &by))
	})
	if ours {
		s.mu.Lock()
		delete(s.calls, id)
		if err != nil {
			s.late[id] = e
		}
		s.mu.Unlock()
	}
	if err == nil && now != "" && o != journal.Unknown && (now != string(o) || by != s.owner) {
		return fmt.Errorf("%w: %s, by %s", ErrSettled, now, by)
	}
	return err
}

// each scans a row, if there is one.
func each(into ...any) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

func (s *Store) end(b *pgx.Batch, id string, e journal.End) {
	if e.Outcome == journal.Unknown {
		b.Queue(endedUnknown, s.workspace, id, s.owner, s.lease.Microseconds())
	} else {
		b.Queue(ended, s.workspace, id, string(e.Outcome), s.owner, searchable(e.ResultID))
	}
}

// mostLate is how many late outcomes are noted at once: each call that was refused while the database was away left one.
const mostLate = 1000

// note notes outcomes that are late, and then what fill adds, which has the lock: each attempt is made with the calls of its time.
// All notes lock the rows in one order.
func (s *Store) note(ctx context.Context, write func(context.Context, func(*pgx.Batch)) error, fill func(*pgx.Batch)) error {
	noted := map[string]journal.End{}
	err := write(ctx, func(b *pgx.Batch) {
		s.mu.Lock()
		defer s.mu.Unlock()
		clear(noted)
		late := slices.Sorted(maps.Keys(s.late))
		for _, id := range late[:min(len(late), mostLate)] {
			noted[id] = s.late[id]
			s.end(b, id, noted[id])
		}
		fill(b)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, end := range noted {
		if s.late[id] == end {
			delete(s.late, id)
		}
	}
	return nil
}

// Entries yields all tickets with their outcomes, in the order of their first attempts: those of one actor, as
// [example.com/prospectkit.WithActor] names it, or of everybody if it is empty. A job that names itself finds what its earlier
// attempts did. It holds no connection while the loop runs.
func (s *Store) Entries(ctx context.Context, actor string) iter.Seq2[journal.Entry, error] {
	return s.entries(ctx, "($2 = '' OR actor = $2)", searchable(actor))
}

// Calls yields the tickets of an operation with their outcomes, those of all workers. It reads all
// tickets of the workspace in the database.
func (s *Store) Calls(ctx context.Context, op string) iter.Seq2[journal.Entry, error] {
	// As text: the database cannot read a string with NUL out of its JSON. Within a string, the quotes are escaped.
	name, _ := json.Marshal(op) // as it is in the ticket
	return s.entries(ctx, "strpos(ticket::text, $2) > 0", `"op":`+string(name))
}

// entries yields the entries that fit a condition with the parameter $2.
func (s *Store) entries(ctx context.Context, condition, parameter string) iter.Seq2[journal.Entry, error] {
	const page = 500
	query := primary + `SELECT seq, ticket::text, outcome, result_id, coalesce(` + fmt.Sprintf(micros, "ended") + `, 0),
		coalesce(settled_by, ''), coalesce(settled_because, ''), outcome = 'unknown' AND ended IS NULL AND leased_until > now() FROM prospectkit.ticket
		WHERE workspace = $1 AND ` + condition + ` AND seq > $3 ORDER BY seq LIMIT $4`
	return func(yield func(journal.Entry, error) bool) {
		for last := int64(0); ; {
			var entries []journal.Entry
			err := s.run(ctx, func(b *pgx.Batch) {
				b.Queue(query, s.workspace, parameter, last, page).Query(func(rows pgx.Rows) (err error) {
					entries, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (journal.Entry, error) { return entry(row, &last) })
					return err
				})
			})
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Entry{}, explain(err))
			}
			if err != nil || len(entries) < page {
				return
			}
		}
	}
}

// entry reads an entry, and its place.
func entry(row pgx.CollectableRow, seq *int64) (e journal.Entry, err error) {
	var ticket, outcome string
	var at int64
	if err := row.Scan(seq, &ticket, &outcome, &e.ResultID, &at, &e.By, &e.Because, &e.InProgress); err != nil {
		return e, err
	}
	e.Outcome = journal.Outcome(outcome)
	if at != 0 {
		e.Ended = time.UnixMicro(at)
	}
	return e, json.Unmarshal([]byte(ticket), &e.Ticket)
}
