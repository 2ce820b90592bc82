package pagewalk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// source is what a walk reads from.
type source interface {
	Fetch(ctx context.Context, number int) (*Page, error)
}

// over completes what is known of a walk over a source.
func over(s source, c Walk) Walk {
	c.Read = func(ctx context.Context, number int) (*Page, error) { return s.Fetch(ctx, number) }
	c.Fail = func(what string, missing bool) error {
		if missing {
			return errors.New(what)
		}
		return fmt.Errorf("%w: %s", errBroken, what)
	}
	return c
}

// shelf holds letters, newest first, which others change.
type shelf struct {
	mu    sync.Mutex
	items string
	limit int
	edit  func(s *shelf, request int) // before each request
	asked []int
}

var (
	errBroken = errors.New("broken")
	errFailed = errors.New("failed")
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
func recordsOf(letters string) (records []Record) {
	for letter := range strings.SplitSeq(letters, "") {
		records = append(records, Record{ID: strings.Trim(letter, "?!"), Of: letter})
	}
	return records
}

// lettersOn are those of a page.
func lettersOn(p *Page) (letters []string) {
	for _, r := range p.Records {
		letters = append(letters, r.Of.(string))
	}
	return letters
}

// walk gathers at most n records, from a checkpoint if there is one.
func (s *shelf) walk(ctx context.Context, c Walk, n int) (got string, err error) {
	c.Limit = s.limit
	if c.Read == nil {
		c = over(s, c)
	}
	Each(ctx, c, func(p *Page, fault error) bool {
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

// Others change the records between two requests: what comes then, which pages are read, and what the report says. Pages of two may be
// shorter than was asked for.
func TestWalkOverRecordsThatComeAndGo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		items string
		edits map[int]string // what is there from that request on
		want  string
		asked []int
		told  Report
	}{
		"nothing happens":                      {"abcde", nil, "abcde", []int{1, 2, 3}, Report{Total: 5}},
		"an insert repeats a record":           {"abcd", map[int]string{2: "Xabcd"}, "abcd", []int{1, 2, 3}, Report{Total: 5, Repeats: 1, Joined: 1}},
		"inserts of more than a page":          {"abcd", map[int]string{2: "XYZabcd"}, "abZcd", []int{1, 2, 3, 4}, Report{Total: 7, Repeats: 2, Joined: 3}},
		"a delete in front":                    {"abcdef", map[int]string{2: "bcdef"}, "abcdef", []int{1, 2, 1, 2, 3}, Report{Total: 5, Rereads: 2, Recovered: 1}},
		"a delete below costs a look, no more": {"abcdef", map[int]string{2: "abcde"}, "abcde", []int{1, 2, 1, 2, 3}, Report{Total: 5, Rereads: 2}},
		"deletes of more than a page":          {"abcdefghij", map[int]string{4: "fghij"}, "abcdefghij", []int{1, 2, 3, 4, 1, 2, 3, 4}, Report{Total: 5, Rereads: 4, Recovered: 4}},
		"everything is deleted":                {"abcdef", map[int]string{3: ""}, "abcd", []int{1, 2, 3, 1, 2, 3}, Report{Rereads: 3}},
		"the last page is gone":                {"abcde", map[int]string{3: "bcde"}, "abcde", []int{1, 2, 3, 2, 3}, Report{Total: 4, Rereads: 2, Recovered: 1}},
		"a delete during the reread":           {"abcdefgh", map[int]string{3: "bcdefgh", 4: "cdefgh"}, "abcdefgh", []int{1, 2, 3, 2, 3, 4}, Report{Total: 6, Rereads: 2, Recovered: 2}},
		"an insert during the reread":          {"abcdef", map[int]string{2: "bcdef", 3: "Xbcdef"}, "abcdef", []int{1, 2, 1, 2, 3, 4}, Report{Total: 6, Rereads: 2, Joined: 1}},
		"one comes and one goes meanwhile":     {"abcdefghijkl", map[int]string{5: "efghijkl", 7: "Aefghijkl", 8: "efghijkl"}, "abcdefghijkl", []int{1, 2, 3, 4, 5, 3, 4, 5, 4, 5}, Report{Total: 8, Rereads: 5, Recovered: 4, Joined: 1}},
		"what the reread brings is no find":    {"abcdef", map[int]string{2: "abcd", 3: "XYabcd"}, "abcd", []int{1, 2, 1, 2, 3, 4}, Report{Total: 6, Rereads: 2, Repeats: 2, Joined: 2}},
		"what has joined is gone by then":      {"abcdef", map[int]string{2: "WXYZabcdef", 3: "cdef"}, "abYZcdef", []int{1, 2, 3, 1, 2, 3}, Report{Total: 4, Rereads: 3, Recovered: 4, Joined: 4}},
		"an insert and a delete at once":       {"abcdef", map[int]string{2: "Xacdef"}, "abcdef", []int{1, 2, 3, 4}, Report{Total: 6}},
	} {
		edit := func(s *shelf, request int) {
			if items, changed := tc.edits[request]; changed {
				s.items = items
			}
		}
		for _, limit := range []int{2, 100} {
			s := &shelf{items: tc.items, limit: 2, edit: edit}
			var p Progress
			p.Start("q", true)
			got, err := collect(t.Context(), over(s, Walk{Limit: limit, Progress: &p}), 100)
			require.NoError(t, err, name)
			require.Equal(t, tc.want, got, name)
			require.Equal(t, tc.asked, s.asked, name)
			want := tc.told
			want.Requests, want.TotalKnown, want.Finished, want.OrderKnown = len(s.asked), true, true, true
			require.Equal(t, want, p.Report(), name)
		}
		if len(tc.edits) == 1 { // of an unknown size
			got, err := collect(t.Context(), over(&shelf{items: tc.items, limit: 2, edit: edit}, Walk{}), 100)
			require.NoError(t, err, name)
			require.Subset(t, strings.Split(got, ""), strings.Split(tc.want, ""), name)
		}
	}
}

// A loop that takes away what it gets, so that all that follows moves forward with each page, gets it all.
func TestWalkOverWhatTheLoopTakesAway(t *testing.T) {
	t.Parallel()
	for limit := 1; limit <= 6; limit++ {
		for early := range 3 {
			s := &shelf{items: letters, limit: limit}
			var p Progress
			p.Start("q", early == 0)
			got := ""
			Each(t.Context(), ahead(s, early, Walk{Limit: limit, Progress: &p}), func(page *Page, err error) bool {
				require.NoError(t, err)
				s.mu.Lock()
				defer s.mu.Unlock()
				for _, letter := range lettersOn(page) {
					got += letter
					s.items = strings.Replace(s.items, letter, "", 1)
				}
				return true
			})
			require.Equal(t, letters, got, "by %d", limit)
			require.False(t, p.Report().Incomplete)
		}
	}
}

// counted is a shelf whose pages say less about the whole.
type counted struct {
	*shelf
	pages, records, numbers bool // which counts its pages carry
}

func (s *counted) Fetch(ctx context.Context, number int) (*Page, error) {
	p, err := s.shelf.Fetch(ctx, number)
	if !s.pages {
		p.TotalPages = 0
	}
	if !s.records {
		p.TotalRecords, p.TotalKnown = 0, false
	}
	if !s.numbers {
		p.Number = 0
	}
	return p, err
}

// read walks over the whole, or from a checkpoint, and takes note of the pages handed out.
func (s *counted) read(t *testing.T, p *Progress, text string) (got string, pages []string) {
	t.Helper()
	c := over(s, Walk{Limit: s.limit, Progress: p})
	p.Start("q", true)
	if text != "" {
		cp, err := Parse(text, "q")
		require.NoError(t, err)
		c.Resume = cp
	}
	s.asked = nil
	Each(t.Context(), c, func(page *Page, err error) bool {
		require.NoError(t, err)
		got += strings.Join(lettersOn(page), "")
		pages = append(pages, fmt.Sprintf("%d:%s", page.Number, strings.Join(lettersOn(page), "")))
		for _, letter := range lettersOn(page) {
			p.Delivered(letter)
		}
		return true
	})
	return got, pages
}

// Whatever counts the pages carry, a walk delivers each record once, from the start and from each checkpoint, reads no page in
// vain, and hands out no empty page but the first.
func TestWalkWithFewerCounts(t *testing.T) {
	t.Parallel()
	for variant := range 8 {
		for size := range 6 {
			for limit := 1; limit <= 3; limit++ {
				s := &counted{shelf: &shelf{items: letters[:size], limit: limit}, pages: variant&1 > 0, records: variant&2 > 0, numbers: variant&4 > 0}
				name := fmt.Sprintf("%d records by %d, variant %d", size, limit, variant)
				full := (size + limit - 1) / limit
				requests := max(full, 1) // an empty page ends a walk whose pages carry no count, or after a full one
				if size > 0 && (!s.pages && !s.records || size%limit == 0) {
					requests = full + 1
				}
				var p Progress
				got, pages := s.read(t, &p, "")
				require.Equal(t, letters[:size], got, name)
				require.Len(t, pages, max(full, 1), name)
				for i, page := range pages {
					require.Equal(t, strconv.Itoa(i+1), page[:1], name)
				}
				require.Len(t, s.asked, requests, name)
				want := Report{Requests: requests, Delivered: size, OrderKnown: true, Finished: true, TotalKnown: s.records}
				if s.records {
					want.Total = size
				}
				require.Equal(t, want, p.Report(), name)
				for stop := 1; stop <= size; stop++ {
					place := Progress{report: Report{Delivered: stop}, place: Checkpoint{Version: 1, Query: "q", Page: (stop-1)/limit + 1, Total: want.Total, Size: min(limit, size), Last: []string{letters[stop-1 : stop]}}}
					got, pages = s.read(t, &p, place.Checkpoint())
					require.Equal(t, letters[stop:size], got, "%s, after %d", name, stop)
					vain := 0 // the only page is as large as the largest: the totals may be capped
					if size < limit && (s.pages || s.records) {
						vain = 1
					}
					require.Len(t, s.asked, requests-(stop-1)/limit+vain, "%s, after %d", name, stop)
					for i, page := range pages[min(1, len(pages)):] {
						require.NotEqual(t, ":", page[1:], "page %d of %s, after %d", i+1, name, stop)
					}
					require.False(t, p.Report().Rewound)
					require.Zero(t, p.Report().Missing, "a part knows nothing of the others")
				}
			}
		}
	}
}

// Where the size of a page is unknown, a walk over exactly so many full pages ends, too.
func TestWalkOverPagesOfUnknownSize(t *testing.T) {
	t.Parallel()
	for variant := range 4 {
		for size := range 13 {
			s := &counted{shelf: &shelf{items: letters[:size], limit: 3}, pages: variant&1 > 0, records: variant&2 > 0}
			var p Progress
			got, err := collect(t.Context(), over(s, Walk{Progress: &p}), 100)
			require.NoError(t, err, "%d records, variant %d", size, variant)
			require.Equal(t, letters[:size], got)
			require.False(t, p.Report().Incomplete)
		}
	}
}

// A page that is empty once, although the total says that it is not, loses its records. The report of the range that met it tells, and those of
// all that go on from it, though inserts keep the total from telling.
func TestWalkTellsOfAnEmptyPage(t *testing.T) {
	t.Parallel()
	for emptied := 1; emptied <= 7; emptied++ {
		for insert := 1; insert <= 7; insert++ {
			for stop := 1; stop <= 9; stop++ {
				s := &counted{shelf: &shelf{items: letters[:9], limit: 2}, pages: stop&1 > 0, records: true, numbers: true}
				s.edit = func(_ *shelf, request int) {
					if request == insert {
						s.items = "XYZ" + s.items
					}
				}
				c := over(s, Walk{})
				requests, read := 0, c.Read
				c.Read = func(ctx context.Context, number int) (*Page, error) {
					p, err := read(ctx, number)
					if requests++; requests == emptied {
						p.Records = nil
					}
					return p, err
				}
				var p Progress
				p.Start("q", true)
				c.Progress = &p
				got, err := s.walk(t.Context(), c, stop)
				if cp, bad := Parse(p.Checkpoint(), "q"); bad == nil && err == nil {
					p, c.Resume = Progress{}, cp
					p.Start("q", true)
					var rest string
					rest, err = s.walk(t.Context(), c, -1)
					got += rest
				}
				for _, letter := range lettersOn(&Page{Records: recordsOf(letters[:9])}) {
					require.True(t, strings.Contains(got, letter) || p.Report().Incomplete || err != nil, "%q misses %s", got, letter)
				}
			}
		}
	}
}

// script is a source whose pages are given, "-" for an empty one. The last one stands for all that follow.
type script struct {
	pages []string
	page  Page // with the counts of all
	asked int
}

func (s *script) Fetch(_ context.Context, number int) (*Page, error) {
	s.asked++
	p := s.page
	p.Number, p.Records = number, recordsOf(strings.Trim(s.pages[min(number, len(s.pages))-1], "-"))
	return &p, nil
}

// A walk whose pages bring nothing new ends with an error that says which.
func TestWalkStuck(t *testing.T) {
	t.Parallel()
	const second = "pages 2 and 3 bring nothing new, and more are said to follow"
	for _, test := range []struct {
		counts Page
		pages  string
		got    string
		broken string
	}{
		{Page{TotalPages: 4}, "ab - - cd", "ab", second},
		{Page{TotalPages: 4}, "ab - cd ef", "abcdef", ""},
		{Page{TotalPages: 3, TotalKnown: true, TotalRecords: 6}, "ab ba ab cd", "ab", ""},
		{Page{TotalPages: 4}, "ab ba ab cd", "ab", second},
		{Page{TotalPages: 2}, "- - ab", "", ""},
		{Page{TotalPages: 3}, "- - - ab", "", ""},
		{Page{TotalPages: 4}, "- - - ab", "", second},
		{Page{TotalKnown: true, TotalRecords: 9}, "ab ba ab", "ab", second},
		{Page{TotalKnown: true, TotalRecords: 9}, "ab - - cd", "ab", second},
		{Page{}, "ab ba ab", "ab", second},
		{Page{}, "ab cd - ef", "abcd", ""},
		{Page{TotalPages: 4}, "?? ?? ?? ?? -", "????????", ""}, // which have no ids
	} {
		s := &script{pages: strings.Fields(test.pages), page: test.counts}
		got, err := collect(t.Context(), over(s, Walk{Limit: 2}), 100)
		if require.Equal(t, test.got, got, test); test.broken == "" {
			require.NoError(t, err, test)
		} else {
			require.EqualError(t, err, "broken: "+test.broken, test)
		}
	}
}

// Inserts in front bring records again, as many as the total grows by. That is no stall, however many pages they fill.
func TestWalkGoesOnWhereInsertsExplainTheRepeats(t *testing.T) {
	t.Parallel()
	for inserted := range 12 {
		for limit := 1; limit <= 3; limit++ {
			s := &shelf{items: letters, limit: limit, edit: func(s *shelf, request int) {
				if request == 3 {
					s.items = strings.ToUpper(letters[:inserted]) + s.items
				}
			}}
			var p Progress
			got, err := s.walk(t.Context(), Walk{Progress: &p}, -1)
			require.NoError(t, err, inserted)
			old := strings.Map(func(r rune) rune {
				if r < 'a' {
					return -1
				}
				return r
			}, got)
			require.Equal(t, letters, old, inserted)
			require.Equal(t, min(inserted, 2*limit), p.Report().Repeats)
		}
	}
}

// capped has totals that stop counting, as those of a search engine do.
type capped struct {
	*shelf
	most  int
	clamp bool // a page past the end by the totals is the last one again

	unnumbered bool
}

func (c *capped) Fetch(ctx context.Context, number int) (*Page, error) {
	last := (c.most + c.limit - 1) / c.limit
	if c.clamp {
		number = min(number, last)
	}
	p, err := c.shelf.Fetch(ctx, number)
	p.TotalRecords, p.TotalPages = min(len(c.items), c.most), min((len(c.items)+c.limit-1)/c.limit, last)
	if c.unnumbered {
		p.Number = 0
	}
	return p, err
}

// Totals that are capped lose nothing: a full page is never the last. A service that repeats its last page past the end ends the walk.
func TestWalkWithCappedTotals(t *testing.T) {
	t.Parallel()
	for size := range 20 {
		for _, limit := range []int{0, 2, 100} { // as asked for; pages have 2
			s := &capped{shelf: &shelf{items: letters[:size], limit: 2}, most: 10}
			var p Progress
			got, err := collect(t.Context(), over(s, Walk{Limit: limit, Progress: &p}), 100)
			require.NoError(t, err)
			require.Equal(t, letters[:size], got)
			require.LessOrEqual(t, len(s.asked), size/2+1)
			require.Zero(t, p.Report().Missing)
		}
	}
	for _, unnumbered := range []bool{false, true} {
		s := &capped{shelf: &shelf{items: letters[:10], limit: 2}, most: 10, clamp: true, unnumbered: unnumbered}
		got, err := collect(t.Context(), over(s, Walk{Limit: 2}), 100)
		require.NoError(t, err)
		require.Equal(t, letters[:10], got)
		require.Len(t, s.asked, 6)
	}
}

// The report is complete when the loop gets the error of the end.
func TestWalkTellsItsReportWithTheError(t *testing.T) {
	t.Parallel()
	var p Progress
	s := &script{pages: strings.Fields("ab - - cd"), page: Page{TotalPages: 4, TotalKnown: true, TotalRecords: 8}}
	Each(t.Context(), over(s, Walk{Limit: 2, Progress: &p}), func(_ *Page, err error) bool {
		if err != nil {
			require.Equal(t, 3, p.Report().Requests)
		}
		return true
	})
	s = &script{pages: strings.Fields("- ab"), page: Page{TotalPages: 2, TotalKnown: true, TotalRecords: 4}}
	Each(t.Context(), over(s, Walk{Limit: 2, Progress: &p}), func(_ *Page, err error) bool {
		if err != nil {
			require.Equal(t, 2, p.Report().Missing)
		}
		return true
	})
}

// mover edits a shelf whose records stand in any order: they move, come and go everywhere.
type mover struct {
	*rand.Rand

	all     string // that may ever be on the shelf, each a byte
	items   []byte
	fresh   int    // of all, that were on the shelf
	touched string // moved, came or went
	joins   int    // moves, and records that came
}

func newMover(t *rapid.T) *mover {
	m := &mover{Rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), fresh: rapid.IntRange(1, 70).Draw(t, "records")}
	for letter := byte(1); letter < 128; letter++ {
		if letter != '!' && letter != '?' {
			m.all += string(rune(letter))
		}
	}
	m.items = []byte(m.all[:m.fresh])
	return m
}

func (m *mover) remove(letter byte) {
	m.touched += string(rune(letter))
	m.items = slices.DeleteFunc(m.items, func(other byte) bool { return other == letter })
}

func (m *mover) join(letter byte, to int) {
	m.joins++
	m.touched += string(rune(letter))
	m.items = slices.Insert(m.items, to, letter)
}

// edit moves, removes and adds records, most of them among those delivered last.
func (m *mover) edit(delivered string) {
	for range m.IntN(7) {
		many := 1 + m.IntN(2)*m.IntN(10)
		switch m.IntN(5) {
		case 0:
			for range min(many, len(m.all)-m.fresh) {
				m.join(m.all[m.fresh], []int{0, m.IntN(len(m.items) + 1), len(m.items)}[m.IntN(3)])
				m.fresh++
			}
		case 1:
			for range min(many, len(m.items)) {
				m.remove(m.items[m.IntN(len(m.items))])
			}
		default:
			for range many {
				letter := delivered[len(delivered)-1-m.IntN(min(anchors+2, len(delivered)))]
				m.remove(letter)
				if end := len(m.items); m.IntN(4) > 0 {
					near := min(end, max(0, len(delivered)-8+m.IntN(16)))
					m.join(letter, []int{0, m.IntN(end + 1), near, near, end, end, end, end}[m.IntN(8)])
				}
			}
		}
	}
}

// judge counts what was there throughout, but was not delivered, and what came twice. Whether a loss is told matters only where it can be.
func (m *mover) judge(before, got string, r Report, told bool) error {
	lost, twice := 0, 0
	for _, letter := range before {
		switch n := strings.Count(got, string(letter)); {
		case strings.ContainsRune(m.touched, letter):
		case n == 0:
			lost++
		case n > 1:
			twice++
		}
	}
	if told && lost > 0 && !r.Rewound && !r.Incomplete || !r.Incomplete && lost > m.joins || twice > 0 && !r.Rewound {
		return fmt.Errorf("%d are lost and %d came twice with %d joins: %q of %q, now %q, %+v", lost, twice, m.joins, got, before, m.items, r)
	}
	return nil
}

// Whichever records move, come and go while a walk is stopped, also those that its checkpoint names: nothing that stays is lost without
// a word, and no more than has joined. What comes twice is told, too.
func TestWalkResumesWhereRecordsMoved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMover(rt)
		before := string(m.items)
		stop, early := rapid.IntRange(1, m.fresh).Draw(rt, "stop"), max(0, rapid.IntRange(-5, 5).Draw(rt, "ahead"))
		s := &shelf{items: before, limit: rapid.IntRange(1, 40).Draw(rt, "limit")}
		var p Progress
		p.Start("q", false)
		c := ahead(s, early, Walk{Progress: &p})
		first, err := s.walk(t.Context(), c, stop)
		require.NoError(rt, err)
		m.edit(first)
		s.items, s.asked = string(m.items), nil
		c.Resume, err = Parse(p.Checkpoint(), "q")
		require.NoError(rt, err)
		p.Start("q", false)
		rest, err := s.walk(t.Context(), c, -1)
		require.NoError(rt, err)
		require.NoError(rt, m.judge(before, first+rest, p.Report(), true), "checkpoint %+v, asked %v, rest %q", *c.Resume, s.asked, rest)
	})
}

// While records move between the pages of a walk, no more are lost than have joined.
func TestWalkOverRecordsThatMove(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMover(rt)
		before, got := string(m.items), ""
		edits := rapid.IntRange(1, 3).Draw(rt, "edits")
		s := &shelf{items: before, limit: rapid.IntRange(1, 40).Draw(rt, "limit"), edit: func(s *shelf, _ int) {
			if edits > 0 && got != "" && m.IntN(2) == 0 {
				edits--
				m.edit(got)
				s.items = string(m.items)
			}
		}}
		var p Progress
		p.Start("q", false)
		var stuck error
		Each(t.Context(), over(s, Walk{Limit: s.limit, Progress: &p}), func(page *Page, err error) bool {
			if stuck = err; err == nil {
				got += strings.Join(lettersOn(page), "")
			}
			return err == nil
		})
		if errors.Is(stuck, errBroken) {
			return // short pages of nothing but records that have moved look like a walk in circles
		}
		require.NoError(rt, stuck)
		require.NoError(rt, m.judge(before, got, p.Report(), false), "asked %v", s.asked)
	})
}

// One of the records delivered last has moved to the end of the page, of the list, or to the front. What follows the others comes once,
// and the report says that the place was unsure.
func TestWalkResumesThoughOneRecordMoved(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 7, 20, 26, 40} {
		for stop := 1; stop < len(letters); stop++ {
			for moved := max(0, stop-anchors); moved < stop; moved++ {
				letter, others := letters[moved:moved+1], letters[:moved]+letters[moved+1:]
				for _, items := range []string{others + letter, others[:stop] + letter + others[stop:], letter + others} {
					s := &shelf{items: letters, limit: limit}
					var p Progress
					p.Start("q", false)
					first, err := s.walk(t.Context(), Walk{Progress: &p}, stop)
					require.NoError(t, err)
					cp, err := Parse(p.Checkpoint(), "q")
					require.NoError(t, err)
					s.items = items
					rest, report, err := s.reresumed(t, cp)
					require.NoError(t, err)
					name := []any{"limit %d, stopped after %d, now %q", limit, stop, items}
					got := first + rest
					require.False(t, strings.ContainsFunc(letters, func(letter rune) bool { return !strings.ContainsRune(got, letter) }), name...)
					if len(got) > len(letters) {
						require.True(t, report.Rewound, name...)
					}
				}
			}
		}
	}
}

// reresumed walks on in an unknown order.
func (s *shelf) reresumed(t *testing.T, cp *Checkpoint) (got string, report Report, err error) {
	t.Helper()
	var p Progress
	p.Start("q", false)
	got, err = collect(t.Context(), over(s, Walk{Limit: s.limit, Resume: cp, Progress: &p}), 100)
	return got, p.Report(), err
}
