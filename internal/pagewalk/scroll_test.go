package pagewalk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var errDead = errors.New("dead")

// reel is a scroll over parts. Part fail[n] of a reading, counted from 0, is an error once.
type reel struct {
	parts [][]string
	fail  map[int]error
	reads int
}

func (r *reel) at(n int) func(context.Context) (*Part[string], error) {
	return func(context.Context) (*Part[string], error) {
		r.reads++
		if err := r.fail[n]; err != nil {
			delete(r.fail, n)
			return nil, err
		}
		p := &Part[string]{Items: r.parts[n]}
		if n+1 < len(r.parts) {
			p.Next = r.at(n + 1)
		}
		return p, nil
	}
}

func (r *reel) walk(t *testing.T, s Scroll[string]) (all []string, err error) {
	t.Helper()
	s.First, s.ID = r.at(0), func(item *string) string { return *item }
	s.Dead = func(err error) (dead, paid bool) { return errors.Is(err, errDead), true }
	s.Stalled = func(what string) error { return errors.New(what) }
	s.Capped = func() error { return errBroken }
	s.Walk(t.Context(), func(item *string, fault error) bool {
		if err = fault; err == nil {
			all = append(all, *item)
		}
		return true
	})
	return all, err
}

func TestScrollRestartsWithoutRepeats(t *testing.T) {
	t.Parallel()
	var p Progress
	r := &reel{parts: [][]string{{"a", "b"}, {"c"}, {"d"}}, fail: map[int]error{2: errDead}}
	all, err := r.walk(t, Scroll[string]{Restarts: 1, Progress: &p})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c", "d"}, all)
	require.Equal(t, Report{Requests: 5, Delivered: 4, Repeats: 3, PaidAgain: 2, Restarts: 1, Finished: true}, p.Report())

	r.fail = map[int]error{2: errBroken}
	all, err = r.walk(t, Scroll[string]{Restarts: 1})
	require.ErrorIs(t, err, errBroken, "the token is not dead")
	require.Equal(t, []string{"a", "b", "c"}, all)
}

func TestScrollEndsAtItsCap(t *testing.T) {
	t.Parallel()
	r := &reel{parts: [][]string{{"a"}, {"b"}, {"c"}}}
	all, err := r.walk(t, Scroll[string]{MaxPages: 2})
	require.ErrorIs(t, err, errBroken)
	require.Equal(t, []string{"a", "b"}, all)
	require.Equal(t, 2, r.reads)

	r = &reel{parts: r.parts, fail: map[int]error{1: errDead}}
	_, err = r.walk(t, Scroll[string]{MaxPages: 2, Restarts: 1})
	require.ErrorIs(t, err, errDead, "the page that failed may have been paid for")
	require.Equal(t, 2, r.reads)
}

func TestScrollEndsWhereNothingNewComes(t *testing.T) {
	t.Parallel()
	for pages, want := range map[string]struct{ reads, stale int }{
		"xy x y z":                {3, 2},
		"ab ba bc  c da d a z":    {8, 2},
		"x  xx  x z":              {5, 4},
		"a                  ":     {11, mostEmpty},
		"a          b           ": {21, mostEmpty},
		"a          b          c": {0, 0},
		"ab ba bc cb  cd da e":    {0, 0},
	} {
		r := &reel{}
		for page := range strings.SplitSeq(pages, " ") {
			r.parts = append(r.parts, strings.Split(page, ""))
		}
		_, err := r.walk(t, Scroll[string]{})
		if want.reads == 0 {
			require.NoError(t, err, pages)
			continue
		}
		require.EqualError(t, err, fmt.Sprintf("the last %d pages brought nothing new, and another one is offered", want.stale), pages)
		require.Equal(t, want.reads, r.reads, pages)
	}
	r := &reel{parts: [][]string{{"a"}, {"a"}, {"b"}}, fail: map[int]error{2: errDead}}
	all, err := r.walk(t, Scroll[string]{Restarts: 1})
	require.NoError(t, err, "after a restart, everything is new again")
	require.Equal(t, []string{"a", "a", "b"}, all)
}
