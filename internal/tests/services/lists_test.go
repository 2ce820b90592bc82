package services_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// berlin is the list of the exchanges, without its raw text.
var berlin = prospectkit.List{
	ID: tests.ListID, Name: "Berlin", Kind: prospectkit.ContactList, ContactsCount: 12, CompaniesCount: 3,
	CreatedAt: time.Date(2026, 11, 21, 9, 30, 0, 123e6, time.UTC), FolderID: tests.FolderID,
}

func TestLists_Page(t *testing.T) {
	page, err := tests.Exchange(t, "lists.list/plain").Lists.Page(t.Context(), prospectkit.ListsParams{})
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	tests.SameFields(t, &berlin, &page.Items[0])
	require.Equal(t, prospectkit.CompanyList, page.Items[1].Kind)
	require.Empty(t, page.Items[1].FolderID)
	require.Equal(t, [3]int{1, 1, 2}, [3]int{page.Number, page.TotalPages, page.TotalRecords})
	require.True(t, page.TotalKnown)

	page, err = tests.Exchange(t, "lists.list/every-parameter").Lists.Page(t.Context(), prospectkit.ListsParams{
		Limit: 2, PageNum: 3, Kind: prospectkit.CompanyList, FolderID: tests.FolderID, Search: "50% & more",
	})
	require.NoError(t, err)
	require.Empty(t, page.Items)
	require.Equal(t, 3, page.Number)

	_, err = tests.Exchange(t, "lists.list/refused").Lists.Page(t.Context(), prospectkit.ListsParams{})
	require.Equal(t, "limit", tests.AsError(t, err).Param)
	require.NotErrorAs(t, err, new(*prospectkit.RefusedError))
}

func TestLists_Create(t *testing.T) {
	root := berlin
	root.FolderID = ""
	list, err := tests.Exchange(t, "lists.create/named").Lists.Create(t.Context(), prospectkit.NewList{Name: " Berlin\t"})
	require.NoError(t, err)
	tests.SameFields(t, &root, list)

	firms := prospectkit.NewList{Name: "Firms", Kind: prospectkit.CompanyList}
	list, err = tests.Exchange(t, "lists.create/companies").Lists.Create(t.Context(), firms)
	require.NoError(t, err)
	require.True(t, list.CreatedAt.IsZero(), "the document makes it optional here")

	_, err = tests.Exchange(t, "lists.create/taken").Lists.Create(t.Context(), prospectkit.NewList{Name: "Berlin"})
	require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
	require.ErrorIs(t, err, prospectkit.ErrConflict)
}

// A list that was created with an unreadable response is a lost response and no failure.
func TestLists_CreateResponseLost(t *testing.T) {
	for name, want := range map[string]string{"bare": `the response has no "list"`, "without-id": "a list has no id"} {
		_, err := tests.Exchange(t, "lists.create/"+name).Lists.Create(t.Context(), prospectkit.NewList{Name: "Berlin"})
		require.ErrorIs(t, err, prospectkit.ErrResponseLost)
		require.ErrorContains(t, err, want)
		require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err))
	}
}

func TestLists_Get(t *testing.T) {
	for _, shape := range []string{"wrapped", "bare"} {
		list, err := tests.Exchange(t, "lists.get/"+shape).Lists.Get(t.Context(), tests.ListID)
		require.NoError(t, err)
		tests.SameFields(t, &berlin, list)
	}
	list, err := tests.Exchange(t, "lists.get/columns").Lists.GetWithColumns(t.Context(), tests.ListID)
	require.NoError(t, err)
	tests.SameFields(t, []prospectkit.Column{{ID: tests.ColumnID, Name: "Score", Type: "number"}, {ID: tests.FolderID}}, list.Columns)
	require.Equal(t, "settled", list.Raw().Text("completionStatus"))

	list, err = tests.Exchange(t, "lists.get/retyped").Lists.Get(t.Context(), tests.ListID)
	require.NoError(t, err)
	tests.SameFields(t, &prospectkit.List{ID: tests.ListID}, list)

	_, err = tests.Exchange(t, "lists.get/missing").Lists.Get(t.Context(), tests.ListID)
	require.ErrorIs(t, err, prospectkit.ErrNotFound)
}

func TestLists_Move(t *testing.T) {
	moved, err := tests.Exchange(t, "lists.move/folder").Lists.Move(t.Context(), tests.ListID, tests.FolderID)
	require.NoError(t, err)
	require.Equal(t, tests.ListID, moved.Text("list.id"))
	moved, err = tests.Exchange(t, "lists.move/root").Lists.MoveToRoot(t.Context(), tests.ListID)
	require.NoError(t, err)
	require.True(t, moved.IsZero())
}

func TestLists_PushToCRM(t *testing.T) {
	whole := prospectkit.CRMPush{CRM: "some-crm", All: true}
	pushed, err := tests.Exchange(t, "lists.crm-push/whole-list").Lists.PushToCRM(t.Context(), tests.ListID, whole)
	require.NoError(t, err)
	tests.SameFields(t, &prospectkit.CRMPushed{CRM: "some-crm", ListIDs: []string{tests.ListID}}, pushed)

	some := prospectkit.CRMPush{CRM: "some-crm", ContactIDs: []string{tests.ColumnID}}
	pushed, err = tests.Exchange(t, "lists.crm-push/some").Lists.PushToCRM(t.Context(), tests.ListID, some)
	require.NoError(t, err)
	tests.SameFields(t, &prospectkit.CRMPushed{CRM: "some-crm"}, pushed)

	_, err = tests.Exchange(t, "lists.crm-push/not-connected").Lists.PushToCRM(t.Context(), tests.ListID, whole)
	require.ErrorIs(t, err, prospectkit.CodeCRMNotConnected)
}

func TestLists_Fill(t *testing.T) {
	added, err := tests.Exchange(t, "lists.add-members/fields").Lists.AddMembers(t.Context(), tests.ListID, prospectkit.Fields{"contacts": []string{tests.ColumnID}})
	require.NoError(t, err)
	require.Equal(t, 1, added.Int("added"))

	rows := prospectkit.Fields{"rows": []prospectkit.Fields{{"firstName": "Ada"}}}
	added, err = tests.Exchange(t, "lists.add-contacts/fields").Lists.AddContacts(t.Context(), tests.ListID, rows)
	require.NoError(t, err)
	require.Equal(t, 1, added.Int("rows.added"))

	saved, err := tests.Exchange(t, "lists.save-to-list/fields").Lists.SaveContacts(t.Context(), prospectkit.ContactSave{ListName: "Berlin", All: true})
	require.NoError(t, err)
	require.True(t, saved.IsZero())
	_, err = tests.Exchange(t, "lists.save-to-list/ambiguous").Lists.SaveContacts(t.Context(), prospectkit.ContactSave{ListName: "Berlin", All: true})
	require.ErrorIs(t, err, prospectkit.CodeListNameAmbiguous)
}

func TestLists_Folders(t *testing.T) {
	folders, err := tests.Exchange(t, "folders.list/contact-lists").Lists.Folders(t.Context(), prospectkit.ContactListFolder)
	require.NoError(t, err)
	tests.SameFields(t, []prospectkit.Folder{
		{ID: tests.FolderID, Name: "Q1", Kind: prospectkit.ContactListFolder}, {ID: tests.ColumnID, Kind: "newKind"},
	}, folders)
	require.True(t, folders[0].Kind.Known())
	require.False(t, folders[1].Kind.Known())
	folders, err = tests.Exchange(t, "folders.list/none").Lists.Folders(t.Context(), prospectkit.AgentFolder)
	require.NoError(t, err)
	require.Empty(t, folders)
	_, err = tests.Exchange(t, "folders.list/relayed").Lists.Folders(t.Context(), prospectkit.CampaignFolder)
	require.ErrorIs(t, err, prospectkit.CodeInvalidRequest)
	_, err = tests.NewClient(t, tests.Always(400, tests.Envelope("A_CODE_OF_ITS_OWN"))).Lists.Folders(t.Context(), prospectkit.AgentFolder)
	require.Equal(t, prospectkit.Code("A_CODE_OF_ITS_OWN"), prospectkit.CodeOf(err))
	_, err = tests.Exchange(t, "folders.list/without-id", noRetry).Lists.Folders(t.Context(), prospectkit.AgentFolder)
	require.ErrorContains(t, err, "a folder has no id")
}

// What the document promises has to be there; the message names what is not.
func TestLists_EntityRules(t *testing.T) {
	me, get, folders := tests.EveryCall["account.me"], tests.With((*prospectkit.ListsService).Get, tests.ListID), tests.EveryCall["folders.list"]
	page := tests.EveryCall["lists.list"]
	for _, tc := range []struct {
		call       tests.AnyCall
		body, want string
	}{
		{me, `{"id":"x"}`, `no "user"`},
		{me, `{"user":null}`, `no "user"`},
		{me, `{"user":{"id":5}}`, "the user has no id"},
		{me, `{"user":[]}`, "the response is not an object"},
		{me, ``, "the response is empty"},
		{me, `{"user":{"id":"x"}} trailing`, "invalid JSON"},
		{get, `{"list":null}`, "a list has no id"},
		{get, `{}`, "a list has no id"},
		{get, `[]`, "the response is not an object"},
		{folders, `{"folders":{}}`, "the folders are not an array"},
		{folders, `{"folders":[7]}`, "a folder has no id"},
		{folders, `{}`, `no "folders"`},
		{page, `{"pagination":{}}`, "the page has no data"},
		{page, `{"data":null,"pagination":{"totalPages":1}}`, "the page has no data"},
		{page, `{"data":null,"pagination":{"totalRecords":3}}`, "the page has no data"},
		{page, `{"data":[null]}`, "a list has no id"},
		{page, `{"data":[{"id":"` + tests.ListID + `","more":null}, null]}`, "a list has no id"},
		{page, `{"data":[{"name":"x"}]}`, "a list has no id"},
		{page, `[]`, "the response is not an object"},
	} {
		_, err := tc.call(t.Context(), tests.NewClient(t, tests.Always(http.StatusOK, tc.body), noRetry))
		require.ErrorContains(t, err, tc.want, "body %q", tc.body)
		require.Equal(t, prospectkit.OutcomeNotApplied, tests.AsError(t, err).Outcome())
	}
}

// Fields that come, go or change their type never fail a page, as long as the id is there.
func TestLists_SurviveOddFields(t *testing.T) {
	odd := rapid.SampledFrom([]string{`null`, `7`, `-0.5e3`, `"x"`, `true`, `[]`, `[{"id":1}]`, `{}`, `{"a":{"b":[null]}}`, `"2026-13-99"`})
	names := rapid.SampledFrom([]string{"name", "entityType", "contactsCount", "companiesCount", "createdAt", "folderId", "columns", "new", ""})
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.MapOf(names, odd).Draw(t, "fields")
		var b strings.Builder
		for name, value := range fields {
			b.WriteString(`"` + name + `":` + value + `,`)
		}
		body := `{"data":[{` + b.String() + `"id":"x"}],"pagination":` + odd.Draw(t, "pagination") + `,"new":` + odd.Draw(t, "new") + `}`
		client, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithTransport(tests.Always(http.StatusOK, body)))
		require.NoError(t, err)
		page, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
		require.NoError(t, err)
		require.Equal(t, "x", page.Items[0].ID)
		rows, err := client.Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{})
		require.NoError(t, err)
		require.Equal(t, "x", rows.Items[0].ID())
	})
}

// Of duplicate keys the last one counts, as in encoding/json.
func TestLists_DuplicateKeys(t *testing.T) {
	client := tests.NewClient(t, tests.Always(http.StatusOK, `{"data":[{"id":"a"},{"id":"b"}],"data":[{"id":"x","id":"c"}]}`))
	page, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, "c", page.Items[0].ID)
}

// A page that repeats the kind of CRM is no proof that the service has accepted the push.
func TestLists_PushIsProvedByItsLists(t *testing.T) {
	client := tests.NewClient(t, tests.Always(202, `{"crm":"c","status":"ok"}`, tests.Bare...))
	_, err := client.Lists.PushToCRM(t.Context(), tests.ListID, prospectkit.CRMPush{CRM: "c", All: true})
	tests.RequireUnknown(t, err)
}

// Columns that are not where they are looked for are none, unlike an empty array of them.
func TestLists_ColumnsThatAreNotThere(t *testing.T) {
	for body, gone := range map[string]bool{
		`{"list":{"id":"` + tests.ListID + `"}}`:                              true,
		`{"list":{"id":"` + tests.ListID + `","columns":null}}`:               true,
		`{"list":{"id":"` + tests.ListID + `","columns":{}}}`:                 true,
		`{"list":{"id":"` + tests.ListID + `","customColumns":[{"id":"x"}]}}`: true,
		`{"list":{"id":"` + tests.ListID + `","columns":[]}}`:                 false,
		`{"list":{"id":"` + tests.ListID + `","columns":[{"id":"x"}]}}`:       false,
	} {
		client := tests.NewClient(t, tests.Always(http.StatusOK, body))
		list, err := client.Lists.GetWithColumns(t.Context(), tests.ListID)
		require.NoError(t, err)
		require.Equal(t, gone, list.Columns == nil, body)
	}
}
