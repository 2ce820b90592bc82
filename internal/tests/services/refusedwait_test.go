package services_test

import (
	"context"
	"iter"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A range whose wait for the rate limit is refused says so once, and ends, also where the loop goes on after an error. The loop that
// repeats the range knows how long to wait.
func TestRanges_EndWhereAWaitIsRefused(t *testing.T) {
	type client = *prospectkit.Client
	for name, errs := range map[string]func(context.Context, client) iter.Seq[error]{
		"rows": func(ctx context.Context, c client) iter.Seq[error] {
			return errorsOf(c.Lists.Rows(ctx, tests.ListID, prospectkit.RowsParams{}))
		},
		"rows, page by page": func(ctx context.Context, c client) iter.Seq[error] {
			return errorsOf(c.Lists.Rows(ctx, tests.ListID, prospectkit.RowsParams{}, prospectkit.Sequential()))
		},
		"rows of": func(ctx context.Context, c client) iter.Seq[error] {
			return errorsOf(prospectkit.RowsOf[tests.Contact](ctx, c.Lists, tests.ListID, prospectkit.RowsParams{}))
		},
		"pages": func(ctx context.Context, c client) iter.Seq[error] {
			return errorsOf(c.Lists.Pages(ctx, prospectkit.ListsParams{}))
		},
		"search": func(ctx context.Context, c client) iter.Seq[error] {
			return errorsOf(c.Search.Prospects(ctx, prospectkit.SearchParams{}, prospectkit.MaxPaidPages(9)))
		},
		"waits": func(ctx context.Context, c client) iter.Seq[error] {
			return errorsOf(c.Agents.WaitEach(ctx, tests.AgentID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := tests.NewClient(t, tests.Always(http.StatusTooManyRequests, tests.Envelope("RATE_LIMITED"), "Retry-After", "3600"), prospectkit.WithMaxWait(time.Second))
				for range 2 {
					var got []error
					for err := range errs(t.Context(), c) {
						got = append(got, err)
						require.Less(t, len(got), 3)
					}
					require.Len(t, got, 1)
					require.Error(t, got[0])
					wait, helps := prospectkit.RetryAfter(got[0])
					require.True(t, helps, got[0])
					least := 30 * time.Second
					if name == "waits" { // polls come after minutes: of the hour, little may be left, but more than WithMaxWait allows
						least = time.Second
					}
					require.Greater(t, wait, least, got[0])
				}
			})
		})
	}
}

// errorsOf goes on after errors.
func errorsOf[T any](seq iter.Seq2[*T, error]) iter.Seq[error] {
	return func(yield func(error) bool) {
		for _, err := range seq {
			if !yield(err) {
				return
			}
		}
	}
}
