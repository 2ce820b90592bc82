package prospectkit

import (
	"context"
	"slices"

	"example.com/prospectkit/internal/op"
)

// FactsService keeps what the service has learned, and the knowledge hubs that it feeds.
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
	FactOverview, FactProducts, FactPricing, FactUseCases, FactDifferentiators, FactCompetitors, FactFAQ, FactSourceDigest,
	FactCustom, FactObjection, FactFAQInsight,
}

// Known reports whether the document lists the category.
func (c FactCategory) Known() bool { return slices.Contains(factCategories, c) }

// Fact is a learned fact, as far as an edit can change it.
type Fact struct {
	ID       string       `json:"id"`
	Claim    string       `json:"claim"`
	Category FactCategory `json:"category"`
}

// String returns the fact as JSON, for fmt.
func (f Fact) String() string { return textOf(Object{}, f) }

// FactEdit is what to change of a learned fact: the claim, the category or both. An edit of the category alone says KeepClaim, so
// that a claim which came out empty is not left as it was without a word.
type FactEdit struct {
	Claim     string       `json:"claim,omitzero"`    // 1 to 1000 characters, anonymized: see CheckClaim
	Category  FactCategory `json:"category,omitzero"` // empty: as it was
	KeepClaim bool         `json:"-"`                 // leave the claim as it was
}

const maxClaim = 1000

func (e FactEdit) check(bad *checks) {
	switch {
	case e.KeepClaim && e.Claim != "":
		bad.add("claim", "is given beside KeepClaim: choose one")
	case e.KeepClaim && e.Category == "":
		bad.add("claim", "or category is required")
	case !e.KeepClaim && e.Claim == "":
		bad.add("claim", "is empty: say KeepClaim to change the category alone")
	}
	bad.optionalLength("claim", e.Claim, 1, maxClaim)
	oneOf(bad, "category", e.Category, factCategories...)
}

// Edit changes a learned fact. The pages of the hubs follow with the next daily learning run.
//
// The same edit again leaves the same state, but it is sent once all the same, because a teammate may edit in between;
// [RepeatAfterDoubt] allows more. No read of a fact is shown by the document, so an unknown outcome cannot be resolved.
//
// Errors: documented: [CodeLearnedFactNotFound] (also for one that is retired or another team's), [CodeLearnedFactNotAnonymized]
// ([CheckClaim] foresees it), [CodeValidationFailed].
//
// PATCH /business/knowledge-hubs/learned-facts/{factId}, scope campaigns.
func (s *FactsService) Edit(ctx context.Context, factID string, in FactEdit, opts ...CallOption) (*Fact, error) {
	return do[Fact](ctx, s.client, op.FactsEdit, args{
		ids: []string{factID}, body: in, proof: func(edited any) bool { return sameID(edited.(*Fact).ID, factID) },
	}, opts)
}

func (f *Fact) missing() string { return noID(f.ID, "a fact has no id") }
