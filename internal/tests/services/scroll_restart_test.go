package services_test

import (
	"context"
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

// A token of the sandbox lives for five minutes. A loop that takes longer over a page pays for the
// pages before again, and sees each profile once.
func TestScroll_RestartAfterATokenHasExpired(t *testing.T) {
	search := prospectkit.SearchParams{Filters: filter.Search{"job_title_levels": filter.Including("vp")}, Size: 5}
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Credits(1000))
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
		require.NoError(t, err)
		want, err := prospectkit.Collect(client.Search.Prospects(t.Context(), search, prospectkit.UnlimitedPages()), 1000)
		require.NoError(t, err)
		require.Greater(t, len(want), 10)
		before := sb.Balance()

		var p prospectkit.Progress
		var got []prospectkit.Profile
		opts := []prospectkit.PageOption{prospectkit.MaxPaidPages(50), prospectkit.WithRestarts(1), prospectkit.WithProgress(&p)}
		for profile, err := range client.Search.Prospects(t.Context(), search, opts...) {
			require.NoError(t, err)
			if got = append(got, *profile); len(got) == 7 {
				time.Sleep(6 * time.Minute) // on page 2
			}
		}
		require.Equal(t, want, got)
		require.Equal(t, int64(len(want)+10), before-sb.Balance(), "two pages were paid for twice")
		r := p.Report()
		require.Equal(t, []int{1, 2, 10, len(want)}, []int{r.Restarts, r.PaidAgain, r.Repeats, r.Delivered})
		require.Equal(t, (len(want)+4)/5+2, r.Requests)
		require.True(t, r.Finished)

		// Without the option, nothing is paid for that the caller does not know of.
		seen := 0
		for _, err = range client.Search.Prospects(t.Context(), search, prospectkit.MaxPaidPages(50), prospectkit.WithProgress(&p)) {
			if seen++; seen == 7 {
				time.Sleep(6 * time.Minute)
			}
		}
		require.Equal(t, prospectkit.Report{Requests: 2, Delivered: 10}, p.Report())
		require.ErrorIs(t, err, prospectkit.CodeValidationFailed)
	})
}

// A page that was lost is paid for, and its restart pays for it once more. No error tells, so the report does.
func TestScroll_ReportCountsALostPage(t *testing.T) {
	search := prospectkit.SearchParams{Filters: filter.Search{"job_title_levels": filter.Including("vp")}, Size: 5}
	for name, c := range map[string]struct {
		lost, restarts int
		fault          sandbox.FaultOption
		want           []int // Requests, Lost, Restarts, PaidAgain
		outcome        prospectkit.Outcome
	}{
		"restarted":          {3, 1, sandbox.DropAfter(), []int{5, 1, 1, 2}, prospectkit.OutcomeNotApplied}, // that of the cap
		"no restart":         {3, 0, sandbox.DropAfter(), []int{2, 1, 0, 0}, prospectkit.OutcomeUnknown},
		"the first":          {1, 1, sandbox.DropAfter(), []int{0, 1, 0, 0}, prospectkit.OutcomeUnknown},
		"cut":                {3, 1, sandbox.Truncate(20), []int{5, 1, 1, 2}, prospectkit.OutcomeNotApplied},
		"the last below cap": {6, 1, sandbox.DropAfter(), []int{5, 1, 0, 0}, prospectkit.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb := sandbox.New(t, sandbox.Credits(1000))
				client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
				require.NoError(t, err)
				sb.Fail("search.prospects", sandbox.Nth(c.lost), c.fault)
				var p prospectkit.Progress
				opts := []prospectkit.PageOption{prospectkit.MaxPaidPages(6), prospectkit.WithProgress(&p)}
				if c.restarts > 0 {
					opts = append(opts, prospectkit.WithRestarts(c.restarts))
				}
				_, err = prospectkit.Collect(client.Search.Prospects(t.Context(), search, opts...), 1000)
				require.Equal(t, c.outcome, prospectkit.OutcomeOf(err), "%v", err)
				r := p.Report()
				require.Equal(t, c.want, []int{r.Requests, r.Lost, r.Restarts, r.PaidAgain})
				require.Len(t, sb.Ledger(), r.Requests+r.Lost, "pages paid for")
			})
		})
	}
}

// fourPages serves four pages of two profiles. It fails before request number n as the script says.
func fourPages(sent *int, script map[int]tests.RoundTrip) tests.RoundTrip {
	served := 0
	serve := pages(&served, 4)
	return func(r *http.Request) (*http.Response, error) {
		*sent++
		if fail := script[*sent]; fail != nil {
			return fail(r)
		}
		return serve(r)
	}
}

var (
	expired = tests.Always(422, tests.Envelope("VALIDATION_FAILED"))
	allFour = []string{"1a", "1b", "2a", "2b", "3a", "3b", "4a", "4b"}
)

func TestScroll_RestartSkipsWhatWasDelivered(t *testing.T) {
	for name, c := range map[string]struct {
		script         map[int]tests.RoundTrip
		times, maximum int
		want           int // of allFour
		sent           int
		pages          int // of the error; 0: none
		restarts       int
	}{
		"nothing fails":                     {nil, 1, 4, 8, 4, 0, 0},
		"a refusal":                         {map[int]tests.RoundTrip{3: expired}, 1, 9, 8, 7, 0, 1},
		"a refusal as not found":            {map[int]tests.RoundTrip{3: tests.Always(404, tests.Envelope("INVALID_REQUEST"))}, 1, 9, 8, 7, 0, 1},
		"a refusal as gone":                 {map[int]tests.RoundTrip{3: tests.Always(410, tests.Envelope("INVALID_REQUEST"))}, 1, 9, 8, 7, 0, 1},
		"a refusal as a bad request":        {map[int]tests.RoundTrip{3: tests.Always(400, tests.Envelope("INVALID_REQUEST"))}, 1, 9, 8, 7, 0, 1},
		"a lost response":                   {map[int]tests.RoundTrip{3: tests.Consumed}, 1, 9, 8, 7, 0, 1},
		"an unreadable page":                {map[int]tests.RoundTrip{3: tests.Always(200, "{}")}, 1, 9, 8, 7, 0, 1},
		"a token that is none":              {map[int]tests.RoundTrip{2: tests.Always(200, pageOf(2, "7"))}, 1, 9, 8, 6, 0, 1},
		"two refusals, two restarts":        {map[int]tests.RoundTrip{3: expired, 7: expired}, 2, 9, 8, 11, 0, 2},
		"two refusals, one restart":         {map[int]tests.RoundTrip{3: expired, 7: expired}, 1, 9, 6, 7, 5, 1},
		"a restart that brings nothing new": {map[int]tests.RoundTrip{3: expired, 6: expired}, 9, 9, 4, 6, 4, 1},
		"the cap counts every page":         {map[int]tests.RoundTrip{3: expired}, 1, 5, 6, 6, 5, 1},
		"the cap counts a lost page":        {map[int]tests.RoundTrip{3: tests.Consumed}, 1, 5, 4, 5, 4, 1},
		"no restart beyond the cap":         {map[int]tests.RoundTrip{3: tests.Consumed}, 1, 3, 4, 3, 2, 0},
		"no restart without credits":        {map[int]tests.RoundTrip{3: tests.Always(422, tests.Envelope("INSUFFICIENT_CREDITS"))}, 1, 9, 4, 3, 2, 0},
		"no restart for another key":        {map[int]tests.RoundTrip{3: tests.Always(401, tests.Envelope("UNAUTHORIZED"))}, 1, 9, 4, 3, 2, 0},
		"a page of something in between":    {map[int]tests.RoundTrip{3: tests.Always(404, "<html>")}, 1, 9, 8, 7, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			sent := 0
			var p prospectkit.Progress
			got, err := names(tests.NewClient(t, fourPages(&sent, c.script)).Search.Prospects(t.Context(), tests.Everything,
				prospectkit.MaxPaidPages(c.maximum), prospectkit.WithRestarts(c.times), prospectkit.WithProgress(&p)))
			require.Equal(t, allFour[:c.want], got)
			require.Equal(t, c.sent, sent)
			require.Equal(t, c.restarts, p.Report().Restarts)
			if c.pages == 0 {
				require.NoError(t, err)
				require.True(t, p.Report().Finished)
				return
			}
			require.Error(t, err)
			r := p.Report()
			require.Equal(t, []int{c.pages, c.want}, []int{r.Requests, r.Delivered})
			require.False(t, r.Finished)
		})
	}
}

// Whoever gives up does not want to pay again.
func TestScroll_NoRestartAfterACancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sent := 0
	client := tests.NewClient(t, fourPages(&sent, map[int]tests.RoundTrip{3: func(r *http.Request) (*http.Response, error) {
		cancel()
		return tests.Consumed(r)
	}}))
	got, err := names(client.Search.Prospects(ctx, tests.Everything, prospectkit.UnlimitedPages(), prospectkit.WithRestarts(3)))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err), "the page may have been paid for")
	require.Len(t, got, 4)
	require.Equal(t, 3, sent)
}

// A wait that does not fit says nothing about the token.
func TestScroll_NoRestartWhenAWaitDoesNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		full := tests.Always(200, pageOf(1, tests.JSONText(secretToken+"2")), "RateLimit-Limit", "20", "RateLimit-Remaining", "0", "RateLimit-Reset", "40")
		client, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithTransport(fourPages(&sent, map[int]tests.RoundTrip{1: full})))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var p prospectkit.Progress
		got, err := names(client.Search.Prospects(ctx, tests.Everything, prospectkit.UnlimitedPages(), prospectkit.WithRestarts(3), prospectkit.WithProgress(&p)))
		var wait *prospectkit.RateLimitWaitError
		require.ErrorAs(t, err, &wait)
		require.Len(t, got, 2)
		require.Equal(t, 1, sent)
		require.Zero(t, p.Report().Restarts)
	})
}

// The address tells profiles apart even if the service tells more or less of them the second time.
// Within one pass, nothing is dropped.
func TestScroll_RestartKnowsProfilesByTheirAddress(t *testing.T) {
	sent := 0
	bodies := []tests.RoundTrip{
		tests.Always(200, `{"profiles": [{"socialUrl": "u/1", "firstName": "a"}, {"socialUrl": "u/1", "firstName": "b"}, {"firstName": "c"}], "scrollToken": "t"}`),
		expired,
		tests.Always(200, `{"profiles": [{"firstName": "c"}, {"socialUrl": "u/1", "firstName": "A"}, {"socialUrl": "u/2", "firstName": "d"}, {"firstName": "C"}]}`),
	}
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		sent++
		require.Equal(t, "v", r.URL.Query().Get("q"), "options hold after a restart, too")
		return bodies[sent-1](r)
	}))
	got, err := names(client.Search.RunSaved(t.Context(), tests.SavedID, prospectkit.RunParams{},
		prospectkit.UnlimitedPages(), prospectkit.WithRestarts(1), prospectkit.WithQuery("q", "v")))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c", "d", "C"}, got)
}

func TestScroll_RestartIsRefused(t *testing.T) {
	client := tests.NewClient(t, tests.Untouched(t))
	_, err := names(client.Search.Prospects(t.Context(), tests.Everything, prospectkit.UnlimitedPages(), prospectkit.WithRestarts(0)))
	require.Equal(t, []string{"WithRestarts is 0, must be positive"}, tests.Refusals(t, err))
	other := []string{"WithRestarts is for iterators that spend credits: this one does not"}
	_, err = prospectkit.Collect(client.Contacts.Activities(t.Context(), tests.ContactID, prospectkit.ActivityParams{}, tests.TimelineRoute, prospectkit.WithRestarts(1)), 1)
	require.Equal(t, other, tests.Refusals(t, err))
	_, err = prospectkit.Collect(client.Lists.All(t.Context(), prospectkit.ListsParams{}, prospectkit.WithRestarts(1)), 1)
	require.Equal(t, other, tests.Refusals(t, err))
}
