package pagewalk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// source is what a walk reads from.
type source interface {
	Fetch(ctx context.Context, number int) (*Page, error)
}

// over completes what is known of a walk over a source.
func over(s source, c Config) Config {
	c.Read = func(ctx context.Context, number int, _ *Page) (*Page, error) { return s.Fetch(ctx, number) }
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
func (s *shelf) walk(ctx context.Context, c Config, n int) (got string, err error) {
	c.Limit = s.limit
	if c.Read == nil {
		c = over(s, c)
	}
	c.Walk(ctx, func(p *Page, fault error) bool {
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
		"an insert and a delete at once":       {"abcdef", map[int]string{2: "Xacdef"}, "abcdef", []int{1, 2, 3, 4}, Report{Total: 6}},
	} {
		for _, limit := range []int{2, 100} {
			s := &shelf{items: tc.items, limit: 2, edit: func(s *shelf, request int) {
				if items, changed := tc.edits[request]; changed {
					s.items = items
				}
			}}
			var p Progress
			p.Start("q", true)
			got, err := collect(t.Context(), over(s, Config{Limit: limit, Progress: &p}), 100)
			require.NoError(t, err, name)
			require.Equal(t, tc.want, got, name)
			require.Equal(t, tc.asked, s.asked, name)
			want := tc.told
			want.Requests, want.TotalKnown, want.Finished, want.OrderKnown = len(s.asked), true, true, true
			require.Equal(t, want, p.Report(), name)
		}
	}
}

// A caller that does not know the size of a page says so, and may meet a collection that shrinks.
func TestWalkOfAnUnknownSize(t *testing.T) {
	s := &shelf{items: "abcdef", limit: 2, edit: func(s *shelf, request int) {
		if request == 2 {
			s.items = "bcdef"
		}
	}}
	got := ""
	over(s, Config{}).Walk(t.Context(), func(p *Page, err error) bool {
		require.NoError(t, err)
		got += strings.Join(lettersOn(p), "")
		return true
	})
	require.Equal(t, "abcdef", got)
}
