package sandbox

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.FactsEdit: {handle: (*call).editFact, json: true},
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
	name: "facts", missing: refusal{code: "LEARNED_FACT_NOT_FOUND", message: "No learned fact of your team has this id."},
	seeds: func(ws *Workspace) *[]Fact { return &ws.Facts },
	check: func(f Fact, fail failing) {
		fail.among("fact", f.Claim, "category", cmp.Or(f.Category, "custom"), factCategories...)
	},
	hidden: func(f *Fact) bool { return f.Retired || f.OtherTeam },
	fill:   func(f *Fact) { f.Category = cmp.Or(f.Category, "custom") },
})

// Facts returns the learned facts, including those that the API hides, oldest first.
func (w *Tenant) Facts() []Fact { return facts.copies(w) }

// CreateFact adds a learned fact and returns its id.
func (tx *Tx) CreateFact(f Fact) (id string) { return facts.create(tx, "CreateFact", f) }

// RetireFact retires a learned fact: it responds like a missing one.
func (tx *Tx) RetireFact(factID string) {
	facts.change(tx, "RetireFact", factID, func(f *Fact, _ time.Time) bool {
		f.Retired = true
		return true
	})
}

const longestClaim = 1000

var factCategories = []string{
	"overview", "products", "pricing", "icp-use-cases", "differentiators", "competitors", "faq", "source-digest", "custom",
	"objection", "faq-insight",
}

func (c *call) editFact() response {
	id, body := c.req.PathValue("factId"), c.body
	sentClaim := body.has("claim")
	sentCategory := body.has("category")
	if !sentClaim && !sentCategory {
		body.fail("claim", "or category is required")
	}
	claim, isText := body.text("claim")
	if isText {
		body.length("claim", claim, longestClaim)
	}
	category := body.choice("category", factCategories...)
	body.ignores("claim", "category")
	f, missing := facts.byID(c, id)
	invalid, telling := body.err(), error(nil)
	if found := c.identifying(claim); found != "" && invalid == nil {
		telling = &refusal{code: "LEARNED_FACT_NOT_ANONYMIZED", message: "The claim has " + found + ".", param: "claim"}
	}
	stop(c.first(invalid, missing, telling))

	next := *f
	if sentClaim {
		next.Claim = claim
	}
	if sentCategory {
		next.Category = category
	}
	c.effect(func() { *f = next }, "fact edited: %s", f.ID)
	return reply(http.StatusOK, object{"fact": object{"id": next.ID, "claim": next.Claim, "category": next.Category}})
}

var ruleGateWords = assumed("facts.gate.words", "where the gate is ambiguous: its words may be longer, as in discounts and contract terms, but MSA, SOW and NDA only with an s, case ignored; white space and hyphens join words; up to three spaces, brackets, dots, hyphens and slashes may separate two phone-like digits; a currency is a sign, or a common code or name, next to a number")

// The documented words, in lower case and with spaces for hyphens.
const (
	dealWords = `(discount|quote|contract|renewal|proposal|negotiated|agreed)`
	termWords = `(renewal date|contract term|termination clause|auto renew|payment terms|master service agreement|non disclosure)`
	currency  = `(\p{Sc}|\b(USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|SGD|HKD|ZAR|` +
		`(dollar|euro|pound|franc|rupee)s?|yen)\b)`
)

// reading is how the gate reads claims: as documented, as the sandbox does, or as broadly as possible.
type reading struct{ address, phone, amount, deal, terms *regexp.Regexp }

var (
	byTheLetter = reading{
		address: regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z]`),
		phone:   regexp.MustCompile(`\d{9}`),
		amount:  regexp.MustCompile(`\p{Sc} ?\d|\d ?\p{Sc}`),
		deal:    regexp.MustCompile(` ` + dealWords + ` `),
		terms:   regexp.MustCompile(` (` + termWords + `|net (30|60|90)) |(^|[^\pL\p{Nd}_])(MSA|SOW|NDA)($|[^\pL\p{Nd}_])`),
	}
	byTheSandbox = reading{
		address: regexp.MustCompile(`[\pL\pN._%+-]@[\pL\pN-]+\.[\pL\pN-]`),
		phone:   regexp.MustCompile(`\d([\pZ()./-]{0,3}\d){8}`),
		amount:  regexp.MustCompile(`(?i)` + currency + `\pZ?\d|\d\pZ?((k|m|bn|thousand|million|billion)\b\pZ?)?` + currency),
		deal:    regexp.MustCompile(` ` + dealWords),
		terms:   regexp.MustCompile(` ` + termWords + `| (msa|sow|nda)s? | net ?(30|60|90) `),
	}
	byTheWidest = reading{
		address: regexp.MustCompile(`@`),
		phone:   regexp.MustCompile(`\d([^\pL\d]*\d){8}`),
		amount:  regexp.MustCompile(`(?i)` + currency),
		deal:    regexp.MustCompile(dealWords),
		terms:   regexp.MustCompile(strings.ReplaceAll(termWords, ` `, `[ |]*`) + `| (msa|sow|nda)|net[ |]*(30|60|90)`),
	}
)

// finds returns what in a claim could identify somebody, or an empty string.
func (r reading) finds(claim string) string {
	words := phrases(claim) + "\n" + claim // only the claim has capitals
	switch {
	case r.address.MatchString(claim):
		return "an e-mail address"
	case r.phone.MatchString(claim):
		return "a run of phone-like digits"
	case r.amount.MatchString(claim) && r.deal.MatchString(words):
		return "a currency amount next to deal language"
	case r.terms.MatchString(words):
		return "contract vocabulary"
	}
	return ""
}

// identifying returns why the gate rejects a claim, or an empty string.
func (c *call) identifying(claim string) string {
	if found := byTheLetter.finds(claim); found != "" {
		return found
	}
	if byTheWidest.finds(claim) != "" {
		c.uses(ruleGateWords)
	}
	return byTheSandbox.finds(claim)
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
