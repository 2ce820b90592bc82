package call_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/tests"
)

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
		"search": {tests.Discard(c.Lists.Page(ctx, prospectkit.ListsParams{Search: tests.Latin1})), first(c.Lists.All(ctx, prospectkit.ListsParams{Search: tests.Latin1}))},
		"sortBy": {tests.Discard(c.Lists.RowsPage(ctx, tests.ListID, prospectkit.RowsParams{SortBy: tests.Latin1}))},
		"filters.title": {
			rows(filter.Contact{Title: filter.AnyOf(tests.Latin1)}), rows(filter.Contact{Title: filter.NoneOf("x", tests.Latin1)}),
			first(c.Lists.Rows(ctx, tests.ListID, prospectkit.RowsParams{Filter: &filter.Contact{Title: filter.AnyOf(tests.Latin1)}})),
			rows(filter.Raw{"title": tests.Latin1}), rows(filter.Raw{"title": json.RawMessage(`"` + tests.Latin1 + `"`)}),
		},
		"filters.keywords":      {rows(filter.Contact{Keywords: tests.Latin1})},
		"filters.enrichedEmail": {rows(filter.Contact{EnrichedEmail: filter.Statuses{tests.Latin1}})},
		"filters.customColumns." + tests.ColumnID + ".include.0": {
			rows(filter.Company{CustomColumns: map[string]filter.Column{tests.ColumnID: filter.Text(tests.Latin1)}}),
		},
		"crm":                     {tests.Discard(c.Lists.PushToCRM(ctx, tests.ListID, prospectkit.CRMPush{CRM: tests.Latin1, All: true}))},
		"contacts.1.company.name": {tests.Discard(c.Lists.AddContacts(ctx, tests.ListID, fields{"contacts": []fields{{}, {"company": map[string]string{"name": tests.Latin1}}}}))},
		"x.caf\uFFFD":             {tests.Discard(c.Lists.SaveContacts(ctx, prospectkit.ContactSave{All: true, Extra: fields{"x": map[string]int{tests.Latin1: 1}}}))},
		"listName": {
			tests.Discard(c.Agents.Create(ctx, tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.ListName = tests.Latin1 }))),
			tests.Discard(c.Search.SaveMatches(ctx, prospectkit.MatchSave{ListName: tests.Latin1, All: true})),
			tests.Discard(c.Imports.FromUpload(ctx, tests.ImportID, prospectkit.WithField("listName", tests.Latin1))),
		},
		"prompt":       {tests.Discard(c.Agents.Create(ctx, tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Prompt = tests.Latin1 })))},
		"titleField.0": {tests.Discard(c.Agents.Create(ctx, tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Filters["titleField"] = []string{tests.Latin1} })))},
		"text":         {tests.Discard(c.Agents.Autocomplete(ctx, "title", prospectkit.WithQuery("text", tests.Latin1)))},
		"claim":        {tests.Discard(c.Facts.Edit(ctx, tests.FactID, prospectkit.FactEdit{Claim: tests.Latin1}))},
		"filters.job_title_levels.0": {
			tests.Discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Filters: filter.Search{"job_title_levels": filter.Including(tests.Latin1)}})),
		},
		"filters.caf\uFFFD": {tests.Discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Filters: filter.Search{tests.Latin1: filter.Including("x")}}))},
		"fields.mapping":    {tests.Discard(c.Imports.Upload(ctx, withFields(tests.CSVUpload("name\n"), map[string]string{"mapping": tests.Latin1})))},
		"q":                 {tests.Discard(c.Account.Me(ctx, prospectkit.WithQuery("q", tests.Latin1)))},
		"caf\uFFFD":         {tests.Discard(c.Account.Me(ctx, prospectkit.WithQuery(tests.Latin1, "q"))), tests.Discard(c.Contacts.Resolve(ctx, nil, prospectkit.WithField(tests.Latin1, 1)))},
		"note.deep.0": {c.Call(ctx, rawCall, struct {
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
		text, err := io.ReadAll(r.Body)
		body = string(text)
		return tests.Respond(http.StatusOK, `{}`), err
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
