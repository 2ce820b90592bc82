package prospectkit

import (
	"context"
	"slices"

	"example.com/prospectkit/internal/claim"
	"example.com/prospectkit/internal/op"
)

// FactsService edits learned facts, and reads the knowledge hubs that they feed.
type FactsService struct{ client *Client }

// FactCategory says what a learned fact is about.
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
	FactFAQInsight      FactCategory = "faq-insight" // a question that keeps coming
)

var factCategories = []FactCategory{
	FactOverview, FactProducts, FactPricing, FactUseCases, FactDifferentiators, FactCompetitors, FactFAQ,
	FactSourceDigest, FactCustom, FactObjection, FactFAQInsight,
}

// Known reports whether the category is documented.
func (c FactCategory) Known() bool { return slices.Contains(factCategories, c) }

// Fact is a learned fact, as far as an edit can change it.
type Fact struct {
	ID       string       `json:"id"`
	Claim    string       `json:"claim"`
	Category FactCategory `json:"category"`
}

// String returns the fact as JSON, for fmt.
func (f Fact) String() string { return textOf(Object{}, f) }

// FactEdit is a change of a learned fact: the claim, the category or both. To change the category
// alone, set KeepClaim: a claim that came out empty is refused otherwise.
type FactEdit struct {
	Claim     string       `json:"claim,omitzero"`    // 1 to 1000 characters, anonymized: see CheckClaim
	Category  FactCategory `json:"category,omitzero"` // empty: as it was
	KeepClaim bool         `json:"-"`                 // leave the claim as it was
}

func (e FactEdit) check(bad *checks) {
	switch {
	case e.KeepClaim && e.Claim != "":
		bad.add("claim", "is given beside KeepClaim: choose one")
	case e.KeepClaim && e.Category == "":
		bad.add("claim", "or category is required")
	case !e.KeepClaim && e.Claim == "":
		bad.add("claim", "is empty: say KeepClaim to change the category alone")
	}
	bad.optionalLength("claim", e.Claim, 1, 1000)
	oneOf(bad, "category", e.Category, factCategories...)
}

// Edit changes a learned fact. The pages of the hubs follow with the next daily learning run.
//
// The same edit again leaves the same state, but it is never retried, because a teammate may edit
// in between; [AllowRetryUnknown] allows it. No read of a fact is documented, so an unknown outcome
// cannot be resolved.
//
// Errors: documented: [CodeLearnedFactNotFound] (also for a retired fact and for one of another
// team), [CodeLearnedFactNotAnonymized] ([CheckClaim] foresees it), [CodeValidationFailed].
//
// PATCH /business/knowledge-hubs/learned-facts/{factId}, scope campaigns.
func (s *FactsService) Edit(ctx context.Context, factID string, in FactEdit, opts ...CallOption) (*Fact, error) {
	return do[Fact](ctx, s.client, op.FactsEdit, args{
		ids: []string{factID}, body: in,
		proof: func(edited any) bool { return sameID(edited.(*Fact).ID, factID) },
	}, opts)
}

func (f *Fact) missing() string { return noID(f.ID, "a fact has no id") }

// Hubs lists the knowledge hubs, which feed the texts of campaigns. The response is undocumented.
//
// GET /business/knowledge-hubs, scope campaigns.
func (s *FactsService) Hubs(ctx context.Context, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsList, args{}, opts)
}

// Hub reads one knowledge hub. Only its status while it is built is documented: processing.
//
// Errors: likely: [CodeKnowledgeHubNotFound].
//
// GET /business/knowledge-hubs/{hubId}, scope campaigns.
func (s *FactsService) Hub(ctx context.Context, hubID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsGet, args{ids: []string{hubID}}, opts)
}

// KnowledgePages lists the pages of a knowledge hub. Only the end of the path is documented;
// [WithRoute] changes the rest, which is assumed. The response is undocumented.
//
// Errors: likely: [CodeKnowledgeHubNotFound], [CodeKnowledgeHubNotReady],
// [CodeKnowledgeHubPagesUnavailable] (the hub predates pages), [CodeKnowledgePageNotFound].
//
// GET /business/knowledge-hubs/{hubId}/pages, scope campaigns.
func (s *FactsService) KnowledgePages(ctx context.Context, hubID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsPages, args{ids: []string{hubID}}, opts)
}

// SetDefaultHub makes a knowledge hub the default. Body and response are undocumented: you supply
// the fields. The sandbox takes knowledgeHubId (assumed: rule hubs.set-default). The same call
// again leaves the same state, but it is never retried. After an unknown outcome, check
// [FactsService.Hubs].
//
// Errors: documented: [CodeKnowledgeHubOwnerOnly]; likely: [CodeKnowledgeHubNotFound],
// [CodeKnowledgeHubNotReady].
//
// POST /business/knowledge-hubs/default, scope campaigns.
func (s *FactsService) SetDefaultHub(ctx context.Context, in Fields, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsSetDefault, args{body: in}, opts)
}

// ClaimRule names a rule of the service's anonymization gate.
type ClaimRule string

// The rules, in the words of the API reference.
const (
	ClaimEmail    = ClaimRule(claim.Email)
	ClaimDigits   = ClaimRule(claim.Digits)
	ClaimDeal     = ClaimRule(claim.Deal)
	ClaimContract = ClaimRule(claim.Contract)
)

// ClaimFinding is a place in a claim that the service is likely to refuse, in bytes.
type ClaimFinding struct {
	Rule  ClaimRule
	Start int
	End   int
}

// CheckClaim foresees the service's anonymization gate before a call is spent on the claim of a
// learned fact. It finds e-mail addresses, runs of 9 or more phone-like digits, contract
// vocabulary, and currency amounts beside deal language in the same claim (each amount and each
// such word is a finding). Case does not matter. A word may continue, as in "discounts" and
// "contract terms"; MSA, SOW and NDA only with an s (assumed). Findings are in text order.
//
// It is advice and stops nothing. The gate is documented, but its exact patterns are not: a claim
// without findings may still be refused, and one with findings may pass. Names of persons and
// customers do not belong in a claim, but neither CheckClaim nor the gate checks them.
func CheckClaim(text string) []ClaimFinding {
	var findings []ClaimFinding
	for _, f := range claim.Check(text) {
		findings = append(findings, ClaimFinding{ClaimRule(f.Rule), f.Start, f.End})
	}
	return findings
}
