package services_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// rateTold is a response with an agent and the headers of a rate window.
func rateTold(status string, limit, remaining, reset int) tests.RoundTrip {
	return tests.Always(200, tests.AgentJSON(status), "RateLimit-Limit", strconv.Itoa(limit), "RateLimit-Remaining", strconv.Itoa(remaining),
		"RateLimit-Reset", strconv.Itoa(reset))
}

// waited runs WaitSettled over a script, in a bubble, and checks how long it took.
func waited(t *testing.T, steps []tests.RoundTrip, atLeast, atMost time.Duration, check func(*testing.T, *prospectkit.Agent, error), opts ...prospectkit.ClientOption) {
	t.Helper()
	waitedUntil(t, 24*time.Hour, steps, atLeast, atMost, check, opts...)
}

// waitedUntil does so with a deadline.
func waitedUntil(
	t *testing.T, deadline time.Duration, steps []tests.RoundTrip, atLeast, atMost time.Duration,
	check func(*testing.T, *prospectkit.Agent, error), opts ...prospectkit.ClientOption,
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		s := tests.Stage(t, steps...)
		began := time.Now()
		agent, err := tests.NewClient(t, s, opts...).Agents.WaitSettled(ctx, tests.AgentID)
		check(t, agent, err)
		s.Done()
		require.GreaterOrEqual(t, time.Since(began), atLeast)
		require.LessOrEqual(t, time.Since(began), atMost)
	})
}

func settledAs(status prospectkit.AgentStatus) func(*testing.T, *prospectkit.Agent, error) {
	return func(t *testing.T, agent *prospectkit.Agent, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, status, agent.Status)
	}
}

func TestWait_Settled(t *testing.T) {
	for _, status := range []string{"active", "paused", "expired", "failed"} {
		waited(t, []tests.RoundTrip{tests.Sees(status)}, 0, 0, settledAs(prospectkit.AgentStatus(status)))
	}
	// 2 s, 3 s, 4.5 s: each at most a tenth longer.
	waited(t, append(tests.Times(3, tests.Sees("processing")), tests.Sees("active")), 9500*time.Millisecond, 10450*time.Millisecond, settledAs("active"))
	// Neither an undocumented state nor none at all is an end.
	waited(t, []tests.RoundTrip{tests.Sees("hibernating"), tests.Sees(""), tests.Always(200, `{"agent":{}}`), tests.Sees("paused")}, 9500*time.Millisecond, 10450*time.Millisecond, settledAs("paused"))
}

func TestWait_SlowsDownToAPollAMinute(t *testing.T) {
	polls := pollsOfADay(t, tests.Sees("processing"), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Discard(c.Agents.WaitSettled(ctx, tests.AgentID))
	})
	require.Less(t, len(polls), 1450, "a day of 2,000 requests is not used up")
	require.Greater(t, len(polls), 1300)
	for i := 1; i < len(polls); i++ {
		pause := polls[i].Sub(polls[i-1])
		require.GreaterOrEqual(t, pause, 2*time.Second)
		require.LessOrEqual(t, pause, 66*time.Second)
	}
}

// A minute between polls would use more than a day's quota of a surface with 1,000 requests.
func TestWait_ForACampaignLastsTheDay(t *testing.T) {
	polls := pollsOfADay(t, tests.Always(200, `[{"id":"`+tests.ListID+`"}]`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Discard(c.Campaigns.WaitInitialized(ctx, tests.ListID))
	})
	require.Less(t, len(polls), 1000)
	require.Greater(t, len(polls), 900)
}

// pollsOfADay is when a wait polls that does not end for a day.
func pollsOfADay(t *testing.T, rt tests.RoundTrip, wait func(context.Context, *prospectkit.Client) error) (polls []time.Time) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			polls = append(polls, time.Now())
			return rt(r)
		}))
		require.ErrorIs(t, wait(ctx, client), context.DeadlineExceeded)
	})
	return polls
}

func TestWait_LeavesHalfOfTheWindowToOthers(t *testing.T) {
	// 6 requests left for 60 s: three of them are the waiter's.
	waited(t, []tests.RoundTrip{rateTold("processing", 30, 6, 60), tests.Sees("active")}, 20*time.Second, 22*time.Second, settledAs("active"))
	// One left, or none: not before the reset.
	waited(t, []tests.RoundTrip{rateTold("processing", 30, 1, 40), tests.Sees("active")}, 40*time.Second, 44*time.Second, settledAs("active"))
	waited(t, []tests.RoundTrip{rateTold("processing", 30, 0, 40), tests.Sees("active")}, 40*time.Second, 44*time.Second, settledAs("active"))
	// Plenty left: no slower than usual.
	waited(t, []tests.RoundTrip{rateTold("processing", 30, 29, 10), tests.Sees("active")}, 2*time.Second, 2200*time.Millisecond, settledAs("active"))
	// What is left was not told: no slower either.
	untold := tests.Always(200, tests.AgentJSON("processing"), "RateLimit-Limit", "30", "RateLimit-Remaining", "", "RateLimit-Reset", "50")
	waited(t, []tests.RoundTrip{untold, tests.Sees("active")}, 2*time.Second, 2200*time.Millisecond, settledAs("active"))
	// A day that is nearly used up: once in an hour at most, and at least.
	waited(t, []tests.RoundTrip{rateTold("processing", 2000, 4, 36_000), tests.Sees("active")}, time.Hour, 66*time.Minute, settledAs("active"))
	// The window of another surface does not matter.
	lists := tests.Always(200, `{"list":`+tests.OneList+`}`, "RateLimit-Limit", "120", "RateLimit-Remaining", "0", "RateLimit-Reset", "50")
	synctest.Test(t, func(t *testing.T) {
		client := tests.NewClient(t, tests.Stage(t, lists, tests.Sees("processing"), tests.Sees("active")))
		_, err := client.Lists.Get(t.Context(), tests.ListID)
		require.NoError(t, err)
		began := time.Now()
		require.NoError(t, tests.Discard(client.Agents.WaitSettled(t.Context(), tests.AgentID)))
		require.Less(t, time.Since(began), 3*time.Second)
	})
}

func TestWait_ForADraftEndsAtOnce(t *testing.T) {
	waited(t, []tests.RoundTrip{tests.Sees("processing"), tests.Sees("initializing")}, 2*time.Second, 3*time.Second, func(t *testing.T, agent *prospectkit.Agent, err error) {
		var never *prospectkit.Error
		require.ErrorAs(t, err, &never)
		require.ErrorIs(t, err, prospectkit.ErrNotStarted)
		require.ErrorIs(t, err, prospectkit.ErrConflict)
		require.Equal(t, prospectkit.OutcomeNotApplied, never.Outcome())
		require.Equal(t, prospectkit.AgentStatusInitializing, agent.Status)
		require.ErrorContains(t, err, "never started")
		require.Equal(t, slog.KindGroup, never.LogValue().Kind())
	})
	started := tests.Always(200, `{"agent":{"status":"initializing","started":true}}`)
	waited(t, []tests.RoundTrip{started, tests.Sees("active")}, 2*time.Second, 3*time.Second, settledAs("active"))
}

// Each failing poll is one call, with retries of its own: single failures are survived, five in a row are not.
func TestWait_SurvivesFailures(t *testing.T) {
	failing := tests.Always(500, tests.Envelope("UNEXPECTED_ERROR"))
	four := append(tests.Times(4, failing), tests.Sees("processing"))
	waited(t, append(append(four, four...), tests.Sees("active")), time.Minute, 10*time.Minute, settledAs("active"), noRetry)
	waited(t, []tests.RoundTrip{tests.CutOff, tests.Always(502, "<html>"), tests.Always(200, "<html>"), tests.Sees("active")}, 9*time.Second, 11*time.Second, settledAs("active"), noRetry)
	waited(t, append(tests.Times(3, failing), tests.Sees("active")), 2750*time.Millisecond, 4*time.Second, settledAs("active"))

	waited(t, append([]tests.RoundTrip{tests.Sees("processing")}, tests.Times(5, failing)...), 0, 10*time.Minute, func(t *testing.T, agent *prospectkit.Agent, err error) {
		require.Equal(t, prospectkit.AgentStatusProcessing, agent.Status, "the value seen last")
		require.ErrorIs(t, err, prospectkit.ErrNotSettled)
		require.ErrorIs(t, err, prospectkit.CodeUnexpectedError)
		require.Equal(t, prospectkit.CodeUnexpectedError, prospectkit.CodeOf(err))
		require.Equal(t, 500, tests.AsError(t, err).Status, "of the last poll")
		require.NotEmpty(t, tests.AsError(t, err).RequestID)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.Regexp(t, `^prospectkit: agents.get: not settled after [^ ]+ and 6 polls, last seen as processing: 500 UNEXPECTED_ERROR`, err.Error())
	}, noRetry)
}

func TestWait_EndsWherePollingIsOfNoUse(t *testing.T) {
	for status, code := range map[int]prospectkit.Code{
		403: prospectkit.CodeInsufficientScope, 401: prospectkit.CodeUnauthorized,
		422: prospectkit.CodeValidationFailed,
	} {
		waited(t, []tests.RoundTrip{tests.Sees("processing"), tests.Always(status, tests.Envelope(string(code)))}, 2*time.Second, 3*time.Second,
			func(t *testing.T, agent *prospectkit.Agent, err error) {
				require.Equal(t, prospectkit.AgentStatusProcessing, agent.Status)
				require.Equal(t, code, prospectkit.CodeOf(err))
				require.Equal(t, status, tests.AsError(t, err).Status)
			})
	}
	waited(t, []tests.RoundTrip{tests.Always(403, tests.Envelope("INSUFFICIENT_SCOPE"))}, 0, 0, func(t *testing.T, agent *prospectkit.Agent, err error) {
		require.Nil(t, agent)
		require.ErrorIs(t, err, prospectkit.ErrForbidden)
	})
}

func TestWait_ObeysTheRateLimit(t *testing.T) {
	limited := tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "600")
	waited(t, []tests.RoundTrip{tests.Sees("processing"), limited, tests.Sees("active")}, 602*time.Second, 670*time.Second, settledAs("active"))
	waitedUntil(t, time.Hour, []tests.RoundTrip{tests.Sees("processing"), limited, tests.Sees("active")}, 602*time.Second, 670*time.Second, settledAs("active"))
	tooLate := func(t *testing.T, agent *prospectkit.Agent, err error) {
		t.Helper()
		require.Equal(t, prospectkit.AgentStatusProcessing, agent.Status)
		require.ErrorIs(t, err, context.DeadlineExceeded, "the next poll would be too late")
		require.ErrorContains(t, err, "deadline is too near")
		require.Equal(t, 429, tests.AsError(t, err).Status)
	}
	waitedUntil(t, time.Minute, []tests.RoundTrip{tests.Sees("processing"), limited}, 0, 3*time.Second, func(t *testing.T, agent *prospectkit.Agent, err error) {
		tooLate(t, agent, err)
		require.ErrorIs(t, err, prospectkit.ErrRateLimited)
	})
	waitedUntil(t, time.Minute, []tests.RoundTrip{tests.Sees("processing"), tests.Always(429, "", "Retry-After", "300")}, 0, time.Minute, tooLate, noRetry)
}

func TestWait_EndsWithTheContext(t *testing.T) {
	four := 4 * time.Second
	waitedUntil(t, four, tests.Times(2, tests.Sees("hibernating")), four, four, func(t *testing.T, agent *prospectkit.Agent, err error) {
		require.Equal(t, prospectkit.AgentStatus("hibernating"), agent.Status)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, prospectkit.ErrNotSettled)
		require.Equal(t, "agents.get", tests.AsError(t, err).Op)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.Equal(t, tests.NoWait, tests.Waits(err))
		require.Equal(t, slog.KindGroup, tests.AsError(t, err).LogValue().Kind())
		require.EqualError(t, err, "prospectkit: agents.get: not settled after 4s and 2 polls, last seen as hibernating: context deadline exceeded")
	})
	// A failed poll that names no time ends no wait early: the next one may have been in time, had the pause been shorter.
	failing := tests.Always(500, tests.Envelope("UNEXPECTED_ERROR"))
	waitedUntil(t, four, tests.Times(2, failing), four, four, func(t *testing.T, _ *prospectkit.Agent, err error) {
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, prospectkit.CodeUnexpectedError)
	}, noRetry)
	ctx, cancel := context.WithCancelCause(t.Context())
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		cancel(errors.New("the user has left"))
		return nil, context.Canceled
	}))
	agent, err := client.Agents.WaitSettled(ctx, tests.AgentID)
	require.Nil(t, agent)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "1 poll, no state was seen")
}

func TestWait_TellsObservers(t *testing.T) {
	var told []string
	observer := tests.Watch(func(e prospectkit.Event) {
		if e.Kind == prospectkit.EventWait {
			require.Equal(t, "agents.get", e.Op)
			require.NotEmpty(t, e.Host)
			require.Equal(t, "agents", e.Surface)
			require.Equal(t, len(told)+2, e.Attempt)
			require.GreaterOrEqual(t, e.Wait, 2*time.Second)
			told = append(told, e.Reason)
		}
	})
	steps := []tests.RoundTrip{tests.Sees("processing"), tests.Sees("hibernating"), tests.CutOff, tests.Sees("active")}
	waited(t, steps, 0, time.Minute, settledAs("active"), observer, noRetry)
	require.Equal(t, []string{
		"polling: not settled yet", "polling: the state is undocumented", "polling: the last poll failed",
	}, told)
}

func TestWait_ForAList(t *testing.T) {
	list := func(state string) tests.RoundTrip {
		return tests.Always(200, `{"list":{"id":"`+tests.ListID+`","name":"Berlin","completionStatus":`+tests.JSONText(state)+`}}`)
	}
	done := func(l *prospectkit.List) bool { return l.Raw().Text("completionStatus") == "yours" }
	synctest.Test(t, func(t *testing.T) {
		s := tests.Stage(t, list("x"), list("y"), list("yours"))
		began := time.Now()
		got, err := tests.NewClient(t, s).Lists.WaitFor(t.Context(), tests.ListID, done)
		require.NoError(t, err)
		require.Equal(t, "Berlin", got.Name)
		require.GreaterOrEqual(t, time.Since(began), 5*time.Second)
		s.Done()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got, err = tests.NewClient(t, list("x")).Lists.WaitFor(ctx, tests.ListID, done)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, "Berlin", got.Name, "the list as it was seen last")
		require.ErrorContains(t, err, "1 poll, last seen as failing the test")
	})
	_, err := tests.NewClient(t, tests.Untouched(t)).Lists.WaitFor(t.Context(), tests.ListID, nil)
	require.Equal(t, []string{"test must not be nil"}, tests.Refusals(t, err))
	_, err = tests.NewClient(t, tests.Untouched(t)).Lists.WaitFor(t.Context(), "x", done)
	require.Equal(t, []string{"listId must be 24 hexadecimal digits"}, tests.Refusals(t, err))
}

// Whoever cancels between two polls is told so, and not that a deadline is too near.
func TestWait_CanceledBetweenPolls(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client := tests.NewClient(t, tests.Sees("processing"), tests.Watch(func(e prospectkit.Event) {
		if e.Kind == prospectkit.EventEnd {
			cancel()
		}
	}))
	agent, err := client.Agents.WaitSettled(ctx, tests.AgentID)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	require.NotNil(t, agent)
}

// A range whose wait for the rate limit is refused says so once, and ends, also where the loop goes on after an error. The loop that
// repeats the range knows how long to wait.
func TestRanges_EndWhereAWaitIsRefused(t *testing.T) {
	for name, ranges := range map[string]func(context.Context, *prospectkit.Client) iter.Seq[error]{
		"rows": func(ctx context.Context, c *prospectkit.Client) iter.Seq[error] {
			return errorsOf(c.Lists.Rows(ctx, tests.ListID, prospectkit.RowsParams{}))
		},
		"rows, page by page": func(ctx context.Context, c *prospectkit.Client) iter.Seq[error] {
			return errorsOf(c.Lists.Rows(ctx, tests.ListID, prospectkit.RowsParams{}, prospectkit.Sequential()))
		},
		"rows of": func(ctx context.Context, c *prospectkit.Client) iter.Seq[error] {
			return errorsOf(prospectkit.RowsOf[tests.Contact](ctx, c.Lists, tests.ListID, prospectkit.RowsParams{}))
		},
		"pages": func(ctx context.Context, c *prospectkit.Client) iter.Seq[error] {
			return errorsOf(c.Lists.Pages(ctx, prospectkit.ListsParams{}))
		},
		"search": func(ctx context.Context, c *prospectkit.Client) iter.Seq[error] {
			return errorsOf(c.Search.Prospects(ctx, tests.Everything, prospectkit.MaxPaidPages(9)))
		},
		"waits": func(ctx context.Context, c *prospectkit.Client) iter.Seq[error] {
			return errorsOf(c.Agents.WaitEach(ctx, tests.AgentID))
		},
	} {
		tests.InBubble(t, name, func(t *testing.T) {
			limited := tests.Always(http.StatusTooManyRequests, tests.Envelope("RATE_LIMITED"), "Retry-After", "3600")
			c := tests.NewClient(t, limited, prospectkit.WithMaxWait(time.Second))
			for range 2 {
				var got []error
				for err := range ranges(t.Context(), c) {
					got = append(got, err)
					require.Less(t, len(got), 3)
				}
				require.Len(t, got, 1)
				require.Error(t, got[0])
				least := 30 * time.Second
				if name == "waits" { // polls come after minutes: of the hour, little may be left, but more than WithMaxWait allows
					least = time.Second
				}
				require.Greater(t, tests.Waits(got[0]), least, got[0])
			}
		})
	}
}

// errorsOf goes on after errors.
func errorsOf[T any](seq iter.Seq2[*T, error]) iter.Seq[error] {
	return func(yield func(error) bool) {
		for _, err := range seq {
			if !yield(err) {
				return
			}
		}
	}
}
