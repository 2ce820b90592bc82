package prospectpg

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/prospectkit/journal"
)

// A call that did not end is in progress until its lease is over.
const settle = `UPDATE prospectkit.ticket SET outcome = $3, ended = clock_timestamp(), owner = $4, settled_by = $5, settled_because = $6
	WHERE workspace = $1 AND id = $2 AND outcome = 'unknown' AND (ended IS NOT NULL OR leased_until <= now())`

// Settle notes what a person found out about a call that is in doubt: one that ended with an unknown
// outcome, or whose lease is over. A worker that looks at the ticket meanwhile gets [ErrSettled]. Settle waits up to 5 s for the
// database.
func (s *Store) Settle(ctx context.Context, id string, by journal.Settlement) error {
	if err := by.Check(); err != nil {
		return fmt.Errorf("prospectpg: %w", err)
	}
	s.mu.Lock()
	_, busy := s.calls[id]
	s.mu.Unlock()
	if busy || !storable(id) {
		return fmt.Errorf("prospectpg: %w", journal.ErrNotInDoubt)
	}
	var settled bool
	mark := s.owner + "/" + rand.Text() // tells a second attempt, after a commit that was not confirmed, that the first one did it
	err := s.note(ctx, s.persist, func(b *pgx.Batch) {
		b.Queue(settle, s.workspace, id, string(by.Outcome), mark, searchable(by.By), searchable(by.Because))
		b.Queue(primary+"SELECT count(*) > 0 FROM prospectkit.ticket WHERE workspace = $1 AND id = $2 AND owner = $3", s.workspace, id, mark).
			Query(each(&settled))
	})
	if err == nil && !settled {
		return fmt.Errorf("prospectpg: %w", journal.ErrNotInDoubt)
	}
	return err
}
