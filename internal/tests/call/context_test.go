package call_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

var errApplication = errors.New("the application's own reason")

func TestContext_CancelledBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		rt := tests.RoundTrip(func(*http.Request) (*http.Response, error) { panic("a request was made") })
		for _, isWrite := range []bool{false, true} {
			info, err := tests.Call(ctx, tests.NewClient(t, rt), isWrite)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Empty(t, info.Attempts)
		}
	})
}

// When time runs out between two attempts, by the end of the context or because its deadline would pass before the next one, which nobody
// waits for, the error says both: the context's end and what the last response was. What is waiting for its second chance was not sent.
func TestContext_EndsBetweenAttempts(t *testing.T) {
	failed, limited := tests.Always(503, tests.Envelope("UNEXPECTED_ERROR")), tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "60")
	for name, c := range map[string]struct {
		isWrite bool
		rt      tests.RoundTrip
		status  int
		cause   error
	}{
		"a response":         {false, failed, 503, prospectkit.CodeUnexpectedError},
		"a cut":              {false, tests.Breaks, 0, tests.ErrBroken},
		"half a page":        {false, tests.Always(200, `{"data": [`), 200, nil},
		"a write that waits": {true, limited, 429, prospectkit.ErrRateLimited},
	} {
		for ends, want := range map[string]error{"cancelled": context.Canceled, "deadline": context.DeadlineExceeded} {
			tests.InTime(t, ends+" after "+name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(tests.Within(t, 50*time.Second))
				wait := time.Duration(0)
				if ends == "cancelled" {
					wait = time.Second
					ctx, cancel = context.WithCancel(t.Context())
				}
				time.AfterFunc(time.Second, cancel)
				hourly := prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: time.Hour, MaxDelay: time.Hour})
				began := time.Now()
				info, err := tests.Call(ctx, tests.NewClient(t, c.rt, hourly), c.isWrite)
				require.Equal(t, wait, time.Since(began))
				require.ErrorIs(t, err, want)
				if c.cause != nil {
					require.ErrorIs(t, err, c.cause)
				}
				require.Len(t, info.Attempts, 1)
				e := tests.AsError(t, err)
				require.Equal(t, c.status, e.Status)
				require.Equal(t, prospectkit.OutcomeNotApplied, e.Outcome())
				if c.isWrite {
					require.Equal(t, 60*time.Second, e.RetryAfter)
				}
			})
		}
	}
}

// A response that is there counts, also if the context, or the time limit of its attempt, ended in the same moment. Nobody waited for it.
func TestContext_ResponseBeatsIt(t *testing.T) {
	list, taken := tests.Always(201, `{"list":`+tests.OneList+`}`), tests.Always(409, tests.Envelope("LIST_NAME_TAKEN"))
	for name, c := range map[string]struct {
		isWrite bool
		rt      tests.RoundTrip
		code    prospectkit.Code
	}{
		"read": {false, tests.Always(200, tests.OneUser), ""}, "write": {true, list, ""}, "a clear refusal": {true, taken, prospectkit.CodeListNameTaken},
		"an unsuccessful read": {false, tests.Always(404, tests.Envelope("LIST_NOT_FOUND")), prospectkit.CodeListNotFound},
	} {
		for _, ends := range []string{"context", "limit"} {
			tests.InTime(t, name+"/"+ends, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				info, err := tests.Call(ctx, tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
					if ends == "context" {
						cancel()
					}
					<-r.Context().Done()
					return c.rt(r)
				})), c.isWrite)
				cancel()
				require.Equal(t, c.code, prospectkit.CodeOf(err), "%v", err)
				require.Equal(t, c.code != "", prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied)
				require.Equal(t, "confirmed", info.Attempts[0].Delivery)
				require.Len(t, info.Attempts, 1)
				require.NotContains(t, fmt.Sprint(err), "while it waited")
			})
		}
	}
}

// What an ended context says about a request in flight. Why it ended proves nothing about the attempt, even if that is the refusal of a call
// beside this one, as it is in an errgroup.
func TestContext_EndsDuringAnAttempt(t *testing.T) {
	denied := &net.OpError{Op: "remote error", Err: errors.New("tls: access denied")}
	for name, c := range map[string]struct {
		isWrite bool
		serve   http.HandlerFunc
		outcome prospectkit.Outcome
		cause   error
	}{
		"read":               {false, tests.Hangs, prospectkit.OutcomeNotApplied, errApplication},
		"write":              {true, tests.Hangs, prospectkit.OutcomeUnknown, errApplication},
		"read in the body":   {false, tests.Drips, prospectkit.OutcomeNotApplied, errApplication},
		"write in the body":  {true, tests.Drips, prospectkit.OutcomeApplied, errApplication},
		"write beside a TLS": {true, tests.Hangs, prospectkit.OutcomeUnknown, denied},
	} {
		tests.Serving(t, name, tests.Drained(c.serve), func(t *testing.T, m *tests.MemoryServer) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(c.cause) })
			began := time.Now()
			info, err := tests.Call(ctx, m.Client(t), c.isWrite)
			require.Equal(t, time.Second, time.Since(began))
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, c.outcome, prospectkit.OutcomeOf(err))
			require.EqualValues(t, 1, m.Requests.Load())
			require.Equal(t, "unknown", info.Attempts[0].Delivery)
		})
	}
}

// A connection that is still being made when the context ends has carried nothing.
func TestContext_EndsWhileDialling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := tests.Within(t, time.Second)
		d, release := hanging()
		defer release()
		info, err := tests.Call(ctx, tests.NewClient(t, d), true)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.Len(t, info.Attempts, 1)
		require.Equal(t, "not sent", info.Attempts[0].Delivery)
	})
}

// The time limit of an attempt covers connecting: what was not sent is retried, writes too.
func TestContext_AttemptTimeoutWhileDialling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, release := hanging()
		defer release()
		began := time.Now()
		info, err := tests.Call(t.Context(), tests.NewClient(t, d, prospectkit.WithAttemptTimeout(time.Second)), true)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.ErrorContains(t, err, "no connection to the service was made within the time limit")
		require.Len(t, info.Attempts, 3)
		require.GreaterOrEqual(t, time.Since(began), 3*time.Second)
		require.Less(t, time.Since(began), 5*time.Second)
	})
}

// A time limit of the caller's HTTP client counts for one attempt. Time spent waiting for the surface does not use it up.
func TestContext_TimeoutOfTheHTTPClient(t *testing.T) {
	tests.Serving(t, "without a response", tests.Drained(tests.Hangs), func(t *testing.T, m *tests.MemoryServer) {
		h := &http.Client{Transport: m.Transport, Timeout: time.Second}
		for isWrite, want := range map[bool]int32{false: 3, true: 1} {
			m.Requests.Store(0)
			info, err := tests.Call(t.Context(), tests.Through(t, h), isWrite)
			require.Error(t, err)
			require.Equal(t, time.Second, info.Attempts[0].Duration)
			require.Equal(t, want, m.Requests.Load())
			require.Equal(t, isWrite, errors.Is(err, prospectkit.ErrOutcomeUnknown))
		}
	})
	tests.InTime(t, "while the surface is paused", func(t *testing.T) {
		requests := 0
		h := &http.Client{Timeout: time.Second, Transport: tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if requests++; requests == 1 {
				return tests.Respond(429, "", "Retry-After", "60"), nil
			}
			_, _ = io.Copy(io.Discard, r.Body)
			return tests.Respond(201, `{"list":`+tests.OneList+`}`), r.Context().Err()
		})}
		client := tests.Through(t, h, prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 2}))
		_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}, tests.OneAttempt)
		require.ErrorIs(t, err, prospectkit.ErrRateLimited)
		require.NoError(t, tests.Discard(tests.Call(t.Context(), client, true)))
		require.Equal(t, 2, requests)
	})
}

// hanging makes a transport whose connections are never made. net/http goes on dialling after an ended request, until release.
func hanging() (d *tests.Dialer, release func()) {
	done := make(chan struct{})
	return tests.Dialing(func(context.Context, string, string) (net.Conn, error) {
		<-done
		return nil, net.ErrClosed
	}), func() { close(done) }
}

// digestNow is the digest of a review.
func digestNow(t *testing.T) string {
	t.Helper()
	r, err := tests.SandboxClient(t, tests.EverySandbox(t, time.Now())).Campaigns.Review(t.Context(), tests.CampaignID)
	require.NoError(t, err)
	return r.Digest()
}

// A missing context is a clear local error everywhere, never a panic.
func TestContext_Missing(t *testing.T) {
	const id = "a00000000000000000000001"
	pages := prospectkit.MaxPaidPages(1)
	type client = prospectkit.Client
	calls := map[string]tests.AnyCall{
		"ensure": tests.With((*prospectkit.ListsService).Ensure, tests.Q1),
		"wait":   tests.With((*prospectkit.AgentsService).WaitSettled, id),
		"start":  tests.With((*prospectkit.AgentsService).CreateAndStart, prospectkit.AgentSpec(tests.Capped())),
		"await":  tests.WithTwo((*prospectkit.ListsService).WaitFor, id, func(*prospectkit.List) bool { return true }),
		"call": func(ctx context.Context, c *client, _ ...prospectkit.CallOption) (any, error) {
			return nil, c.Call(ctx, tests.Described(http.MethodGet, op.Read), nil, nil)
		},
		"iterate": func(ctx context.Context, c *client, _ ...prospectkit.CallOption) (any, error) {
			return prospectkit.Collect(c.Lists.All(ctx, prospectkit.ListsParams{}), 1)
		},
		"wait for each": func(ctx context.Context, c *client, _ ...prospectkit.CallOption) (any, error) {
			return prospectkit.Collect(c.Agents.WaitEach(ctx, id), 1)
		},
		"search": func(ctx context.Context, c *client, _ ...prospectkit.CallOption) (any, error) {
			return prospectkit.Collect(c.Search.Prospects(ctx, prospectkit.SearchParams{}, pages), 1)
		},
	}
	maps.Copy(calls, map[string]tests.AnyCall{ // these read the journal, or ask the guard, before a call
		"approve": tests.WithTwo((*prospectkit.CampaignsService).Approve, tests.CampaignID, digestNow(t)),
		"recover": func(ctx context.Context, c *client, _ ...prospectkit.CallOption) (any, error) { return c.Recover(ctx) },
		"in doubt": func(ctx context.Context, c *client, _ ...prospectkit.CallOption) (any, error) {
			for _, err := range c.InDoubt(ctx) {
				return nil, err
			}
			return nil, nil
		},
		"calls": func(ctx context.Context, c *client, _ ...prospectkit.CallOption) (any, error) {
			for _, err := range c.Calls(ctx, "lists.create") {
				return nil, err
			}
			return nil, nil
		},
	})
	maps.Copy(calls, tests.EveryCall)
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			var none context.Context
			j, err := journal.Open(filepath.Join(t.TempDir(), "journal"), "acme")
			require.NoError(t, err)
			defer j.Close()
			_, err = call(none, tests.NewClient(t, tests.Untouched(t), prospectkit.WithJournal(j), prospectkit.WithSpendGuard(spend.NewGuard(1e6, nil))))
			require.ErrorAs(t, err, new(*prospectkit.RefusedError))
			require.ErrorContains(t, err, "context must not be nil")
		})
	}
}

// A call whose context ends in the journal, the guard or the token source was not sent, whatever those return then: its ticket and
// its credits are settled.
func TestContext_EndsBeforeItIsSent(t *testing.T) {
	for name, set := range map[string]func(until func(), book *tests.Notebook, store *tests.CreditStore, keys *tests.Source){
		"in the journal": func(until func(), book *tests.Notebook, _ *tests.CreditStore, _ *tests.Source) {
			book.OnSending = until
		},
		"in the guard":        func(until func(), _ *tests.Notebook, store *tests.CreditStore, _ *tests.Source) { store.Before = until },
		"in the token source": func(until func(), _ *tests.Notebook, _ *tests.CreditStore, keys *tests.Source) { keys.Asks = until },
	} {
		tests.InTime(t, name, func(t *testing.T) {
			ctx := tests.Within(t, time.Second)
			book, store, keys := new(tests.Notebook), new(tests.CreditStore), &tests.Source{Tokens: []string{"key-1"}}
			set(func() { <-ctx.Done() }, book, store, keys)
			guard := spend.NewSharedGuard(100, tests.PerProfile, store)
			client, err := prospectkit.New(tests.BaseURL, "", prospectkit.WithTransport(tests.Untouched(t)), prospectkit.WithTokenSource(keys.Token),
				prospectkit.WithJournal(book), prospectkit.WithSpendGuard(guard))
			require.NoError(t, err)
			_, err = client.Search.ProspectsPage(ctx, prospectkit.SearchParams{Size: 30})
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "%v", err)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "stopped before it was sent")
			require.Empty(t, tests.AsError(t, err).Attempts)
			for id, outcome := range book.Noted {
				require.Equal(t, journal.NotApplied, outcome, id)
			}
			require.Len(t, book.Noted, len(book.Sent))
			if name == "in the token source" {
				require.Empty(t, book.Sent, "nobody else is asked for what is not sent")
			}
			require.Zero(t, tests.Booked(t, guard).InDoubt)
		})
	}
}

// The same before a later attempt: what the earlier ones may have done stays, and what they did not do.
func TestContext_EndsBeforeALaterAttemptIsSent(t *testing.T) {
	for want, rt := range map[prospectkit.Outcome]tests.RoundTrip{
		prospectkit.OutcomeUnknown:    tests.CutOff,
		prospectkit.OutcomeNotApplied: tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "1"),
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx := tests.Within(t, time.Minute)
			book := new(tests.Notebook)
			book.OnSending = func() {
				if len(book.Sent) == 1 {
					<-ctx.Done()
				}
			}
			client := tests.NewClient(t, rt, prospectkit.WithJournal(book))
			_, err := client.Lists.Create(ctx, tests.Firms, prospectkit.AllowRetryUnknown())
			require.Equal(t, want, prospectkit.OutcomeOf(err), "%v", err)
			require.Len(t, book.Sent, 2)
			require.Equal(t, map[string]journal.Outcome{"lists.create": want}, book.Outcomes())
			if unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok {
				require.Len(t, unknown.Attempts, 1)
			} else {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Len(t, tests.AsError(t, err).Attempts, 1)
			}
		})
	}
}

// The file of an upload that is not sent is closed.
func TestContext_EndsBeforeAnUploadIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := tests.Within(t, time.Second)
		book := &tests.Notebook{OnSending: func() { <-ctx.Done() }}
		closed := 0
		up := tests.CSVUpload("name\nAda\n")
		up.Open = func() (io.ReadCloser, error) {
			return struct {
				io.Reader
				io.Closer
			}{strings.NewReader("name\nAda\n"), closerFunc(func() error { closed++; return nil })}, nil
		}
		_, err := tests.NewClient(t, tests.Untouched(t), prospectkit.WithJournal(book)).Imports.Upload(ctx, up)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "%v", err)
		require.Equal(t, 1, closed)
	})
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

// A call that would have to wait longer than its context lasts says that the deadline was too near, also if it may not wait at all.
func TestContext_DeadlineBeforeTheWait(t *testing.T) {
	for _, longest := range []time.Duration{0, time.Second, time.Hour} {
		for within, want := range map[time.Duration]bool{5 * time.Second: true, 10 * time.Minute: false} {
			if longest == time.Hour && !want {
				continue // it waits
			}
			synctest.Test(t, func(t *testing.T) {
				none := tests.Always(200, tests.OneUser, "RateLimit-Limit", "120", "RateLimit-Remaining", "0", "RateLimit-Reset", "40")
				client := tests.NewClient(t, none, prospectkit.WithMaxWait(longest))
				require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
				ctx := tests.Within(t, within)
				_, err := client.Account.Me(ctx)
				require.InDelta(t, 41, time.Until(tests.FitsAt(t, err)).Seconds(), 1.5)
				if want {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				} else {
					require.NotErrorIs(t, err, context.DeadlineExceeded)
				}
			})
		}
	}
}

func longest(d time.Duration) []prospectkit.ClientOption {
	return []prospectkit.ClientOption{prospectkit.WithMaxWait(d)}
}

// A wait for the rate limit that does not fit is not begun: the call says at once when it would, whether the service said so, in the error
// of its response, or the budget knew. As long as the surface is paused, nothing more is sent, reads nor writes.
func TestContext_RefusedWaitsSayWhen(t *testing.T) {
	for name, c := range map[string]struct {
		retryAfter string
		within     time.Duration // the deadline; 0: none
		opts       []prospectkit.ClientOption
		wait       time.Duration // 0: less than a second
		window     string
	}{
		"deadline":               {"60", 2 * time.Second, nil, time.Minute, "minute"},
		"deadline, one attempt":  {"60", 2 * time.Second, []prospectkit.ClientOption{tests.OneAttempt}, time.Minute, "minute"},
		"just at the deadline":   {"10", 10 * time.Second, nil, 10 * time.Second, "minute"},
		"far beyond it":          {"3600", 3 * time.Second, longest(2 * time.Hour), time.Hour, "day"},
		"longest wait":           {"3600", 0, nil, time.Hour, "day"},
		"just longer than that":  {"121", 0, nil, 121 * time.Second, "day"},
		"longer than allowed":    {"3", 0, longest(2999 * time.Millisecond), 3 * time.Second, "minute"},
		"no wait":                {"1", 0, longest(0), time.Second, "minute"},
		"no wait, none was told": {"", 0, longest(0), 0, "minute"},
		"never":                  {"99999999999", 2 * time.Second, nil, 24 * time.Hour, "day"},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			ctx := t.Context()
			if c.within > 0 {
				ctx = tests.Within(t, c.within)
			}
			began := time.Now()
			rt := tests.Stage(t, tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", c.retryAfter))
			client := tests.NewClient(t, rt, c.opts...)
			for n := range 5 {
				var info prospectkit.Info
				_, err := client.Lists.Page(ctx, prospectkit.ListsParams{}, prospectkit.WithInfo(&info))
				if n%2 == 1 {
					info, err = tests.Call(ctx, client, true)
				}
				at := tests.FitsAt(t, err)
				if n > 0 || name != "never" { // which the service asked for, and nobody waits for
					require.WithinRange(t, at, began.Add(c.wait), began.Add(c.wait+time.Second), "jitter adds a tenth at most")
				}
				require.True(t, at.After(began))
				require.GreaterOrEqual(t, tests.Waits(err), at.Sub(began))
				require.ErrorContains(t, err, "the rate limit of surface lists ("+c.window+") has room in ")
				require.Equal(t, c.within > 0, errors.Is(err, context.DeadlineExceeded))
				require.NotErrorIs(t, err, context.Canceled)
				require.NotErrorIs(t, err, prospectkit.ErrNotFound)
				e, answered := errors.AsType[*prospectkit.Error](err)
				require.Equal(t, n == 0, answered)
				if answered {
					require.Equal(t, 429, e.Status)
					require.Len(t, e.Attempts, 1)
				} else {
					require.Equal(t, at.Sub(began), tests.Waits(err))
					require.Empty(t, info.Attempts)
				}
				require.Equal(t, began, time.Now(), "at once")
			}
			require.Len(t, rt.Sent, 1)
		})
	}
}

// A 429 whose attempts are used up, and whose wait would fit, is the service's refusal alone.
func TestContext_AttemptsThatAreUsedUpAreNoRefusedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := tests.Call(t.Context(), tests.NewClient(t, tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "7")), true)
		require.NotContains(t, err.Error(), "has room in")
		require.Len(t, tests.AsError(t, err).Attempts, 3)
		require.Equal(t, 7*time.Second, tests.Waits(err))
	})
}

// A call that failed, and then had no time to wait for the rate limit, says how long that takes.
func TestContext_WaitAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := tests.NewClient(t, tests.Always(503, "", "RateLimit-Limit", "120", "RateLimit-Remaining", "0", "RateLimit-Reset", "40"), prospectkit.WithMaxWait(10*time.Second))
		_, err := client.Account.Me(t.Context())
		require.Equal(t, 503, tests.AsError(t, err).Status)
		require.WithinDuration(t, time.Now().Add(tests.Waits(err)), tests.FitsAt(t, err), time.Millisecond)
	})
}
