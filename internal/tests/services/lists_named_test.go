package services_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// A list is found by its whole name and its kind, and none is created.
func TestNamed(t *testing.T) {
	ctx := t.Context()
	long := strings.Repeat("x", 300) // of the results of an agent, whose name has no documented maximum
	sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main", User: sandbox.User{Email: "ada@workspace.example", Name: "Ada"},
		Lists: []sandbox.List{
			{Name: "Berlin 2", EntityType: sandbox.ContactList},
			{Name: "Berlin", EntityType: sandbox.ContactList},
			{Name: "Firms", EntityType: sandbox.CompanyList},
			{Name: long, EntityType: sandbox.ContactList},
		},
	}}}))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	for _, found := range []struct {
		name string
		kind prospectkit.ListKind
	}{
		{"Berlin", ""}, {" Berlin\t", prospectkit.ContactList}, {"Firms", ""}, {"Firms", prospectkit.CompanyList}, {long, ""},
	} {
		list, err := client.Lists.Named(ctx, found.name, found.kind)
		require.NoError(t, err)
		require.Equal(t, strings.TrimSpace(found.name), list.Name)
	}
	for _, missing := range []struct {
		name string
		kind prospectkit.ListKind
	}{
		{"berlin", ""}, {"Berl", ""}, {"Berlin 3", prospectkit.ContactList}, {"Berlin", prospectkit.CompanyList}, {"Firms", prospectkit.ContactList},
	} {
		list, err := client.Lists.Named(ctx, missing.name, missing.kind)
		require.Nil(t, list)
		require.ErrorIs(t, err, prospectkit.ErrNotFound)
		require.Equal(t, prospectkit.CodeListNotFound, prospectkit.CodeOf(err))
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.EqualError(t, err, "prospectkit: lists.list: LIST_NOT_FOUND: no list of this kind has this name")
	}
	require.Len(t, sb.Lists(), 4)
}

func TestNamed_Refused(t *testing.T) {
	lists := tests.NewClient(t, tests.Untouched(t)).Lists
	for want, err := range map[string]error{
		"name must not be blank":  tests.Discard(lists.Named(t.Context(), " \t", "")),
		"name is not valid UTF-8": tests.Discard(lists.Named(t.Context(), tests.Latin1, "")),
		`entityType is "people", must be one of ["contactList" "companyList"]`: tests.Discard(lists.Named(t.Context(), "Berlin", "people")),
	} {
		require.Equal(t, []string{want}, tests.Refusals(t, err))
	}
}

// Names are documented as unique, and yet there is a code for several lists of one name.
func TestNamed_Several(t *testing.T) {
	const page = `{"data":[{"id":"%s","name":"Berlin","entityType":"contactList"},{"id":"%s","name":"Berlin","entityType":"contactList"}],` +
		`"pagination":{"pageNum":1,"totalPages":1,"totalRecords":2}}`
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		return tests.Respond(http.StatusOK, fmt.Sprintf(page, tests.ListID, tests.ResultsID)), nil
	}))
	_, err := client.Lists.Named(t.Context(), "Berlin", "")
	require.ErrorIs(t, err, prospectkit.CodeListNameAmbiguous)
	require.NotErrorIs(t, err, prospectkit.ErrNotFound)
}
