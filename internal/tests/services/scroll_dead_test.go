package services_test

import (
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// A token of the sandbox lives for five minutes. A loop that takes longer over a page ends with the error of the next one, and pays for
// nothing that it does not get.
func TestScroll_ATokenThatHasExpiredEndsTheRange(t *testing.T) {
	search := prospectkit.SearchParams{Filters: filter.Search{"job_title_levels": filter.Including("vp")}, Size: 5}
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Credits(1000))
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
		require.NoError(t, err)
		var p prospectkit.Progress
		seen := 0
		for _, err = range client.Search.Prospects(t.Context(), search, prospectkit.MaxPaidPages(50), prospectkit.WithProgress(&p)) {
			if seen++; seen == 7 {
				time.Sleep(6 * time.Minute) // on page 2
			}
		}
		require.ErrorIs(t, err, prospectkit.CodeValidationFailed)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.Equal(t, prospectkit.Report{Requests: 2, Delivered: 10}, p.Report())
		require.Equal(t, int64(990), sb.Balance())
	})
}

// No page is asked for again, whatever becomes of it, and none behind it. What was delivered before stays.
func TestScroll_AFailedPageEndsTheRange(t *testing.T) {
	for name, c := range map[string]struct {
		at      int // the request that fails
		fails   tests.RoundTrip
		want    int // profiles before the error
		outcome prospectkit.Outcome
	}{
		"a refusal":            {3, tests.Always(422, tests.Envelope("VALIDATION_FAILED")), 4, prospectkit.OutcomeNotApplied},
		"not found":            {3, tests.Always(404, tests.Envelope("INVALID_REQUEST")), 4, prospectkit.OutcomeNotApplied},
		"gone":                 {3, tests.Always(410, tests.Envelope("INVALID_REQUEST")), 4, prospectkit.OutcomeNotApplied},
		"no credits":           {3, tests.Always(422, tests.Envelope("INSUFFICIENT_CREDITS")), 4, prospectkit.OutcomeNotApplied},
		"a lost response":      {3, tests.Consumed, 4, prospectkit.OutcomeUnknown},
		"a lost first page":    {1, tests.Consumed, 0, prospectkit.OutcomeUnknown},
		"an unreadable page":   {3, tests.Always(200, "{}"), 4, prospectkit.OutcomeApplied},
		"a page of a gateway":  {3, tests.Always(404, "<html>"), 4, prospectkit.OutcomeUnknown},
		"a token that is none": {2, tests.Always(200, pageOf(2, "7")), 4, prospectkit.OutcomeNotApplied},
	} {
		t.Run(name, func(t *testing.T) {
			sent, served := 0, 0
			serve := pages(&served, 4)
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if sent++; sent == c.at {
					return c.fails(r)
				}
				return serve(r)
			}))
			var p prospectkit.Progress
			got, err := names(client.Search.Prospects(t.Context(), tests.Everything, prospectkit.MaxPaidPages(math.MaxInt), prospectkit.WithProgress(&p)))
			require.Error(t, err)
			require.Equal(t, c.outcome, prospectkit.OutcomeOf(err), "%v", err)
			require.Equal(t, []string{"1a", "1b", "2a", "2b"}[:c.want], append([]string{}, got...))
			require.Equal(t, c.at, sent)
			require.Equal(t, prospectkit.Report{Requests: c.want / 2, Delivered: c.want}, p.Report())
		})
	}
}
