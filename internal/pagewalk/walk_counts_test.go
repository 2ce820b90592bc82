package pagewalk

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	c := over(s, Config{Limit: s.limit, Progress: p})
	p.Start("q", true)
	if text != "" {
		cp, err := Parse(text, "q")
		require.NoError(t, err)
		c.Resume = cp
	}
	s.asked = nil
	c.Walk(t.Context(), func(page *Page, err error) bool {
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
					place := Progress{report: Report{Delivered: stop}, place: Checkpoint{Version: 1, Query: "q", Page: (stop-1)/limit + 1, Total: want.Total, Last: []string{letters[stop-1 : stop]}}}
					got, pages = s.read(t, &p, place.Checkpoint())
					require.Equal(t, letters[stop:size], got, "%s, after %d", name, stop)
					vain := 0 // without a count of pages, a short last one that is read first does not show that it is the last
					if !s.pages && s.records && size%limit > 0 && stop > limit && stop > size-size%limit {
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

// A walk whose pages bring nothing new ends with an error that says which, unless identical pages of records without ids are
// plausible: their number is known.
func TestWalkStuck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		counts Page
		pages  string
		got    string
		broken string
	}{
		{Page{TotalPages: 4}, "ab - - cd", "ab", "pages 2 and 3 are empty, and the total is 4 pages"},
		{Page{TotalPages: 4}, "ab - cd ef", "abcdef", ""},
		{Page{TotalPages: 3, TotalKnown: true, TotalRecords: 6}, "ab ba ab cd", "ab", ""},
		{Page{TotalPages: 4}, "ab ba ab cd", "ab", "pages 2 and 3 hold nothing but records that came before, and the total is 4 pages"},
		{Page{TotalPages: 2}, "- - ab", "", ""},
		{Page{TotalPages: 3}, "- - - ab", "", ""},
		{Page{TotalPages: 4}, "- - - ab", "", "pages 2 and 3 are empty, and the total is 4 pages"},
		{Page{TotalKnown: true, TotalRecords: 9}, "ab ba ab", "ab", "pages 2 and 3 hold nothing but records that came before, and the total is 9 records"},
		{Page{TotalKnown: true, TotalRecords: 9}, "ab - - cd", "ab", "pages 2 and 3 are empty, and the total is 9 records"},
		{Page{}, "ab ba ab", "ab", "pages 2 and 3 hold nothing but records that came before, and no total is given"},
		{Page{}, "ab cd - ef", "abcd", ""},
		{Page{TotalPages: 4}, "?? ?? ?? ??", "????????", ""},
		{Page{TotalKnown: true, TotalRecords: 8}, "?? ?? ?? ??", "????????", ""},
		{Page{}, "?? ?! ?? ?? ?! -", "??" + "?!" + "??" + "??" + "?!", ""},
		{Page{}, "?? ?? ?? -", "????", "pages 2 and 3 hold nothing but records that came before, and no total is given"},
	} {
		s := &script{pages: strings.Fields(test.pages), page: test.counts}
		c := over(s, Config{Limit: 2})
		got, err := collect(t.Context(), c, 100)
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
			got, err := s.walk(t.Context(), Config{Progress: &p}, -1)
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
			got, err := collect(t.Context(), over(s, Config{Limit: limit, Progress: &p}), 100)
			require.NoError(t, err)
			require.Equal(t, letters[:size], got)
			require.LessOrEqual(t, len(s.asked), size/2+1)
			require.Zero(t, p.Report().Missing)
		}
	}
	for _, items := range []string{letters[:10], "??????????"} {
		for _, unnumbered := range []bool{false, true} {
			s := &capped{shelf: &shelf{items: items, limit: 2}, most: 10, clamp: true, unnumbered: unnumbered}
			got, err := collect(t.Context(), over(s, Config{Limit: 2}), 100)
			require.NoError(t, err)
			require.Equal(t, items, got)
			require.Len(t, s.asked, 6)
		}
	}
}

// The report is complete when the loop gets the error of the end.
func TestWalkTellsItsReportWithTheError(t *testing.T) {
	t.Parallel()
	var p Progress
	s := &script{pages: strings.Fields("ab - - cd"), page: Page{TotalPages: 4, TotalKnown: true, TotalRecords: 8}}
	over(s, Config{Limit: 2, Progress: &p}).Walk(t.Context(), func(_ *Page, err error) bool {
		if err != nil {
			require.Equal(t, 3, p.Report().Requests)
		}
		return true
	})
	s = &script{pages: strings.Fields("- ab"), page: Page{TotalPages: 2, TotalKnown: true, TotalRecords: 4}}
	over(s, Config{Limit: 2, Progress: &p}).Walk(t.Context(), func(_ *Page, err error) bool {
		if err != nil {
			require.Equal(t, 2, p.Report().Missing)
		}
		return true
	})
}
