// Package changes is about following a list: the new and changed rows that
// [example.com/prospectkit.ListsService.Changes] yields, its checkpoints, and the error that asks for
// a full sync.
package changes

import (
	"context"
	"errors"
	"time"

	"example.com/prospectkit/internal/settings"
)

// Change is a row that is new, or that has changed. The service does not show which of both: your
// copy knows whether it has the id. A change keeps all that were read with it in memory: copy what you keep.
type Change[R any] struct {
	Row       *R
	UpdatedAt time.Time // of the row

	checkpoint func() string
}

// Checkpoint returns a string from which another process continues after this change. Store it together
// with the row, in one transaction: then each change is stored exactly once. To store many rows at
// once, take the checkpoint of the last.
//
// It names up to 900 rows that changed last, by id and time: mostly one, and at most 22 KB of text.
// It has no other content of rows, and no key.
func (c *Change[R]) Checkpoint() string { return c.checkpoint() }

// NewChange makes a change, for a fake in your tests. checkpoint is called when the checkpoint is asked for.
func NewChange[R any](row *R, updatedAt time.Time, checkpoint func() string) *Change[R] {
	return &Change[R]{Row: row, UpdatedAt: updatedAt, checkpoint: checkpoint}
}

// Reason says why a full sync is required.
type Reason string

// The reasons.
const (
	// ReasonNoCheckpoint: there is nothing to continue from. This is how every feed begins.
	ReasonNoCheckpoint Reason = "there is no checkpoint yet"

	// ReasonNoOrder: only contact lists have a documented order by time of change.
	ReasonNoOrder Reason = "no order by time of change is documented for this kind of list"

	// ReasonUnordered: the service ignored the order, a row has no updatedAt or no id, or too many
	// rows have an updatedAt that lies ahead of the service's clock, which the Date of its responses tells.
	ReasonUnordered Reason = "the rows are not in the order of their updatedAt, or a row has no updatedAt or id"

	// ReasonCount: rows were removed, or rows were added whose updatedAt is old.
	ReasonCount Reason = "the number of rows shows that some were removed, or added without a change"

	// ReasonBurst: more rows have changed than one page holds, or than the checkpoint remembers of a
	// minute, so that some may have been missed.
	ReasonBurst Reason = "so many rows have changed at once that some may have been missed"

	// ReasonBacklog: more rows have changed than are held in memory.
	ReasonBacklog Reason = "more than 10,000 rows have changed"
)

// ErrFullSyncRequired matches every [FullSyncRequiredError] with errors.Is.
var ErrFullSyncRequired = errors.New("full sync required")

// FullSyncRequiredError ends a range that cannot promise that it shows all changes. Read all rows,
// with Rows or RowsPages of the client, and drop what your copy has beyond them. Then continue from
// After.
//
// Store After before the first row is read, together with a checkpoint of that walk if it may be
// interrupted. What changes during the walk then comes as a change, even if the walk has shown it.
type FullSyncRequiredError struct {
	Reason Reason

	// After is the checkpoint for the time after the full sync. It is empty for [ReasonNoOrder] and
	// [ReasonUnordered]: such a list cannot be followed, only synced fully.
	After string
}

// Error says why.
func (e *FullSyncRequiredError) Error() string {
	return ErrFullSyncRequired.Error() + ": " + string(e.Reason)
}

// Is matches [ErrFullSyncRequired].
func (e *FullSyncRequiredError) Is(target error) bool { return target == ErrFullSyncRequired }

// Option is an option of a feed.
type Option func(*settings.Changes)

// Holding compares the number of rows in your copy with the service's, after the last change: store
// what you have buffered before you count. If they differ, the feed ends with [ReasonCount].
//
// Without it, the feed knows only how many rows it yielded. A removed row then passes unnoticed if a
// row was added since the checkpoint.
func Holding(count func(ctx context.Context) (int, error)) Option {
	return func(s *settings.Changes) {
		s.Bad.Given("Holding", count)
		s.Held = count
	}
}
