package sandbox

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.FactsEdit: {handle: (*call).editFact, json: true, takes: []taking{
		either("claim", "category"), optional("claim", chars(1000)), optional("category", oneOf(factCategories...)),
	}},
})

// Fact seeds a learned fact.
type Fact struct {
	ID        string `json:"id,omitempty"`
	Claim     string `json:"claim"`
	Category  string `json:"category,omitempty"`  // one of the eleven; custom is the default
	Retired   bool   `json:"retired,omitempty"`   // it responds like a missing one
	OtherTeam bool   `json:"otherTeam,omitempty"` // and so does it
}

var facts = keeps(kind[Fact]{
	name: "facts", missing: refusal{"LEARNED_FACT_NOT_FOUND", "No learned fact of your team has this id.", ""},
	seeds: func(ws *Workspace) *[]Fact { return &ws.Facts },
	check: func(_ *Workspace, f Fact, fail failing) {
		fail.among("fact", f.Claim, "category", cmp.Or(f.Category, "custom"), factCategories...)
	},
	hidden: func(f *Fact) bool { return f.Retired || f.OtherTeam },
	fill:   func(_ *workspace, f *Fact) { f.Category = cmp.Or(f.Category, "custom") },
})

var factCategories = []string{
	"overview", "products", "pricing", "icp-use-cases", "differentiators", "competitors", "faq", "source-digest", "custom",
	"objection", "faq-insight",
}

func (c *call) editFact() response {
	f := facts.of(c, "factId")
	if found := identifying(c.in.text("claim")); found != "" {
		deny("LEARNED_FACT_NOT_ANONYMIZED", "The claim has "+found+".", "claim")
	}
	next := *f
	next.Claim, next.Category = cmp.Or(c.in.text("claim"), f.Claim), cmp.Or(c.in.text("category"), f.Category)
	c.effect(func() { *f = next }, "fact edited: %s", f.ID)
	return reply(http.StatusOK, object{"fact": object{"id": next.ID, "claim": next.Claim, "category": next.Category}})
}

// The documented words. White space or hyphens separate those of a phrase, and a word may be longer, as in discounts.
const (
	dealWords = `discount|quote|contract|renewal|proposal|negotiated|agreed`
	termWords = `renewal date|contract term|termination clause|auto renew|payment terms|master service agreement|non disclosure`
	currency  = `USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|SGD|HKD|ZAR|(dollar|euro|pound|franc|rupee)s?|yen`
)

// gate is what a claim may not have: all of the patterns of one reason.
var gate = []struct {
	reason   string
	patterns []*regexp.Regexp
}{
	{"an e-mail address", patterns(`[\pL\pN._%+-]@[\pL\pN-]+\.[\pL\pN-]`)},
	{"a run of phone-like digits", patterns(`\d([\pZ()./-]{0,3}\d){8}`)},
	{"a currency amount next to deal language", patterns(`(\p{Sc}|\b(`+currency+`))\pZ?\d|\d\pZ?((k|m|bn|thousand|million|billion)\pZ?)?(\p{Sc}|(`+currency+`)\b)`, `(^|[^\pL\pN_])(`+dealWords+`)`)},
	{"contract vocabulary", patterns(`(^|[^\pL\pN_])((` + strings.ReplaceAll(termWords, " ", `[\pZ\s-]+`) + `)|((msa|sow|nda)s?|net[\pZ\s-]*(30|60|90))($|[^\pL\pN_]))`)},
}

func patterns(texts ...string) (all []*regexp.Regexp) {
	for _, text := range texts {
		all = append(all, regexp.MustCompile(`(?i)`+text))
	}
	return all
}

// identifying returns why the gate rejects a claim, or an empty string.
func identifying(claim string) string {
	for _, g := range gate {
		if !slices.ContainsFunc(g.patterns, func(p *regexp.Regexp) bool { return !p.MatchString(claim) }) {
			return g.reason
		}
	}
	return ""
}
