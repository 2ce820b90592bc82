package prospectkit_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
)

// A field whose name is nearly that of a documented one of the same call is not sent.
func TestEncode_MisspeltNames(t *testing.T) {
	type fields = prospectkit.Fields
	ctx, c := t.Context(), newClient(t, untouched(t))
	saves, matches := prospectkit.ContactSave{ListID: listID, All: true}, prospectkit.MatchSave{ListID: listID, All: true}
	for _, wrong := range []struct {
		name, meant string
		err         error
	}{
		{"listids", "listIds", discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{Extra: fields{"listids": 1}}))},
		{"templateIdd", "templateId", discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{Extra: fields{"templateIdd": 1}}))},
		{"chanels", "channels", discard(c.Campaigns.Adjust(ctx, campaignID, prospectkit.CampaignChanges{Extra: fields{"chanels": 1}}))},
		{"lsitIds", "listIds", discard(c.Campaigns.Adjust(ctx, campaignID, prospectkit.CampaignChanges{Extra: fields{"lsitIds": 1}}))},
		{"contactIDs", "contactIds", discard(c.Lists.SaveContacts(ctx, altered(saves, func(s *prospectkit.ContactSave) { s.Extra = fields{"contactIDs": 1} })))},
		{"contactId", "contactIds", discard(c.Lists.SaveContacts(ctx, altered(saves, func(s *prospectkit.ContactSave) { s.Extra = fields{"contactId": 1} })))},
		{"contactId", "contactIds", discard(c.Lists.AddMembers(ctx, listID, fields{"contactId": 1}))},
		{"filter", "filters", discard(c.Search.SaveMatches(ctx, altered(matches, func(s *prospectkit.MatchSave) { s.Extra = fields{"filter": 1} })))},
		{"filters.job_title_level", "filters.job_title_levels", discard(c.Search.SaveMatches(ctx, altered(matches, func(s *prospectkit.MatchSave) {
			s.Filters, s.All = filter.Search{"job_title_level": filter.Including("vp")}, false
		})))},
		{"excludeCompanyList", "excludeCompanyLists", discard(c.Search.Companies(ctx, prospectkit.CompanySearch{Extra: fields{"excludeCompanyList": 1}}))},
		{"filters.headquarterCity", "filters.headquartersCity", discard(c.Search.Companies(ctx, prospectkit.CompanySearch{Filters: fields{"headquarterCity": "x"}}))},
		{"knowledgeHubID", "knowledgeHubId", discard(c.Facts.SetDefaultHub(ctx, fields{"knowledgeHubID": hubID}))},
		{"maxCreditsSpend", "maxCreditSpend", discard(c.Agents.Adjust(ctx, agentID, fields{"maxCreditsSpend": 1000}))},
		{"maxCreditSpent", "maxCreditSpend", discard(c.Agents.Create(ctx, altered(monitor(), func(s *monitorOf) { s.Extra = fields{"maxCreditSpent": 1000} })))},
		{"starts", "start", discard(c.Agents.Create(ctx, altered(discovery(), func(s *discoveryOf) { s.Filters["starts"] = []string{"x"} })))},
	} {
		want := fmt.Sprintf("%s is undocumented: did you mean %s?", wrong.name, wrong.meant)
		require.Equal(t, []string{want}, refusals(t, wrong.err))
		require.ErrorIs(t, wrong.err, prospectkit.ErrInvalid)
	}
}

// Names that are documented, other names, and those of WithField are sent.
func TestEncode_NamesThatAreSent(t *testing.T) {
	type fields = prospectkit.Fields
	ctx := t.Context()
	client, sent := recording(t)
	for want, err := range map[string]error{
		`{"listId":"` + listID + `","sourceListId":"x"}`: discard(client.Lists.SaveContacts(ctx, prospectkit.ContactSave{ListID: listID, All: true, Extra: fields{"sourceListId": "x"}})),
		`{"listId":1,"listIds":[]}`:                      discard(client.Campaigns.Adjust(ctx, campaignID, prospectkit.CampaignChanges{ListIDs: []string{}}, prospectkit.WithField("listId", 1))),
		`{"listId":1,"listIds":2}`:                       discard(client.Agents.Adjust(ctx, agentID, fields{"listId": 1, "listIds": 2})),
		`{"channels":["email"],"name":"Spring"}`:         discard(client.Campaigns.Create(ctx, prospectkit.NewCampaign{Channels: []string{"email"}, Extra: fields{"name": "Spring"}})),
		`{}`:                                             discard(client.Campaigns.Adjust(ctx, campaignID, prospectkit.CampaignChanges{})),
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
		`{"listIds":["` + listID + `"],"channels":["email"],"templateId":"` + stepID + `","writingStyleId":"` + sendID + `","knowledgeHubId":"` + hubID + `"}`: func(c *prospectkit.Client) error {
			return discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{
				ListIDs: []string{listID}, Channels: []string{"email"}, TemplateID: stepID, WritingStyleID: sendID, KnowledgeHubID: hubID,
			}))
		},
		`{"listIds":["` + listID + `"],"channels":["email"]}`: func(c *prospectkit.Client) error {
			return discard(c.Campaigns.Adjust(ctx, campaignID, prospectkit.CampaignChanges{ListIDs: []string{listID}, Channels: []string{"email"}}))
		},
		`{"listId":"` + listID + `","listName":"Q1","contactIds":["` + contactID + `"]}`: func(c *prospectkit.Client) error {
			return discard(c.Lists.SaveContacts(ctx, prospectkit.ContactSave{ListID: listID, ListName: "Q1", ContactIDs: []string{contactID}}))
		},
		`{"filters":{"job_title_levels":[{"status":"include","value":"vp"}]},"listId":"` + listID + `","listName":"Q1"}`: func(c *prospectkit.Client) error {
			return discard(c.Search.SaveMatches(ctx, prospectkit.MatchSave{
				Filters: filter.Search{"job_title_levels": filter.Including("vp")}, ListID: listID, ListName: "Q1",
			}))
		},
		`{"filters":{"headquartersCity":["Berlin"]},"savedSearchId":"` + savedID + `","excludeCompanyLists":["` + listID + `"]}`: func(c *prospectkit.Client) error {
			return discard(c.Search.Companies(ctx, prospectkit.CompanySearch{
				Filters: prospectkit.Fields{"headquartersCity": []string{"Berlin"}}, SavedSearchID: savedID, ExcludeCompanyLists: []string{listID},
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
	ctx, c := t.Context(), newClient(t, untouched(t))
	eleven := make([]string, 11)
	for i := range eleven {
		eleven[i] = fmt.Sprintf("65f0c0ffee65f0c0ffee65%02x", i)
	}
	const tooMany = "listIds has 11 lists, must have at most 10"
	require.Equal(t, []string{tooMany}, refusals(t, discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{ListIDs: eleven}))))
	require.Equal(t, []string{tooMany}, refusals(t, discard(c.Campaigns.Adjust(ctx, campaignID, prospectkit.CampaignChanges{ListIDs: eleven}))))
	const notID = " must be 24 hexadecimal digits"
	require.Equal(t, []string{"templateId" + notID, "writingStyleId" + notID, "knowledgeHubId" + notID}, refusals(t, discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{
		TemplateID: "x", WritingStyleID: "x", KnowledgeHubID: "x",
	}))))
	require.Equal(t, []string{"listId" + notID}, refusals(t, discard(c.Lists.SaveContacts(ctx, prospectkit.ContactSave{ListID: "x", All: true}))))
	require.Equal(t, []string{"listId" + notID}, refusals(t, discard(c.Search.SaveMatches(ctx, prospectkit.MatchSave{ListID: "x", All: true}))))
	require.Equal(t, []string{"savedSearchId" + notID, "excludeCompanyLists must all be 24 hexadecimal digits; index 0 is not"}, refusals(t, discard(c.Search.Companies(ctx, prospectkit.CompanySearch{
		SavedSearchID: "x", ExcludeCompanyLists: []string{"x"},
	}))))

	client, sent := recording(t)
	ids := append([]string{strings.ToUpper(eleven[10])}, eleven[1:]...) // ten, one of them twice
	require.NoError(t, discard(client.Campaigns.Adjust(ctx, campaignID, prospectkit.CampaignChanges{ListIDs: ids})))
	require.Len(t, sent, 1)
}

// recording is a client whose requests are all accepted, and their bodies.
func recording(t *testing.T) (client *prospectkit.Client, sent map[string]bool) {
	t.Helper()
	sent = map[string]bool{}
	return newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		text, err := io.ReadAll(r.Body)
		sent[string(text)] = true
		return respond(http.StatusOK, `{"id": "`+campaignID+`"}`), err
	})), sent
}
