package prospectkit

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

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
// A second edit leaves the same state, but it is never retried, because a teammate may edit in between; [AllowRetryUnknown] allows it. No
// read of a fact is documented, so an unknown outcome cannot be resolved.
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

// Hubs lists the knowledge hubs: what the company knows about itself, for the texts of its campaigns. The response is
// undocumented.
//
// GET /business/knowledge-hubs, scope campaigns.
func (s *FactsService) Hubs(ctx context.Context, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsList, args{}, opts)
}

// Hub reads one knowledge hub. The response is undocumented, except that its status is processing while the hub is built.
//
// Errors: likely: [CodeKnowledgeHubNotFound].
//
// GET /business/knowledge-hubs/{hubId}, scope campaigns.
func (s *FactsService) Hub(ctx context.Context, hubID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsGet, args{ids: []string{hubID}}, opts)
}

// KnowledgePages lists the pages of a knowledge hub. Only the end of the path is documented: the rest is assumed, and [WithRoute]
// changes it. The response is undocumented.
//
// Errors: likely: [CodeKnowledgeHubNotFound], [CodeKnowledgeHubNotReady], [CodeKnowledgeHubPagesUnavailable] (a hub from before
// there were pages), [CodeKnowledgePageNotFound].
//
// GET /business/knowledge-hubs/{hubId}/pages, scope campaigns.
func (s *FactsService) KnowledgePages(ctx context.Context, hubID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsPages, args{ids: []string{hubID}}, opts)
}

// SetDefaultHub makes a knowledge hub the default. Body and response are undocumented: you supply the fields. The sandbox takes
// knowledgeHubId (assumed: rule hubs.set-default). A second call leaves the same state, but it is never retried; after an unknown outcome
// look at [FactsService.Hubs].
//
// Errors: documented: [CodeKnowledgeHubOwnerOnly]; likely: [CodeKnowledgeHubNotFound], [CodeKnowledgeHubNotReady].
//
// POST /business/knowledge-hubs/default, scope campaigns.
func (s *FactsService) SetDefaultHub(ctx context.Context, in Fields, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsSetDefault, args{body: in}, opts)
}

// ClaimRule names a rule of the service's anonymization gate.
type ClaimRule string

// The rules, as the service's document words them.
const (
	ClaimEmail    ClaimRule = "e-mail address"
	ClaimDigits   ClaimRule = "9 or more phone-like digits"
	ClaimDeal     ClaimRule = "currency amount beside deal language"
	ClaimContract ClaimRule = "contract vocabulary"
)

// ClaimFinding is a place in a claim for which the service would likely refuse it. Start and End are byte offsets: the words are
// claim[Start:End].
type ClaimFinding struct {
	Rule  ClaimRule
	Start int
	End   int
}

// CheckClaim foresees what the service's anonymization gate says about the claim of a learned fact, before one of the day's calls
// is spent on it. It finds e-mail addresses, runs of 9 or more phone-like digits, currency amounts and deal language in the same
// claim (each amount and each such word is a finding), and contract vocabulary, in either case. A word may go on, as in "discounts" and
// "contract terms"; MSA, SOW and NDA only with an s (assumed). The findings come in the order of the text.
//
// It is advice and stops nothing: the gate is described by the service's document, but its exact patterns are not, so a claim
// without findings may still be refused, and one with findings may pass. Names of persons and customers are not checked, neither
// here nor there, and still have no place in a claim.
func CheckClaim(claim string) []ClaimFinding {
	findings := slices.Concat(
		findForms(claim, ClaimEmail, emailForm),
		findForms(claim, ClaimDigits, phoneForm),
		findWords(claim, ClaimContract, contractWords),
	)
	amounts, deals := findForms(claim, ClaimDeal, amountForm), findWords(claim, ClaimDeal, dealWords)
	if len(amounts) > 0 && len(deals) > 0 {
		findings = slices.Concat(findings, amounts, deals)
	}
	slices.SortStableFunc(findings, func(a, b ClaimFinding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	return findings
}

var (
	emailForm = regexp.MustCompile(`[\pL\pN._%+\-]+@[\pL\pN\-]+(?:\.[\pL\pN\-]+)+`)
	phoneForm = regexp.MustCompile(`[+(]?\d(?:[\pZ().\-/]{0,3}\d){8,}`)

	amountForm = regexp.MustCompile(`(?i)` + currency + `\pZ?` + amount + `|` + amount + `\pZ?` + currency)
	dealWords  = regexp.MustCompile(`(?i)(?:discount|quote|contract|renewal|proposal|negotiated|agreed)` + more)

	contractWords = regexp.MustCompile(`(?i)(?:renewal` + gap + `date|contract` + gap + `term|termination` + gap + `clause|auto` + gap +
		`renew|payment` + gap + `terms|master` + gap + `service` + gap + `agreement|non` + gap + `disclosure)` + more +
		`|net(?:` + gap + `)?(?:30|60|90)|(?:MSA|SOW|NDA)s?`)
)

const (
	gap      = `[\pZ\s\-]+` // words stay together over line ends and hyphens
	more     = `[\pL\pN_]*` // the gate looks for what a claim contains: discounts, contract terms, auto-renewal
	amount   = `\d(?:[\d.,']*\d)?(?:\pZ?(?:k|m|bn|thousand|million|billion)\b)?`
	currency = `(?:\p{Sc}|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|SGD|HKD|ZAR|dollars?|euros?|pounds?|francs?|yen|rupees?)\b)`
)

func findForms(claim string, rule ClaimRule, form *regexp.Regexp) []ClaimFinding {
	var findings []ClaimFinding
	for _, span := range form.FindAllStringIndex(claim, -1) {
		findings = append(findings, ClaimFinding{Rule: rule, Start: span[0], End: span[1]})
	}
	return findings
}

// findWords finds whole words. A match does not hide another that overlaps it.
func findWords(claim string, rule ClaimRule, form *regexp.Regexp) []ClaimFinding {
	var findings []ClaimFinding
	for at := 0; ; {
		span := form.FindStringIndex(claim[at:])
		if span == nil {
			return findings
		}
		start, end := at+span[0], at+span[1]
		if wholeWords(claim, start, end) {
			findings = append(findings, ClaimFinding{Rule: rule, Start: start, End: end})
		}
		_, size := utf8.DecodeRuneInString(claim[start:])
		at = start + size
	}
}

// wholeWords reports whether a span neither begins nor ends inside a word, of any script.
func wholeWords(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
