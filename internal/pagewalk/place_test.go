package pagewalk

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// resumed walks on from a checkpoint whose total is that of before, and returns what it delivers.
func (s *shelf) resumed(t *testing.T, from source, cp Checkpoint) (got string, report Report, err error) {
	t.Helper()
	var p Progress
	p.Start("q", true)
	c := over(from, Walk{Limit: s.limit, Resume: &cp, Progress: &p})
	got, err = collect(t.Context(), c, 100)
	return got, p.Report(), err
}

// As far as the total says that records have moved, and a page further, the place of a checkpoint is found again. Where no
// total is known, it is looked for a page to each side.
func TestWalkFindsItsPlace(t *testing.T) {
	t.Parallel()
	const limit, stop = 2, 14 // page 7 was delivered
	for moved := -8; moved <= 8; moved++ {
		for variant := range 4 {
			s := &counted{shelf: &shelf{items: letters, limit: limit}, pages: variant&1 > 0, records: variant&2 > 0, numbers: true}
			cp := Checkpoint{Version: 1, Query: "q", Page: stop / limit, Total: len(letters), Last: []string{letters[stop-1 : stop]}}
			if !s.records {
				cp.Total = 0
			}
			if moved < 0 {
				s.items = s.items[-moved:]
			} else {
				s.items = strings.ToUpper(letters[:moved]) + s.items
			}
			distance := (stop-1+moved)/limit + 1 - cp.Page
			distance = max(distance, -distance)
			got, report, err := s.resumed(t, s, cp)
			require.NoError(t, err)
			if s.records || distance <= 1 {
				require.Equal(t, letters[stop:], got, "moved by %d, variant %d", moved, variant)
				require.False(t, report.Rewound, "moved by %d, variant %d", moved, variant)
				require.LessOrEqual(t, len(s.asked), 2*(distance+1)+7, "moved by %d, variant %d", moved, variant)
			} else {
				require.Equal(t, strings.Replace(s.items, letters[stop-1:stop], "", 1), got, "moved by %d, variant %d", moved, variant)
				require.True(t, report.Rewound)
				require.Equal(t, []int{7, 8, 6, 1, 2}, s.asked[:5])
			}
		}
	}
}

// A checkpoint of records without ids names none: the place is not looked for. The page of the checkpoint is read from its start.
func TestWalkResumesWithoutIDs(t *testing.T) {
	t.Parallel()
	s := &shelf{items: "????????", limit: 2}
	got, report, err := s.resumed(t, s, Checkpoint{Version: 1, Query: "q", Page: 3, Total: 8})
	require.NoError(t, err)
	require.Equal(t, "????", got)
	require.True(t, report.Rewound)
	require.Equal(t, []int{3, 3, 4, 5}, s.asked, "a full page is followed by another look: totals may be capped")
}

// failing is a source whose nth request fails.
type failing struct {
	*shelf
	nth int
}

func (s failing) Fetch(ctx context.Context, number int) (*Page, error) {
	if p, err := s.shelf.Fetch(ctx, number); len(s.asked) != s.nth {
		return p, err
	}
	return nil, errFailed
}

// Whichever request of a walk that resumes fails, its error is that of the walk.
func TestWalkResumesWithAnError(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 6; nth++ {
		s := &shelf{items: letters, limit: 2}
		_, _, err := s.resumed(t, failing{s, nth}, Checkpoint{Version: 1, Query: "q", Page: 5, Total: 26, Last: []string{"gone"}})
		require.ErrorIs(t, err, errFailed, "request %d", nth)
		require.Len(t, s.asked, nth)
	}
}

// Records that vanish between the search for a place and the page that is then read again are caught up with.
func TestWalkRewindsOverAFall(t *testing.T) {
	t.Parallel()
	s := &shelf{items: letters, limit: 2, edit: func(s *shelf, request int) {
		if request == 4 {
			s.items = s.items[2:]
		}
	}}
	got, report, err := s.resumed(t, s, Checkpoint{Version: 1, Query: "q", Page: 5, Total: 26, Last: []string{"gone"}})
	require.NoError(t, err)
	require.Equal(t, []int{5, 6, 4, 5, 4, 5}, s.asked[:6])
	require.Equal(t, letters[8:], got, "i and j moved to page 4 meanwhile")
	require.Equal(t, 2, report.Recovered)
}

// If nothing that is known stands any more in front of what is read again, that may have been delivered before the checkpoint.
func TestWalkThatResumesKnowsNothingInFront(t *testing.T) {
	t.Parallel()
	for _, ordered := range []bool{false, true} {
		s := &shelf{items: letters, limit: 2, edit: func(s *shelf, request int) {
			if request == 3 {
				s.items = "ab" + letters[16:]
			}
		}}
		var p Progress
		p.Start("q", ordered)
		cp := &Checkpoint{Version: 1, Query: "q", Page: 6, Total: 26, Last: strings.Split("cdefghijkl", "")}
		got, err := s.walk(t.Context(), Walk{Resume: cp, Progress: &p}, -1)
		require.NoError(t, err)
		require.Contains(t, got, "ab", "the checkpoint does not name them")
		require.True(t, p.Report().Rewound)
	}
}

// What the report says about records that are missing, and about a place where they kept vanishing, stays true to the end.
func TestWalkReportsWhatIsMissing(t *testing.T) {
	t.Parallel()
	report := func(items string, edit func(s *shelf, request int)) Report {
		var p Progress
		s := &shelf{items: items, limit: 3, edit: edit}
		_, err := s.walk(t.Context(), Walk{Progress: &p}, -1)
		require.NoError(t, err)
		return p.Report()
	}
	gone := report("abcdef", func(s *shelf, request int) {
		if request == 2 {
			s.items = "abcde"
		}
	})
	require.Zero(t, gone.Missing, "f went before it was read")
	vanishing := report("abcdef", func(s *shelf, request int) {
		if request == 3 || request == 4 {
			s.items = s.items[:len(s.items)-1]
		}
	})
	require.Zero(t, vanishing.Missing, "f and e went, one of them while pages were read again")
	hidden := report("abcdeb", nil)
	require.Equal(t, 1, hidden.Missing, "b came twice")
	vanish := func(s *shelf, request int) {
		if request >= 2 && request <= 14 {
			s.items = s.items[1:]
		}
	}
	require.True(t, report(letters, vanish).Incomplete)

	var before, after Progress
	before.Start("q", false)
	after.Start("q", false)
	s := &shelf{items: letters, limit: 3, edit: vanish}
	_, err := s.walk(t.Context(), Walk{Progress: &before}, 16)
	require.NoError(t, err)
	require.True(t, before.Report().Incomplete)
	cp, err := Parse(before.Checkpoint(), "q")
	require.NoError(t, err)
	s.edit = nil
	_, err = s.walk(t.Context(), Walk{Progress: &after, Resume: cp}, -1)
	require.NoError(t, err)
	require.True(t, after.Report().Incomplete, "the run before the checkpoint may have skipped some")
}

// Each page may have its own total, or none. A page without one proves no fall, no growth and no loss.
func TestWalkOverPagesWithAndWithoutTotal(t *testing.T) {
	t.Parallel()
	for without := 1; without <= 5; without++ {
		s := &partly{shelf: &shelf{items: letters[:9], limit: 2}, without: without}
		var p Progress
		c := over(s, Walk{Limit: 2, Progress: &p})
		got, err := collect(t.Context(), c, 100)
		require.NoError(t, err)
		require.Equal(t, letters[:9], got)
		require.Equal(t, []int{1, 2, 3, 4, 5}, s.asked)

		s.items, s.asked = "aabbccddee", nil
		_, err = collect(t.Context(), c, 100)
		require.NoError(t, err)
		require.Equal(t, 5, p.Report().Missing)
	}
}

// partly is a shelf of which one page says no total.
type partly struct {
	*shelf
	without int
}

func (s *partly) Fetch(ctx context.Context, number int) (*Page, error) {
	p, err := s.shelf.Fetch(ctx, number)
	if number == s.without {
		p.TotalRecords, p.TotalKnown = 0, false
	}
	return p, err
}

// One insert explains one repeat, not one on each page after it.
func TestWalkIsStuckAfterWhatAnInsertExplains(t *testing.T) {
	t.Parallel()
	s := &shelf{items: "aaaaaaaaaa", limit: 1, edit: func(s *shelf, request int) {
		if request == 2 {
			s.items = "a" + s.items
		}
	}}
	_, err := s.walk(t.Context(), Walk{}, -1)
	require.ErrorIs(t, err, errBroken)
	require.True(t, errors.Is(err, errBroken) && strings.Contains(err.Error(), "pages 3 and 4 bring nothing new"), err)
}

// An empty page is handed out only as the first: not after it, and not for records that were looked for in vain.
func TestWalkHandsOutNoEmptyPage(t *testing.T) {
	t.Parallel()
	s := &shelf{items: "abcdef", limit: 2, edit: func(s *shelf, request int) {
		if request == 2 {
			s.items = s.items[:5] // f goes: nothing moves
		}
	}}
	var sizes []int
	c := over(s, Walk{Limit: 2})
	Each(t.Context(), c, func(p *Page, err error) bool {
		require.NoError(t, err)
		sizes = append(sizes, len(p.Records))
		return true
	})
	require.Equal(t, []int{2, 2, 1}, sizes)
	require.Equal(t, []int{1, 2, 1, 2, 3}, s.asked)
}

// As many have joined in front as went at the end: what was delivered last comes again, but nothing is missing.
func TestWalkResumesWhereTheTotalHidesAChange(t *testing.T) {
	t.Parallel()
	for stop := 1; stop <= 4; stop++ {
		s := &shelf{items: "abcdefgh", limit: 2}
		var p Progress
		p.Start("q", true)
		first, err := s.walk(t.Context(), Walk{Progress: &p}, stop)
		require.NoError(t, err)
		cp, err := Parse(p.Checkpoint(), "q")
		require.NoError(t, err)
		s.items = "XYabcdef"
		rest, report, err := s.resumed(t, s, *cp)
		require.NoError(t, err)
		require.Equal(t, "abcdef", first+rest)
		require.Zero(t, report.Missing)
	}
}

// More have joined in front than a walk has read, so that a page holds nothing that it knows. If it stops there, what it has delivered comes again,
// and that is told.
func TestWalkStopsAmongWhatHasJoined(t *testing.T) {
	t.Parallel()
	again := 0
	for joined := 2; joined < 20; joined++ {
		for stop := 3; stop <= 5; stop++ {
			s := &shelf{items: letters, limit: 2, edit: func(s *shelf, request int) {
				if request == joined {
					s.items = strings.ToUpper(letters) + s.items
				}
			}}
			var p Progress
			got, told := "", false
			for !p.Report().Finished {
				cp, _ := Parse(p.Checkpoint(), "q")
				p.Start("q", true)
				part, err := s.walk(t.Context(), Walk{Progress: &p, Resume: cp}, stop)
				require.NoError(t, err)
				told = told || p.Report().Rewound
				for letter := range strings.SplitSeq(part, "") {
					if strings.Contains(got, letter) && letter != "" {
						require.True(t, told, "%s comes again: joined before request %d, stopped after %d", letter, joined, stop)
						again++
					}
				}
				got += part
			}
		}
	}
	require.NotZero(t, again)
}
