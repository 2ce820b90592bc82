package tests

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/ratelimit"
)

// rationed serves pages of lists, one list a page, within the two documented windows of the surface. Both are fixed: they begin
// at full minutes and at midnight. Nobody may come back before the wait that it was told is over.
type rationed struct {
	t     *testing.T
	lists int

	minute, day   time.Time
	inMinute      int
	inDay         int
	served        int
	refusals      int
	refusedUntil  time.Time
	busiestMinute int
}

const (
	perMinute = 120
	perDay    = 10_000
)

func (r *rationed) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(50 * time.Millisecond)
	now := time.Now()
	require.False(r.t, now.Before(r.refusedUntil), "back too early")
	if minute := now.Truncate(time.Minute); minute != r.minute {
		r.minute, r.inMinute = minute, 0
	}
	if day := now.Truncate(24 * time.Hour); day != r.day {
		r.day, r.inDay = day, 0
	}
	switch {
	case r.inDay == perDay:
		return r.refuse(perDay, r.day.Add(24*time.Hour)), nil
	case r.inMinute == perMinute:
		return r.refuse(perMinute, r.minute.Add(time.Minute)), nil
	}
	r.inDay++
	r.inMinute++
	r.served++
	r.busiestMinute = max(r.busiestMinute, r.inMinute)
	number, err := strconv.Atoi(req.URL.Query().Get("pageNum"))
	require.NoError(r.t, err)
	return Respond(200, r.page(number), r.headers()...), nil
}

func (r *rationed) refuse(limit int, until time.Time) *http.Response {
	r.refusals++
	r.refusedUntil = until
	wait := strconv.Itoa(int((time.Until(until) + time.Second - 1) / time.Second))
	return Respond(429, Envelope("RATE_LIMITED"),
		"Retry-After", wait, "RateLimit-Limit", strconv.Itoa(limit), "RateLimit-Remaining", "0", "RateLimit-Reset", wait)
}

// headers describe the window with fewer requests left.
func (r *rationed) headers() []string {
	limit, left, reset := perMinute, perMinute-r.inMinute, r.minute.Add(time.Minute)
	if perDay-r.inDay <= left {
		limit, left, reset = perDay, perDay-r.inDay, r.day.Add(24*time.Hour)
	}
	return []string{
		"RateLimit-Limit", strconv.Itoa(limit), "RateLimit-Remaining", strconv.Itoa(left),
		"RateLimit-Reset", strconv.Itoa(int(time.Until(reset)/time.Second) + 1),
	}
}

func (r *rationed) page(number int) string {
	return fmt.Sprintf(`{"data":[{"id":"%024x","name":"n"}],"pagination":{"pageNum":%d,"totalPages":%d,"totalRecords":%d}}`,
		number, number, r.lists, r.lists)
}

// A day and more in which a program reads more pages than a day allows: it gets every list once, obeys both windows, and when
// the day is used up it is told so at once and goes on from its checkpoint the next day.
func TestVirtualDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &rationed{t: t, lists: perDay + 500}
		client := NewClient(t, service)
		var progress prospectkit.Progress
		opts := []prospectkit.PageOption{prospectkit.WithProgress(&progress)}
		got, pauses := 0, 0
		for done := false; !done; {
			done = true
			for list, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 1}, opts...) {
				if err != nil {
					sleepUntilTomorrow(t, err)
					pauses++
					opts = []prospectkit.PageOption{prospectkit.WithProgress(&progress), prospectkit.ResumeFrom(progress.Checkpoint())}
					done = false
					break
				}
				got++
				require.Equal(t, fmt.Sprintf("%024x", got), list.ID, "each once, in order")
			}
		}
		require.Equal(t, service.lists, got)
		require.Equal(t, 1, pauses)
		require.Equal(t, time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC), time.Now().UTC().Truncate(24*time.Hour))
		require.Equal(t, perMinute, service.busiestMinute, "the minute is used to the full")
		require.LessOrEqual(t, service.refusals, (perDay+500)/perMinute+3, "at most one refusal a window")
	})
}

// sleepUntilTomorrow waits as the error says that the day is used up.
func sleepUntilTomorrow(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, prospectkit.ErrRateLimited)
	var at time.Time
	if wait, ok := errors.AsType[*prospectkit.RateLimitWaitError](err); ok {
		require.Equal(t, ratelimit.WindowDay, wait.Window)
		at = wait.FitsAt
	} else {
		at = AsError(t, err).ResetAt
	}
	require.False(t, at.Before(time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)))
	time.Sleep(time.Until(at))
}
