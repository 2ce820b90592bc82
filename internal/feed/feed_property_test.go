package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"example.com/prospectkit/changes"
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
func (m *mirror) follow(s *service, kill func() bool, opts ...changes.Option) error {
	if !m.walking {
		for c, err := range s.changes(m.saved, opts...) {
			if e, ok := errors.AsType[*changes.FullSyncRequiredError](err); ok {
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

// teammate changes a service.
type teammate struct {
	*service
	draw    *rapid.T
	step    time.Duration // between changes
	added   int
	touched map[string]bool
}

// edit adds a row, removes one or changes one.
func (m *teammate) edit() {
	m.now = m.now.Add(m.step)
	at := m.now
	if m.step >= 15*time.Second { // visible late
		at = at.Add(-time.Duration(rapid.IntRange(0, 59_000).Draw(m.draw, "late")) * time.Millisecond)
	}
	kind := rapid.IntRange(0, 9).Draw(m.draw, "edit")
	if kind < 4 || len(m.rows) == 0 {
		m.added++
		id := fmt.Sprintf("row %d", m.added)
		m.rows, m.touched[id] = append(m.rows, record{id, at}), true
		return
	}
	i := rapid.IntRange(0, len(m.rows)-1).Draw(m.draw, "row")
	m.touched[m.rows[i].id] = true
	if kind < 5 {
		m.rows = slices.Delete(m.rows, i, i+1)
	} else if at.After(m.rows[i].at) {
		m.rows[i].at = at
	}
}

// edits makes up to so many changes.
func (m *teammate) edits(most int) int {
	n := rapid.IntRange(0, most).Draw(m.draw, "edits")
	for range n {
		m.edit()
	}
	return n
}

// A teammate adds, changes and removes rows before any request, and the program is killed anywhere. Whatever is alive is in the
// copy after each run that ends, each change was yielded once, and when the teammate rests, the copy is the list.
func TestEach_Property(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newService(rapid.SampledFrom([]int{10, 20, 1000}).Draw(rt, "limit")) // small pages, so that there are many
		mate := &teammate{service: s, draw: rt, touched: map[string]bool{}}
		mate.step = rapid.SampledFrom([]time.Duration{0, time.Millisecond, 15 * time.Second, time.Hour}).Draw(rt, "step")
		if mate.step == 0 {
			s.limit = 1000 // more changes of one instant than are remembered are not told apart
		}
		mate.edits(60)
		m := &mirror{rows: map[string]time.Time{}, yielded: map[record]int{}}
		kill := func() bool { return rapid.IntRange(0, 15).Draw(rt, "kill") == 0 }
		var opts []changes.Option
		holds := rapid.Bool().Draw(rt, "holds")
		if holds {
			opts = append(opts, changes.Holding(func(context.Context) (int, error) { return len(m.rows), nil }))
		}
		for range rapid.IntRange(1, 12).Draw(rt, "runs") {
			mate.edits(25)
			clear(mate.touched)
			left := 30
			s.edit = func() { left -= mate.edits(left) }
			if m.follow(s, kill, opts...) == nil {
				m.requireLiving(rt, s, mate.touched)
			}
		}
		s.edit = nil
		s.now = s.now.Add(mate.step)
		require.NoError(rt, m.follow(s, func() bool { return false }, opts...))
		if holds {
			require.Len(rt, m.rows, len(s.rows))
		}
		m.requireLiving(rt, s, nil)
		for r, n := range m.yielded {
			require.Equal(rt, 1, n, r)
		}
	})
}

// requireLiving checks that all rows are there which nobody has touched.
func (m *mirror) requireLiving(t require.TestingT, s *service, touched map[string]bool) {
	for _, r := range s.rows {
		if !touched[r.id] {
			require.Equal(t, r.at, m.rows[r.id], "a row that lived all the time")
		}
	}
}
