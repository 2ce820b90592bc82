package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// mirror is a program that follows a service. What it has stored survives a kill.
type mirror struct {
	rows     map[string]time.Time
	saved    string
	walking  bool
	yielded  map[record]int
	fullSync int
}

var errKilled = errors.New("killed")

// follow runs the program once. kill is asked at each place where it may be killed.
func (m *mirror) follow(s *service, kill func() bool, opts ...Option) error {
	if !m.walking {
		for c, err := range s.changes(m.saved, opts...) {
			if e, ok := errors.AsType[*FullSyncRequiredError](err); ok {
				m.saved, m.walking = e.After, true
				break
			}
			if err != nil {
				return err
			}
			if kill() {
				return errKilled
			}
			m.rows[c.Row.id], m.saved = c.Row.at, c.Checkpoint()
			m.yielded[*c.Row]++
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
	m.fullSync++
	return nil
}

// A teammate adds, changes and removes rows before any request, and the program is killed anywhere. Whatever is alive is in the
// copy after each run that ends, each change was yielded once, and when the teammate rests, the copy is the list.
func TestEach_Property(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newService(rapid.SampledFrom([]int{10, 20, 1000}).Draw(rt, "limit")) // small pages, so that there are many
		step := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 15 * time.Second, time.Hour}).Draw(rt, "step")
		if step == 0 {
			s.limit = 1000 // more changes of one instant than are remembered are not told apart
		}
		tick := func() { s.now = s.now.Add(step) }
		edits, touched, n := 0, map[string]bool{}, 0
		edit := func() {
			tick()
			at := s.now
			if step >= 15*time.Second { // visible late
				at = at.Add(-time.Duration(rapid.IntRange(0, 59_000).Draw(rt, "late")) * time.Millisecond)
			}
			kind := rapid.IntRange(0, 9).Draw(rt, "edit")
			if kind < 4 || len(s.rows) == 0 {
				n++
				s.rows = append(s.rows, record{fmt.Sprintf("row %d", n), at})
				touched[s.rows[len(s.rows)-1].id] = true
				return
			}
			i := rapid.IntRange(0, len(s.rows)-1).Draw(rt, "row")
			touched[s.rows[i].id] = true
			if kind < 5 {
				s.rows = slices.Delete(s.rows, i, i+1)
			} else if at.After(s.rows[i].at) {
				s.rows[i].at = at
			}
		}
		for range rapid.IntRange(0, 60).Draw(rt, "rows") {
			edit()
		}
		m := &mirror{rows: map[string]time.Time{}, yielded: map[record]int{}}
		kill := func() bool { return rapid.IntRange(0, 15).Draw(rt, "kill") == 0 }
		var opts []Option
		holds := rapid.Bool().Draw(rt, "holds")
		if holds {
			opts = append(opts, Holding(func(context.Context) (int, error) { return len(m.rows), nil }))
		}
		for range rapid.IntRange(1, 12).Draw(rt, "runs") {
			for range rapid.IntRange(0, 25).Draw(rt, "edits") {
				edit()
			}
			clear(touched)
			edits = rapid.IntRange(0, 30).Draw(rt, "during")
			s.edit = func() {
				for n := rapid.IntRange(0, edits).Draw(rt, "at once"); n > 0; n-- {
					edit()
					edits--
				}
			}
			err := m.follow(s, kill, opts...)
			if err == nil && !m.walking {
				for _, r := range s.rows {
					if !touched[r.id] {
						require.Equal(rt, r.at, m.rows[r.id], "a row that lived all the time")
					}
				}
			}
		}
		s.edit = nil
		tick()
		require.NoError(rt, m.follow(s, func() bool { return false }, opts...))
		if holds {
			require.Len(rt, m.rows, len(s.rows))
		}
		for _, r := range s.rows {
			require.Equal(rt, r.at, m.rows[r.id])
		}
		for r, n := range m.yielded {
			require.Equal(rt, 1, n, r)
		}
	})
}
