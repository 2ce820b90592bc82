// Package claim checks the claim of a learned fact before it is sent, as the service's anonymization
// gate does.
package claim

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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

// Check finds e-mail addresses, runs of 9 or more phone-like digits, contract vocabulary, and currency
// amounts beside deal language in the same claim (each amount and each such word is a finding). It
// makes no request. Case does not matter. A word may have an ending, as in "discounts" and "contract
// terms"; MSA, SOW and NDA only an s (assumed). Findings are in text order.
//
// The result is only advice. The gate's exact patterns are undocumented: a claim without findings may
// be rejected, and one with findings may pass. Names of persons and customers do not belong in a
// claim, but neither Check nor the gate checks for them.
func Check(text string) []Finding {
	findings := slices.Concat(
		findForms(text, Email, emailForm),
		findForms(text, Digits, phoneForm),
		findWords(text, Contract, contractWords),
	)
	amounts, deals := findForms(text, Deal, amountForm), findWords(text, Deal, dealWords)
	if len(amounts) > 0 && len(deals) > 0 {
		findings = slices.Concat(findings, amounts, deals)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	return findings
}

var (
	emailForm = regexp.MustCompile(`[\pL\pN._%+\-]+@[\pL\pN\-]+(?:\.[\pL\pN\-]+)+`)
	phoneForm = regexp.MustCompile(`[+(]?\d(?:[\pZ().\-/]{0,3}\d){8,}`)

	amountForm = wordForm(currency + `\pZ?` + amount + `|` + amount + `\pZ?` + currency)
	dealWords  = wordForm(`(?:discount|quote|contract|renewal|proposal|negotiated|agreed)` + more)

	contractWords = wordForm(`(?:renewal date|contract term|termination clause|auto renew|payment terms|` +
		`master service agreement|non disclosure)` + more + `|net(?: )?(?:30|60|90)|(?:MSA|SOW|NDA)s?`)
)

// wordForm makes an expression in which a space matches any separator of words, also hyphens and line
// ends.
func wordForm(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.ReplaceAll(text, " ", `[\pZ\s\-]+`))
}

const (
	more     = `[\pL\pN_]*` // of a word that continues: discounts, contract terms, auto-renewal
	amount   = `\d(?:[\d.,']*\d)?(?:\pZ?(?:k|m|bn|thousand|million|billion)\b)?`
	currency = `(?:\p{Sc}|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|SGD|HKD|ZAR|` +
		`dollars?|euros?|pounds?|francs?|yen|rupees?)\b)`
)

func findForms(text string, rule Rule, form *regexp.Regexp) []Finding {
	var findings []Finding
	for _, span := range form.FindAllStringIndex(text, -1) {
		findings = append(findings, Finding{Rule: rule, Start: span[0], End: span[1]})
	}
	return findings
}

// findWords finds whole words. Matches may overlap.
func findWords(text string, rule Rule, form *regexp.Regexp) []Finding {
	var findings []Finding
	for at := 0; ; {
		span := form.FindStringIndex(text[at:])
		if span == nil {
			return findings
		}
		start, end := at+span[0], at+span[1]
		if wholeWords(text, start, end) {
			findings = append(findings, Finding{Rule: rule, Start: start, End: end})
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		at = start + size
	}
}

// wholeWords reports whether a span neither starts nor ends inside a word, of any script.
func wholeWords(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
