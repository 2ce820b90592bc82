package pagewalk

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func numbered(n int) string { return fmt.Sprintf("%024x", n) }

// What was added lately is remembered, what was added long ago is not, and neither map takes more room than it may.
func TestRecentAgreesWithAMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, others := range []int{0, 1, recentIDs, 3 * recentIDs} {
		var seen Recent
		when, added := map[string]int{}, 0
		for range 50_000 + 2*others {
			id := numbered(added - random.IntN(others+1)) // lately added, long ago, or not at all
			at, known := when[id]
			age := added - at
			has := seen.Has(id)
			if isNew := seen.Add(id); isNew == has {
				require.Fail(t, "Add and Has disagree", "id %s", id)
			}
			if has && (!known || age > 2*recentIDs) || !has && known && age <= recentIDs || max(len(seen.young), len(seen.old)) > recentIDs {
				require.Fail(t, "not as in the map", "id %s of %d, added %d: has %v", id, added, at, has)
			}
			if !has {
				when[id] = added
				added++
			}
		}
	}
}

// crowd is a source of more records than a walk remembers. Before one request, records join in front, or the last ones go.
type crowd struct {
	shelf

	ids              []int
	at, join, remove int
}

func (c *crowd) Fetch(_ context.Context, number int) (*Page, error) {
	if c.asked = append(c.asked, number); len(c.asked) == c.at {
		c.ids = append(consecutive(1_000_000, c.join), c.ids[:len(c.ids)-c.remove]...)
	}
	low := min((number-1)*c.limit, len(c.ids))
	var records []Record
	for _, id := range c.ids[low:min(low+c.limit, len(c.ids))] {
		records = append(records, Record{numbered(id), id})
	}
	return &Page{
		Records: records, Number: number, TotalRecords: len(c.ids), TotalKnown: true, TotalPages: (len(c.ids) + c.limit - 1) / c.limit,
	}, nil
}

func consecutive(first, n int) (ids []int) {
	for i := range n {
		ids = append(ids, first+i)
	}
	return ids
}

// What a walk has forgotten may come a second time. Then it says so.
func TestWalkSaysWhatItMayHaveForgotten(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		*crowd

		ordered, twice bool
	}{
		"few join":                        {&crowd{at: 101, join: 20_000}, true, false},
		"few join, before it forgets":     {&crowd{at: 61, join: 59_000}, true, false},
		"many join":                       {&crowd{at: 101, join: 70_000}, true, true},
		"many join, in whole pages":       {&crowd{shelf: shelf{limit: 1024}, at: 97, join: 32_768 * 5 / 2}, true, true},
		"few go at the end, in order":     {&crowd{at: 101, remove: 30_000}, true, false},
		"many go at the end, in order":    {&crowd{at: 101, remove: 99_000}, true, true},
		"few go at the end, unordered":    {&crowd{at: 101, remove: 30_000}, false, false},
		"many go at the end, unordered":   {&crowd{at: 101, remove: 99_000}, false, true},
		"many go, and none is remembered": {&crowd{shelf: shelf{limit: 1024}, at: 129, remove: 32_768 * 7 / 2}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := test.crowd
			c.limit = cmp.Or(c.limit, 1000)
			c.ids = consecutive(0, 150_000)
			var p Progress
			p.Start("q", test.ordered)
			came, twice := map[int]bool{}, 0
			Each(t.Context(), over(c, Walk{Limit: c.limit, Progress: &p}), func(page *Page, err error) bool {
				require.NoError(t, err)
				for _, r := range page.Records {
					id := r.Of.(int)
					if came[id] {
						twice++
					}
					came[id] = true
				}
				return true
			})
			require.Equal(t, test.twice, twice > 0, "%d came twice", twice)
			require.Equal(t, test.twice, p.Report().Rewound)
		})
	}
}

func TestRecentTakesAnEmptyIDForNew(t *testing.T) {
	t.Parallel()
	var seen Recent
	require.True(t, seen.Add(""))
	require.True(t, seen.Add(""))
	require.False(t, seen.Has(""))
	require.Nil(t, seen.young)
}
