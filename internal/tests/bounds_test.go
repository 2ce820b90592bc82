package tests

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
)

// accepts is a transport that accepts everything.
func accepts(r *http.Request) (*http.Response, error) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/folders"):
		return Respond(http.StatusOK, `{"folders":[]}`), nil
	case r.Method == http.MethodPost:
		return Made(r)
	}
	return Respond(http.StatusOK, `{"data":[]}`), nil
}

func listsPage(p prospectkit.ListsParams) AnyCall { return With((*lists).Page, p) }

func rowsPage(p prospectkit.RowsParams) AnyCall { return WithTwo((*lists).RowsPage, ListID, p) }

func createList(name string, kind prospectkit.ListKind) AnyCall {
	return With((*lists).Create, prospectkit.NewList{Name: name, Kind: kind})
}

func pushing(crm string, ids []string, all bool) AnyCall {
	return WithTwo((*lists).PushToCRM, ListID, prospectkit.CRMPush{CRM: crm, ContactIDs: ids, All: all})
}

func folders(kind prospectkit.FolderKind) AnyCall { return With((*lists).Folders, kind) }

func contactIDs(n int) []string { return slices.Repeat([]string{ColumnID}, n) }

// filterOf makes a filter whose JSON has exactly n characters.
func filterOf(n int) filter.Rows {
	return filter.Contact{Keywords: strings.Repeat("é", n-len(`{"keywords":""}`))}
}

func sortedBy(length int) prospectkit.RowsParams {
	return prospectkit.RowsParams{SortBy: strings.Repeat("é", length), Descending: true}
}

// Each bound of the document: at it, just inside, just outside. An empty complaint means that the call goes out.
var boundCases = []struct {
	name      string
	call      AnyCall
	complaint string
}{
	{"lists limit 1", listsPage(prospectkit.ListsParams{Limit: 1}), ""},
	{"lists limit 1000", listsPage(prospectkit.ListsParams{Limit: 1000}), ""},
	{"lists limit 1001", listsPage(prospectkit.ListsParams{Limit: 1001}), "limit is 1001, must be 1 to 1000"},
	{"lists limit -1", listsPage(prospectkit.ListsParams{Limit: -1}), "limit is -1, must be 1 to 1000"},
	{"lists page 1", listsPage(prospectkit.ListsParams{PageNum: 1}), ""},
	{"lists page -1", listsPage(prospectkit.ListsParams{PageNum: -1}), "pageNum is -1, must be at least 1"},
	{"lists of a kind", listsPage(prospectkit.ListsParams{Kind: prospectkit.ContactList}), ""},
	{"lists of no kind", listsPage(prospectkit.ListsParams{Kind: "contactlist"}), `entityType is "contactlist", must be one of ["contactList" "companyList"]`},
	{"folder id", listsPage(prospectkit.ListsParams{FolderID: strings.ToUpper(FolderID)}), ""},
	{"folder id of 23", listsPage(prospectkit.ListsParams{FolderID: FolderID[1:]}), "folderId must be 24 hexadecimal digits"},
	{"folder id of 25", listsPage(prospectkit.ListsParams{FolderID: FolderID + "0"}), "folderId must be 24 hexadecimal digits"},
	{"folder id with a g", listsPage(prospectkit.ListsParams{FolderID: FolderID[1:] + "g"}), "folderId must be 24 hexadecimal digits"},
	{"search of 1", listsPage(prospectkit.ListsParams{Search: "x"}), ""},
	{"search of 200 wide", listsPage(prospectkit.ListsParams{Search: strings.Repeat("界", 200)}), ""},
	{"search of 201", listsPage(prospectkit.ListsParams{Search: strings.Repeat("x", 201)}), "search has 201 characters, must have 1 to 200"},

	{"name of 1", createList("x", ""), ""},
	{"name of 255 wide, with space around", createList(" \t"+strings.Repeat("界", 255)+"\n ", ""), ""},
	{"name of 256", createList(strings.Repeat("x", 256), ""), "name has 256 characters, must have 1 to 255"},
	{"no name", createList("", ""), "name has 0 characters, must have 1 to 255"},
	{"blank name", createList(" \t\n\u00a0", ""), "name has 0 characters, must have 1 to 255"},
	{"kind of a new list", createList("x", prospectkit.CompanyList), ""},
	{"no kind of a list", createList("x", "lists"), `entityType is "lists", must be one of ["contactList" "companyList"]`},

	{"move", WithTwo((*lists).Move, ListID, FolderID), ""},
	{"move a wrong id", WithTwo((*lists).Move, "x/../y", FolderID), "listId must be 24 hexadecimal digits"},
	{"move to nowhere", WithTwo((*lists).Move, ListID, ""), "folderId must be 24 hexadecimal digits"},

	{"push all", pushing("crm", nil, true), ""},
	{"push all, with no selection", pushing("crm", []string{}, true), ""},
	{"push a selection of nobody", pushing("crm", nil, false), "contactIds is empty, which could mean everything: set All if you mean that"},
	{"push none", pushing("crm", []string{}, false), "contactIds is empty, which could mean everything: set All if you mean that"},
	{"push one and all", pushing("crm", contactIDs(1), true), "contactIds must be empty if All is set"},
	{"push 1", pushing("crm", contactIDs(1), false), ""},
	{"push 500", pushing("crm", contactIDs(500), false), ""},
	{"push 501", pushing("crm", contactIDs(501), false), "contactIds has 501 ids, must have at most 500"},
	{"push a wrong id", pushing("crm", append(contactIDs(1), "x"), false), "contactIds must all be 24 hexadecimal digits; index 1 is not"},
	{"push to nobody", pushing(" ", nil, true), "crm must not be blank"},

	{"folders of contact lists", folders(prospectkit.ContactListFolder), ""},
	{"folders of company lists", folders(prospectkit.CompanyListFolder), ""},
	{"folders of campaigns", folders(prospectkit.CampaignFolder), ""},
	{"folders of agents", folders(prospectkit.AgentFolder), ""},
	{"folders of nothing", folders(""), "type is required"},
	{"folders of something else", folders("list"), `type is "list", must be one of ["contactList" "companyList" "campaign" "agent"]`},

	{"rows limit 1", rowsPage(prospectkit.RowsParams{Limit: 1}), ""},
	{"rows limit 1000", rowsPage(prospectkit.RowsParams{Limit: 1000}), ""},
	{"rows limit 1001", rowsPage(prospectkit.RowsParams{Limit: 1001}), "limit is 1001, must be 1 to 1000"},
	{"rows limit -1", rowsPage(prospectkit.RowsParams{Limit: -1}), "limit is -1, must be 1 to 1000"},
	{"rows page 1", rowsPage(prospectkit.RowsParams{PageNum: 1}), ""},
	{"rows page -1", rowsPage(prospectkit.RowsParams{PageNum: -1}), "pageNum is -1, must be at least 1"},
	{"sort key of 101", rowsPage(sortedBy(101)), "sortBy has 101 characters, must have 1 to 100"},
	{"sort key of 0", rowsPage(sortedBy(0)), "sortBy has 0 characters, must have 1 to 100"},
	{"filter of 7999 wide", rowsPage(prospectkit.RowsParams{Filter: filterOf(7999)}), ""},
	{"filter of 8000 wide", rowsPage(prospectkit.RowsParams{Filter: filterOf(8000)}), ""},
	{"filter of 8001", rowsPage(prospectkit.RowsParams{Filter: filterOf(8001)}), "filters has 8001 characters, must have at most 8000"},
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tc := range boundCases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			sent := 0
			_, err := tc.call(t.Context(), NewClient(t, Counting(&sent, accepts)))
			if tc.complaint == "" {
				require.NoError(t, err)
				require.Equal(t, 1, sent)
				return
			}
			require.Equal(t, []string{tc.complaint}, Refusals(t, err))
			require.Zero(t, sent)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		})
	}
}

// All violations of a call come back at once.
func TestBounds_AllAtOnce(t *testing.T) {
	t.Parallel()
	client := NewClient(t, Untouched(t))
	_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{
		Limit: 1001, PageNum: -1, Kind: "x", FolderID: "x", Search: strings.Repeat("x", 201),
	}, prospectkit.WithMaxWait(-1), nil)
	require.Len(t, Refusals(t, err), 7)

	_, err = client.Lists.RowsPage(t.Context(), "x", prospectkit.RowsParams{
		Limit: 1001, PageNum: -1,
		SortBy: "name",
		Filter: filter.Contact{
			Employees: filter.AnyOf("many"), ICPMatch: filter.AnyOf("maybe"), Keywords: strings.Repeat("x", 8000),
			CustomColumns: map[string]filter.Column{"x": {DataType: "text"}},
		},
	})
	require.Len(t, Refusals(t, err), 9)

	_, err = client.Lists.PushToCRM(t.Context(), "", prospectkit.CRMPush{ContactIDs: append(contactIDs(500), "x")})
	require.Len(t, Refusals(t, err), 4)
}

// A page may hold twice as many elements as were asked for, and 100 more: one too many loses no page that was paid for.
func TestBounds_PageHoldsMoreThanWasAskedFor(t *testing.T) {
	t.Parallel()
	pageWith := func(key string, n int) RoundTrip {
		elements := strings.TrimSuffix(strings.Repeat(`{"id":"a"},`, n), ",")
		return Always(http.StatusOK, `{"`+key+`":[`+elements+`]}`)
	}
	for _, tc := range []struct {
		key  string
		most int
		call AnyCall
	}{
		{"data", 106, listsPage(prospectkit.ListsParams{Limit: 3})},
		{"data", 2100, listsPage(prospectkit.ListsParams{})},
		{"data", 106, rowsPage(prospectkit.RowsParams{Limit: 3})},
		{"data", 2100, rowsPage(prospectkit.RowsParams{})},
		{"profiles", 106, With((*search).ProspectsPage, prospectkit.SearchParams{Size: 3})},
		{"profiles", 300, With((*search).ProspectsPage, prospectkit.SearchParams{})},
		{"profiles", 10_000, WithTwo((*search).RunSavedPage, SavedID, 3)},
		{"activities", 10_000, EveryCall["contacts.timeline"]},
		{"folders", 10_000, folders(prospectkit.AgentFolder)},
	} {
		require.NoError(t, Discard(tc.call(t.Context(), NewClient(t, pageWith(tc.key, tc.most)))), tc.key)
		_, err := tc.call(t.Context(), NewClient(t, pageWith(tc.key, tc.most+1)))
		require.ErrorContains(t, err, "more elements than a page may have", tc.key)
	}
}
