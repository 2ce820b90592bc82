package prospectkit_test

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
	"example.com/prospectkit/catalogue"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/ratelimit"
)

const latin1 = "caf\xe9" // from a file that was never UTF-8

// Text that is not valid UTF-8 leaves in no request: encoding/json would change it in silence, and a name is never found again.
func TestCheck_TextThatIsNoUTF8IsRefused(t *testing.T) {
	type fields = prospectkit.Fields
	ctx, c := t.Context(), newClient(t, untouched(t))
	rows := func(f filter.Rows) error {
		return discard(c.Lists.RowsPage(ctx, listID, prospectkit.RowsParams{Filter: f}))
	}
	for param, errs := range map[string][]error{
		"name": {
			discard(c.Lists.Create(ctx, prospectkit.NewList{Name: latin1})), discard(c.Lists.Ensure(ctx, prospectkit.NewList{Name: latin1})),
			discard(c.Imports.Upload(ctx, prospectkit.UploadFrom(latin1+".csv", 1, strings.NewReader("x")))),
			discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{Extra: fields{"name": latin1}})),
		},
		"search": {discard(c.Lists.Page(ctx, prospectkit.ListsParams{Search: latin1})), first(c.Lists.All(ctx, prospectkit.ListsParams{Search: latin1}))},
		"sortBy": {discard(c.Lists.RowsPage(ctx, listID, prospectkit.RowsParams{Sort: prospectkit.Ascending(latin1).Unchecked()}))},
		"filters.title": {
			rows(filter.Contact{Title: filter.AnyOf(latin1)}), rows(filter.Contact{Title: filter.NoneOf("x", latin1)}),
			first(c.Lists.Rows(ctx, listID, prospectkit.RowsParams{Filter: &filter.Contact{Title: filter.AnyOf(latin1)}})),
			rows(filter.Raw{"title": latin1}), rows(filter.Raw{"title": json.RawMessage(`"` + latin1 + `"`)}),
		},
		"filters.keywords":      {rows(filter.Contact{Keywords: latin1})},
		"filters.enrichedEmail": {rows(filter.Contact{EnrichedEmail: filter.Statuses{latin1}})},
		"filters.customColumns." + columnID + ".include.0": {
			rows(filter.Company{CustomColumns: map[string]filter.Column{columnID: filter.Text(latin1)}}),
		},
		"crm":                     {discard(c.Lists.PushToCRM(ctx, listID, prospectkit.CRMPush{CRM: latin1}))},
		"contacts.1.company.name": {discard(c.Lists.AddContacts(ctx, listID, fields{"contacts": []fields{{}, {"company": map[string]string{"name": latin1}}}}))},
		"x.caf\uFFFD":             {discard(c.Lists.SaveContacts(ctx, prospectkit.ContactSave{All: true, Extra: fields{"x": map[string]int{latin1: 1}}}))},
		"listName": {
			discard(c.Agents.Create(ctx, altered(monitor(), func(s *monitorOf) { s.ListName = latin1 }))),
			discard(c.Search.SaveMatches(ctx, prospectkit.MatchSave{ListName: latin1, All: true})),
			discard(c.Imports.FromUpload(ctx, importID, prospectkit.WithField("listName", latin1))),
		},
		"prompt":       {discard(c.Agents.Create(ctx, altered(monitor(), func(s *monitorOf) { s.Prompt = latin1 })))},
		"titleField.0": {discard(c.Agents.Create(ctx, altered(discovery(), func(s *discoveryOf) { s.Filters["titleField"] = []string{latin1} })))},
		"text":         {discard(c.Agents.Autocomplete(ctx, "title", prospectkit.WithQuery("text", latin1)))},
		"claim":        {discard(c.Facts.Edit(ctx, factID, prospectkit.FactEdit{Claim: latin1}))},
		"filters.job_title_levels.0": {
			discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Filters: filter.Search{"job_title_levels": filter.Including(latin1)}})),
		},
		"filters.caf\uFFFD": {discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Filters: filter.Search{latin1: filter.Including("x")}}))},
		"fields.mapping":    {discard(c.Imports.Upload(ctx, withFields(csvUpload("name\n"), map[string]string{"mapping": latin1})))},
		"q":                 {discard(c.Account.Me(ctx, prospectkit.WithQuery("q", latin1)))},
		"caf\uFFFD":         {discard(c.Account.Me(ctx, prospectkit.WithQuery(latin1, "q"))), discard(c.Contacts.Resolve(ctx, nil, prospectkit.WithField(latin1, 1)))},
		"note.deep.0": {c.Call(ctx, rawCall, struct {
			Note any `json:"note"`
		}{map[string][]string{"deep": {latin1}}}, nil)},
		"body": {c.Call(ctx, rawCall, latin1, nil)},
	} {
		for i, err := range errs {
			require.Contains(t, refusals(t, err), param+" is not valid UTF-8", "%s, call %d", param, i)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.NotContains(t, err.Error(), "\xe9")
		}
	}
	err := discard(c.Facts.KnowledgePages(ctx, hubID, prospectkit.WithRoute("GET /business/"+latin1+"/{hubId}")))
	require.Contains(t, refusals(t, err)[0], "WithRoute must be a method and a path")
	err = discard(c.Facts.KnowledgePages(ctx, hubID, prospectkit.WithRoute("GET /business/caf%E9/{hubId}")))
	require.Contains(t, refusals(t, err)[0], "WithRoute must be a method and a path")
}

var rawCall = catalogue.Operation{Name: "x.y", Method: "POST", Path: "/business/x", Class: catalogue.ClassUnsafe, Surface: ratelimit.SurfaceLists}

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
	client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		text, err := io.ReadAll(r.Body)
		body = string(text)
		return respond(http.StatusOK, `{}`), err
	}))
	const due = `"2026-01-31T09:30:00.007Z"`
	for name, c := range map[string]struct {
		call func(ctx context.Context) error
		want string
	}{
		"fields": {func(ctx context.Context) error {
			return discard(client.Campaigns.EditSend(ctx, sendID, prospectkit.Fields{"dueAt": at, "subject": "at 2026-01-31T10:30:00+01:00"}))
		}, `{"dueAt":` + due + `,"subject":"at 2026-01-31T10:30:00+01:00"}`},
		"zero": {func(ctx context.Context) error {
			return discard(client.Campaigns.EditSend(ctx, sendID, prospectkit.Fields{"dueAt": time.Time{}}))
		}, `{"dueAt":"0001-01-01T00:00:00.000Z"}`},
		"pointer": {func(ctx context.Context) error {
			return discard(client.Campaigns.EditSend(ctx, sendID, prospectkit.Fields{"dueAt": &at}))
		}, `{"dueAt":` + due + `}`},
		"deep": {func(ctx context.Context) error {
			return discard(client.Campaigns.Adjust(ctx, campaignID, prospectkit.CampaignChanges{Extra: prospectkit.Fields{"steps": []any{mine{at, &at}, map[string][]time.Time{"x": {at}}}}}))
		}, `{"steps":[{"dueAt":` + due + `,"until":` + due + `},{"x":[` + due + `]}]}`},
		"WithField": {func(ctx context.Context) error {
			return discard(client.Lists.Create(ctx, prospectkit.NewList{Name: "x"}, prospectkit.WithField("from", at.Truncate(time.Hour))))
		}, `{"name":"x","from":"2026-01-31T09:00:00.000Z"}`},
		"Call": {func(ctx context.Context) error { return client.Call(ctx, rawCall, mine{DueAt: at}, nil) }, `{"dueAt":` + due + `}`},
	} {
		_ = c.call(t.Context())
		require.JSONEq(t, c.want, body, name)
	}
}
