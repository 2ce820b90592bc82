package call_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/spend"
)

// A field whose name differs from that of a documented one of the same call in letter case only is not sent: the service may read it, and
// it could stand beside the one that is checked.
func TestEncode_NamesOfAnotherCase(t *testing.T) {
	type fields = prospectkit.Fields
	ctx, c := t.Context(), tests.NewClient(t, tests.Untouched(t), prospectkit.WithSpendGuard(spend.NewGuard(1, spend.Prices{"campaigns.adjust": {PerItem: 1, ItemsIn: "listIds"}})))
	saves := prospectkit.ContactSave{ListID: tests.ListID, All: true, Extra: fields{"contactIDs": 1}}
	twice := prospectkit.CampaignChanges{ListIDs: []string{tests.ListID}, Extra: fields{"ListIds": []string{tests.ListID, tests.FolderID}}}
	refuses := func(text, name, meant string, err error) {
		t.Helper()
		require.Equal(t, []string{fmt.Sprintf(text, name, meant)}, tests.Refusals(t, err))
		require.ErrorIs(t, err, prospectkit.ErrInvalid)
	}
	const raw, beside = "%s differs from %q in letter case only", "body cannot be encoded: field %q is set by the call itself, as %q"
	refuses(raw, "contactids", "contactIds", tests.Discard(c.Lists.AddMembers(ctx, tests.ListID, fields{"contactids": 1})))
	refuses(raw, "knowledgeHubID", "knowledgeHubId", tests.Discard(c.Facts.SetDefaultHub(ctx, fields{"knowledgeHubID": tests.HubID})))
	refuses(raw, "MaxCreditSpend", "maxCreditSpend", tests.Discard(c.Agents.Adjust(ctx, tests.AgentID, fields{"MaxCreditSpend": 1000})))
	refuses(beside, "listids", "listIds", tests.Discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{Extra: fields{"listids": 1}})))
	refuses(beside, "contactIDs", "contactIds", tests.Discard(c.Lists.SaveContacts(ctx, saves)))
	refuses(beside, "ListIds", "listIds", tests.Discard(c.Campaigns.Adjust(ctx, tests.CampaignID, twice)))
	refuses(beside, "ListIds", "listIds", tests.Discard(c.Campaigns.Adjust(ctx, tests.CampaignID, prospectkit.CampaignChanges{}, prospectkit.WithField("ListIds", 1))))
	refuses(beside, "Size", "size", tests.Discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Size: 1}, prospectkit.WithField("Size", 100))))
	for name, meant := range map[string]string{"START": "start", "Start": "start", "\u017Ftart": "start", "MaxCreditSpend": "maxCreditSpend"} {
		extra := tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Extra = fields{name: true} })
		refuses(beside, name, meant, tests.Discard(c.Agents.Create(ctx, extra)))
		refuses(beside, name, meant, tests.Discard(c.Agents.Create(ctx, tests.Monitor(), prospectkit.WithField(name, true))))
	}
}

// Names that are documented, other names, and those of WithField are sent.
func TestEncode_NamesThatAreSent(t *testing.T) {
	type fields = prospectkit.Fields
	ctx := t.Context()
	client, sent := recording(t)
	for want, err := range map[string]error{
		`{"listId":"` + tests.ListID + `","sourceListId":"x"}`: tests.Discard(client.Lists.SaveContacts(ctx, prospectkit.ContactSave{ListID: tests.ListID, All: true, Extra: fields{"sourceListId": "x"}})),
		`{"listId":1,"listIds":[]}`:                            tests.Discard(client.Campaigns.Adjust(ctx, tests.CampaignID, prospectkit.CampaignChanges{ListIDs: []string{}}, prospectkit.WithField("listId", 1))),
		`{"listId":1,"listIds":2}`:                             tests.Discard(client.Agents.Adjust(ctx, tests.AgentID, fields{"listId": 1, "listIds": 2})),
		`{"channels":["email"],"name":"Spring"}`:               tests.Discard(client.Campaigns.Create(ctx, prospectkit.NewCampaign{Channels: []string{"email"}, Extra: fields{"name": "Spring"}})),
		`{}`:                                                   tests.Discard(client.Campaigns.Adjust(ctx, tests.CampaignID, prospectkit.CampaignChanges{})),
	} {
		require.NoError(t, err)
		_, ok := sent[want]
		require.True(t, ok, "%s is not in %v", want, sent)
	}
}

// Each field of a request has the name that the document gives it.
func TestEncode_RequestFields(t *testing.T) {
	ctx := t.Context()
	for want, send := range map[string]func(*prospectkit.Client) error{
		`{"listIds":["` + tests.ListID + `"],"channels":["email"],"templateId":"` + tests.StepID + `","writingStyleId":"` + tests.SendID + `","knowledgeHubId":"` + tests.HubID + `"}`: func(c *prospectkit.Client) error {
			return tests.Discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{
				ListIDs: []string{tests.ListID}, Channels: []string{"email"}, TemplateID: tests.StepID, WritingStyleID: tests.SendID, KnowledgeHubID: tests.HubID,
			}))
		},
		`{"listIds":["` + tests.ListID + `"],"channels":["email"]}`: func(c *prospectkit.Client) error {
			return tests.Discard(c.Campaigns.Adjust(ctx, tests.CampaignID, prospectkit.CampaignChanges{ListIDs: []string{tests.ListID}, Channels: []string{"email"}}))
		},
		`{"listId":"` + tests.ListID + `","listName":"Q1","contactIds":["` + tests.ContactID + `"]}`: func(c *prospectkit.Client) error {
			return tests.Discard(c.Lists.SaveContacts(ctx, prospectkit.ContactSave{ListID: tests.ListID, ListName: "Q1", ContactIDs: []string{tests.ContactID}}))
		},
		`{"filters":{"job_title_levels":[{"status":"include","value":"vp"}]},"listId":"` + tests.ListID + `","listName":"Q1"}`: func(c *prospectkit.Client) error {
			return tests.Discard(c.Search.SaveMatches(ctx, prospectkit.MatchSave{
				Filters: filter.Search{"job_title_levels": filter.Including("vp")}, ListID: tests.ListID, ListName: "Q1",
			}))
		},
		`{"filters":{"headquartersCity":["Berlin"]},"savedSearchId":"` + tests.SavedID + `","excludeCompanyLists":["` + tests.ListID + `"]}`: func(c *prospectkit.Client) error {
			return tests.Discard(c.Search.Companies(ctx, prospectkit.CompanySearch{
				Filters: prospectkit.Fields{"headquartersCity": []string{"Berlin"}}, SavedSearchID: tests.SavedID, ExcludeCompanyLists: []string{tests.ListID},
			}))
		},
	} {
		client, sent := recording(t)
		require.NoError(t, send(client))
		require.Len(t, sent, 1)
		require.True(t, sent[want], "%s, not %v", want, sent)
	}
}

func TestEncode_BoundsOfRequests(t *testing.T) {
	ctx, c := t.Context(), tests.NewClient(t, tests.Untouched(t))
	eleven := make([]string, 11)
	for i := range eleven {
		eleven[i] = fmt.Sprintf("65f0c0ffee65f0c0ffee65%02x", i)
	}
	const tooMany = "listIds has 11 lists, must have at most 10"
	require.Equal(t, []string{tooMany}, tests.Refusals(t, tests.Discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{ListIDs: eleven}))))
	require.Equal(t, []string{tooMany}, tests.Refusals(t, tests.Discard(c.Campaigns.Adjust(ctx, tests.CampaignID, prospectkit.CampaignChanges{ListIDs: eleven}))))
	const notID = " must be 24 hexadecimal digits"
	require.Equal(t, []string{"templateId" + notID, "writingStyleId" + notID, "knowledgeHubId" + notID}, tests.Refusals(t, tests.Discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{
		TemplateID: "x", WritingStyleID: "x", KnowledgeHubID: "x",
	}))))
	require.Equal(t, []string{"listId" + notID}, tests.Refusals(t, tests.Discard(c.Lists.SaveContacts(ctx, prospectkit.ContactSave{ListID: "x", All: true}))))
	require.Equal(t, []string{"listId" + notID}, tests.Refusals(t, tests.Discard(c.Search.SaveMatches(ctx, prospectkit.MatchSave{ListID: "x", All: true}))))
	require.Equal(t, []string{"savedSearchId" + notID, "excludeCompanyLists must all be 24 hexadecimal digits; index 0 is not"}, tests.Refusals(t, tests.Discard(c.Search.Companies(ctx, prospectkit.CompanySearch{
		SavedSearchID: "x", ExcludeCompanyLists: []string{"x"},
	}))))

	client, sent := recording(t)
	ids := append([]string{strings.ToUpper(eleven[10])}, eleven[1:]...) // ten, one of them twice
	require.NoError(t, tests.Discard(client.Campaigns.Adjust(ctx, tests.CampaignID, prospectkit.CampaignChanges{ListIDs: ids})))
	require.Len(t, sent, 1)
}

// recording is a client whose requests are all accepted, and their bodies.
func recording(t *testing.T) (client *prospectkit.Client, sent map[string]bool) {
	t.Helper()
	sent = map[string]bool{}
	return tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		sent[tests.BodyOf(t, r)] = true
		return tests.Respond(http.StatusOK, `{"id": "`+tests.CampaignID+`"}`), nil
	})), sent
}

// Text that is not valid UTF-8 leaves in no request: encoding/json would change it in silence, and a name is never found again.
func TestCheck_TextThatIsNoUTF8IsRefused(t *testing.T) {
	type fields = prospectkit.Fields
	ctx, c := t.Context(), tests.NewClient(t, tests.Untouched(t))
	rows := func(f filter.Rows) error {
		return tests.Discard(c.Lists.RowsPage(ctx, tests.ListID, prospectkit.RowsParams{Filter: f}))
	}
	for param, errs := range map[string][]error{
		"name": {
			tests.Discard(c.Lists.Create(ctx, prospectkit.NewList{Name: tests.Latin1})), tests.Discard(c.Lists.Ensure(ctx, prospectkit.NewList{Name: tests.Latin1})),
			tests.Discard(c.Imports.Upload(ctx, prospectkit.UploadFrom(tests.Latin1+".csv", 1, strings.NewReader("x")))),
			tests.Discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{Extra: fields{"name": tests.Latin1}})),
		},
		"search":                   {tests.Discard(c.Lists.Page(ctx, prospectkit.ListsParams{Search: tests.Latin1})), first(c.Lists.All(ctx, prospectkit.ListsParams{Search: tests.Latin1}))},
		"sortBy":                   {tests.Discard(c.Lists.RowsPage(ctx, tests.ListID, prospectkit.RowsParams{SortBy: tests.Latin1}))},
		"filters.title.exclude[1]": {rows(filter.Contact{Title: filter.NoneOf("x", tests.Latin1)})},
		"filters.title[0]": {
			rows(filter.Contact{Title: filter.AnyOf(tests.Latin1)}), first(c.Lists.Rows(ctx, tests.ListID, prospectkit.RowsParams{Filter: &filter.Contact{Title: filter.AnyOf(tests.Latin1)}})),
		},
		"filters.title":                    {rows(filter.Raw{"title": tests.Latin1}), rows(filter.Raw{"title": json.RawMessage(`"` + tests.Latin1 + `"`)})},
		"filters.keywords":                 {rows(filter.Contact{Keywords: tests.Latin1})},
		"filters.enrichedEmail.include[0]": {rows(filter.Contact{EnrichedEmail: filter.Statuses{tests.Latin1}})},
		"filters.customColumns." + tests.ColumnID + ".include[0]": {
			rows(filter.Company{CustomColumns: map[string]filter.Column{tests.ColumnID: filter.Text(tests.Latin1)}}),
		},
		"crm":                      {tests.Discard(c.Lists.PushToCRM(ctx, tests.ListID, prospectkit.CRMPush{CRM: tests.Latin1, All: true}))},
		"contacts[1].company.name": {tests.Discard(c.Lists.AddContacts(ctx, tests.ListID, fields{"contacts": []fields{{}, {"company": map[string]string{"name": tests.Latin1}}}}))},
		"x.caf\uFFFD":              {tests.Discard(c.Lists.SaveContacts(ctx, prospectkit.ContactSave{All: true, Extra: fields{"x": map[string]int{tests.Latin1: 1}}}))},
		"listName": {
			tests.Discard(c.Agents.Create(ctx, tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.ListName = tests.Latin1 }))),
			tests.Discard(c.Search.SaveMatches(ctx, prospectkit.MatchSave{ListName: tests.Latin1, All: true})),
			tests.Discard(c.Imports.FromUpload(ctx, tests.ImportID, prospectkit.WithField("listName", tests.Latin1))),
		},
		"prompt":        {tests.Discard(c.Agents.Create(ctx, tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Prompt = tests.Latin1 })))},
		"titleField[0]": {tests.Discard(c.Agents.Create(ctx, tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Filters["titleField"] = []string{tests.Latin1} })))},
		"text":          {tests.Discard(c.Agents.Autocomplete(ctx, "title", prospectkit.WithQuery("text", tests.Latin1)))},
		"claim":         {tests.Discard(c.Facts.Edit(ctx, tests.FactID, prospectkit.FactEdit{Claim: tests.Latin1}))},
		"filters.job_title_levels[0].value": {
			tests.Discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Filters: filter.Search{"job_title_levels": filter.Including(tests.Latin1)}})),
		},
		"filters.caf\uFFFD": {tests.Discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Filters: filter.Search{tests.Latin1: filter.Including("x")}}))},
		"fields.mapping":    {tests.Discard(c.Imports.Upload(ctx, withFields(tests.CSVUpload("name\n"), map[string]string{"mapping": tests.Latin1})))},
		"q":                 {tests.Discard(c.Account.Me(ctx, prospectkit.WithQuery("q", tests.Latin1)))},
		"caf\uFFFD":         {tests.Discard(c.Account.Me(ctx, prospectkit.WithQuery(tests.Latin1, "q"))), tests.Discard(c.Contacts.Resolve(ctx, nil, prospectkit.WithField(tests.Latin1, 1)))},
		"note.deep[0]": {c.Call(ctx, rawCall, struct {
			Note any `json:"note"`
		}{map[string][]string{"deep": {tests.Latin1}}}, nil)},
		"body": {c.Call(ctx, rawCall, tests.Latin1, nil)},
	} {
		for i, err := range errs {
			require.Contains(t, tests.Refusals(t, err), param+" is not valid UTF-8", "%s, call %d", param, i)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.NotContains(t, err.Error(), "\xe9")
		}
	}
	for _, path := range []string{"/business/" + tests.Latin1 + "/{hubId}", "/business/caf%E9/{hubId}"} {
		_, err := c.With(prospectkit.WithRoutes(map[string]string{"hubs.pages": "GET " + path}))
		require.Contains(t, tests.Refusals(t, err)[0], "WithRoutes hubs.pages must be a method and a path")
	}
}

var rawCall = prospectkit.Operation{Name: "x.y", Method: "POST", Path: "/business/x", Surface: "lists"}

func withFields(u prospectkit.Upload, fields map[string]string) prospectkit.Upload {
	u.Fields = fields
	return u
}

// first is the error that an iterator begins with.
func first[T any](seq func(func(*T, error) bool)) (err error) {
	seq(func(_ *T, e error) bool { err = e; return false })
	return err
}

// An instant in fields of your own leaves as the service writes its own: in UTC, with three digits of milliseconds.
func TestCheck_InstantsOfYourOwnFields(t *testing.T) {
	at := time.Date(2026, time.January, 31, 10, 30, 0, 7_999_999, time.FixedZone("", 3600))
	type mine struct {
		DueAt time.Time  `json:"dueAt"`
		Until *time.Time `json:"until,omitempty"`
	}
	var body string
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		body = tests.BodyOf(t, r)
		return tests.Respond(http.StatusOK, `{}`), nil
	}))
	const due = `"2026-01-31T09:30:00.007Z"`
	for name, c := range map[string]struct {
		call func(ctx context.Context) error
		want string
	}{
		"fields": {func(ctx context.Context) error {
			return tests.Discard(client.Campaigns.EditSend(ctx, tests.SendID, prospectkit.Fields{"dueAt": at, "subject": "at 2026-01-31T10:30:00+01:00"}))
		}, `{"dueAt":` + due + `,"subject":"at 2026-01-31T10:30:00+01:00"}`},
		"zero": {func(ctx context.Context) error {
			return tests.Discard(client.Campaigns.EditSend(ctx, tests.SendID, prospectkit.Fields{"dueAt": time.Time{}}))
		}, `{"dueAt":"0001-01-01T00:00:00.000Z"}`},
		"pointer": {func(ctx context.Context) error {
			return tests.Discard(client.Campaigns.EditSend(ctx, tests.SendID, prospectkit.Fields{"dueAt": &at}))
		}, `{"dueAt":` + due + `}`},
		"deep": {func(ctx context.Context) error {
			return tests.Discard(client.Campaigns.Adjust(ctx, tests.CampaignID, prospectkit.CampaignChanges{Extra: prospectkit.Fields{"steps": []any{mine{at, &at}, map[string][]time.Time{"x": {at}}}}}))
		}, `{"steps":[{"dueAt":` + due + `,"until":` + due + `},{"x":[` + due + `]}]}`},
		"WithField": {func(ctx context.Context) error {
			return tests.Discard(client.Lists.Create(ctx, prospectkit.NewList{Name: "x"}, prospectkit.WithField("from", at.Truncate(time.Hour))))
		}, `{"name":"x","from":"2026-01-31T09:00:00.000Z"}`},
		"Call": {func(ctx context.Context) error { return client.Call(ctx, rawCall, mine{DueAt: at}, nil) }, `{"dueAt":` + due + `}`},
	} {
		_ = c.call(t.Context())
		require.JSONEq(t, c.want, body, name)
	}
}

// Over net/http's own transport, requests without a body share their header. Whatever makes a body, it is sent.
func TestEncode_EveryBodyIsSent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			tests.RateHeaders(w.Header(), http.StatusOK)
			w.Header().Set("Seen", r.Header.Get("Content-Type")+" "+strings.NewReplacer("\r", "", "\n", "").Replace(string(body)))
		}
		_, _ = io.WriteString(w, `{"campaign":{"id":"`+tests.CampaignID+`","status":"active"}}`)
	}))
	defer server.Close()
	client := tests.ClientAt(t, server.URL)
	field := prospectkit.WithField("note", "x")
	approve := func(opts ...prospectkit.CallOption) error {
		return tests.Discard(client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID, opts...))
	}
	activate := func(opts ...prospectkit.CallOption) error {
		return tests.Discard(client.Agents.Activate(t.Context(), tests.AgentID, opts...))
	}
	for want, call := range map[string]func(prospectkit.CallOption) error{
		`^$`:                              func(info prospectkit.CallOption) error { return approve(info) },
		`^application/json {"note":"x"}$`: func(info prospectkit.CallOption) error { return activate(info, field) },
		`^application/json {"note":"x","of":"y"}$`: func(info prospectkit.CallOption) error {
			return activate(info, field, prospectkit.WithField("of", "y"))
		},
		`^application/json {"a":1}$`: func(info prospectkit.CallOption) error {
			return tests.Discard(client.Campaigns.Adjust(t.Context(), tests.CampaignID, prospectkit.CampaignChanges{Extra: prospectkit.Fields{"a": 1}}, info))
		},
		`^multipart/form-data; .*"importId".*` + tests.ImportID: func(info prospectkit.CallOption) error {
			return tests.Discard(client.Imports.FromUpload(t.Context(), tests.ImportID, info))
		},
		`^multipart/form-data; .*name,company`: func(info prospectkit.CallOption) error {
			return tests.Discard(client.Imports.Upload(t.Context(), prospectkit.UploadFrom("a.csv", 12, strings.NewReader("name,company")), info))
		},
	} {
		var info prospectkit.Info
		require.NoError(t, call(prospectkit.WithInfo(&info)), want)
		require.Regexp(t, want, info.Header.Get("Seen"))
	}
}
