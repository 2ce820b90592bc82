package prospectkit

import (
	"context"
	"slices"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
)

// FactsService edits learned facts, and reads the knowledge hubs that they feed.
type FactsService struct{ service }

// FactCategory is the subject of a learned fact.
type FactCategory string

// The categories.
const (
	FactOverview        FactCategory = "overview" // company summary
	FactProducts        FactCategory = "products"
	FactPricing         FactCategory = "pricing"
	FactUseCases        FactCategory = "icp-use-cases"
	FactDifferentiators FactCategory = "differentiators"
	FactCompetitors     FactCategory = "competitors"
	FactFAQ             FactCategory = "faq"
	FactSourceDigest    FactCategory = "source-digest"
	FactCustom          FactCategory = "custom"      // written by a user
	FactObjection       FactCategory = "objection"   // of a buyer
	FactFAQInsight      FactCategory = "faq-insight" // a recurring question
)

var factCategories = []FactCategory{
	FactOverview, FactProducts, FactPricing, FactUseCases, FactDifferentiators, FactCompetitors, FactFAQ,
	FactSourceDigest, FactCustom, FactObjection, FactFAQInsight,
}

// Known reports whether it is documented.
func (c FactCategory) Known() bool { return slices.Contains(factCategories, c) }

// Fact is a learned fact, with the fields that an edit can change.
type Fact struct {
	ID       string       `json:"id"`
	Claim    string       `json:"claim"`
	Category FactCategory `json:"category"`
	record
}

// String returns its JSON.
func (f Fact) String() string { return textOf(Object{}, f) }

// FactEdit changes the claim of a learned fact, its category or both. An empty claim is refused, unless KeepClaim is set.
type FactEdit struct {
	Claim     string       `json:"claim,omitzero"`    // 1 to 1000 characters, anonymized
	Category  FactCategory `json:"category,omitzero"` // empty: unchanged
	KeepClaim bool         `json:"-"`                 // the claim stays
}

func (e FactEdit) check(bad *check.Violations) {
	switch {
	case e.KeepClaim && e.Claim != "":
		bad.Add("claim", "is given beside KeepClaim: choose one")
	case e.KeepClaim && e.Category == "":
		bad.Add("category", "is required beside KeepClaim")
	case !e.KeepClaim && e.Claim == "":
		bad.Add("claim", "is empty: set KeepClaim to change the category alone")
	}
	bad.OptionalLength("claim", e.Claim, 1, 1000)
	check.OneOf(bad, "category", e.Category, factCategories...)
}

// Edit changes a learned fact. The next daily learning run updates the pages of the hubs. No read resolves an unknown outcome.
//
// Errors: documented: [CodeLearnedFactNotFound] (also for a retired fact, or one of another team), [CodeLearnedFactNotAnonymized],
// [CodeValidationFailed].
//
// PATCH /business/knowledge-hubs/learned-facts/{factId}, scope campaigns.
func (s *FactsService) Edit(ctx context.Context, factID string, in FactEdit, opts ...CallOption) (*Fact, error) {
	edited := new(Fact)
	return doExpecting(ctx, s.conf, op.FactsEdit, args{ids: []string{factID}, body: in}, opts, edited, repeatsID(factID, &edited.ID))
}

func (f *Fact) validate() error { return errorIf(f.ID == "", "a fact has no id") }

// Hubs lists the knowledge hubs, which feed the texts of campaigns. The response is undocumented; in the sandbox they are under
// "knowledgeHubs" (assumed).
//
// GET /business/knowledge-hubs, scope campaigns.
func (s *FactsService) Hubs(ctx context.Context, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.HubsList, args{}, opts)
}

// Hub reads one knowledge hub. Only its status processing is documented: it is being built.
//
// Errors: likely: [CodeKnowledgeHubNotFound].
//
// GET /business/knowledge-hubs/{hubId}, scope campaigns.
func (s *FactsService) Hub(ctx context.Context, hubID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.HubsGet, args{ids: []string{hubID}}, opts)
}

// KnowledgePages lists the pages of a knowledge hub. The response is undocumented, and the path assumed, but for its end: see
// [WithRoutes].
//
// Errors: likely: [CodeKnowledgeHubNotFound], [CodeKnowledgeHubNotReady], [CodeKnowledgeHubPagesUnavailable], [CodeKnowledgePageNotFound].
//
// GET /business/knowledge-hubs/{hubId}/pages, scope campaigns.
func (s *FactsService) KnowledgePages(ctx context.Context, hubID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.HubsPages, args{ids: []string{hubID}}, opts)
}

// SetDefaultHub makes a knowledge hub the default. The sandbox takes knowledgeHubId (assumed: rule hubs.set-default).
//
// Errors: documented: [CodeKnowledgeHubOwnerOnly]; likely: [CodeKnowledgeHubNotFound], [CodeKnowledgeHubNotReady].
//
// POST /business/knowledge-hubs/default, scope campaigns.
func (s *FactsService) SetDefaultHub(ctx context.Context, in Fields, opts ...CallOption) (*Object, error) {
	names := func(bad *check.Violations) { in.checkNames(bad, "knowledgeHubId") }
	return do[Object](ctx, s.conf, op.HubsSetDefault, args{body: in, check: names}, opts)
}
