package services_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

func TestContacts_Exchanges(t *testing.T) {
	activities := tests.With((*contacts).ActivitiesPage, tests.ContactID)
	play(t, []surfaceCall{
		{
			"contacts.resolve/found", tests.With((*contacts).Resolve, fields{"email": "ada@example.com"}),
			`{"contactId": "` + tests.ContactID + `"}`, "",
		},
		{
			"contacts.timeline/last-page", opted(activities, prospectkit.WithQuery("limit", "100")),
			`{"Items": [{"type": "reply"}, {"type": "sent"}]}`, "",
		},
		{"contacts.timeline/lenient", activities, `{"Items": [null, "odd", {"a": 1}]}`, ""},
		{"contacts.timeline/not-found", activities, "", prospectkit.CodeContactNotFound},
	})
}

// timeline serves so many pages, the first with a few entries more than asked for, and notes the queries.
func timeline(queries *[]string, last int) tests.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		*queries = append(*queries, r.URL.RawQuery)
		number := 1
		if cursor := r.URL.Query().Get("cursor"); cursor != "" {
			if _, err := fmt.Sscanf(cursor, "c=/%d", &number); err != nil {
				return nil, err
			}
		}
		next := "null"
		if number < last {
			next = fmt.Sprintf(`"c=/%d"`, number+1)
		}
		pinned := ""
		if number == 1 {
			pinned = `{"n": 0}, `
		}
		return tests.Respond(200, fmt.Sprintf(`{"contactId": "%s", "activities": [%s{"n": %d}], "nextCursor": %s}`, tests.ContactID, pinned, number, next)), nil
	}
}

func TestContacts_ActivitiesFollowTheCursor(t *testing.T) {
	var queries []string
	client := tests.NewClient(t, timeline(&queries, 3))
	var progress prospectkit.Progress
	seq := client.Contacts.Activities(t.Context(), tests.ContactID, prospectkit.WithQuery("limit", "1"), prospectkit.WithProgress(&progress))
	require.Empty(t, queries)
	all, err := prospectkit.Collect(seq, 100)
	require.NoError(t, err)
	for i, activity := range all {
		require.Equal(t, i, activity.Int("n"))
	}
	require.Len(t, all, 4)
	require.Equal(t, []string{"limit=1", "cursor=c%3D%2F2&limit=1", "cursor=c%3D%2F3&limit=1"}, queries)
	require.Equal(t, prospectkit.Report{Requests: 3, Delivered: 4, Finished: true}, progress.Report())
	require.Empty(t, progress.Checkpoint())

	page, err := client.Contacts.ActivitiesPage(t.Context(), tests.ContactID)
	require.NoError(t, err)
	for n := 2; n <= 3; n++ {
		require.True(t, page.More())
		require.NotContains(t, fmt.Sprintf("%+v %#v", page, page), "c=/")
		page, err = page.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, n, page.Items[0].Int("n"))
	}
	require.False(t, page.More())
	_, err = page.Next(t.Context())
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	_, err = new(prospectkit.ScrollPage[prospectkit.Object]).Next(t.Context())
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
}

// A cursor of any documented length goes back as it came.
func TestContacts_CursorBounds(t *testing.T) {
	for _, length := range []int{1, 500} {
		cursor := strings.Repeat("é", length)
		sent := 0
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if sent++; sent == 2 {
				require.Equal(t, cursor, r.URL.Query().Get("cursor"))
				return tests.Respond(200, `{"activities": []}`), nil
			}
			return tests.Respond(200, `{"activities": [{}], "nextCursor": "`+cursor+`"}`), nil
		}))
		_, err := prospectkit.Collect(client.Contacts.Activities(t.Context(), tests.ContactID), 9)
		require.NoError(t, err)
		require.Equal(t, 2, sent)
	}
}

// A timeline costs nothing, so each of its pages is retried like any other read.
func TestContacts_ActivitiesAreRetriedAsReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var queries []string
		calls := 0
		serve := timeline(&queries, 2)
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if calls++; calls%2 == 1 {
				return nil, errors.New("cut")
			}
			return serve(r)
		}))
		all, err := prospectkit.Collect(client.Contacts.Activities(t.Context(), tests.ContactID), 9)
		require.NoError(t, err)
		require.Len(t, all, 3)
		require.Equal(t, 4, calls)
	})
}

// The id of a match stands at the top or under its name. Any other shape is an error that names its keys, and may have been paid for.
func TestContacts_MatchOfAnotherShape(t *testing.T) {
	resolve := func(body string) (*prospectkit.ContactMatch, error) {
		return tests.NewClient(t, tests.Always(200, body)).Contacts.Resolve(t.Context(), prospectkit.Fields{"email": "ada@engines.example"})
	}
	for _, body := range []string{`{"contactId":"` + tests.ContactID + `","score":1}`, `{"contact":{"contactId":"` + tests.ContactID + `","score":1},"more":2}`} {
		match, err := resolve(body)
		require.NoError(t, err, body)
		require.Equal(t, tests.ContactID, match.ContactID)
		require.Equal(t, 1, match.Raw().Int("score"))
	}
	for body, want := range map[string]string{
		`{"id":"` + tests.ContactID + `","name":"Ada"}`: "the response has no contactId: it is an object with id, name",
		`{"contactId":7}`:  "the response has no contactId: it is an object with contactId",
		`{"contactId":""}`: "the response has no contactId",
		`{"contacts":[{"contactId":"` + tests.ContactID + `"}]}`: "the response has no contactId: it is an object with contacts",
		`[{"contactId":"` + tests.ContactID + `"}]`:              "the response has no contactId: it is an array of 1",
	} {
		match, err := resolve(body)
		require.Nil(t, match)
		require.ErrorContains(t, err, want)
		require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err), body)
	}
}
