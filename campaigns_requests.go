package prospectkit

import (
	"slices"
	"strings"

	"example.com/prospectkit/internal/check"
)

// NewCampaign describes a campaign to create. The API description names all these fields of campaigns, though not in
// the body of this call (assumed). How it calls the name and the steps of a new campaign is undocumented: supply them in Extra.
type NewCampaign struct {
	ListIDs        []string `json:"listIds,omitzero"`        // the source lists, at most 10
	Channels       any      `json:"channels,omitzero"`       // form and values are undocumented; email with a social network is valid
	TemplateID     string   `json:"templateId,omitzero"`     // of a campaign template
	WritingStyleID string   `json:"writingStyleId,omitzero"` // of a writing style
	KnowledgeHubID string   `json:"knowledgeHubId,omitzero"` // of the hub that its texts draw on
	Extra          Fields   `json:"-"`                       // fields whose names are undocumented
}

func (n NewCampaign) check(bad *check.Violations) {
	checkSourceLists(bad, n.ListIDs)
	bad.OptionalID("templateId", n.TemplateID)
	bad.OptionalID("writingStyleId", n.WritingStyleID)
	bad.OptionalID("knowledgeHubId", n.KnowledgeHubID)
}

// CampaignChanges are the changes of a campaign. What is zero is left out, and remains as it is (assumed).
type CampaignChanges struct {
	ListIDs  []string `json:"listIds,omitzero"`  // the source lists, at most 10; whether they replace the attached ones is undocumented
	Channels any      `json:"channels,omitzero"` // assumed here; form and values as for a [NewCampaign]
	Extra    Fields   `json:"-"`                 // fields whose names are undocumented
}

func (c CampaignChanges) check(bad *check.Violations) { checkSourceLists(bad, c.ListIDs) }

const maxSourceLists = 10 // of a campaign

func checkSourceLists(bad *check.Violations, ids []string) {
	bad.IDs("listIds", ids)
	different := slices.Clone(ids)
	for i, id := range different {
		different[i] = strings.ToLower(id)
	}
	slices.Sort(different)
	n := len(slices.Compact(different))
	bad.Must(n <= maxSourceLists, "listIds", "has %d lists, must have at most %d", n, maxSourceLists)
}
