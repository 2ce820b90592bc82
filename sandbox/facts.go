package sandbox

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"unicode"

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

// The documented words, in lower case and with spaces for hyphens.
const (
	dealWords = `(discount|quote|contract|renewal|proposal|negotiated|agreed)`
	termWords = `(renewal date|contract term|termination clause|auto renew|payment terms|master service agreement|non disclosure)`
	currency  = `(\p{Sc}|\b(USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|SGD|HKD|ZAR|` +
		`(dollar|euro|pound|franc|rupee)s?|yen)\b)`
)

// What the gate looks for, in a claim or in its phrases.
var (
	contact = regexp.MustCompile(`[\pL\pN._%+-]@[\pL\pN-]+\.[\pL\pN-]`)
	phone   = regexp.MustCompile(`\d([\pZ()./-]{0,3}\d){8}`)
	amount  = regexp.MustCompile(`(?i)` + currency + `\pZ?\d|\d\pZ?((k|m|bn|thousand|million|billion)\b\pZ?)?` + currency)
	deal    = regexp.MustCompile(` ` + dealWords)
	terms   = regexp.MustCompile(` ` + termWords + `| (msa|sow|nda)s? | net ?(30|60|90) `)
)

// identifying returns why the gate rejects a claim, or an empty string.
func identifying(claim string) string {
	words := phrases(claim)
	switch {
	case contact.MatchString(claim):
		return "an e-mail address"
	case phone.MatchString(claim):
		return "a run of phone-like digits"
	case amount.MatchString(claim) && deal.MatchString(words):
		return "a currency amount next to deal language"
	case terms.MatchString(words):
		return "contract vocabulary"
	}
	return ""
}

// phrases writes the words of a text in lower case, with one space between those that white space or hyphens separate, and a
// bar where anything else does.
func phrases(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			b.WriteRune(unicode.ToLower(r))
		case unicode.IsSpace(r), unicode.Is(unicode.Z, r), r == '-':
			b.WriteByte(' ')
		default:
			b.WriteString(" | ")
		}
	}
	return " " + strings.Join(strings.Fields(b.String()), " ") + " "
}
