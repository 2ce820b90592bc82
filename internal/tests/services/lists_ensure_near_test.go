package services_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// Where a name is taken and only a list of another letter case is found, that list is beside the error, and no other.
func TestEnsure_NameThatDiffersInCase(t *testing.T) {
	const found = `{"data":[{"id":"a00000000000000000000001","name":" SPRING ","entityType":"contactList"},` +
		`{"id":"a00000000000000000000002","name":"Spring 2","entityType":"contactList"}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":2}}`
	for name, near := range map[string]string{"Spring": " SPRING ", "Summer": ""} {
		synctest.Test(t, func(t *testing.T) {
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return tests.Respond(409, tests.Envelope("LIST_NAME_TAKEN")), nil
				}
				return tests.Respond(200, found), nil
			}))
			taken, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: name})
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
			require.Equal(t, near != "", taken != nil)
			want := "prospectkit: lists.ensure: the name is taken, but no list has it: an agent may hold it, or a new list may show late"
			if near != "" {
				require.Equal(t, near, taken.List.Name)
				require.False(t, taken.Created || taken.Certain)
				want = "prospectkit: lists.ensure: the name is taken; a list's name differs from it in case, spaces or accents only, or is cut off"
			}
			require.EqualError(t, err, want)
		})
	}
}

// An older list whose name differs in case only explains the refusal: it is told at once. One that may be of this call does not.
func TestEnsure_OlderNameThatDiffersInCase(t *testing.T) {
	for created, patience := range map[string]time.Duration{"1999-12-31T23:00:00.000Z": 0, "2000-01-01T00:00:00.000Z": 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return tests.Respond(409, tests.Envelope("LIST_NAME_TAKEN")), nil
				}
				return tests.Respond(200, `{"data":[{"id":"`+tests.ListID+`","name":"SPRING","entityType":"contactList","createdAt":"`+created+
					`"}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`, "Date", time.Now().UTC().Format(http.TimeFormat)), nil
			}))
			taken, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Spring"})
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
			require.Equal(t, "SPRING", taken.List.Name)
			require.Equal(t, patience, time.Since(began).Truncate(time.Second))
		})
	}
}

// A list that appears under nearly the name of a lost creation may be it: nothing is ruled out, and no second one is created.
func TestEnsure_NameInAnotherForm(t *testing.T) {
	const asked = "Caf\u00e9 Q1"
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // in a bubble
	for name, c := range map[string]struct {
		shown, kind string
		created     time.Time
		own         bool
	}{
		"decomposed":             {"Cafe\u0301 Q1", "contactList", now, true},
		"spaces":                 {"Caf\u00e9  Q1", "contactList", now, true},
		"case":                   {"CAF\u00c9 q1", "contactList", now, true},
		"no kind":                {"Caf\u00e9 q1", "", now, true},
		"of another kind":        {"Caf\u00e9 q1", "companyList", now, false},
		"older than the call":    {"Caf\u00e9 q1", "contactList", now.Add(-25 * time.Hour), false},
		"not the name, by a bit": {"Caf\u00e8 Q1", "contactList", now, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			posts := 0
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					posts++
					return tests.CutOff(r)
				}
				return tests.Respond(200, `{"data":[{"id":"`+tests.ListID+`","name":"`+c.shown+`","entityType":"`+c.kind+`","createdAt":"`+c.created.Format(time.RFC3339)+
					`"}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`, "Date", time.Now().UTC().Format(http.TimeFormat)), nil
			}))
			_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: asked})
			var unknown *prospectkit.OutcomeUnknownError
			require.ErrorAs(t, err, &unknown)
			r, err := unknown.Resolve(t.Context())
			require.NoError(t, err)
			require.Equal(t, map[bool]prospectkit.Outcome{true: prospectkit.OutcomeUnknown, false: prospectkit.OutcomeNotApplied}[c.own], r.Outcome, "%s: %v", name, r)
			require.Zero(t, r.Again, name)

			posts = 0
			_, err = client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: asked})
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
			require.Equal(t, map[bool]int{true: 1, false: 3}[c.own], posts, name)
			if c.own {
				require.ErrorContains(t, err, "differs in case, spaces or accents only")
			}
		})
	}
}

// The service searches for a text in names (documented). What the client searches for finds the list in whatever form its name is kept.
func TestResolve_SearchFindsNamesInAnotherForm(t *testing.T) {
	long := strings.Repeat("Leads of the trade fair, ", 5)
	for asked, kept := range map[string]string{
		"Cafe\u0301 Q1": "Caf\u00e9 Q1", "Q1  Berlin": "Q1 Berlin", "Q1\u00a0Berlin": "Q1 Berlin", "Q1 Berlin": "q1 berlin", long: long[:50],
		"\u041c\u043e\u0441\u043a\u0432\u0430": "\u043c\u043e\u0441\u043a\u0432\u0430",
	} {
		synctest.Test(t, func(t *testing.T) {
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return tests.CutOff(r)
				}
				var found []string
				if strings.Contains(strings.ToLower(kept), strings.ToLower(r.FormValue("search"))) {
					found = append(found, `{"id":"`+tests.ListID+`","name":"`+kept+`","entityType":"contactList"}`)
				}
				return tests.Respond(200, fmt.Sprintf(`{"data":[%s],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":%d}}`, strings.Join(found, ","), len(found))), nil
			}))
			_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: asked})
			unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
			require.True(t, ok)
			r, err := unknown.Resolve(t.Context())
			require.NoError(t, err)
			require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, "%q kept as %q", asked, kept)
		})
	}
}

// The hint of a conflict speaks of a repeated request only if the list of a near name is not older than the call.
func TestEnsure_HintOfANearName(t *testing.T) {
	for age, hint := range map[time.Duration]bool{0: true, time.Hour: false} {
		synctest.Test(t, func(t *testing.T) {
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return tests.Respond(409, tests.Envelope("LIST_NAME_TAKEN")), nil
				}
				return tests.Respond(200, `{"data":[{"id":"`+tests.ListID+`","name":"SPRING","entityType":"contactList","createdAt":"`+
					time.Now().Add(-age).Format(time.RFC3339)+`"}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`, "Date", time.Now().UTC().Format(http.TimeFormat)), nil
			}))
			_, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Spring"})
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
			require.Equal(t, hint, strings.Contains(err.Error(), "an intermediary may have sent the request twice"))
		})
	}
}
