package services_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/tests"
)

// profiles are the items of the page of a call.
func profiles(call tests.AnyCall) tests.AnyCall {
	return func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
		page, err := call(ctx, c, opts...)
		if err != nil {
			return nil, err
		}
		return page.(*prospectkit.ScrollPage[prospectkit.Profile]).Items, nil
	}
}

const ada = `{"firstName": "Ada", "lastName": "Byron", "jobTitle": "Analyst", "companyName": "Engines", "socialUrl": "https://social.example/ada"}`

func TestSearch_Exchanges(t *testing.T) {
	levels := append(filter.Including("director"), filter.Entry{Status: "exclude", Value: "intern"})
	prospects := func(p prospectkit.SearchParams) tests.AnyCall {
		return profiles(tests.With((*search).ProspectsPage, p))
	}
	in := func(city string) tests.AnyCall {
		return tests.With((*search).Companies, prospectkit.CompanySearch{Filters: fields{"headquartersCity": []string{city}}})
	}
	play(t, []surfaceCall{
		{
			"search.prospects/last-page", prospects(prospectkit.SearchParams{Filters: filter.Search{"job_title_levels": levels}, Size: 25}),
			`[` + ada + `]`, "",
		},
		{"search.prospects/lenient", prospects(tests.Everything), `[` + nobody + `, ` + nobody + `, ` + nobody + `]`, ""},
		{"search.prospects/invalid", prospects(tests.Everything), "", prospectkit.CodeSearchFiltersInvalid},
		{"search.prospects/credits", prospects(tests.Everything), "", prospectkit.CodeInsufficientCredits},
		{"search.run-saved/last-page", func(ctx context.Context, c *prospectkit.Client, _ ...prospectkit.CallOption) (any, error) {
			return prospectkit.Collect(c.Search.RunSaved(ctx, tests.SavedID, 0, prospectkit.MaxPaidPages(math.MaxInt)), 9)
		}, `[` + ada + `]`, ""},
		{"search.run-saved/mismatch", profiles(tests.WithTwo((*search).RunSavedPage, tests.SavedID, 0)), "", prospectkit.CodeSavedSearchTypeMismatch},
		{"search.save-to-list/fields", tests.With((*search).SaveMatches, prospectkit.MatchSave{ListName: "Directors", All: true}), `{"saved": 3}`, ""},
		{"search.saved/plain", tests.Plain((*search).Saved), `{"savedSearches": [{"id": "` + tests.SavedID + `"}]}`, ""},
		{"search.companies/fields", in("Berlin"), `{"companies": []}`, ""},
		{"search.companies/city", in("Xyzzy"), "", prospectkit.CodeCityFilterUnresolved},
		{"search.filter-options/options", tests.Plain((*search).FilterOptions), `{"job_title_levels": ["director"]}`, ""},
	})
}

const nobody = `{"firstName": "", "lastName": "", "jobTitle": "", "companyName": "", "socialUrl": ""}`

func TestSearch_ProfileKeepsUndocumentedFields(t *testing.T) {
	page, err := tests.Exchange(t, "search.prospects/lenient").Search.ProspectsPage(t.Context(), prospectkit.SearchParams{})
	require.NoError(t, err)
	require.False(t, page.More(), "a null token is none")
	raw, err := page.Items[0].Raw().MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, `{"firstName": null, "lastName": 7, "jobTitle": ["x"], "extra": {}}`, string(raw))
	require.Equal(t, `"odd"`, string(page.Items[2].Raw().Raw()))
}

func TestSearch_Bounds(t *testing.T) {
	sent := 0
	client := tests.NewClient(t, tests.Counting(&sent, tests.Always(http.StatusOK, `{"profiles":[]}`)))
	for _, size := range []int{0, 1, 2, 99, 100} {
		_, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: size})
		require.NoError(t, err)
		require.NoError(t, tests.Discard(client.Search.RunSavedPage(t.Context(), tests.SavedID, size)))
	}
	require.Equal(t, 10, sent)
	for _, size := range []int{-1, 101} {
		want := []string{fmt.Sprintf("size is %d, must be 1 to 100", size)}
		_, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: size})
		require.Equal(t, want, tests.Refusals(t, err))
		_, err = client.Search.RunSavedPage(t.Context(), tests.SavedID, size)
		require.Equal(t, want, tests.Refusals(t, err))
		_, err = prospectkit.Collect(client.Search.Prospects(t.Context(), prospectkit.SearchParams{Size: size}, prospectkit.MaxPaidPages(math.MaxInt)), 1)
		require.Equal(t, want, tests.Refusals(t, err))
	}
	_, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{
		Size: 101, Filters: filter.Search{" ": filter.Including("x")},
	})
	require.Equal(t, []string{"size is 101, must be 1 to 100", "filters.  is empty, which could mean everything: leave it out if you mean that"}, tests.Refusals(t, err))
	require.Equal(t, 10, sent, "nothing was sent")
}

// unnamed is written as an empty text.
type unnamed struct{}

func (unnamed) MarshalText() ([]byte, error) { return nil, nil }

// A search for nobody in particular is one for everybody, and everybody is paid for.
func TestSearch_EmptyFilterIsRefused(t *testing.T) {
	const empty = " is empty, which could mean everything: leave it out if you mean that"
	type filters = filter.Search
	ctx, search := t.Context(), tests.NewClient(t, tests.Untouched(t)).Search
	var nobody []string
	for want, f := range map[string]filters{
		"filters" + empty:                           {},
		"filters.job_title_levels" + empty:          {"job_title_levels": filter.Including(nobody...)},
		"filters.country" + empty:                   {"country": nil, "job_title_levels": filter.Including("vp")},
		"filters.job_title_levels[1].value" + empty: {"job_title_levels": filter.Including("vp", "")},
		"filters.country[0].value" + empty:          {"country": filter.Including(" ")},
		"filters.country[0].status" + empty:         {"country": {{Status: " ", Value: "x"}}},
	} {
		_, err := search.ProspectsPage(ctx, prospectkit.SearchParams{Filters: f})
		require.Equal(t, []string{want}, tests.Refusals(t, err))
		for _, err := range search.Prospects(ctx, prospectkit.SearchParams{Filters: f}, prospectkit.MaxPaidPages(math.MaxInt)) {
			require.Equal(t, []string{want}, tests.Refusals(t, err))
		}
		in := prospectkit.MatchSave{Filters: f, ListName: "Chiefs"}
		require.Equal(t, []string{want}, tests.Refusals(t, tests.Discard(search.SaveMatches(ctx, in))))
	}
	lists := tests.NewClient(t, tests.Untouched(t)).Lists
	for _, ids := range []any{nil, []string{}, nobody} {
		in := prospectkit.Fields{"contactIds": ids}
		require.Equal(t, []string{"contactIds" + empty}, tests.Refusals(t, tests.Discard(lists.AddMembers(ctx, tests.ListID, in))))
		require.Contains(t, tests.Refusals(t, tests.Discard(search.SaveMatches(ctx, prospectkit.MatchSave{Extra: in}))), "contactIds"+empty)
	}
	require.Equal(t, []string{"contactIds" + " is empty, which could mean everything: set All if you mean that"}, tests.Refusals(t, tests.Discard(lists.SaveContacts(ctx, prospectkit.ContactSave{ContactIDs: []string{}}))))
	require.Equal(t, []string{"filters" + " is empty, which could mean everything: set All if you mean that"}, tests.Refusals(t, tests.Discard(search.SaveMatches(ctx, prospectkit.MatchSave{}))))
	require.Equal(t, []string{"contactIds must be empty if All is set"}, tests.Refusals(t, tests.Discard(lists.SaveContacts(ctx, prospectkit.ContactSave{ContactIDs: []string{tests.ListID}, All: true}))))
	for _, f := range []prospectkit.Fields{
		{},
		{"headquartersCity": nil},
		{"headquartersCity": nobody},
		{"headquartersCity": ""},
		{"headquartersCity": []string{"Berlin", " "}},
		{"headquartersCity": []byte{}},
		{"headquartersCity": new(string)},
		{"headquartersCity": unnamed{}},
	} {
		require.Contains(t, tests.Refusals(t, tests.Discard(search.Companies(ctx, prospectkit.CompanySearch{Filters: f})))[0], empty)
	}
}
