package call_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
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

// When time runs out between two attempts, the error says both: the context's end and what the last response was.
func TestContext_EndsDuringBackoff(t *testing.T) {
	causes := map[string]tests.RoundTrip{
		"after a response": tests.Always(503, tests.Envelope("UNEXPECTED_ERROR")),
		"after a cut":      func(*http.Request) (*http.Response, error) { return nil, tests.ErrBroken },
	}
	for name, rt := range causes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				policy := prospectkit.RetryPolicy{BaseDelay: time.Hour, MaxDelay: time.Hour}
				began := time.Now()
				info, err := tests.Call(ctx, tests.NewClient(t, rt, prospectkit.WithRetry(policy)), false)
				require.Equal(t, time.Second, time.Since(began))
				require.ErrorIs(t, err, context.Canceled)
				require.Len(t, info.Attempts, 1)
				e := tests.AsError(t, err)
				if name == "after a cut" {
					require.ErrorIs(t, err, tests.ErrBroken)
				} else {
					require.Equal(t, 503, e.Status)
					require.ErrorIs(t, err, prospectkit.CodeUnexpectedError)
				}
				require.Equal(t, prospectkit.OutcomeNotApplied, e.Outcome())
			})
		})
	}
}

// The same when the deadline would pass before the next attempt: nobody waits for that, and the error still says both.
func TestContext_NoTimeForAnotherAttempt(t *testing.T) {
	for name, rt := range map[string]tests.RoundTrip{
		"after a response":  tests.Always(503, tests.Envelope("UNEXPECTED_ERROR")),
		"after a cut":       func(*http.Request) (*http.Response, error) { return nil, tests.ErrBroken },
		"after half a page": tests.Always(200, `{"data": [`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				policy := prospectkit.RetryPolicy{BaseDelay: time.Hour, MaxDelay: time.Hour}
				began := time.Now()
				info, err := tests.Call(ctx, tests.NewClient(t, rt, prospectkit.WithRetry(policy)), false)
				require.Zero(t, time.Since(began))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Len(t, info.Attempts, 1)
				if name == "after a cut" {
					require.ErrorIs(t, err, tests.ErrBroken)
				}
			})
		})
	}
}

// A write that is waiting for its second chance has not been sent, whenever the context ends.
func TestContext_EndsWhileAWriteWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		info, err := tests.Call(ctx, tests.NewClient(t, tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "60")), true)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, prospectkit.ErrRateLimited)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.Equal(t, 60*time.Second, tests.AsError(t, err).RetryAfter)
		require.Len(t, info.Attempts, 1)
	})
}

// A response that is there beats a context that ended in the same moment.
func TestContext_ResponseBeatsIt(t *testing.T) {
	for _, isWrite := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			rt := tests.RoundTrip(func(*http.Request) (*http.Response, error) {
				cancel()
				if isWrite {
					return tests.Respond(201, `{"list":`+tests.OneList+`}`), nil
				}
				return tests.Respond(200, tests.OneUser), nil
			})
			info, err := tests.Call(ctx, tests.NewClient(t, rt), isWrite)
			require.NoError(t, err)
			require.Equal(t, "confirmed", info.Attempts[0].Delivery)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := tests.Call(ctx, tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
			cancel()
			return tests.Respond(409, tests.Envelope("LIST_NAME_TAKEN")), nil
		})), true)
		require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "a clear refusal")
	})
}

// What an ended context says about a request in flight.
func TestContext_EndsDuringAnAttempt(t *testing.T) {
	cases := []struct {
		name    string
		isWrite bool
		serve   http.HandlerFunc
		outcome prospectkit.Outcome
	}{
		{"read", false, tests.Hangs, prospectkit.OutcomeNotApplied},
		{"write", true, tests.Hangs, prospectkit.OutcomeUnknown},
		{"read in the body", false, tests.Drips, prospectkit.OutcomeNotApplied},
		{"write in the body", true, tests.Drips, prospectkit.OutcomeApplied},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			tests.InMemory(t, tests.Drained(test.serve), func(t *testing.T, m *tests.MemoryServer) {
				t.Helper()
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(errApplication) })
				began := time.Now()
				info, err := tests.Call(ctx, m.Client(t), test.isWrite)
				require.Equal(t, time.Second, time.Since(began))
				require.ErrorIs(t, err, context.Canceled)
				require.Equal(t, test.outcome, prospectkit.OutcomeOf(err))
				require.EqualValues(t, 1, m.Requests.Load())
				require.Equal(t, "unknown", info.Attempts[0].Delivery)
			})
		})
	}
}

// A connection that is still being made when the context ends has carried nothing.
func TestContext_EndsWhileDialling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
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
	t.Run("without a response", func(t *testing.T) {
		tests.InMemory(t, tests.Drained(tests.Hangs), func(t *testing.T, m *tests.MemoryServer) {
			t.Helper()
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
	})
	t.Run("while the surface is paused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			h := &http.Client{Timeout: time.Second, Transport: tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if requests++; requests == 1 {
					return tests.Respond(429, "", "Retry-After", "60"), nil
				}
				_, _ = io.Copy(io.Discard, r.Body)
				return tests.Respond(201, `{"list":`+tests.OneList+`}`), r.Context().Err()
			})}
			client := tests.Through(t, h, prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 2}))
			_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
			require.ErrorIs(t, err, prospectkit.ErrRateLimited)
			_, err = tests.Call(t.Context(), client, true)
			require.NoError(t, err)
			require.Equal(t, 2, requests)
		})
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

// A missing context is a clear local error everywhere, never a panic.
func TestContext_Missing(t *testing.T) {
	var none context.Context
	client := tests.NewClient(t, tests.Always(http.StatusOK, `{}`))
	const id = "a00000000000000000000001"
	calls := map[string]func() error{
		"read":   func() error { _, err := client.Account.Me(none); return err },
		"write":  func() error { _, err := client.Lists.Create(none, tests.Q1); return err },
		"ensure": func() error { _, err := client.Lists.Ensure(none, tests.Q1); return err },
		"call": func() error {
			return client.Call(none, prospectkit.Operation{
				Name: "x", Method: http.MethodGet, Path: "/x", Surface: "lists", Reads: true, Free: true,
			}, nil, nil)
		},
		"upload": func() error { _, err := client.Imports.FromUpload(none, id); return err },
		"wait":   func() error { _, err := client.Agents.WaitSettled(none, id); return err },
		"await": func() error {
			_, err := client.Lists.WaitFor(none, id, func(*prospectkit.List) bool { return true })
			return err
		},
		"start": func() error {
			_, err := client.Agents.CreateAndStart(none, prospectkit.WebMonitor{ListName: "x", EntityType: "person", Prompt: "x", MaxCreditSpend: 1000})
			return err
		},
		"iterate": func() error {
			_, err := prospectkit.Collect(client.Lists.All(none, prospectkit.ListsParams{}), 1)
			return err
		},
		"wait for each": func() error {
			_, err := prospectkit.Collect(client.Agents.WaitEach(none, id), 1)
			return err
		},
		"search": func() error {
			_, err := prospectkit.Collect(client.Search.Prospects(none, prospectkit.SearchParams{}, prospectkit.MaxPaidPages(1)), 1)
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			err := call()
			require.ErrorAs(t, err, new(*prospectkit.RefusedError))
			require.ErrorContains(t, err, "context must not be nil")
		})
	}
}

// A call without a context is refused, but its observers get one.
func TestContext_ObserversAlwaysGetOne(t *testing.T) {
	told := 0
	client := tests.NewClient(t, tests.Untouched(t), prospectkit.WithObserver(func(ctx context.Context, _ prospectkit.Event) context.Context {
		told++
		require.NoError(t, ctx.Err())
		return nil
	}))
	_, err := client.Account.Me(nil) //nolint:staticcheck // it is what the test is about
	require.Equal(t, []string{"context must not be nil"}, tests.Refusals(t, err))
	require.Equal(t, 2, told)
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
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
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
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
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
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
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
				_, err := client.Account.Me(t.Context())
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				_, err = client.Account.Me(ctx)
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

// A call that ends because the wait for a rate limit does not fit says when it would, whether the service said so, in the error of its
// response, or the budget knew, and nothing was sent.
func TestContext_RefusedWaitsSayWhen(t *testing.T) {
	for name, test := range map[string]struct {
		retryAfter string
		within     time.Duration // the deadline; 0: none
		opts       []prospectkit.ClientOption
		wait       time.Duration // 0: less than a second
		window     string
	}{
		"deadline":               {"60", 2 * time.Second, nil, time.Minute, "minute"},
		"deadline, one attempt":  {"60", 2 * time.Second, []prospectkit.ClientOption{prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})}, time.Minute, "minute"},
		"longest wait":           {"3600", 0, nil, time.Hour, "day"},
		"no wait":                {"1", 0, []prospectkit.ClientOption{prospectkit.WithMaxWait(0)}, time.Second, "minute"},
		"no wait, none was told": {"", 0, []prospectkit.ClientOption{prospectkit.WithMaxWait(0)}, 0, "minute"},
		"never":                  {"99999999999", 2 * time.Second, nil, 24 * time.Hour, "day"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.within > 0 {
					within, cancel := context.WithTimeout(ctx, test.within)
					defer cancel()
					ctx = within
				}
				client := tests.NewClient(t, tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", test.retryAfter), test.opts...)
				for n := range 2 {
					_, err := client.Account.Me(ctx)
					wait := time.Until(tests.FitsAt(t, err))
					if n > 0 || name != "never" { // which the service asked for, and nobody waits for
						require.InDelta(t, test.wait.Seconds(), wait.Seconds(), 1.1, "with jitter")
					}
					require.Positive(t, wait)
					require.GreaterOrEqual(t, tests.Waits(err), wait)
					require.ErrorContains(t, err, "the rate limit of surface account ("+test.window+") has room in ")
					require.Equal(t, test.within > 0, errors.Is(err, context.DeadlineExceeded))
					e, answered := errors.AsType[*prospectkit.Error](err)
					require.Equal(t, n == 0, answered)
					require.Equal(t, n == 1, errors.As(err, new(*prospectkit.RefusedError)))
					if answered {
						require.Equal(t, 429, e.Status)
						require.Len(t, e.Attempts, 1)
					}
				}
			})
		})
	}
}

// A 429 whose attempts are used up, and whose wait would fit, is the service's refusal alone.
func TestContext_AttemptsThatAreUsedUpAreNoRefusedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := tests.NewClient(t, tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "7")).Account.Me(t.Context())
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
