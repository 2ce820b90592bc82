package pages_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// slowShelf serves a shelf to requests at the same time. Each takes its time on the way there and
// back, so the shelf may see them in any order.
type slowShelf struct {
	mu    sync.Mutex
	shelf *tests.Shelf
	there func(page int) time.Duration
	back  time.Duration
	fail  func(page int) *http.Response // in place of a response; nil: none

	underWay, most int
}

func (s *slowShelf) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underWay += n
	s.most = max(s.most, s.underWay)
}

func (s *slowShelf) RoundTrip(r *http.Request) (*http.Response, error) {
	s.count(1)
	defer s.count(-1)
	page, _ := strconv.Atoi(r.URL.Query().Get("pageNum"))
	if s.there != nil {
		if err := pass(r.Context(), s.there(page)); err != nil {
			return nil, err
		}
	}
	resp, err := s.serve(r, page)
	if late := pass(r.Context(), s.back); late != nil {
		return nil, late
	}
	return resp, err
}

func (s *slowShelf) serve(r *http.Request, page int) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		if resp := s.fail(page); resp != nil {
			return resp, nil
		}
	}
	return s.shelf.RoundTrip(r)
}

// pass lets virtual time pass.
func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// stocked has n records, in pages that take 20 ms each.
func stocked(n int) *slowShelf {
	s := &slowShelf{shelf: new(tests.Shelf), back: 20 * time.Millisecond}
	s.shelf.Stock(n)
	return s
}

// lists is a client that knows the documented limits: without any, its budget would begin with one request at a time.
func (s *slowShelf) lists(t *testing.T) *prospectkit.ListsService {
	t.Helper()
	return tests.NewClient(t, s, prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{}))).Lists
}

func inPagesOf(n int) prospectkit.ListsParams { return prospectkit.ListsParams{Limit: n} }

func TestPrefetch_DividesTheServersTime(t *testing.T) {
	for ahead, want := range map[int]int64{0: 2000, 1: 1020, 2: 680, 4: 420, 8: 240, 64: 60} {
		synctest.Test(t, func(t *testing.T) {
			s := stocked(1000)
			var opts []prospectkit.PageOption
			if ahead > 0 {
				opts = append(opts, prospectkit.Prefetch(ahead))
			}
			began := time.Now()
			got := drain(t, s.lists(t).All(t.Context(), inPagesOf(10), opts...))
			require.Equal(t, want, time.Since(began).Milliseconds(), ahead)
			require.Equal(t, s.shelf.Items, got)
			require.Len(t, s.shelf.Asked, 100, "each page once")
			require.Equal(t, ahead+1, s.most)
		})
	}
}

// However a range ends, nothing is in flight after it.
func TestPrefetch_LeavesNothingBehind(t *testing.T) {
	errLoop := errors.New("the loop's own")
	for name, end := range map[string]func(t *testing.T, cancel func()) bool{
		"break":  func(*testing.T, func()) bool { return false },
		"panic":  func(*testing.T, func()) bool { panic(errLoop) },
		"cancel": func(_ *testing.T, cancel func()) bool { cancel(); return true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := stocked(1000)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began := time.Now()
				func() {
					defer func() {
						if r := recover(); r != nil {
							require.Equal(t, errLoop, r)
						}
					}()
					seen := 0
					for _, err := range s.lists(t).All(ctx, inPagesOf(10), prospectkit.Prefetch(8)) {
						if err != nil {
							require.ErrorIs(t, err, context.Canceled)
							return
						}
						if seen++; seen == 25 && !end(t, cancel) {
							break
						}
					}
				}()
				require.Zero(t, s.underWay)
				require.Equal(t, 40*time.Millisecond, time.Since(began), "nor was anything waited for")
			})
		})
	}
}

func TestPrefetch_PanicsInTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stocked(30)
		seen := 0
		require.PanicsWithValue(t, "touched 7", func() {
			for _, err := range prospectkit.RowsOf[tests.Touchy](t.Context(), s.lists(t), tests.ListID, prospectkit.RowsParams{Limit: 5}, prospectkit.Prefetch(4)) {
				require.NoError(t, err)
				seen++
			}
		})
		require.Equal(t, 20, seen, "all pages before")
		require.Zero(t, s.underWay)
	})
}

// An error ends the range in its place: all pages before it are delivered.
func TestPrefetch_DeliversAnErrorInItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stocked(100)
		s.fail = func(page int) *http.Response {
			if page == 4 {
				return tests.Respond(404, tests.Envelope("LIST_NOT_FOUND"))
			}
			return nil
		}
		var p prospectkit.Progress
		got, err := prospectkit.Collect(s.lists(t).All(t.Context(), inPagesOf(10), prospectkit.Prefetch(8), prospectkit.WithProgress(&p)), 1000)
		require.ErrorIs(t, err, prospectkit.CodeListNotFound)
		require.Len(t, got, 30)
		require.Equal(t, 30, p.Report().Delivered)
		require.Zero(t, s.underWay)
	})
}

// The trap: the pages after it are looked at before page 2, and in between a record comes in front
// while another one at the end goes. Record d is then on neither page, and the total says nothing.
func TestPrefetch_LosesNothingBetweenPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowShelf{shelf: tests.ShelfOf("abcdefghij", nil, nil, nil, func(s *tests.Shelf) { tests.Add("X")(s); drop("j")(s) })}
		s.there = func(page int) time.Duration { return time.Duration(10-page) * time.Millisecond }
		var p prospectkit.Progress
		got := drain(t, s.lists(t).All(t.Context(), inPagesOf(2), prospectkit.Prefetch(2), prospectkit.WithProgress(&p)))
		require.Equal(t, "abcdefghi", strings.Join(got, ""))
		require.Equal(t, []int{1, 4, 3, 2, 2, 3, 4, 5}, s.shelf.Asked)
		require.Equal(t, prospectkit.Report{Requests: 8, Delivered: 9, Total: 10, TotalKnown: true, Repeats: 1, Finished: true, Missing: 1, OrderKnown: true}, p.Report(), "X is missing")
	})
}

// Where the collection never stands still, reading ahead gives up instead of wasting the quota.
func TestPrefetch_GivesWayToChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stocked(400)
		for range 1000 {
			s.shelf.Edits = append(s.shelf.Edits, func(s *tests.Shelf) { s.Stock(1) })
		}
		before := slices.Clone(s.shelf.Items)
		got := drain(t, s.lists(t).All(t.Context(), inPagesOf(10), prospectkit.Prefetch(8)))
		require.Subset(t, got, before)
		require.Less(t, len(s.shelf.Asked), 100, "some 48 pages")
	})
}

func TestPrefetch_AndInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stocked(60)
		var info prospectkit.Info
		began, page := time.Now(), 0
		for _, err := range s.lists(t).Pages(t.Context(), inPagesOf(10), prospectkit.Prefetch(2), prospectkit.WithInfo(&info)) {
			require.NoError(t, err)
			page++
			require.Len(t, info.Attempts, 1)
			require.Equal(t, time.Duration(page+1)/3*20*time.Millisecond, info.Attempts[0].At.Sub(began), "that of page %d", page)
		}
	})
}

func TestPrefetch_IsRefused(t *testing.T) {
	client := tests.NewClient(t, tests.Untouched(t))
	token := []string{"Prefetch is not possible here: the request of a page needs the token of the page before it"}
	_, err := names(client.Search.Prospects(t.Context(), tests.Everything, prospectkit.MaxPaidPages(1), prospectkit.Prefetch(2)))
	require.Equal(t, token, tests.Refusals(t, err))
	_, err = names(client.Search.RunSaved(t.Context(), tests.SavedID, prospectkit.RunParams{}, prospectkit.MaxPaidPages(1), prospectkit.Prefetch(2)))
	require.Equal(t, token, tests.Refusals(t, err))
	_, err = prospectkit.Collect(client.Contacts.Activities(t.Context(), tests.ContactID, prospectkit.ActivityParams{}, tests.TimelineRoute, prospectkit.Prefetch(2)), 1)
	require.Equal(t, token, tests.Refusals(t, err))
	for _, n := range []int{-1, 0, 65} {
		_, err = prospectkit.Collect(client.Lists.All(t.Context(), prospectkit.ListsParams{}, prospectkit.Prefetch(n)), 1)
		require.Equal(t, []string{fmt.Sprintf("Prefetch is %d, must be 1 to 64", n)}, tests.Refusals(t, err))
	}
}

// A checkpoint taken anywhere resumes with or without pages ahead.
func TestPrefetch_AndCheckpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stocked(47)
		lists := s.lists(t)
		for stop := 1; stop <= 47; stop++ {
			var p prospectkit.Progress
			var got []string
			for list, err := range lists.All(t.Context(), inPagesOf(5), prospectkit.Prefetch(3), prospectkit.WithProgress(&p)) {
				require.NoError(t, err)
				if got = append(got, list.ID); len(got) == stop {
					break
				}
			}
			got = append(got, drain(t, lists.All(t.Context(), inPagesOf(5), prospectkit.Prefetch(1+stop%4), prospectkit.ResumeFrom(p.Checkpoint())))...)
			require.Equal(t, s.shelf.Items, got)
		}
	})
}
