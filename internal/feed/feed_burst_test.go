package feed

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/changes"
)

// More rows than a page share one instant, and each response has an order of its own among them: a row may stand on no page.
func TestEach_AnotherOrderInEachResponse(t *testing.T) {
	s := newService(100)
	s.add(5)
	saved := s.start(t)
	s.now = s.now.Add(time.Hour)
	s.add(150)
	turn := false
	s.shuffle = func(rows []record) {
		if turn = !turn; turn {
			slices.Reverse(rows)
		}
	}
	ids, _, err := s.drain(saved)
	require.Empty(t, ids)
	e, ok := errors.AsType[*changes.FullSyncRequiredError](err)
	require.True(t, ok, err)
	require.Equal(t, changes.ReasonBurst, e.Reason)
	ids, _, err = s.drain(e.After)
	require.NoError(t, err)
	require.Empty(t, ids, "the full sync has them")
}

// One row more than a page: the second page holds nothing but a row that came before, and the walk leaves it out.
func TestEach_AnotherOrderOnTheLastPage(t *testing.T) {
	s := newService(100)
	s.add(5)
	saved := s.start(t)
	s.now, s.rows = s.now.Add(time.Hour), nil
	s.add(101)
	turn := false
	s.shuffle = func(rows []record) {
		if turn = !turn; turn {
			slices.Reverse(rows)
		}
	}
	ids, _, err := s.drain(saved)
	require.Empty(t, ids)
	e, ok := errors.AsType[*changes.FullSyncRequiredError](err)
	require.True(t, ok, err)
	require.Equal(t, changes.ReasonBurst, e.Reason)
}

// A row shows late just behind a page boundary, while changes of others move it and the last rows of the page before across: it is
// younger than those. Each response is in order.
func TestEach_ARowThatShowsBehindAPageBoundary(t *testing.T) {
	s := newService(100)
	s.add(250)
	saved := s.start(t)
	s.now = s.now.Add(time.Hour)
	for i := range 200 {
		s.rows[i].at = s.now.Add(-time.Duration(i) * time.Millisecond)
	}
	requests := len(s.requests)
	s.edit = func() {
		if len(s.requests) == requests+3 { // the second large page
			for i := range 40 {
				s.rows[199-i].at = s.now.Add(time.Second)
			}
			s.rows[249].at = s.rows[70].at
		}
	}
	ids, _, err := s.drain(saved)
	require.NoError(t, err)
	require.Len(t, ids, 201, "by another pass")
}

// About a page of rows changes between two pages, again and again: a walk gives up after two pages of rows that came before.
func TestEach_PagesOfRepeats(t *testing.T) {
	for times, want := range map[int]changes.Reason{2: "", 1000: changes.ReasonBurst} {
		s := newService(100)
		s.add(900)
		saved := s.start(t)
		s.now = s.now.Add(time.Hour)
		for i := range 300 {
			s.rows[i].at = s.now
		}
		next := 899
		s.edit = func() {
			large := len(s.requests) > 1 && s.requests[len(s.requests)-2] == 100
			if large && s.requests[len(s.requests)-1] == 100 && times > 0 {
				times--
				s.now = s.now.Add(time.Second)
				for range 100 {
					s.rows[next].at = s.now
					next = (next + 899) % 900
				}
			}
		}
		ids, _, err := s.drain(saved)
		if want == "" {
			require.NoError(t, err)
			require.Len(t, ids, 500)
			continue
		}
		require.ErrorContains(t, err, string(want))
		e, ok := errors.AsType[*changes.FullSyncRequiredError](err)
		require.True(t, ok, err)
		require.NotEmpty(t, e.After)
	}
}

// More rows change in a minute than the checkpoint remembers: once all that is late is visible, a full sync is asked for, and one.
func TestEach_MoreThanIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(100)
		s.add(5)
		saved := s.start(t)
		s.now = time.Now()
		s.add(95)
		_, saved, err := s.drain(saved)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(saved, cutPrefix))
		_, ok := parse(prefix+saved[len(prefix):], "list", 90)
		require.False(t, ok, "an older version of this package refuses it")
		time.Sleep(59 * time.Second)
		s.rows[0].at = s.now.Add(-time.Second) // is visible late
		ids, saved, err := s.drain(saved)
		require.NoError(t, err)
		require.Empty(t, ids)
		time.Sleep(time.Second)
		_, _, err = s.drain(saved)
		e, ok := errors.AsType[*changes.FullSyncRequiredError](err)
		require.True(t, ok, err)
		require.Equal(t, changes.ReasonBurst, e.Reason)
		for range 5 {
			time.Sleep(time.Minute)
			_, _, err = s.drain(e.After)
			require.NoError(t, err, "one is enough")
		}
	})
}
