package pagewalk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// shelf holds letters, newest first, and is a Source of them that others change.
type shelf struct {
	mu    sync.Mutex
	items string
	limit int
	edit  func(s *shelf, request int) // before each request
	asked []int
	fail  func(number int) error // of a page read ahead
	turns []int                  // of pages read ahead
}

var (
	errBroken = errors.New("broken")
	errEarly  = errors.New("too early")
)

func (s *shelf) Fetch(_ context.Context, number int) (*Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked = append(s.asked, number); s.edit != nil {
		s.edit(s, len(s.asked))
	}
	low := min((min(number, len(s.items)+1)-1)*s.limit, len(s.items))
	p := &Page{Records: recordsOf(s.items[low:min(low+s.limit, len(s.items))]), Number: number, TotalRecords: len(s.items), TotalKnown: true}
	p.TotalPages = (len(s.items) + s.limit - 1) / s.limit
	return p, nil
}

// recordsOf are letters, each its own id. Marks have none.
func recordsOf(letters string) *List[string] {
	return &List[string]{Items: strings.Split(letters, ""), Named: func(letter *string) string { return strings.Trim(*letter, "?!") }}
}

// lettersOn are those of a page.
func lettersOn(p *Page) []string { return p.Records.(*List[string]).Items }

func (s *shelf) FetchAhead(ctx context.Context, number int) (*Page, func(), error) {
	deliver := func() { s.turns = append(s.turns, number) }
	if s.fail != nil {
		if err := s.fail(number); err != nil {
			return nil, deliver, err
		}
	}
	p, err := s.Fetch(ctx, number)
	return p, deliver, err
}

func (s *shelf) TooEarly(err error) bool  { return err == errEarly } //nolint:errorlint // it is ours
func (s *shelf) Broken(what string) error { return errors.Join(errBroken, errors.New(what)) }
func (s *shelf) Short(r Report) error     { return fmt.Errorf("%d of %d are missing", r.Missing, r.Total) }

// walk gathers at most n records, from a checkpoint if there is one.
func (s *shelf) walk(ctx context.Context, c Config, n int) (got string, err error) {
	c.Limit = s.limit
	if c.Source == nil {
		c.Source = s
	}
	c.Walk(ctx, func(p *Page, fault error) bool {
		if err = fault; err != nil {
			return false
		}
		for _, letter := range lettersOn(p) {
			if got += letter; c.Progress != nil {
				c.Progress.Delivered(letter)
			}
			if n--; n == 0 {
				return false
			}
		}
		return true
	})
	return got, err
}

func TestWalkReadsAgainWhatAFallMoved(t *testing.T) {
	t.Parallel()
	var p Progress
	s := &shelf{items: "abcdef", limit: 2, edit: func(s *shelf, request int) {
		if request == 2 {
			s.items = s.items[1:]
		}
	}}
	p.Start("q", true)
	got, err := s.walk(t.Context(), Config{Progress: &p}, -1)
	require.NoError(t, err)
	require.Equal(t, "abcdef", got)
	require.Equal(t, []int{1, 2, 1, 2, 3}, s.asked)
	want := Report{Requests: 5, Delivered: 6, Total: 5, TotalKnown: true, Rereads: 2, Recovered: 1, Finished: true, OrderKnown: true}
	require.Equal(t, want, p.Report())
}

func TestWalkEndsWhereNothingNewComes(t *testing.T) {
	t.Parallel()
	s := &shelf{items: "abababababab", limit: 2}
	got, err := s.walk(t.Context(), Config{}, -1)
	require.ErrorIs(t, err, errBroken)
	require.ErrorContains(t, err, "pages 2 and 3 hold nothing but records that came before, and the total is 6 pages")
	require.Equal(t, "ab", got)
}

func TestWalkResumesAfterEachRecord(t *testing.T) {
	t.Parallel()
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for stop := 1; stop <= len(letters); stop++ {
		s := &shelf{items: letters, limit: 4}
		var p Progress
		p.Start("q", true)
		first, err := s.walk(t.Context(), Config{Progress: &p}, stop)
		require.NoError(t, err)
		s.items = "ABCDE" + s.items
		cp, err := Parse(p.Checkpoint(), "q")
		require.NoError(t, err)
		rest, err := s.walk(t.Context(), Config{Resume: cp, Progress: &p}, -1)
		require.NoError(t, err)
		require.Equal(t, letters, first+rest)
		require.False(t, p.Report().Rewound)
	}
}

// A page that came too early is read again when it is needed.
func TestWalkReadsAhead(t *testing.T) {
	t.Parallel()
	s := &shelf{items: "abcdefghijkl", limit: 2, fail: func(number int) error {
		if number == 3 {
			return errEarly
		}
		return nil
	}}
	got, err := s.walk(t.Context(), Config{Prefetch: 2}, -1)
	require.NoError(t, err)
	require.Equal(t, s.items, got)
	require.Contains(t, s.asked, 3)
	require.Contains(t, s.turns, 2)
	require.NotContains(t, s.turns, 3)
	require.True(t, slices.IsSorted(s.turns))
}
