package services_test

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// secretToken is what no output may ever show.
const secretToken = `scr-"0ll/7OKEN-`

// searchBody is a request as it goes out.
type searchBody struct {
	Filters     filter.Search `json:"filters"`
	Size        int           `json:"size"`
	ScrollToken string        `json:"scrollToken"`
}

func searchRequest(r *http.Request) (in searchBody) {
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		panic(err)
	}
	return in
}

// page is a response with two profiles and a token, as JSON.
func pageOf(number int, token string) string {
	if token != "" {
		token = `, "scrollToken": ` + token
	}
	return fmt.Sprintf(`{"profiles": [{"firstName": "%da"}, {"firstName": "%db"}]%s}`, number, number, token)
}

// pages serves so many pages of two profiles, each by the token of the one before, and counts the requests.
func pages(sent *int, last int) tests.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		*sent++
		number := 1
		if in := searchRequest(r); in.ScrollToken != "" {
			_, err := fmt.Sscanf(in.ScrollToken, secretToken+"%d", &number)
			if err != nil {
				return nil, err
			}
		}
		if number == last {
			return tests.Respond(200, pageOf(number, "")), nil
		}
		return tests.Respond(200, pageOf(number, tests.JSONText(fmt.Sprint(secretToken, number+1)))), nil
	}
}

// scroll ranges over all pages of a search, and at most so many.
func scroll(t *testing.T, rt tests.RoundTrip, most int) (got []string, report prospectkit.Report, err error) {
	t.Helper()
	var p prospectkit.Progress
	search := tests.NewClient(t, rt).Search
	got, err = names(search.Prospects(t.Context(), tests.Everything, prospectkit.MaxPaidPages(most), prospectkit.WithProgress(&p)))
	require.Empty(t, p.Checkpoint(), "there is nothing to resume from")
	return got, p.Report(), err
}

// names ranges over profiles.
func names(seq iter.Seq2[*prospectkit.Profile, error]) (all []string, err error) {
	for p, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, p.FirstName)
	}
	return all, nil
}

func TestScroll_AsksForTheSameOnEachPage(t *testing.T) {
	var bodies []searchBody
	sent := 0
	serve := pages(&sent, 3)
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		text := tests.BodyOf(t, r)
		r.Body = io.NopCloser(strings.NewReader(text))
		bodies = append(bodies, searchRequest(r))
		r.Body = io.NopCloser(strings.NewReader(text))
		require.Equal(t, "v", r.URL.Query().Get("q"), "options hold for all pages")
		return serve(r)
	}))
	filters := filter.Search{"levels": filter.Including("director")}
	seq := client.Search.Prospects(t.Context(), prospectkit.SearchParams{Filters: filters}, prospectkit.MaxPaidPages(math.MaxInt), prospectkit.WithQuery("q", "v"))
	require.Empty(t, bodies, "nothing is read before the range")
	for range 2 { // each range restarts
		bodies = nil
		var got []string
		for p, err := range seq {
			require.NoError(t, err)
			got = append(got, p.FirstName)
			filters["levels"][0].Value = "changed meanwhile"
			filters["more"] = nil
		}
		require.Equal(t, []string{"1a", "1b", "2a", "2b", "3a", "3b"}, got)
		require.Len(t, bodies, 3)
		for i, in := range bodies {
			require.Equal(t, 100, in.Size)
			require.Equal(t, filter.Search{"levels": filter.Including("director")}, in.Filters)
			require.Equal(t, i > 0, in.ScrollToken != "", "the first page has no token, the others have")
		}
	}
}

func TestScroll_ReadsAPageWhenTheLoopNeedsIt(t *testing.T) {
	sent, seen := 0, 0
	client := tests.NewClient(t, pages(&sent, 9))
	for _, err := range client.Search.Prospects(t.Context(), tests.Everything, prospectkit.MaxPaidPages(math.MaxInt)) {
		require.NoError(t, err)
		require.Equal(t, 1+seen/2, sent)
		if seen++; seen == 5 {
			break
		}
	}
	require.Equal(t, 3, sent, "a break ends it")
}

func TestScroll_PaidPagesNeedADecision(t *testing.T) {
	client := tests.NewClient(t, tests.Untouched(t))
	missing := []string{"MaxPaidPages is required, because each page may spend credits; math.MaxInt if you mean all"}
	_, err := names(client.Search.Prospects(t.Context(), tests.Everything))
	require.Equal(t, missing, tests.Refusals(t, err))
	_, err = names(client.Search.RunSaved(t.Context(), tests.SavedID, 0))
	require.Equal(t, missing, tests.Refusals(t, err))
	_, err = names(client.Search.Prospects(t.Context(), tests.Everything, prospectkit.MaxPaidPages(-1)))
	require.Equal(t, []string{"MaxPaidPages is -1, must be positive"}, tests.Refusals(t, err))
	_, err = names(client.Search.Prospects(t.Context(), tests.Everything, nil, prospectkit.MaxPaidPages(math.MaxInt), prospectkit.WithProgress(&prospectkit.Progress{ResumeFrom: "x"})))
	require.Equal(t, []string{
		"option 1 is nil", "ResumeFrom is not possible here: the service forbids storing its tokens, so start a new range",
	}, tests.Refusals(t, err))
	unpaid := []string{"MaxPaidPages is for iterators that spend credits: this one does not"}
	_, err = prospectkit.Collect(client.Contacts.Activities(t.Context(), tests.ContactID, prospectkit.MaxPaidPages(1)), 1)
	require.Equal(t, unpaid, tests.Refusals(t, err))
	_, err = prospectkit.Collect(client.Lists.All(t.Context(), prospectkit.ListsParams{}, prospectkit.MaxPaidPages(math.MaxInt)), 1)
	require.Equal(t, unpaid, tests.Refusals(t, err))
}

func TestScroll_MaxPaidPages(t *testing.T) {
	for limit := 1; limit <= 4; limit++ {
		sent := 0
		got, report, err := scroll(t, pages(&sent, 3), limit)
		require.Equal(t, min(limit, 3), sent)
		require.Len(t, got, 2*sent, "what was paid for is delivered")
		if limit >= 3 {
			require.NoError(t, err, "the results ended")
			continue
		}
		require.Equal(t, prospectkit.Report{Requests: limit, Delivered: 2 * limit}, report)
		require.ErrorIs(t, err, prospectkit.RulePaidPages)
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.Equal(t, tests.NoWait, tests.Waits(err))
		require.EqualError(t, err, "prospectkit: search.prospects: refused locally: the range has read as many paid pages as MaxPaidPages allows: raise it")
	}
}

// The end is the absence of a token, and nothing else.
func TestScroll_End(t *testing.T) {
	for name, c := range map[string]struct {
		bodies []string
		want   int
		err    string
	}{
		"no token":                   {[]string{pageOf(1, "")}, 2, ""},
		"null":                       {[]string{pageOf(1, "null")}, 2, ""},
		"empty":                      {[]string{pageOf(1, `""`)}, 2, ""},
		"an empty page goes on":      {[]string{`{"profiles": [], "scrollToken": "a"}`, pageOf(2, "")}, 2, ""},
		"no profiles at all":         {[]string{`{"profiles": []}`}, 0, ""},
		"a number":                   {[]string{pageOf(1, "7")}, 2, "the token of the next page is not a string"},
		"an object":                  {[]string{pageOf(1, `{"t": 1}`)}, 2, "the token of the next page is not a string"},
		"the same token":             {[]string{pageOf(1, `"a"`), pageOf(2, `"a"`), pageOf(3, "")}, 6, ""},
		"the same token and page":    {[]string{pageOf(1, `"a"`), pageOf(1, `"a"`), pageOf(1, `"a"`)}, 6, "the last 2 pages brought nothing new"},
		"a page without profiles":    {[]string{pageOf(1, `"a"`), `{"scrollToken": "b"}`}, 2, "search.prospects: applied (status 200), but the response was lost: the page has no profiles"},
		"profiles of another type":   {[]string{`{"profiles": {}}`}, 0, "the page has no profiles"},
		"something that is no page":  {[]string{`[]`}, 0, "the response is not an object"},
		"a page that is cut":         {[]string{`{"profiles": [{"firstName": "x"}`}, 0, "the response was lost"},
		"a second token in one page": {[]string{`{"profiles": [], "scrollToken": "a", "scrollToken": null}`}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sent := 0
			got, _, err := scroll(t, func(*http.Request) (*http.Response, error) {
				sent++
				return tests.Respond(200, c.bodies[sent-1]), nil
			}, math.MaxInt)
			require.Len(t, got, c.want)
			require.Len(t, c.bodies, sent)
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.err)
		})
	}
}

// reel serves pages by tokens, each another one. Each page is some profiles, with one letter each.
func reel(sent *int, parts []string) tests.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		*sent++
		number := 0
		_, _ = fmt.Sscan(searchRequest(r).ScrollToken, &number) // the first has none
		profiles := []fields{}
		for _, name := range parts[number] {
			profiles = append(profiles, fields{"firstName": string(name)})
		}
		body := fields{"profiles": profiles}
		if number+1 < len(parts) {
			body["scrollToken"] = strconv.Itoa(number + 1)
		}
		return tests.Respond(200, tests.JSONText(body)), nil
	}
}

type fields = prospectkit.Fields

// Pages are paid for, so a scroll that brings nothing new ends, although another page is offered. Nine empty pages and one of repeats may stand
// between profiles, again and again, and at the end any number may.
func TestScroll_EndsWhereNothingNewComes(t *testing.T) {
	nine := strings.Repeat(",", 10)
	for parts, want := range map[string]struct{ sent, stale int }{
		"xy,x,y,z":                    {3, 2},
		"a,a,a,a":                     {3, 2},
		"b,a,b,a,b":                   {4, 2},
		"ab,ba,bc,,c,da,d,a,z":        {8, 2},
		"x,,xx,,x,z":                  {5, 4},
		"a,,a,,a,,a":                  {5, 4},
		nine + ",":                    {10, 10},
		"ab,cd" + nine + ",z":         {12, 10},
		"a" + nine + nine:             {11, 10},
		"a" + nine + "b" + nine + ",": {21, 10},
		"a" + nine + "b" + nine + "c": {},
		"ab,ba,bc,cb,,cd,da,e":        {},
		"ab,ab" + nine + "cd,cd" + nine + "ef,ef" + nine + "gh,gh" + nine + "ij,ij" + nine + "kl,kl" + nine + "a": {},
	} {
		sent, all := 0, strings.Split(parts, ",")
		got, _, err := scroll(t, reel(&sent, all), math.MaxInt)
		if want.sent == 0 {
			want.sent = len(all)
			require.NoError(t, err, parts)
		} else {
			require.ErrorContains(t, err, fmt.Sprintf("search.prospects: unusable response with status 200: "+
				"the last %d pages brought nothing new, and another one is offered", want.stale), parts)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		}
		require.Equal(t, want.sent, sent, parts)
		require.Equal(t, strings.Join(all[:sent], ""), strings.Join(got, ""), parts)
	}
}

// A token may have 64 KiB, and no byte more.
func TestScroll_TokenOfTheGreatestLength(t *testing.T) {
	for length, want := range map[int]int{64 << 10: 4, 64<<10 + 1: 2} {
		token := strings.Repeat("t", length)
		got, _, err := scroll(t, func(r *http.Request) (*http.Response, error) {
			if searchRequest(r).ScrollToken != token {
				return tests.Respond(200, pageOf(1, tests.JSONText(token))), nil
			}
			return tests.Respond(200, pageOf(2, "")), nil
		}, math.MaxInt)
		require.Len(t, got, want)
		if want == 4 {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "the token of the next page has 65537 bytes, more than the 65536 that are sent back")
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	}
}

// What may be retried, on the first page and after it: a paid page that may have been delivered never is. No page behind it is asked for. What
// was delivered before stays.
func TestScroll_PagesAreRetriedOnlyIfThatCostsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		fails         tests.RoundTrip
		first, behind int // requests for the page that fails
		outcome       prospectkit.Outcome
	}{
		"lost response":       {tests.Consumed, 1, 1, prospectkit.OutcomeUnknown},
		"the service's 500":   {tests.Always(500, tests.Envelope("UNEXPECTED_ERROR")), 3, 1, prospectkit.OutcomeUnknown},
		"bad gateway":         {tests.Always(502, "<html>"), 1, 1, prospectkit.OutcomeUnknown},
		"a page of a gateway": {tests.Always(404, "<html>"), 1, 1, prospectkit.OutcomeUnknown},
		"refused":             {tests.Always(422, tests.Envelope("INVALID_REQUEST")), 1, 1, prospectkit.OutcomeNotApplied},
		"invalid":             {tests.Always(422, tests.Envelope("VALIDATION_FAILED")), 1, 1, prospectkit.OutcomeNotApplied},
		"not found":           {tests.Always(404, tests.Envelope("INVALID_REQUEST")), 1, 1, prospectkit.OutcomeNotApplied},
		"gone":                {tests.Always(410, tests.Envelope("INVALID_REQUEST")), 1, 1, prospectkit.OutcomeNotApplied},
		"no credits":          {tests.Always(422, tests.Envelope("INSUFFICIENT_CREDITS")), 1, 1, prospectkit.OutcomeNotApplied},
		"rate limit":          {tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "1"), 3, 3, prospectkit.OutcomeNotApplied},
		"an unreadable page":  {tests.Always(200, "{}"), 1, 1, prospectkit.OutcomeApplied},
	} {
		for before, want := range map[int]int{0: c.first, 1: c.behind, 2: c.behind} {
			tests.InBubble(t, fmt.Sprintf("%s, after %d pages", name, before), func(t *testing.T) {
				served, failed := 0, 0
				serve := pages(&served, 4)
				got, report, err := scroll(t, func(r *http.Request) (*http.Response, error) {
					if served == before {
						failed++
						return c.fails(r)
					}
					return serve(r)
				}, math.MaxInt)
				require.Equal(t, []string{"1a", "1b", "2a", "2b"}[:2*before], append([]string{}, got...))
				require.Equal(t, prospectkit.Report{Requests: before, Delivered: 2 * before}, report)
				require.Equal(t, want, failed)
				require.ErrorContains(t, err, "search.prospects: ")
				if before > 0 || name != "the service's 500" {
					require.Equal(t, c.outcome, prospectkit.OutcomeOf(err), "%v", err)
				}
			})
		}
	}
}

func TestScroll_NextWorksOnce(t *testing.T) {
	sent := 0
	first, err := tests.NewClient(t, pages(&sent, 3)).Search.ProspectsPage(t.Context(), tests.Everything)
	require.NoError(t, err)
	require.True(t, first.More())
	second, err := first.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "2a", second.Items[0].FirstName)
	_, err = first.Next(t.Context())
	require.Equal(t, []string{"Next was called already: a scroll moves forward only"}, tests.Refusals(t, err))
	third, err := second.Next(t.Context())
	require.NoError(t, err)
	require.False(t, third.More())
	_, err = third.Next(t.Context())
	require.Equal(t, []string{"Next has nothing to read: this page is the last"}, tests.Refusals(t, err))
	require.Equal(t, 3, sent)
	_, err = new(prospectkit.ScrollPage[prospectkit.Profile]).Next(t.Context())
	require.Equal(t, []string{"page was not made by a call"}, tests.Refusals(t, err))
	require.False(t, new(prospectkit.ScrollPage[prospectkit.Profile]).More())
}

// The caller may use the slice of options again before the next page, whose query stays that of the first.
func TestScroll_KeepsItsOptions(t *testing.T) {
	sent := 0
	serve := pages(&sent, 2)
	s := tests.Stage(t, serve, serve)
	client := tests.NewClient(t, s)
	opts := []prospectkit.CallOption{prospectkit.WithField("country", "Germany")}
	page, err := client.Search.ProspectsPage(t.Context(), tests.Everything, opts...)
	require.NoError(t, err)
	opts[0] = prospectkit.WithField("country", "France")
	require.NoError(t, tests.Discard(page.Next(t.Context())))
	require.Contains(t, s.Sent[1], "Germany")
}

// A call that was definitely not applied leaves the token; one that may have been spends it.
func TestScroll_NextAfterAnError(t *testing.T) {
	for name, c := range map[string]struct {
		fail  tests.RoundTrip
		again bool
	}{
		"refused":       {tests.Always(422, tests.Envelope("INVALID_REQUEST")), true},
		"lost response": {tests.Consumed, false},
		"unreadable":    {tests.Always(200, `{}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			sent, failing := 0, false
			serve := pages(&sent, 3)
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if failing {
					return c.fail(r)
				}
				return serve(r)
			}))
			page, err := client.Search.ProspectsPage(t.Context(), tests.Everything)
			require.NoError(t, err)
			failing = true
			_, err = page.Next(t.Context())
			require.Error(t, err)
			failing = false
			next, err := page.Next(t.Context())
			if !c.again {
				require.ErrorAs(t, err, new(*prospectkit.RefusedError))
				require.Equal(t, 1, sent)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "2a", next.Items[0].FirstName)
		})
	}
}

// No token in pages, errors, logs, events, Info, reports or checkpoints, even if the service repeats it in an error.
func TestScroll_NothingShowsAToken(t *testing.T) {
	var out tests.Shows
	sent := 0
	repeated := tests.JSONText(secretToken + "2")
	echo := `{"error": {"code": "INVALID_REQUEST", "message": "bad token ` + strings.Trim(repeated, `"`) + `", "param": ` + repeated + `}}`
	serve := pages(&sent, 9)
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if sent == 1 {
			return tests.Respond(422, echo), nil
		}
		return serve(r)
	}), out.Options()...)
	var info prospectkit.Info
	page, err := client.Search.ProspectsPage(t.Context(), tests.Everything, prospectkit.WithInfo(&info))
	require.NoError(t, err)
	out.Show(page, *page, info)
	_, err = page.Next(t.Context(), prospectkit.WithInfo(&info))
	require.ErrorIs(t, err, prospectkit.CodeInvalidRequest)
	require.Equal(t, "bad token [hidden]", tests.AsError(t, err).Message)
	require.Equal(t, "[hidden]", tests.AsError(t, err).Param)
	out.Failure(err, info)

	sent = 0
	var progress prospectkit.Progress
	_, err = names(client.Search.Prospects(t.Context(), tests.Everything, prospectkit.MaxPaidPages(math.MaxInt), prospectkit.WithProgress(&progress)))
	require.Error(t, err)
	out.Show(err, progress.Report())
	require.Empty(t, progress.Checkpoint(), "there is nothing to resume from")
	for _, secret := range []string{secretToken, strings.Trim(tests.JSONText(secretToken), `"`), secretToken[5:], tests.Token} {
		require.NotContains(t, out.String(), secret)
	}
}

func TestScroll_ProgressCounts(t *testing.T) {
	sent := 0
	var progress prospectkit.Progress
	seq := tests.NewClient(t, pages(&sent, 3)).Search.Prospects(t.Context(), tests.Everything, prospectkit.MaxPaidPages(math.MaxInt), prospectkit.WithProgress(&progress))
	seen := 0
	for _, err := range seq {
		require.NoError(t, err)
		seen++
		require.Equal(t, seen, progress.Report().Delivered)
	}
	require.Equal(t, prospectkit.Report{Requests: 3, Delivered: 6, Finished: true}, progress.Report())
	require.Empty(t, progress.Checkpoint())
}

// Ranges at the same time do not disturb each other.
func TestScroll_RangesAreIndependent(t *testing.T) {
	served := make(map[string]int)
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		in := searchRequest(r)
		served[in.ScrollToken]++
		if in.ScrollToken == "" {
			return tests.Respond(200, pageOf(1, `"a"`)), nil
		}
		return tests.Respond(200, pageOf(2, "")), nil
	}))
	seq := client.Search.Prospects(t.Context(), tests.Everything, prospectkit.MaxPaidPages(math.MaxInt))
	for _, err := range seq {
		require.NoError(t, err)
		got, err := names(seq)
		require.NoError(t, err)
		require.Len(t, got, 4)
	}
	require.Equal(t, []int{5, 5}, []int{served[""], served["a"]})
}

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
