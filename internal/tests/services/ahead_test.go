package services_test

import (
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// slowShelf takes its time on the way back.
type slowShelf struct {
	shelf *tests.Shelf
	back  time.Duration
}

func (s *slowShelf) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.shelf.RoundTrip(r)
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(s.back):
		return resp, err
	}
}

// stocked has n records, in pages that take 20 ms each.
func stocked(n int) *slowShelf {
	s := &slowShelf{shelf: new(tests.Shelf), back: 20 * time.Millisecond}
	s.shelf.Stock(n)
	return s
}

func (s *slowShelf) lists(t *testing.T) *prospectkit.ListsService {
	t.Helper()
	return tests.NewClient(t, s).Lists
}

func inPagesOf(n int) prospectkit.ListsParams { return prospectkit.ListsParams{Limit: n} }

// Where the collection never stands still, reading ahead gives up instead of wasting the quota.
func TestAhead_GivesWayToChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stocked(400)
		for range 1000 {
			s.shelf.Edits = append(s.shelf.Edits, func(s *tests.Shelf) { s.Stock(1) })
		}
		before := slices.Clone(s.shelf.Items)
		got := drain(t, s.lists(t).All(t.Context(), inPagesOf(10)))
		require.Subset(t, got, before)
		require.Less(t, len(s.shelf.Asked), 60, "some 48 pages")
	})
}

// Pages are requested in their order. With WithInfo, which tells the attempts of the last call, none is read ahead.
func TestAhead_AndInfo(t *testing.T) {
	for _, ahead := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := stocked(60)
			var info prospectkit.Info
			opts := []prospectkit.PageOption{prospectkit.WithMaxWait(time.Minute)}
			if !ahead {
				opts = append(opts, prospectkit.WithInfo(&info))
			}
			began, page := time.Now(), 0
			for _, err := range s.lists(t).Pages(t.Context(), inPagesOf(10), opts...) {
				require.NoError(t, err)
				if !ahead {
					require.Equal(t, time.Duration(20*page)*time.Millisecond, info.Attempts[0].At.Sub(began), "that of page %d", page+1)
				}
				page++
			}
			require.Equal(t, 6, page)
			require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7}, s.shelf.Asked)
			require.Equal(t, ahead, time.Since(began) < 100*time.Millisecond)
		})
	}
}

// Whoever stops within the first page costs no request, and later at most four. Nothing is left running.
func TestAhead_CostsAtMostFourPages(t *testing.T) {
	for _, stop := range []int{1, 10, 11, 20, 21, 95, 391} {
		synctest.Test(t, func(t *testing.T) {
			s := stocked(400)
			client := tests.NewClient(t, s)
			_, err := prospectkit.Collect(client.Lists.All(t.Context(), inPagesOf(10)), stop)
			require.NoError(t, err)
			pages, most := (stop+9)/10, 4
			if pages == 1 {
				most = 0
			}
			require.LessOrEqual(t, len(s.shelf.Asked), pages+most, "after %d records", stop)
			tests.NothingInFlight(t, client)
		})
	}
}

// 16 MiB of responses are held at most.
func TestAhead_HoldsNoMoreThanMayBe(t *testing.T) {
	for size, ahead := range map[int]int{1 << 10: 4, 5 << 20: 3, 9 << 20: 1, 17 << 20: 0} {
		synctest.Test(t, func(t *testing.T) {
			s := stocked(60)
			padded := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				resp, err := s.RoundTrip(r)
				if err == nil {
					resp.Body = io.NopCloser(io.MultiReader(resp.Body, strings.NewReader(strings.Repeat(" ", size))))
				}
				return resp, err
			})
			for page, err := range tests.NewClient(t, padded).Lists.Pages(t.Context(), inPagesOf(10)) {
				require.NoError(t, err)
				if page.Number == 2 {
					break
				}
			}
			require.Len(t, s.shelf.Asked, 2+ahead, "pages of %d bytes", size)
		})
	}
}

// Nothing is read ahead of pages that are near, that follow a token, or in which the library itself looks for something.
func TestAhead_OnlyWhereItHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near := stocked(400)
		near.back = 9 * time.Millisecond
		_, err := prospectkit.Collect(near.lists(t).All(t.Context(), inPagesOf(10)), 95)
		require.NoError(t, err)
		require.Len(t, near.shelf.Asked, 10)

		asked := 0
		slow := func(rt tests.RoundTrip) tests.RoundTrip {
			return func(r *http.Request) (*http.Response, error) { time.Sleep(time.Second); return rt(r) }
		}
		lists := tests.NewClient(t, slow(func(r *http.Request) (*http.Response, error) {
			asked++
			record := ""
			if asked <= 9 {
				record = fmt.Sprintf(`{"id":"%d","name":"%d","entityType":"contactList"}`, asked, asked)
			}
			require.Equal(t, strconv.Itoa(asked), r.URL.Query().Get("pageNum"))
			return tests.Respond(http.StatusOK, fmt.Sprintf(`{"data":[%s],"pagination":{"pageNum":%d,"totalPages":9,"totalRecords":9}}`, record, asked)), nil
		})).Lists
		began := time.Now()
		require.NoError(t, tests.Discard(lists.Named(t.Context(), "3", prospectkit.ContactList)))
		require.GreaterOrEqual(t, time.Since(began), 9*time.Second)

		sent := 0
		for _, err := range tests.NewClient(t, slow(pages(&sent, 9))).Search.Prospects(t.Context(), tests.Everything, prospectkit.MaxPaidPages(math.MaxInt), prospectkit.Sequential()) {
			require.NoError(t, err)
			if sent == 3 {
				break
			}
		}
		require.Equal(t, 3, sent)
	})
}

// Calls that somebody waits for go first: none waits long for pages that are read ahead, and the walk still ends.
func TestAhead_GivesWayToOtherCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, list := long(t, 500, 100*time.Millisecond)
		done := make(chan struct{})
		go func() {
			defer close(done)
			assert.Len(t, drainRows(t, client.Lists.Rows(t.Context(), list, prospectkit.RowsParams{Limit: 1})), 500)
		}()
		var waits []time.Duration
		for {
			time.Sleep(4 * time.Second)
			select {
			case <-done:
				slices.Sort(waits)
				t.Logf("waits: median %s, most %s", waits[len(waits)/2], waits[len(waits)-1])
				require.LessOrEqual(t, waits[len(waits)-1], 8*time.Second)
				return
			default:
			}
			began := time.Now()
			_, err := client.Lists.Get(t.Context(), list)
			require.NoError(t, err)
			waits = append(waits, time.Since(began))
		}
	})
}

// A hundred pages of 20 ms take at most two sevenths of the time that one after the other takes.
func TestAhead_IsSeveralTimesAsFastAsByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stocked(1000)
		began := time.Now()
		require.Len(t, drain(t, s.lists(t).All(t.Context(), inPagesOf(10))), 1000)
		t.Logf("%.2f times", (100*20*time.Millisecond).Seconds()/time.Since(began).Seconds())
		require.LessOrEqual(t, time.Since(began), 100*20*time.Millisecond*2/7)
	})
}

func drainRows(t *testing.T, rows iter.Seq2[*prospectkit.Row, error]) (all []*prospectkit.Row) {
	t.Helper()
	for row, err := range rows {
		require.NoError(t, err)
		all = append(all, row)
	}
	return all
}

// long is a list of so many pages of a row, each of which takes its time.
func long(t *testing.T, pages int, each time.Duration, opts ...sandbox.Option) (*sandbox.Sandbox, *prospectkit.Client, string) {
	t.Helper()
	sb := sandbox.New(t, opts...)
	var list string
	sb.Do(func(tx *sandbox.Tx) {
		list = tx.CreateList(sandbox.List{Name: "Long"})
		rows := make([]sandbox.Row, pages)
		for i := range rows {
			rows[i] = sandbox.Row{"firstName": strconv.Itoa(i)}
		}
		tx.AddRows(list, rows...)
	})
	sb.Fail("lists.rows", sandbox.Always(), sandbox.Latency(each))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	return sb, client, list
}

// 600 pages take the five minutes that the documented limit of 120 a minute takes, however long a page takes, and beside a consumer. Of a page
// of two seconds nothing tells whether the minute ended before them or after: the limiter waits for the later moment, in each minute.
func TestAhead_IsNoSlowerThanTheLimit(t *testing.T) {
	const pages, limit = 600, 5 * time.Minute
	for _, each := range []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second} {
		for _, consumer := range []time.Duration{0, 400 * time.Millisecond} {
			for _, windows := range [][]sandbox.Option{nil, {sandbox.SlidingWindows()}} {
				tests.InBubble(t, fmt.Sprintf("%s a page, %s to store it, sliding windows: %d", each, consumer, len(windows)), func(t *testing.T) {
					sb, client, list := long(t, pages, each, windows...)
					began, n := time.Now(), 0
					for _, err := range client.Lists.Rows(t.Context(), list, prospectkit.RowsParams{Limit: 1}) {
						require.NoError(t, err)
						time.Sleep(consumer)
						n++
					}
					took := time.Since(began)
					t.Logf("%.3f of the limit's five minutes", took.Seconds()/limit.Seconds())
					require.Equal(t, pages, n)
					most := 1.05
					if each > time.Second {
						most = 1.07
					}
					require.LessOrEqual(t, took.Seconds(), most*limit.Seconds())
					require.Equal(t, pages+1, sb.Calls("lists.rows"), "the last page is full")
				})
			}
		}
	}
}

// A page that was requested early, and refused because its wait was too long, is requested again when it is needed.
func TestPager_RefusedPageAheadIsReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stocked(60)
		var refused atomic.Int32
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) { // each response uses the minute up
			resp, err := s.RoundTrip(r)
			if err == nil {
				resp.Header.Set("RateLimit-Limit", "120")
				resp.Header.Set("RateLimit-Remaining", "0")
				resp.Header.Set("RateLimit-Reset", "40")
			}
			return resp, err
		}), prospectkit.WithMaxWait(0), tests.Watch(func(e prospectkit.Event) {
			if e.Kind == prospectkit.EventEnd && e.Err != nil {
				refused.Add(1)
			}
		}))
		seen := 0
		for _, err := range client.Lists.Pages(t.Context(), inPagesOf(10)) {
			require.NoError(t, err)
			seen++
			time.Sleep(2 * time.Minute)
		}
		require.Equal(t, 6, seen)
		require.Positive(t, refused.Load())
	})
}

// A page that was read ahead and rejected, because only so many requests may be made at a time, is read again, alone, when it is needed.
func TestPager_RejectedPageAheadIsReadAlone(t *testing.T) {
	for name, header := range map[string][]string{"with what is left": tests.Room, "without a figure": tests.Bare} {
		synctest.Test(t, func(t *testing.T) {
			s := stocked(400)
			var running, rejected atomic.Int32
			limited := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				defer running.Add(-1)
				now := running.Add(1)
				time.Sleep(100 * time.Millisecond)
				if now > 2 {
					rejected.Add(1)
					return tests.Respond(http.StatusTooManyRequests, tests.Envelope("RATE_LIMITED"), header...), nil
				}
				return s.RoundTrip(r)
			})
			client := tests.NewClient(t, limited)
			seen := 0
			for _, err := range client.Lists.Pages(t.Context(), inPagesOf(10)) {
				require.NoError(t, err, "%s: after %d pages", name, seen)
				seen++
			}
			require.Equal(t, 40, seen)
			require.Positive(t, rejected.Load())
		})
	}
}
