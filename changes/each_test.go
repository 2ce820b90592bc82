package changes

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/pagewalk"
)

// record is a row; without a time it has no updatedAt.
type record struct {
	id string
	at time.Time
}

type page = pagewalk.Page[record, string]

// service is a list that others change between our requests.
type service struct {
	rows     []record
	now      time.Time
	kind     string
	limit    int
	requests []int                // their limits
	edit     func()               // before each request
	order    func(a, b record) int // of the rows; nil for last changed first
	silent   bool                 // the total is unknown
	fail     error
}

func newService(limit int, rows ...record) *service {
	return &service{rows: rows, now: time.Now().Add(-24 * time.Hour).Truncate(time.Millisecond), kind: "contactList", limit: limit}
}

// lastChangedFirst leaves rows of one instant in any order.
func lastChangedFirst(a, b record) int { return b.at.Compare(a.at) }

type reader1 struct {
	*service
	limit int
}

func (s reader1) Fetch(_ context.Context, number int) (*page, error) {
	s.requests = append(s.requests, s.limit)
	if s.edit != nil {
		s.edit()
	}
	if s.fail != nil {
		return nil, s.fail
	}
	rows, order := slices.Clone(s.rows), lastChangedFirst
	if s.order != nil {
		order = s.order
	}
	slices.SortStableFunc(rows, order)
	low := min((number-1)*s.limit, len(rows))
	p := &page{Number: number, TotalRecords: len(rows), TotalKnown: !s.silent, Items: rows[low:min(low+s.limit, len(rows))], Kind: s.kind}
	if !s.silent {
		p.TotalPages = (len(rows) + s.limit - 1) / s.limit
	}
	return p, nil
}

func (s reader1) FetchAhead(context.Context, int) (*page, func(), error) { panic("unused") }
func (s reader1) TooEarly(error) bool                                    { return false }
func (s reader1) Broken(what string) error                               { return errors.New(what) }

// changes is the feed of the service.
func (s *service) changes(saved string, opts ...Option) iter.Seq2[*Change[record], error] {
	return Each(context.Background(), Source[record, page]{
		List: "list", Limit: s.limit,
		Pages: func(ctx context.Context, limit int) iter.Seq2[*page, error] {
			walk := pagewalk.Config[record, string]{Source: reader1{s, limit}, ID: func(r *record) string { return r.id }, Limit: limit}
			return func(yield func(*page, error) bool) { walk.Walk(ctx, yield) }
		},
		View: func(p *page) Page[record] {
			return Page[record]{Rows: p.Items, Ordered: p.Kind == "contactList", Total: p.TotalRecords, TotalKnown: p.TotalKnown}
		},
		ID: func(r *record) string { return r.id }, UpdatedAt: func(r *record) time.Time { return r.at },
		Refuse:  func(bad check.Violations) error { return fmt.Errorf("refused: %s %s", bad[0].Param, bad[0].Problem) },
		Require: func(e *FullSyncRequiredError) error { return fmt.Errorf("lists.rows: %w", e) },
	}, saved, opts)
}

// start is the checkpoint of a new feed.
func (s *service) start(t require.TestingT) string {
	for _, err := range s.changes("") {
		e, ok := errors.AsType[*FullSyncRequiredError](err)
		require.True(t, ok)
		require.Equal(t, ReasonNoCheckpoint, e.Reason)
		require.NotEmpty(t, e.After)
		return e.After
	}
	return ""
}

// drain returns the ids that a feed yields, its last checkpoint, and its error.
func (s *service) drain(saved string, opts ...Option) (ids []string, last string, err error) {
	last = saved
	for c, err := range s.changes(saved, opts...) {
		if err != nil {
			return ids, last, err
		}
		ids, last = append(ids, c.Row.id), c.Checkpoint()
	}
	return ids, last, nil
}

func (s *service) add(n int) {
	for range n {
		s.rows = append(s.rows, record{fmt.Sprintf("%024x", len(s.rows)+1), s.now})
	}
}

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
		opts := []Option{Holding(func(context.Context) (int, error) { return len(m.rows), nil })}
		for range rapid.IntRange(1, 12).Draw(rt, "runs") {
			for range rapid.IntRange(0, 25).Draw(rt, "edits") {
				edit()
			}
			clear(touched)
			edits = rapid.IntRange(0, 30).Draw(rt, "during")
			s.edit = func() {
				for ; edits > 0 && rapid.Bool().Draw(rt, "more"); edits-- {
					edit()
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
		require.Len(rt, m.rows, len(s.rows))
		for _, r := range s.rows {
			require.Equal(rt, r.at, m.rows[r.id])
		}
		for r, n := range m.yielded {
			require.Equal(rt, 1, n, r)
		}
	})
}
