package feed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/changes"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/pagewalk"
	"example.com/prospectkit/internal/redact"
)

// record is a row; without a time it has no updatedAt.
type record struct {
	id string
	at time.Time
}

type page = pagewalk.Page

// records are those of a page.
func records(rows []record) (all []pagewalk.Record) {
	for _, r := range rows {
		all = append(all, pagewalk.Record{ID: r.id, Of: r})
	}
	return all
}

func rowsOf(p *page) (rows []record) {
	for _, r := range p.Records {
		rows = append(rows, r.Of.(record))
	}
	return rows
}

// service is a list that others change between our requests.
type service struct {
	rows     []record
	now      time.Time
	kind     string
	limit    int
	requests []int                 // their limits
	edit     func()                // before each request
	order    func(a, b record) int // of the rows; nil for last changed first
	silent   bool                  // the total is unknown
	shuffle  func(rows []record)   // before they are ordered, so that each response has its own order among equals
	fail     error
}

func newService(limit int, rows ...record) *service {
	return &service{rows: rows, now: time.Now().Add(-24 * time.Hour).Truncate(time.Millisecond), kind: "contactList", limit: limit}
}

// lastChangedFirst leaves rows of one instant in any order.
func lastChangedFirst(a, b record) int { return b.at.Compare(a.at) }

type pages struct {
	*service
	limit int
}

func (s pages) Fetch(_ context.Context, number int) (*page, error) {
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
	if s.shuffle != nil {
		s.shuffle(rows)
	}
	slices.SortStableFunc(rows, order)
	low := min((number-1)*s.limit, len(rows))
	p := &page{Number: number, TotalRecords: len(rows), TotalKnown: !s.silent, Of: s.kind}
	p.Records = records(rows[low:min(low+s.limit, len(rows))])
	if s.silent {
		p.TotalRecords = 0
	} else {
		p.TotalPages = (len(rows) + s.limit - 1) / s.limit
	}
	return p, nil
}

func (s pages) FetchAhead(context.Context, int) (*page, func(), error) { panic("unused") }
func (s pages) TooEarly(error) bool                                    { return false }
func (s pages) Broken(what string) error                               { return redact.OwnError(what) }

func (s pages) Short(r pagewalk.Report) error {
	return fmt.Errorf("%d of %d are missing", r.Missing, r.Total)
}

// changes is the feed of the service.
func (s *service) changes(saved string, opts ...changes.Option) iter.Seq2[*changes.Change[record], error] {
	return Each(context.Background(), s.source(), saved, opts)
}

func (s *service) source() Source[record, page] {
	var progress pagewalk.Progress
	return Source[record, page]{
		List: "list", Limit: s.limit,
		Pages: func(ctx context.Context, limit int) iter.Seq2[*page, error] {
			walk := pagewalk.Config{Source: pages{s, limit}, Limit: limit, Progress: &progress}
			progress.Start("", false)
			return func(yield func(*page, error) bool) { walk.Walk(ctx, yield) }
		},
		View: func(p *page) Page[record] {
			return Page[record]{Rows: rowsOf(p), Ordered: p.Of == "contactList", Total: p.TotalRecords, TotalKnown: p.TotalKnown}
		},
		Moved: func() bool {
			r := progress.Report()
			return r.Requests > 1 && r.Repeats > 0 || r.Rereads > 0
		},
		At: func(t time.Time) time.Time { return t },
		ID: func(r *record) string { return r.id }, UpdatedAt: func(r *record) time.Time { return r.at },
		Refuse:  func(bad check.Violations) error { return fmt.Errorf("refused: %s %s", bad[0].Param, bad[0].Problem) },
		Require: func(e *changes.FullSyncRequiredError) error { return fmt.Errorf("lists.rows: %w", e) },
	}
}

// start is the checkpoint of a new feed.
func (s *service) start(t require.TestingT) string {
	for _, err := range s.changes("") {
		e, ok := errors.AsType[*changes.FullSyncRequiredError](err)
		require.True(t, ok)
		require.Equal(t, changes.ReasonNoCheckpoint, e.Reason)
		require.NotEmpty(t, e.After)
		return e.After
	}
	return ""
}

// drain returns the ids that a feed yields, its last checkpoint, and its error.
func (s *service) drain(saved string, opts ...changes.Option) (ids []string, last string, err error) {
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

func TestEach_Begins(t *testing.T) {
	s := newService(100)
	s.add(5)
	s.start(t)
	require.Equal(t, []int{10}, s.requests, "the whole list")
	s.requests, s.rows = nil, nil
	for _, rows := range []int{0, 5, 9} {
		s.add(rows)
		s.now = s.now.Add(time.Hour)
	}
	saved := s.start(t)
	require.Equal(t, []int{10}, s.requests)
	ids, _, err := s.drain(saved)
	require.NoError(t, err)
	require.Empty(t, ids)
	require.Equal(t, []int{10, 19}, s.requests, "nine rows are remembered")

	s.add(60)
	saved = s.start(t)
	require.Equal(t, []int{10, 19, 10, 100}, s.requests, "the last minute is not on a small page")
	s.now = s.now.Add(time.Second)
	s.add(1)
	ids, _, err = s.drain(saved)
	require.NoError(t, err)
	require.Len(t, ids, 1)
}

// The rows that changed long before the checkpoint do not come, whichever page they are on.
func TestEach_BeginsWithManyRowsOfOneInstant(t *testing.T) {
	for _, rows := range []int{90, 91, 100, 101, 350} {
		s := newService(100)
		s.add(3)
		s.now = s.now.Add(10 * time.Second)
		s.add(rows)
		saved := s.start(t)
		require.Equal(t, []int{10, 100}, s.requests)
		s.requests = nil
		for range 2 {
			ids, last, err := s.drain(saved)
			require.NoError(t, err)
			require.Empty(t, ids, "%d rows", rows)
			require.Equal(t, saved, last)
		}
		require.Len(t, s.requests, 2)
		s.now = s.now.Add(time.Millisecond)
		s.add(1)
		ids, _, err := s.drain(saved)
		require.NoError(t, err)
		require.Len(t, ids, 1)
	}
}

// A first page without rows ends the feed, whatever the total says: no row tells where it may begin.
func TestEach_AFirstPageWithoutRows(t *testing.T) {
	require.False(t, new(pass[record]).covers())

	s := newService(100)
	saved := s.start(t)
	at, empty, requests := s.now, true, []int{}
	source := s.source()
	source.Pages = func(_ context.Context, limit int) iter.Seq2[*page, error] {
		return func(yield func(*page, error) bool) {
			requests = append(requests, limit)
			rows := &page{Records: records([]record{{"a", at}}), TotalRecords: 1, TotalKnown: true, Of: s.kind}
			if !empty || yield(&page{Records: records(nil), TotalRecords: 1, TotalKnown: true, Of: s.kind}, nil) {
				yield(rows, nil)
			}
		}
	}
	for checkpoint, want := range map[string]changes.Reason{"": changes.ReasonNoCheckpoint, saved: changes.ReasonCount} {
		empty, requests = true, nil
		var after string
		for _, err := range Each(t.Context(), source, checkpoint, nil) {
			e, ok := errors.AsType[*changes.FullSyncRequiredError](err)
			require.True(t, ok)
			require.Equal(t, want, e.Reason)
			after = e.After
		}
		require.Equal(t, []int{10}, requests)
		empty, at = false, time.Now()
		for c, err := range Each(t.Context(), source, after, nil) {
			require.NoError(t, err)
			require.Equal(t, "a", c.Row.id)
			after = ""
		}
		require.Empty(t, after, "a row that changes after that comes")
	}
}

func TestEach_FirstChangedFirst(t *testing.T) {
	s := newService(100)
	saved := s.start(t)
	t0 := s.now
	s.rows = []record{{"b", t0}, {"late", t0.Add(-time.Second)}, {"a", t0}, {"last", t0.Add(time.Second)}}
	ids, last, err := s.drain(saved)
	require.NoError(t, err)
	require.Equal(t, []string{"late", "a", "b", "last"}, ids)
	s.rows = append(s.rows, record{"a minute late", t0.Add(-59 * time.Second)})
	s.rows[1].at = t0.Add(-time.Millisecond)
	ids, last, err = s.drain(last)
	require.NoError(t, err)
	require.Equal(t, []string{"a minute late", "late"}, ids)
	s.rows[1].at = t0.Add(-time.Second)
	ids, _, err = s.drain(last)
	require.NoError(t, err)
	require.Empty(t, ids, "an old version is no change: one of several servers may be behind")
}

// Wherever a loop ends, the next one yields the rest.
func TestEach_ResumesAfterAnyChange(t *testing.T) {
	for n := 0; n < 250; n += 7 {
		s := newService(100)
		s.add(40)
		saved := s.start(t)
		s.now = s.now.Add(time.Hour)
		s.add(120)
		s.now = s.now.Add(time.Second)
		s.add(130)
		var first []string
		for c, err := range s.changes(saved) {
			require.NoError(t, err)
			if first, saved = append(first, c.Row.id), c.Checkpoint(); len(first) > n {
				break
			}
		}
		s.now = s.now.Add(time.Hour)
		s.add(1)
		rest, last, err := s.drain(saved)
		require.NoError(t, err, n)
		seen := map[string]bool{}
		for _, id := range append(first, rest...) {
			require.False(t, seen[id], n)
			seen[id] = true
		}
		require.Len(t, seen, 251, n)
		_, _, err = s.drain(last)
		require.NoError(t, err)
	}
}

func TestEach_Requests(t *testing.T) {
	s := newService(100)
	s.add(500)
	s.now = s.now.Add(time.Hour)
	saved := s.start(t)
	for changed, want := range map[int][]int{0: {10}, 9: {10}, 10: {10, 100}, 99: {10, 100}, 100: {10, 100, 100}} {
		for i := range s.rows {
			s.rows[i].at = s.now.Add(-24 * time.Hour)
			if i < changed {
				s.rows[i].at = s.now
			}
		}
		s.requests = nil
		ids, last, err := s.drain(saved)
		require.NoError(t, err)
		require.Len(t, ids, changed)
		require.Equal(t, want, s.requests)
		s.requests = nil
		ids, _, err = s.drain(last)
		require.NoError(t, err)
		require.Empty(t, ids)
		require.Len(t, s.requests, 1, "what was yielded fits one page")
	}
}

// What ends a feed that has begun with six rows, the last of which is remembered.
var ends = map[string]struct {
	edit   func(s *service)
	reason changes.Reason
	yields int
	dead   bool // the feed cannot follow the list
}{
	"companies":         {func(s *service) { s.kind = "companyList" }, changes.ReasonNoOrder, 0, true},
	"out of order":      {func(s *service) { s.order = func(a, b record) int { return -lastChangedFirst(a, b) } }, changes.ReasonUnordered, 0, true},
	"without updatedAt": {func(s *service) { s.rows = append(s.rows, record{id: "x"}) }, changes.ReasonUnordered, 0, true},
	"without id":        {func(s *service) { s.rows = append(s.rows, record{"", s.now}) }, changes.ReasonUnordered, 0, true},
	"removed":           {func(s *service) { s.rows = s.rows[1:] }, changes.ReasonCount, 0, false},
	"removed and changed": {func(s *service) {
		s.rows = s.rows[1:]
		s.rows[0].at = s.now
	}, changes.ReasonCount, 1, false},
	"two removed, one added": {func(s *service) { s.rows = s.rows[2:]; s.add(1); s.rows[len(s.rows)-1].id = "new" }, changes.ReasonCount, 1, false},
	"added without a change": {func(s *service) { s.rows = append(s.rows, record{"x", s.now.Add(-2 * time.Hour)}) }, changes.ReasonCount, 0, false},
	"the last one removed":   {func(s *service) { s.rows[len(s.rows)-1] = record{"x", s.now} }, changes.ReasonCount, 1, false},
	"all removed":            {func(s *service) { s.rows = nil }, changes.ReasonCount, 0, false},
	"backlog":                {func(s *service) { s.add(1001) }, changes.ReasonBacklog, 0, false},
	"a crowd in the future": {func(s *service) {
		s.now = time.Now().Add(time.Hour)
		s.add(91)
	}, changes.ReasonUnordered, 0, true},
}

func TestEach_FullSyncRequired(t *testing.T) {
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			s := newService(100)
			s.add(5)
			s.now = s.now.Add(30 * time.Minute)
			s.add(1)
			saved := s.start(t)
			s.now = s.now.Add(time.Hour)
			c.edit(s)
			ids, last, err := s.drain(saved)
			require.Len(t, ids, c.yields)
			require.ErrorIs(t, err, changes.ErrFullSyncRequired)
			e, ok := errors.AsType[*changes.FullSyncRequiredError](err)
			require.True(t, ok)
			require.Equal(t, c.reason, e.Reason)
			require.ErrorContains(t, err, string(c.reason))
			require.Equal(t, c.dead, e.After == "")
			_, _, err = s.drain(last)
			require.ErrorIs(t, err, changes.ErrFullSyncRequired, "as long as there was none")
			if c.dead {
				_, _, err = s.drain("")
				e, ok := errors.AsType[*changes.FullSyncRequiredError](err)
				require.True(t, ok)
				require.Empty(t, e.After)
				require.Equal(t, c.reason, e.Reason)
				return
			}
			ids, _, err = s.drain(e.After)
			require.NoError(t, err)
			require.Empty(t, ids, "nothing has changed since")
			s.now = s.now.Add(time.Millisecond)
			s.add(1)
			s.rows[len(s.rows)-1].id = "the next"
			ids, _, err = s.drain(e.After)
			require.NoError(t, err)
			require.Equal(t, []string{"the next"}, ids)
		})
	}
}

// What was known of a removed row is not forgotten with the rows that were yielded after it, wherever the loop ends.
func TestEach_ARemovedRowIsNotForgotten(t *testing.T) {
	for _, holds := range []bool{false, true} {
		s := newService(100)
		s.add(5)
		saved := s.start(t)
		s.now = s.now.Add(time.Hour)
		s.rows = []record{s.rows[0], s.rows[1], {"x", s.now}, {"y", s.now}, {"old", s.now.Add(-2 * time.Hour)}}
		var opts []changes.Option
		if holds {
			opts = append(opts, changes.Holding(func(context.Context) (int, error) { return len(s.rows), nil }))
		}
		for c, err := range s.changes(saved, opts...) {
			require.NoError(t, err)
			saved = c.Checkpoint()
			break
		}
		for range 2 {
			var err error
			_, saved, err = s.drain(saved, opts...)
			require.ErrorIs(t, err, changes.ErrFullSyncRequired)
		}
	}
}

// Your copy may have been changed by something else.
func TestEach_HoldingDecides(t *testing.T) {
	s := newService(100)
	s.add(5)
	s.now = s.now.Add(time.Hour)
	s.add(1)
	saved := s.start(t)
	s.rows = s.rows[1:]
	held := changes.Holding(func(context.Context) (int, error) { return 5, nil })
	_, _, err := s.drain(saved, held)
	require.NoError(t, err)
	s.now = s.now.Add(time.Hour)
	s.rows[0].at = s.now
	_, last, err := s.drain(saved, held)
	require.NoError(t, err)
	_, _, err = s.drain(last, held)
	require.NoError(t, err)
}

// A row that is counted, and changes before its page is read, is found by another pass.
func TestEach_ANewRowThatChangesMeanwhile(t *testing.T) {
	s := newService(100)
	s.add(5)
	saved := s.start(t)
	s.now = s.now.Add(time.Hour)
	s.add(1)
	s.now = s.now.Add(time.Second)
	s.add(149)
	s.edit = func() {
		if len(s.requests) == 3 {
			s.now = s.now.Add(time.Second)
			s.rows[5].at = s.now
		}
	}
	s.requests = nil
	ids, last, err := s.drain(saved)
	require.NoError(t, err)
	require.Len(t, ids, 150)
	require.Equal(t, s.rows[5].id, ids[149])
	require.NotEqual(t, saved, last)
}

func TestEach_OutOfOrderFromPageToPage(t *testing.T) {
	s := newService(100)
	saved := s.start(t)
	for i := range 200 {
		s.rows = append(s.rows, record{strconv.Itoa(i), s.now.Add(time.Duration(i/100*50-i) * time.Millisecond)})
	}
	s.order = func(record, record) int { return 0 }
	ids, _, err := s.drain(saved)
	require.ErrorIs(t, err, changes.ErrFullSyncRequired)
	require.ErrorContains(t, err, string(changes.ReasonUnordered))
	require.Empty(t, ids)
}

func TestEach_Holding(t *testing.T) {
	s := newService(100)
	s.add(5)
	s.now = s.now.Add(time.Hour)
	s.add(1)
	saved, held := s.start(t), 6
	holding := changes.Holding(func(context.Context) (int, error) { return held, nil })
	s.now = s.now.Add(time.Hour)
	s.rows[0] = record{"new", s.now}
	ids, last, err := s.drain(saved)
	require.NoError(t, err, "the feed alone does not know that the row is new")
	require.Equal(t, []string{"new"}, ids)
	held, s.requests = 7, nil
	_, _, err = s.drain(saved, holding)
	require.ErrorIs(t, err, changes.ErrFullSyncRequired)
	require.Len(t, s.requests, 1)
	held = 6
	_, _, err = s.drain(last, holding)
	require.NoError(t, err)

	s.edit = func() { // there is always more than a page
		s.now = s.now.Add(time.Second)
		for range 120 {
			if s.requests[len(s.requests)-1] == 100 {
				break
			}
			s.rows = append(s.rows, record{fmt.Sprint("more ", len(s.rows)), s.now})
		}
	}
	s.requests = nil
	_, _, err = s.drain(last, holding)
	require.ErrorIs(t, err, changes.ErrFullSyncRequired)
	require.Len(t, slices.DeleteFunc(s.requests, func(limit int) bool { return limit == 100 }), 3, "it begins three times with a small page")
	s.edit = nil

	gone := errors.New("the database is gone")
	_, _, err = s.drain(last, changes.Holding(func(context.Context) (int, error) { return 0, gone }))
	require.ErrorIs(t, err, gone)
}

// What changes while pages are read is left for the next pass, which does not lose what was there before.
func TestEach_ChangesWhilePagesAreRead(t *testing.T) {
	s := newService(100)
	s.add(900)
	s.now = s.now.Add(time.Hour)
	s.rows[899].at = s.now // is remembered by the checkpoint
	saved := s.start(t)
	s.now = s.now.Add(time.Hour)
	for i := range 300 {
		s.rows[i].at = s.now
	}
	s.edit = func() {
		if s.now = s.now.Add(5 * time.Minute); len(s.requests) == 4 {
			for i := range 250 {
				s.rows[899-i].at = s.now
			}
			s.rows[299].at = s.now.Add(-3 * time.Minute)
		}
	}
	s.requests = nil
	first, last, err := s.drain(saved)
	require.NoError(t, err)
	rest, _, err := s.drain(last)
	require.NoError(t, err)
	require.Len(t, first, 550, "by a pass in which nothing moves any more")
	require.Empty(t, rest)
}

// A row whose updatedAt lies in the future hides no change, not even if the loop ends early.
func TestEach_AheadOfTheClock(t *testing.T) {
	s := newService(100)
	s.now = time.Now().Add(-time.Hour)
	s.add(1)
	s.rows = append(s.rows, record{"future", s.now.Add(24 * time.Hour)})
	saved := s.start(t)
	s.rows = append(s.rows, record{"a", s.now.Add(time.Minute)}, record{"b", s.now.Add(10 * time.Minute)})
	for c, err := range s.changes(saved) {
		require.NoError(t, err)
		require.Equal(t, "a", c.Row.id)
		saved = c.Checkpoint()
		break
	}
	s.rows = append(s.rows, record{"c", s.now.Add(20 * time.Minute)})
	ids, last, err := s.drain(saved)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "c"}, ids)
	s.rows = append(s.rows, record{"d", s.now.Add(20*time.Minute + time.Second)})
	ids, _, err = s.drain(last)
	require.NoError(t, err)
	require.Equal(t, []string{"d"}, ids)
}

// Rows that change faster than pages are read do not make the feed read for ever.
func TestEach_ChangesWithoutEnd(t *testing.T) {
	s := newService(100)
	saved := s.start(t)
	s.edit = func() {
		s.now = s.now.Add(time.Second)
		for range 300 {
			s.rows = append(s.rows, record{strconv.Itoa(len(s.rows)), s.now})
		}
	}
	_, _, err := s.drain(saved)
	require.ErrorContains(t, err, string(changes.ReasonBacklog))
	require.Less(t, len(s.requests), 16)
}

func TestEach_WithoutTotals(t *testing.T) {
	s := newService(100)
	s.silent = true
	s.start(t)
	require.Len(t, s.requests, 1)
	s.add(3)
	saved := s.start(t)
	s.now = s.now.Add(time.Hour)
	s.add(205)
	ids, last, err := s.drain(saved, changes.Holding(func(context.Context) (int, error) { panic("there is nothing to compare it with") }))
	require.NoError(t, err)
	require.Len(t, ids, 205)
	s.rows = s.rows[1:]
	_, _, err = s.drain(last)
	require.NoError(t, err)
}

// A checkpoint amid changes whose total is unknown knows none either.
func TestEach_WithoutTotalsAmidAll(t *testing.T) {
	s := newService(100)
	s.silent = true
	s.add(3)
	saved := s.start(t)
	s.now = s.now.Add(time.Hour)
	s.add(5)
	n := 0
	for c, err := range s.changes(saved) {
		require.NoError(t, err)
		state, ok := parse(c.Checkpoint(), "list", 90)
		require.True(t, ok)
		require.Equal(t, unknown, state.low)
		n++
	}
	require.Equal(t, 5, n)
}

// What does not fit the count is not forgotten with the changes that come after it, wherever the loop ends.
func TestEach_AWrongCountIsNotForgotten(t *testing.T) {
	s := newService(100)
	s.add(5)
	s.now = s.now.Add(time.Hour)
	s.add(1)
	saved := s.start(t)
	s.now = s.now.Add(time.Hour)
	s.add(1)
	s.rows[len(s.rows)-1].id = "new"
	s.rows = append(s.rows, record{"old", s.now.Add(-90 * time.Minute)}) // added without a change
	for c, err := range s.changes(saved) {
		require.NoError(t, err)
		saved = c.Checkpoint()
		break
	}
	s.rows[0].at = s.now.Add(time.Second) // the next pass delivers a row that is not new
	_, _, err := s.drain(saved)
	require.ErrorIs(t, err, changes.ErrFullSyncRequired)
}

// A new feed of a list whose rows changed at one instant reads two pages, and not the whole list.
func TestEach_BeginsWithTwoRequests(t *testing.T) {
	s := newService(100)
	s.add(1000)
	s.start(t)
	require.Equal(t, []int{10, 100}, s.requests)
}

// The total of a pass is that of its first page, to which its rows belong.
func TestEach_TheTotalIsThatOfTheFirstPage(t *testing.T) {
	s := newService(100)
	s.add(500)
	s.now = s.now.Add(time.Hour)
	saved := s.start(t)
	for i := range 150 {
		s.rows[i].at = s.now
	}
	requests := len(s.requests)
	s.edit = func() {
		if len(s.requests) == requests+3 { // the second large page
			s.rows = append(s.rows, record{"late", s.now.Add(-2 * time.Hour)}) // moves no other
		}
	}
	ids, last, err := s.drain(saved)
	require.NoError(t, err)
	require.NotContains(t, ids[:150], "late")
	state, ok := parse(last, "list", 90)
	require.True(t, ok)
	require.Equal(t, 500, state.low)
	require.Len(t, s.requests, requests+3)
}

func TestEach_Refuses(t *testing.T) {
	s := newService(100)
	s.add(3)
	saved := s.start(t)
	s.requests = nil
	other := state{floor: beginning}
	for _, damaged := range []string{"x", saved[1:], saved[:len(saved)-1], saved + "A", prefix, prefix + "." + saved, other.encode("other")} {
		_, _, err := s.drain(damaged)
		require.EqualError(t, err, "refused: saved is not a checkpoint of this list, or is damaged")
	}
	_, _, err := s.drain(saved, changes.Holding(nil))
	require.EqualError(t, err, "refused: Holding got nil")
	_, _, err = s.drain(saved, nil)
	require.EqualError(t, err, "refused: option is nil")
	require.Empty(t, s.requests)
	s.fail = errors.New("no network")
	_, _, err = s.drain(saved)
	require.Equal(t, s.fail, err)
}
