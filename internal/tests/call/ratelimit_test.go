package call_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/sandbox"
)

func tooMany(sb *sandbox.Sandbox) (n int) {
	for _, e := range sb.Journal() {
		if e.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

// Two hundred goroutines pull as fast as they may for ten minutes, through two clients of one
// budget: not one 429, and nearly all of the quota.
func TestBudget_UsesTheQuotaAndEarnsNoRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		one := tests.SandboxClient(t, sb)
		other := tests.SandboxClient(t, sb, prospectkit.WithBudget(one.Budget()))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		var group sync.WaitGroup
		for i := range 200 {
			client := [...]*prospectkit.Client{one, other}[i%2]
			group.Go(func() {
				for ctx.Err() == nil {
					_, err := client.Lists.Page(ctx, prospectkit.ListsParams{}, prospectkit.WithMaxWait(time.Hour))
					if err != nil {
						require.ErrorIs(t, err, context.DeadlineExceeded)
						return
					}
				}
			})
		}
		group.Wait()
		require.Zero(t, tooMany(sb))
		require.GreaterOrEqual(t, sb.Calls("lists.list"), 10*120*99/100)
	})
}

// A teammate drains the same pool.
func TestBudget_YieldsToTeammates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Teammate("lists", 1)
		client := tests.SandboxClient(t, sb)
		for began := time.Now(); time.Since(began) < 10*time.Minute; {
			_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
			require.NoError(t, err)
		}
		require.LessOrEqual(t, tooMany(sb), sb.Calls("lists.list")/50, "under 2 percent")
		surface := snapshotOf(t, client, ratelimit.SurfaceLists)
		require.InDelta(t, 1, surface.OtherRate, 0.7, "requests a second of others")
	})
}

func snapshotOf(t *testing.T, client *prospectkit.Client, s ratelimit.Surface) ratelimit.SurfaceState {
	t.Helper()
	for _, surface := range client.Budget().Snapshot() {
		if surface.Surface == s {
			return surface
		}
	}
	require.Fail(t, "no such surface", s)
	return ratelimit.SurfaceState{}
}

// When the window is used up, a call is refused at once if it may not wait, and nothing is sent.
func TestBudget_RefusesFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		client := tests.SandboxClient(t, sb)
		for range 120 {
			_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
			require.NoError(t, err)
		}
		began, sent := time.Now(), sb.Calls("lists.list")
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for name, try := range map[string]func() error{
			"no wait": func() error {
				_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(0))
				return err
			},
			"deadline": func() error { _, err := client.Lists.Page(short, prospectkit.ListsParams{}); return err },
		} {
			err := try()
			require.Equal(t, name == "deadline", errors.Is(err, context.DeadlineExceeded))
			require.WithinRange(t, tests.FitsAt(t, err), began.Add(1), began.Add(2*time.Minute))
		}
		require.Equal(t, began, time.Now(), "at once")
		require.Equal(t, sent, sb.Calls("lists.list"), "nothing was sent")
		_, err := client.Account.Me(t.Context(), prospectkit.WithMaxWait(0))
		require.NoError(t, err, "another surface")
		_, err = client.Lists.Page(t.Context(), prospectkit.ListsParams{})
		require.NoError(t, err, "the default is to wait")
		require.Positive(t, time.Since(began))
		require.Zero(t, tooMany(sb))
	})
}

// Batch calls leave the reserve alone, and interactive ones use it.
func TestBudget_Reserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		client := tests.SandboxClient(t, sb, prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{Reserve: 20})))
		batch := 0
		for {
			_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(0), prospectkit.WithPriority(ratelimit.PriorityBatch))
			if err != nil {
				require.ErrorIs(t, err, prospectkit.ErrRateLimited)
				break
			}
			batch++
		}
		require.LessOrEqual(t, batch, 100)
		for range 20 {
			_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(time.Minute))
			require.NoError(t, err)
		}
		require.Zero(t, tooMany(sb))
	})
}

// A request that net/http retried, over another connection, is counted twice.
func TestBudget_CountsReplays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := 1
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			for range conns {
				httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
			}
			return tests.Respond(200, tests.OneUser), nil
		}))
		for _, used := range []int{1, 3, 7} {
			_, err := client.Account.Me(t.Context())
			require.NoError(t, err)
			require.Equal(t, used, snapshotOf(t, client, ratelimit.SurfaceAccount).Minute.Used)
			conns *= 2
		}
	})
}

func TestBudget_ForecastAndSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		client := tests.SandboxClient(t, sb)
		require.InDelta(t, 7.3, client.Budget().Forecast(ratelimit.SurfaceLists, 1000).Minutes(), 1.1, "1,000 pages at 120 a minute")
		require.Zero(t, client.Budget().Forecast(ratelimit.SurfaceLists, 1))
		require.Zero(t, client.Budget().Forecast(ratelimit.SurfaceContacts, 1000), "no limit is known")
		_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
		require.NoError(t, err)
		lists := snapshotOf(t, client, ratelimit.SurfaceLists)
		require.Equal(t, 120, lists.Minute.Limit)
		require.Equal(t, 119, lists.Minute.Remaining)
		require.Equal(t, 1, lists.Day.Used)
		require.True(t, lists.Minute.Documented)
		require.True(t, lists.Day.Documented)
		require.Zero(t, lists.InFlight+lists.Waiting)

		_, err = client.Search.FilterOptions(t.Context())
		require.NoError(t, err)
		learned := snapshotOf(t, client, ratelimit.SurfaceReference).Minute
		require.Positive(t, learned.Limit)
		require.False(t, learned.Documented, "the headers told it")
	})
}

// A pull ends when the forecast says, or up to a minute earlier: at the start, and in the middle of a minute.
func TestBudget_ForecastHolds(t *testing.T) {
	for _, before := range []int{0, 50, 300} {
		for _, pages := range []int{150, 300, 1000} {
			synctest.Test(t, func(t *testing.T) {
				sb := sandbox.New(t)
				client := tests.SandboxClient(t, sb)
				pull(t, client, before)
				forecast := client.Budget().Forecast(ratelimit.SurfaceLists, pages)
				began := time.Now()
				pull(t, client, pages)
				took := time.Since(began)
				require.Greater(t, took, forecast-time.Minute, "%d pages after %d", pages, before)
				require.Less(t, took, forecast+15*time.Second, "%d pages after %d", pages, before)
				require.Zero(t, tooMany(sb))
			})
		}
	}
}

// pull reads so many pages with eight goroutines, at 100 ms a page.
func pull(t *testing.T, client *prospectkit.Client, pages int) {
	t.Helper()
	var (
		page  atomic.Int64
		group sync.WaitGroup
	)
	for range 8 {
		group.Go(func() {
			for page.Add(1) <= int64(pages) {
				_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
				require.NoError(t, err)
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	group.Wait()
}

func TestBudget_Options(t *testing.T) {
	_, err := prospectkit.New("https://api.example.com/api/v1", tests.Token,
		prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{Reserve: -1})), prospectkit.WithPriority("urgent"))
	require.ErrorContains(t, err, "Reserve is -1")
	require.ErrorContains(t, err, `WithPriority is "urgent"`)
}

// A permit whose attempt never left goes back: a file that cannot be opened, a refused connection.
func TestBudget_PermitsAreReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Fail("lists.list", sandbox.First(9), sandbox.Refuse())
		client := tests.SandboxClient(t, sb)
		for range 3 {
			_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
			require.Error(t, err)
		}
		sb.Fail("imports.create", sandbox.Nth(1), sandbox.Refuse())
		opened := 0
		_, err := client.Imports.Upload(t.Context(), prospectkit.Upload{Name: "a.csv", Size: 4, Open: func() (io.ReadCloser, error) {
			if opened++; opened > 1 {
				return nil, errors.New("the disk is gone")
			}
			return io.NopCloser(strings.NewReader("a,b\n")), nil
		}})
		require.ErrorContains(t, err, "the disk is gone")
		for _, surface := range client.Budget().Snapshot() {
			require.Zero(t, surface.InFlight+surface.Waiting+surface.Minute.Used, surface.Surface)
		}
	})
}

// touchy panics when it is decoded. What is read ahead is decoded ahead, too, by the caller's own code: its panic is the loop's.
type touchy struct{ id string }

// UnmarshalJSON panics at the seventh record.
func (v *touchy) UnmarshalJSON(text []byte) error {
	if v.id = string(text); strings.Contains(v.id, `"7"`) {
		panic("touched 7")
	}
	return nil
}

// A panic in the caller's code leaves no request in flight, so that a server which recovers does not wait for it.
func TestBudget_PanicsLeaveNothingInFlight(t *testing.T) {
	t.Parallel()
	for _, transport := range []tests.RoundTrip{
		tests.Always(http.StatusOK, `{"data":[{"id":"7"}]}`),
		func(*http.Request) (*http.Response, error) { panic("touched 7") },
	} {
		client := tests.NewClient(t, transport)
		require.PanicsWithValue(t, "touched 7", func() {
			_, _ = prospectkit.Collect(prospectkit.RowsOf[touchy](t.Context(), client.Lists, tests.ListID, prospectkit.RowsParams{}), 1)
		})
		require.PanicsWithValue(t, "no file", func() {
			_, _ = client.Imports.Upload(t.Context(), prospectkit.Upload{Name: "a.csv", Size: 4, Open: func() (io.ReadCloser, error) { panic("no file") }})
		})
		for _, surface := range client.Budget().Snapshot() {
			require.Zero(t, surface.InFlight, surface.Surface)
		}
	}
}

// An attempt whose transport panics is over when it panics: the budget takes it for one that was lost.
func TestBudget_AfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := newPacedClient(t, func(*http.Request) (*http.Response, error) { time.Sleep(5 * time.Second); return nil, tests.ErrBroken })
		panics := newPacedClient(t, func(*http.Request) (*http.Response, error) { time.Sleep(5 * time.Second); panic(tests.ErrBroken) })
		for range 3 {
			time.Sleep(time.Second)
			var both sync.WaitGroup
			both.Go(func() {
				_, err := tests.Call(t.Context(), lost, true)
				require.ErrorIs(t, err, tests.ErrBroken)
			})
			require.Panics(t, func() { _, _ = tests.Call(t.Context(), panics, true) })
			both.Wait()
			require.Equal(t, lost.Budget().Snapshot(), panics.Budget().Snapshot())
			require.Equal(t, lost.Budget().Forecast(ratelimit.SurfaceLists, 500), panics.Budget().Forecast(ratelimit.SurfaceLists, 500))
		}
		time.Sleep(2 * time.Minute)
		require.Equal(t, lost.Budget().Snapshot(), panics.Budget().Snapshot())
	})
}

// newPacedClient is paced by the documented limits.
func newPacedClient(t *testing.T, rt tests.RoundTrip) *prospectkit.Client {
	t.Helper()
	client, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithTransport(rt))
	require.NoError(t, err)
	return client
}
