package services_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// slowShelf serves a shelf to requests at the same time. Each takes its time on the way back.
type slowShelf struct {
	mu    sync.Mutex
	shelf *tests.Shelf
	back  time.Duration
}

func (s *slowShelf) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	resp, err := s.shelf.RoundTrip(r)
	s.mu.Unlock()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(s.back):
		return resp, err
	}
}

// stocked has n records, in pages that take 20 ms each.
func stocked(n int) *slowShelf {
	s := &slowShelf{shelf: new(tests.Shelf), back: 20 * time.Millisecond}
	s.shelf.Stock(n)
	return s
}

func (s *slowShelf) lists(t *testing.T) *prospectkit.ListsService {
	t.Helper()
	return tests.NewClient(t, s).Lists
}

func inPagesOf(n int) prospectkit.ListsParams { return prospectkit.ListsParams{Limit: n} }

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
			requested := []time.Duration{0, 20, 21, 22, 42, 43}[page-1] * time.Millisecond
			require.Equal(t, requested, info.Attempts[0].At.Sub(began), "that of page %d", page)
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
	_, err = prospectkit.Collect(client.Contacts.Activities(t.Context(), tests.ContactID, prospectkit.ActivityParams{}, prospectkit.Prefetch(2)), 1)
	require.Equal(t, token, tests.Refusals(t, err))
	for _, n := range []int{-1, 0, 65} {
		_, err = prospectkit.Collect(client.Lists.All(t.Context(), prospectkit.ListsParams{}, prospectkit.Prefetch(n)), 1)
		require.Equal(t, []string{fmt.Sprintf("Prefetch is %d, must be 1 to 64", n)}, tests.Refusals(t, err))
	}
}
