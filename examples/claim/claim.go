// Package claim checks the claim of a learned fact before it is sent, as the service's anonymization gate does.
package claim

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Rule names a rule of the service's anonymization gate.
type Rule string

// The rules, in the words of the API description.
const (
	Email    Rule = "e-mail address"
	Digits   Rule = "9 or more phone-like digits"
	Deal     Rule = "currency amount beside deal language"
	Contract Rule = "contract vocabulary"
)

// Finding is a part of a claim that the service is likely to reject, by byte offsets.
type Finding struct {
	Rule       Rule
	Start, End int
}

// Check finds e-mail addresses, runs of 9 or more phone-like digits, contract vocabulary, and currency amounts beside deal language in
// the same claim (each amount and each such word is a finding). It makes no request. Case does not matter. A word may have an ending, as
// in "discounts" and "contract terms"; MSA, SOW and NDA only an s (assumed). Findings are in text order.
//
// The result is only advice. The gate's exact patterns are undocumented: a claim without findings may be rejected, and one with findings
// may pass. Names of persons and customers do not belong in a claim, but neither Check nor the gate checks for them.
func Check(text string) []Finding {
	findings := slices.Concat(find(text, Email, emailForm), find(text, Digits, phoneForm),
		find(text, Contract, contractWords), find(text, Contract, lastWords))
	if amounts, deals := find(text, Deal, amountForm), find(text, Deal, dealWords); len(amounts) > 0 && len(deals) > 0 {
		findings = slices.Concat(findings, amounts, deals)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	return findings
}

// What the group of a form matches is a finding.
var (
	emailForm  = regexp.MustCompile(`([\pL\pN._%+\-]+@[\pL\pN\-]+(?:\.[\pL\pN\-]+)+)`)
	phoneForm  = regexp.MustCompile(`([+(]?\d(?:[\pZ().\-/]{0,3}\d){8,})`)
	amountForm = regexp.MustCompile(`(?i)(` + currency + `\pZ?` + amount + `|` + amount + `\pZ?` + currency + `)`)
	dealWords  = words(`(?:discount|quote|contract|renewal|proposal|negotiated|agreed)` + more)

	contractWords = words(`(?:contract term|auto renew|payment terms|master service agreement|non disclosure)` + more +
		`|net(?: )?(?:30|60|90)|(?:MSA|SOW|NDA)s?`)
	lastWords = words(`(?:renewal date|termination clause)` + more) // may overlap with those: "contract termination clause"
)

// words makes a form of whole words of any script. A space matches any separator of words, also hyphens and line ends.
func words(text string) *regexp.Regexp {
	text = strings.ReplaceAll(text, " ", `[\pZ\s\-]+`)
	return regexp.MustCompile(`(?i)(?:^|[^\pL\p{Nd}_])(` + text + `)(?:[^\pL\p{Nd}_]|$)`)
}

const (
	more     = `[\pL\pN_]*` // of a word that continues: discounts, contract terms, auto-renewal
	amount   = `\d(?:[\d.,']*\d)?(?:\pZ?(?:k|m|bn|thousand|million|billion)\b)?`
	currency = `(?:\p{Sc}|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|SGD|HKD|ZAR|` +
		`dollars?|euros?|pounds?|francs?|yen|rupees?)\b)`
)

func find(text string, rule Rule, form *regexp.Regexp) (findings []Finding) {
	for at := 0; ; {
		span := form.FindStringSubmatchIndex(text[at:])
		if span == nil {
			return findings
		}
		findings = append(findings, Finding{Rule: rule, Start: at + span[2], End: at + span[3]})
		at += span[3]
	}
}
