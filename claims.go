package prospectkit

import (
	"cmp"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

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
