package call_test

import (
	"cmp"
	"context"
	"maps"
	"math"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// Bubbles begin at midnight UTC of the first of January 2000.
const (
	rfc1123     = "Sat, 01 Jan 2000 00:00:05 GMT"
	rfc850      = "Saturday, 01-Jan-00 00:00:05 GMT"
	asctime     = "Sat Jan  1 00:00:05 2000"
	inThePast   = "Fri, 31 Dec 1999 23:00:00 GMT"
	year9999    = "Fri, 31 Dec 9999 23:59:59 GMT"
	easternTime = "Sat, 01 Jan 2000 00:00:05 EST"

	floor  = 500 * time.Millisecond // after a 429
	untold = time.Minute            // after a 429 without a figure, before the last attempt: the documented window
	never  = time.Duration(math.MaxInt64)
)

// The wait before the second attempt: least is a floor, jitter only lengthens it, by a tenth or a second at most.
var retryAfters = []struct {
	name   string
	lines  []string
	least  time.Duration // 0: refused at once
	stated time.Duration // RetryAfter of the error
}{
	{"none", nil, untold, 0},
	{"zero", []string{"0"}, floor, 0},
	{"seconds", []string{"3"}, 3 * time.Second, 3 * time.Second},
	{"leading zeros", []string{"003"}, 3 * time.Second, 3 * time.Second},
	{"RFC 1123 date", []string{rfc1123}, 5 * time.Second, 5 * time.Second},
	{"RFC 850 date", []string{rfc850}, 5 * time.Second, 5 * time.Second},
	{"asctime date", []string{asctime}, 5 * time.Second, 5 * time.Second},
	{"past date", []string{inThePast}, floor, 0},
	{"several lines", []string{"2", "6", "4"}, 6 * time.Second, 6 * time.Second},
	{"unreadable beside readable", []string{"soon", "6"}, 6 * time.Second, 6 * time.Second},
	{"negative", []string{"-1"}, untold, 0},
	{"signed", []string{"+5"}, untold, 0},
	{"fraction", []string{"1.5"}, untold, 0},
	{"empty", []string{""}, untold, 0},
	{"a date with another zone", []string{easternTime}, untold, 0},
	{"longer than allowed", []string{"121"}, 0, 121 * time.Second},
	{"overflows nanoseconds", []string{"9223372037"}, 0, never},
	{"overflows twice", []string{"18446744073"}, 0, never},
	{"absurd", []string{"99999999999999999999999"}, 0, never},
	{"year 9999", []string{year9999}, 0, never},
}

func TestRetryAfter(t *testing.T) {
	for _, test := range retryAfters {
		for _, longestWait := range []time.Duration{2 * time.Minute, never} {
			tests.InTime(t, test.name+"/"+longestWait.String(), func(t *testing.T) {
				least := test.least
				if least == 0 && longestWait == never && test.stated != never {
					least = test.stated // allowed, so waited for
				}
				header := http.Header{"Retry-After": test.lines}
				_, err := refuse(t, 429, header, tests.OneAttempt)
				require.Equal(t, test.stated, tests.AsError(t, err).RetryAfter)
				waits, _ := refuse(t, 429, header, prospectkit.WithMaxWait(longestWait))
				if least == 0 {
					require.Empty(t, waits, "no second attempt")
					return
				}
				require.Len(t, waits, 1)
				require.GreaterOrEqual(t, waits[0], least)
				require.LessOrEqual(t, waits[0], least+min(least/10, time.Second))
			})
		}
	}
}

// refuse makes a call that is refused every time and returns the waits between the attempts, by the clock. After a 429 it is a write: see
// TestRetry_RefusedReadsQueueAgain.
func refuse(t *testing.T, status int, header http.Header, opts ...prospectkit.ClientOption) (waits []time.Duration, err error) {
	t.Helper()
	var arrivals []time.Time
	rt := tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		arrivals = append(arrivals, time.Now())
		resp := tests.Respond(status, "")
		maps.Copy(resp.Header, header)
		return resp, nil
	})
	opts = append([]prospectkit.ClientOption{prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 2})}, opts...)
	_, err = tests.Call(t.Context(), tests.NewClient(t, rt, opts...), status == http.StatusTooManyRequests)
	for i := 1; i < len(arrivals); i++ {
		waits = append(waits, arrivals[i].Sub(arrivals[i-1]))
	}
	return waits, err
}

// Without a figure, the pauses grow to the documented minute, as far as the longest wait and the deadline allow.
func TestRetryAfter_Untold(t *testing.T) {
	const some = 4 * time.Second
	for name, c := range map[string]struct {
		opts     []prospectkit.ClientOption
		deadline time.Duration
		least    []time.Duration
	}{
		"by default":       {nil, time.Hour, []time.Duration{some - time.Second/4, time.Minute}},
		"five attempts":    {[]prospectkit.ClientOption{prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 5})}, time.Hour, []time.Duration{floor, floor, some - time.Second/4, time.Minute}},
		"a longest wait":   {[]prospectkit.ClientOption{prospectkit.WithMaxWait(20 * time.Second)}, time.Hour, []time.Duration{some - time.Second/4, 20 * time.Second}},
		"a near deadline":  {nil, 30 * time.Second, []time.Duration{some - time.Second/4, floor}},
		"a nearer one yet": {nil, 3 * time.Second, []time.Duration{floor, floor}},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			ctx := tests.Within(t, c.deadline)
			var info prospectkit.Info
			_, err := tests.NewClient(t, tests.Always(429, ""), c.opts...).Account.Me(ctx, prospectkit.WithInfo(&info))
			require.ErrorIs(t, err, prospectkit.ErrRateLimited)
			require.Len(t, info.Attempts, len(c.least)+1)
			for i, least := range c.least {
				wait := info.Attempts[i+1].At.Sub(info.Attempts[i].At)
				require.GreaterOrEqual(t, wait, least, i)
				require.LessOrEqual(t, wait, 2*least+time.Second, i)
			}
		})
	}
}

// A refusal without a Retry-After that can be read is waited for until its window has reset, if it says that nothing is left: with a
// second for a reset that was rounded down. No window is longer than a day.
func TestRetryAfter_ResetInItsPlace(t *testing.T) {
	header := func(remaining, reset string, after ...string) http.Header {
		return http.Header{"Ratelimit-Limit": {"120"}, "Ratelimit-Remaining": {remaining}, "Ratelimit-Reset": {reset}, "Retry-After": after}
	}
	for name, test := range map[string]struct {
		header http.Header
		least  time.Duration
		told   bool
	}{
		"none":              {header("0", "50"), 51 * time.Second, true},
		"a fraction":        {header("0", "50", "1.5"), 51 * time.Second, true},
		"parameters":        {header("0", "50", "50;q=1"), 51 * time.Second, true},
		"now":               {header("0", "0"), time.Second, true},
		"a day's":           {header("0", "80000"), 80001 * time.Second, true},
		"absurd":            {header("0", "900000000000000"), 24 * time.Hour, true},
		"readable":          {header("0", "50", "3"), 3 * time.Second, true},
		"joined lines":      {header("0", "50", "3, 20"), 20 * time.Second, true},
		"something is left": {header("1", "50"), floor, false},
		"no reset":          {header("0", "soon"), untold, false},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			_, err := refuse(t, 429, test.header, tests.OneAttempt)
			e := tests.AsError(t, err)
			if test.told {
				require.Equal(t, test.least, e.RetryAfter)
				require.Equal(t, time.Now().Add(test.least), e.ResetAt)
			} else {
				require.Zero(t, e.RetryAfter)
				require.Equal(t, name == "something is left", time.Now().Add(50*time.Second).Equal(e.ResetAt))
				require.Equal(t, time.Minute, tests.Waits(err))
			}
			waits, err := refuse(t, 429, test.header, prospectkit.WithMaxWait(25*time.Hour))
			require.Len(t, waits, 1)
			require.GreaterOrEqual(t, waits[0], test.least)
			require.LessOrEqual(t, waits[0], test.least+min(test.least/10, time.Second))
			require.Equal(t, cmp.Or(tests.AsError(t, err).RetryAfter, time.Minute), tests.Waits(err))
		})
	}
	synctest.Test(t, func(t *testing.T) { // no other status is about the window
		_, err := refuse(t, 503, header("0", "50"))
		require.Zero(t, tests.AsError(t, err).RetryAfter)
	})
}

// Dates are held against the server's clock where the response tells it.
func TestRetryAfter_DateUsesTheServersClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits, _ := refuse(t, 429, http.Header{"Retry-After": {rfc1123}, "Date": {"Fri, 31 Dec 1999 23:59:55 GMT"}})
		require.Len(t, waits, 1)
		require.GreaterOrEqual(t, waits[0], 10*time.Second)
		require.LessOrEqual(t, waits[0], 11*time.Second)
	})
}

// A read that failed is repeated no sooner than Retry-After says, whatever the status; the backoff is a floor, too.
func TestRetryAfter_OnFailures(t *testing.T) {
	for _, status := range []int{500, 502, 503, 504} {
		synctest.Test(t, func(t *testing.T) {
			waits, _ := refuse(t, status, http.Header{"Retry-After": {"7"}})
			require.Len(t, waits, 1)
			require.GreaterOrEqual(t, waits[0], 7*time.Second)
			waits, _ = refuse(t, status, http.Header{"Retry-After": {"0"}})
			require.Len(t, waits, 1)
			require.GreaterOrEqual(t, waits[0], 250*time.Millisecond)
			waits, _ = refuse(t, status, http.Header{"Retry-After": {"121"}})
			require.Empty(t, waits)
		})
	}
}

// However small the backoff is set, no 429 causes a hot loop.
func TestRetry_RefusalFloorHoldsForAnyPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hasty := prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 10, BaseDelay: 1, MaxDelay: 1})
		for _, header := range []http.Header{nil, {"Retry-After": {"0"}}} {
			waits, err := refuse(t, 429, header, hasty)
			require.ErrorIs(t, err, prospectkit.ErrRateLimited)
			require.Len(t, waits, 9)
			for _, w := range waits {
				require.GreaterOrEqual(t, w, 500*time.Millisecond)
			}
		}
	})
}

// A read that the rate limit refuses goes again, until it is served or would have waited longer than it may in all. What others have taken
// is no failure of its own. Without retries it is sent once, and a write is counted as always.
func TestRetry_RefusedReadsQueueAgain(t *testing.T) {
	for name, c := range map[string]struct {
		refusals int
		write    bool
		opts     []prospectkit.ClientOption
		attempts int
		served   bool
	}{
		"served in the end":  {6, false, nil, 7, true},
		"two minutes in all": {100, false, nil, 4, false},
		"longer":             {100, false, opts(prospectkit.WithMaxWait(170 * time.Second)), 6, false},
		"no retries":         {100, false, opts(tests.OneAttempt), 1, false},
		"a write":            {100, true, nil, 3, false},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			after, sent := "30", 0
			if c.served {
				after = "10"
			}
			client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
				if sent++; sent <= c.refusals {
					return tests.Respond(429, tests.Envelope("RATE_LIMITED"), "Retry-After", after), nil
				}
				return tests.Respond(200, tests.OneUser), nil
			}), c.opts...)
			began := time.Now()
			info, err := tests.Call(t.Context(), client, c.write)
			require.Equal(t, c.served, err == nil, err)
			require.Len(t, info.Attempts, c.attempts)
			require.LessOrEqual(t, time.Since(began), 190*time.Second)
			if !c.served {
				require.ErrorIs(t, err, prospectkit.ErrRateLimited)
			}
		})
	}
}

// A refusal that says how long is waited for so long, however long the backoff; one that does not is followed by the backoff.
func TestRetry_RefusalsWaitAsToldOrBackOff(t *testing.T) {
	slow := prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 4, BaseDelay: 8 * time.Second, MaxDelay: 32 * time.Second})
	for told, want := range map[string][3]time.Duration{"2": {2 * time.Second, 2 * time.Second, 2 * time.Second}, "": {8 * time.Second, 16 * time.Second, 32 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			waits, _ := refuse(t, 429, http.Header{"Retry-After": {told}}, slow)
			require.Len(t, waits, 3)
			for i, most := range want {
				least := most
				if told == "" {
					least /= 2
				}
				require.GreaterOrEqual(t, waits[i], least)
				require.Less(t, waits[i], 2*most, "the budget adds to it")
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		waits, _ := refuse(t, 503, http.Header{"Retry-After": {"7"}}, prospectkit.WithMaxWait(7*time.Second))
		require.Len(t, waits, 1, "a wait of just as long as allowed")
	})
}

// A wait that is not allowed is refused by the decision itself: no other attempt is announced, and the error says how long the wait is.
func TestRetry_WaitsThatAreNotAllowedAreNotAnnounced(t *testing.T) {
	slow := prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: 8 * time.Second, MaxDelay: 8 * time.Second})
	for name, opts := range map[string][]prospectkit.ClientOption{
		"0": {prospectkit.WithMaxWait(0)}, "": {slow, prospectkit.WithMaxWait(3 * time.Second)},
	} {
		synctest.Test(t, func(t *testing.T) {
			var seen []prospectkit.Event
			_, err := refuse(t, 429, http.Header{"Retry-After": {name}}, append(opts, tests.Events(&seen))...)
			require.True(t, tests.FitsAt(t, err).After(time.Now()), name)
			require.Equal(t, []string{"return the error"}, tests.NextSteps(seen), name)
		})
	}
}

// After the end of the context nothing is announced that will not come.
func TestRetry_NothingIsAnnouncedAfterTheContext(t *testing.T) {
	for _, status := range []int{503, 429, 425} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var seen []prospectkit.Event
			client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
				cancel()
				return tests.Respond(status, ""), nil
			}), tests.Events(&seen))
			info, err := tests.Call(ctx, client, false)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, []string{"return the error"}, tests.NextSteps(seen))
			require.Zero(t, info.Attempts[0].Wait)
		})
	}
}

// The pauses double up to a bound, by default from half a second to 8 s, and each is drawn between the half and the whole.
func TestRetry_BackoffDoublesWithinBounds(t *testing.T) {
	for name, c := range map[string]struct {
		policy      prospectkit.RetryPolicy
		waits       int
		first, most time.Duration
	}{
		"as told":              {prospectkit.RetryPolicy{MaxAttempts: 6, BaseDelay: time.Second, MaxDelay: 4 * time.Second}, 5, time.Second, 4 * time.Second},
		"by default":           {prospectkit.RetryPolicy{}, 2, time.Second / 2, 8 * time.Second},
		"by default, to eight": {prospectkit.RetryPolicy{MaxAttempts: 10}, 9, time.Second / 2, 8 * time.Second},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			seen := map[time.Duration]bool{}
			var longest time.Duration
			for range 20 {
				waits, _ := refuse(t, 503, nil, prospectkit.WithRetry(c.policy))
				require.Len(t, waits, c.waits)
				for i, wait := range waits {
					upTo := min(c.first<<i, c.most)
					require.GreaterOrEqual(t, wait, upTo/2)
					require.LessOrEqual(t, wait, upTo+upTo/10, "jitter on the jitter")
					longest = max(longest, wait)
				}
				seen[waits[0]] = true
			}
			require.Greater(t, len(seen), 15, "drawn, not fixed")
			require.True(t, c.waits < 5 || longest > c.most*55/100)
		})
	}
}

// A date without the Date of its response is held against what is known of the service's clock: this machine's may be wrong.
func TestRetryAfter_DateByTheClockThatWasHeard(t *testing.T) {
	for _, off := range []time.Duration{-time.Hour, 0, time.Hour} { // of this machine
		for _, edge := range []time.Duration{0, 30 * time.Minute} { // of the edge that sends the 429, and a Date of its own
			synctest.Test(t, func(t *testing.T) {
				at := func(d time.Duration) string { return time.Now().Add(d - off).UTC().Format(http.TimeFormat) }
				asked := 0
				client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
					switch asked++; {
					case asked != 2:
						return tests.Respond(200, tests.OneUser, "Date", at(0)), nil
					case edge != 0:
						return tests.Respond(429, "", "Retry-After", at(edge+20*time.Second), "Date", at(edge)), nil
					}
					return tests.Respond(429, "", "Retry-After", at(20*time.Second)), nil
				}))
				require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
				began := time.Now()
				require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
				require.InDelta(t, 20, time.Since(began).Seconds(), 3, "%s off", off)
			})
		}
	}
}

// The same for a reset that is a time stamp.
func TestRateLimit_ResetByTheClockThatWasHeard(t *testing.T) {
	for _, off := range []time.Duration{-time.Hour, 0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(26 * 365 * 24 * time.Hour) // a time stamp has ten digits
			header := []string{"Date", time.Now().Add(-off).UTC().Format(http.TimeFormat)}
			client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) { return tests.Respond(200, tests.OneUser, header...), nil }))
			require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
			header = []string{"RateLimit-Reset", strconv.FormatInt(time.Now().Add(20*time.Second-off).Unix(), 10)}
			var info prospectkit.Info
			require.NoError(t, tests.Discard(client.Account.Me(t.Context(), prospectkit.WithInfo(&info))))
			require.Equal(t, 20*time.Second, time.Until(info.Rate.ResetAt), "%s off", off)
		})
	}
}
