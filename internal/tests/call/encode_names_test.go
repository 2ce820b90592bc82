package call_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/tests"
)

// A field whose name differs from that of a documented one of the same call in letter case only is not sent.
func TestEncode_NamesOfAnotherCase(t *testing.T) {
	type fields = prospectkit.Fields
	ctx, c := t.Context(), tests.NewClient(t, tests.Untouched(t))
	saves, matches := prospectkit.ContactSave{ListID: tests.ListID, All: true}, prospectkit.MatchSave{ListID: tests.ListID, All: true}
	for _, wrong := range []struct {
		name, meant string
		err         error
	}{
		{"listids", "listIds", tests.Discard(c.Campaigns.Create(ctx, prospectkit.NewCampaign{Extra: fields{"listids": 1}}))},
		{"contactIDs", "contactIds", tests.Discard(c.Lists.SaveContacts(ctx, tests.Altered(saves, func(s *prospectkit.ContactSave) { s.Extra = fields{"contactIDs": 1} })))},
		{"contactids", "contactIds", tests.Discard(c.Lists.AddMembers(ctx, tests.ListID, fields{"contactids": 1}))},
		{"filters.Job_title_levels", "filters.job_title_levels", tests.Discard(c.Search.SaveMatches(ctx, tests.Altered(matches, func(s *prospectkit.MatchSave) {
			s.Filters, s.All = filter.Search{"Job_title_levels": filter.Including("vp")}, false
		})))},
		{"knowledgeHubID", "knowledgeHubId", tests.Discard(c.Facts.SetDefaultHub(ctx, fields{"knowledgeHubID": tests.HubID}))},
		{"MaxCreditSpend", "maxCreditSpend", tests.Discard(c.Agents.Adjust(ctx, tests.AgentID, fields{"MaxCreditSpend": 1000}))},
	} {
		want := fmt.Sprintf("%s differs from %q in letter case only", wrong.name, wrong.meant)
		require.Equal(t, []string{want}, tests.Refusals(t, wrong.err))
		require.ErrorIs(t, wrong.err, prospectkit.ErrInvalid)
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
		text, err := io.ReadAll(r.Body)
		sent[string(text)] = true
		return tests.Respond(http.StatusOK, `{"id": "`+tests.CampaignID+`"}`), err
	})), sent
}
