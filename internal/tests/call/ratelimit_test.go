package call_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
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

// Two hundred goroutines pull as fast as they may for ten minutes, through a client and one derived from it: not one 429, and nearly
// all of the quota. A plan above the documented limits is learned from the headers.
func TestRateLimit_UsesTheQuotaAndEarnsNoRefusal(t *testing.T) {
	for perMinute, opts := range map[int][]sandbox.Option{120: nil, 600: {largerPlan}} {
		synctest.Test(t, func(t *testing.T) {
			sb := sandbox.New(t, opts...)
			one := tests.SandboxClient(t, sb)
			other := tests.Derived(t, one)
			ctx := tests.Within(t, 10*time.Minute)
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
			require.GreaterOrEqual(t, sb.Calls("lists.list"), 10*perMinute*99/100)
		})
	}
}

var largerPlan = sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 600, PerDay: 100_000}})

// teammate sends a request a second, in the middle of it, until the test ends.
func teammate(t *testing.T, sb *sandbox.Sandbox) {
	t.Helper()
	go func() {
		for wait := time.Second / 2; ; wait = time.Second {
			select {
			case <-time.After(wait):
				sb.Consume("lists", 1)
			case <-t.Context().Done():
				return
			}
		}
	}()
}

// A teammate drains the same pool.
func TestRateLimit_YieldsToTeammates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		teammate(t, sb)
		client := tests.SandboxClient(t, sb)
		for began := time.Now(); time.Since(began) < 10*time.Minute; {
			require.NoError(t, tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{})))
		}
		require.LessOrEqual(t, tooMany(sb), sb.Calls("lists.list")/50, "under 2 percent")
	})
}

// When the window is used up, a call is refused at once if it may not wait, and nothing is sent.
func TestRateLimit_RefusesFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		client := tests.SandboxClient(t, sb)
		for range 120 {
			require.NoError(t, tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{})))
		}
		began, sent := time.Now(), sb.Calls("lists.list")
		short := tests.Within(t, time.Second)
		for name, try := range map[string]func() error{
			"no wait": func() error {
				return tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(0)))
			},
			"deadline": func() error { _, err := client.Lists.Page(short, prospectkit.ListsParams{}); return err },
		} {
			err := try()
			require.Equal(t, name == "deadline", errors.Is(err, context.DeadlineExceeded))
			require.WithinRange(t, tests.FitsAt(t, err), began.Add(1), began.Add(2*time.Minute))
		}
		require.Equal(t, began, time.Now(), "at once")
		require.Equal(t, sent, sb.Calls("lists.list"), "nothing was sent")
		require.NoError(t, tests.Discard(client.Account.Me(t.Context(), prospectkit.WithMaxWait(0))), "another surface")
		_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
		require.NoError(t, err, "the default is to wait")
		require.Positive(t, time.Since(began))
		require.Zero(t, tooMany(sb))
	})
}

// Processes of a fleet know of each other by the headers: they use most of the quota, and a few of their requests are refused.
func TestRateLimit_FleetSharesByTheHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		ctx := tests.Within(t, 10*time.Minute)
		var group sync.WaitGroup
		for range 8 {
			process := tests.SandboxClient(t, sb, slowly(sb, 100*time.Millisecond))
			for range 4 {
				group.Go(func() {
					for ctx.Err() == nil {
						_, err := process.Lists.Page(ctx, prospectkit.ListsParams{}, prospectkit.WithMaxWait(time.Hour))
						if errors.Is(err, context.DeadlineExceeded) {
							return
						}
						if err != nil {
							require.ErrorIs(t, err, prospectkit.ErrRateLimited)
						}
					}
				})
			}
		}
		group.Wait()
		t.Logf("%d served, %d refused", sb.Calls("lists.list")-tooMany(sb), tooMany(sb))
		require.GreaterOrEqual(t, sb.Calls("lists.list")-tooMany(sb), 10*120*85/100)
		require.LessOrEqual(t, tooMany(sb)*50, sb.Calls("lists.list"))
	})
}

// A plan above the documented limits is learned also by a client that goes on all day.
func TestRateLimit_ALargerPlanIsLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, largerPlan)
		client := tests.SandboxClient(t, sb)
		for range 15_000 {
			require.NoError(t, tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(0))))
			time.Sleep(5 * time.Second)
		}
		require.Equal(t, 15_000, sb.Calls("lists.list"), "none waited, and none was refused")
	})
}

// A request that net/http retried, over another connection, is counted twice, but for a free read without a trace.
func TestRateLimit_CountsReplays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := 1
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			for range conns {
				httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
			}
			return tests.Respond(200, `{"list":`+tests.OneList+`}`, tests.Room...), nil
		}))
		for _, used := range []int{1, 3, 7} {
			require.NoError(t, tests.Discard(client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})))
			_, counted, _ := tests.Limiters(t, client)["lists"].Own()
			require.Equal(t, used, counted)
			conns *= 2
		}
	})
}

// A permit whose attempt never left goes back: a file that cannot be opened, a refused connection.
func TestRateLimit_PermitsAreReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Fail("lists.list", sandbox.First(9), sandbox.Refuse())
		client := tests.SandboxClient(t, sb)
		for range 3 {
			require.Error(t, tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{})))
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
		tests.NothingInFlight(t, client)
		for name, limiter := range tests.Limiters(t, client) {
			_, counted, _ := limiter.Own()
			require.Zero(t, counted, name)
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
func TestRateLimit_PanicsLeaveNothingInFlight(t *testing.T) {
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
		tests.NothingInFlight(t, client)
	}
}

// An attempt whose transport panics is over when it panics: the budget takes it for one that was lost.
func TestRateLimit_AfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) { time.Sleep(5 * time.Second); return nil, tests.ErrBroken }))
		panics := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) { time.Sleep(5 * time.Second); panic(tests.ErrBroken) }))
		for range 3 {
			time.Sleep(time.Second)
			var both sync.WaitGroup
			both.Go(func() {
				require.ErrorIs(t, tests.Discard(tests.Call(t.Context(), lost, true)), tests.ErrBroken)
			})
			require.Panics(t, func() { _, _ = tests.Call(t.Context(), panics, true) })
			both.Wait()
			require.Equal(t, used(t, lost), used(t, panics))
		}
		time.Sleep(2 * time.Minute)
		require.Equal(t, used(t, lost), used(t, panics))
	})
}

// used is what the limiters of a client count.
func used(t *testing.T, client *prospectkit.Client) map[string]int {
	t.Helper()
	all := map[string]int{}
	for name, limiter := range tests.Limiters(t, client) {
		_, all[name], _ = limiter.Own()
	}
	return all
}

// A request whose response was lost may have counted, so that it uses the budget up.
func TestRateLimit_LostRequestsCount(t *testing.T) {
	sent := 0
	first := tests.Always(200, tests.OneUser, "RateLimit-Limit", "120", "RateLimit-Remaining", "119")
	lost := func(*http.Request) (*http.Response, error) { sent++; return nil, tests.ErrBroken }
	client := tests.NewClient(t, tests.InTurn(first, lost), tests.OneAttempt, prospectkit.WithMaxWait(0))
	for range 200 {
		_, _ = tests.Call(t.Context(), client, false)
	}
	require.LessOrEqual(t, sent, 119)
}

// When a window resets is not known without its header.
func TestRateLimit_ResetIsNotMadeUp(t *testing.T) {
	var info prospectkit.Info
	_, err := tests.NewClient(t, tests.Always(200, tests.OneUser, "RateLimit-Reset", "")).Account.Me(t.Context(), prospectkit.WithInfo(&info))
	require.NoError(t, err)
	require.Positive(t, info.Rate.Remaining)
	require.Zero(t, info.Rate.ResetAt)
}
