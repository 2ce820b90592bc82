package feed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

// mirror is a program that follows a service. What it has stored survives a kill.
type mirror struct {
	rows    map[string]time.Time
	saved   string
	walking bool
}

var errKilled = errors.New("killed")

// follow runs the program once. kill is asked at each place where it may be killed.
func (m *mirror) follow(s *service, kill func() bool, opts ...changes.Option) error {
	if !m.walking {
		for c, err := range s.changes(m.saved, opts...) {
			if e, ok := errors.AsType[*changes.FullSyncRequiredError](err); ok {
				if m.saved, m.walking = e.After, true; m.saved == "" {
					return err
				}
				break
			}
			if err != nil {
				return err
			}
			if kill() {
				return errKilled
			}
			m.rows[c.Row.id], m.saved = c.Row.at, c.Checkpoint()
		}
	}
	if kill() {
		return errKilled
	}
	if !m.walking {
		return nil
	}
	if s.edit != nil {
		s.edit()
	}
	clear(m.rows)
	for _, r := range s.rows {
		m.rows[r.id] = r.at
	}
	m.walking = false
	return nil
}

// burst changes rows at once, some of them new, or a millisecond apart. They become visible together, by and by, or late.
func burst(random *rand.Rand, s *service, shown *[]func()) {
	at, n := time.Now().Truncate(time.Millisecond), []int{1, 3, s.limit / 2, s.limit, 3 * s.limit}[random.IntN(5)]
	news, apart := random.IntN(n+1), time.Duration(random.IntN(2))*time.Millisecond
	late := []time.Duration{0, 0, 5 * time.Second, 50 * time.Second}[random.IntN(4)]
	first := random.IntN(1000)
	for i := range n {
		id, version := fmt.Sprintf("%024x", (first+i)%1000+1), at.Add(time.Duration(i-n)*apart)
		if i < news {
			id = fmt.Sprintf("%024x", time.Now().UnixMicro()*10_000+int64(i))
		}
		show := func() {
			k := slices.IndexFunc(s.rows, func(r record) bool { return r.id == id })
			if k < 0 {
				s.rows = append(s.rows, record{id, version})
			} else if version.After(s.rows[k].at) {
				s.rows[k].at = version
			}
		}
		if late == 0 || i%3 == 0 {
			show()
			continue
		}
		until := time.Now().Add(late - time.Duration(i%5)*time.Second)
		*shown = append(*shown, func() {
			if show != nil && !time.Now().Before(until) {
				show()
				show = nil
			}
		})
	}
}

// Many rows change at one instant, each response has an order of its own among them, they become visible late, others change them
// between the requests, and the program is killed anywhere. What lives in the end is in the copy as it is: whatever a feed cannot
// promise, it asks for a full sync.
func TestEach_BurstProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		synctest.Test(t, func(t *testing.T) { requireNoneLost(t, rand.New(rand.NewPCG(seed, 0)), seed) })
	})
}

func requireNoneLost(t *testing.T, random *rand.Rand, seed uint64) {
	t.Helper()
	s := newService([]int{20, 100}[random.IntN(2)])
	s.shuffle = func(rows []record) { random.Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] }) }
	s.add(random.IntN(5 * s.limit))
	m := &mirror{rows: map[string]time.Time{}}
	var opts []changes.Option
	if random.IntN(2) == 0 {
		opts = append(opts, changes.Holding(func(context.Context) (int, error) { return len(m.rows), nil }))
	}
	var shown []func()
	busy := random.IntN(2) == 0
	s.edit = func() {
		time.Sleep(300 * time.Millisecond)
		for _, show := range shown {
			show()
		}
		if busy && random.IntN(4) == 0 {
			burst(random, s, &shown)
		}
	}
	for range 1 + random.IntN(10) {
		for range random.IntN(3) {
			burst(random, s, &shown)
		}
		if len(s.rows) > 0 && random.IntN(10) == 0 {
			s.rows = s.rows[1:]
		}
		time.Sleep([]time.Duration{time.Second, time.Duration(random.IntN(40)) * time.Second, 10 * time.Minute}[random.IntN(3)])
		if err := m.follow(s, func() bool { return random.IntN(400) == 0 }, opts...); !errors.Is(err, errKilled) {
			require.NoError(t, err, seed)
		}
	}
	busy = false
	time.Sleep(3 * time.Minute)
	require.NoError(t, m.follow(s, func() bool { return false }, opts...), seed)
	for _, r := range s.rows {
		require.Equal(t, r.at, m.rows[r.id], "row %s of seed %d", r.id, seed)
	}
}
