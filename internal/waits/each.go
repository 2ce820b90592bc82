package waits

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
)

// Each awaits the state of each of several things.
type Each[T any] struct {
	Shared    *Shared[T]
	List      func(context.Context) (items []T, requests int, err error)
	Get       func(ctx context.Context, id string) (*T, error) // one that the listing lacks; never nil
	Transient func(error) bool                                 // a later Get may succeed
	ID        func(*T) string
	Judge     func(*T) (over bool, err error)
	Yield     func(*T, error) bool // false ends all waits

	pending []string
	of      int
	from    time.Time
}

// Await says what to wait for, each id once.
func (e *Each[T]) Await(ids []string) {
	e.pending = check.Distinct(ids)
	e.of, e.from = len(e.pending), time.Now()
}

// Over reports whether nothing is awaited any more.
func (e *Each[T]) Over() bool { return len(e.pending) == 0 }

// String says how many are awaited.
func (e *Each[T]) String() string { return fmt.Sprintf("%d of %d pending", len(e.pending), e.of) }

// Poll reads the listing once, and yields what has settled. What the listing lacks is read alone,
// one thing a poll.
func (e *Each[T]) Poll(ctx context.Context) error {
	items, began, err := e.Shared.Read(ctx, e.from, e.List)
	if err != nil {
		return err
	}
	e.from = began.Add(1)
	at := make(map[string]int, len(items))
	for i := range items {
		at[strings.ToLower(e.ID(&items[i]))] = i
	}
	var missing []string
	for _, id := range slices.Clone(e.pending) {
		i, listed := at[strings.ToLower(id)]
		if !listed {
			missing = append(missing, id)
			continue
		}
		item := items[i] // a copy: waiters share the listing
		if !e.settle(id, &item) {
			return nil
		}
	}
	if len(missing) > 0 {
		return e.look(ctx, missing[0])
	}
	return nil
}

// look reads one thing alone, and puts it at the end of those that are awaited.
func (e *Each[T]) look(ctx context.Context, id string) error {
	item, err := e.Get(ctx, id)
	e.Shared.Charge(1)
	switch {
	case err == nil:
		if e.settle(id, item) && e.remove(id) {
			e.pending = append(e.pending, id)
		}
	case ctx.Err() != nil || e.Transient(err):
		return err
	case e.remove(id) && !e.Yield(item, err):
		e.pending = nil
	}
	return nil
}

// settle yields a thing whose wait is over. It reports false if all waits are.
func (e *Each[T]) settle(id string, item *T) bool {
	over, err := e.Judge(item)
	if !over && err == nil {
		return true
	}
	if e.remove(id); !e.Yield(item, err) {
		e.pending = nil
		return false
	}
	return true
}

func (e *Each[T]) remove(id string) bool {
	i := slices.Index(e.pending, id)
	if i >= 0 {
		e.pending = slices.Delete(e.pending, i, i+1)
	}
	return i >= 0
}

// Ended reports whether an error is the end of a context while a waiter waited for others.
func Ended(err error) bool {
	return err == context.Canceled || err == context.DeadlineExceeded //nolint:errorlint // as Read returns them, not wrapped
}
