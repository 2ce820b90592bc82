package sandbox

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	_ = documented("facts.gate", "a claim with an e-mail address, a run of 9 or more phone-like digits, a currency amount beside deal language, or contract vocabulary answers LEARNED_FACT_NOT_ANONYMIZED; names are not checked")
	_ = ambient("facts.gate.words", "the words of the gate are whole words, whatever their case; white space and hyphens keep them together")
	_ = ambient("facts.gate.digits", "up to three spaces, brackets, dots, hyphens and slashes may stand between two phone-like digits")
	_ = ambient("facts.gate.currency", "a currency is a sign, or a common code or name, beside a number")
)

// These are the words of the document, in lower case and with spaces for hyphens.
var (
	dealLanguage  = []string{"discount", "quote", "contract", "renewal", "proposal", "negotiated", "agreed"}
	contractTerms = []string{
		"renewal date", "contract term", "termination clause", "auto renew", "payment terms",
		"net 30", "net 60", "net 90", "net30", "net60", "net90", "master service agreement", "msa", "sow", "non disclosure", "nda",
	}
)

var (
	addressForm = regexp.MustCompile(`[\pL\pN._%+-]@[\pL\pN-]+\.[\pL\pN-]`)
	phoneForm   = regexp.MustCompile(`\d([\pZ()./-]{0,3}\d){8}`)
	amountForm  = regexp.MustCompile(`(?i)` + currencyForm + `\pZ?\d|\d\pZ?((k|m|bn|thousand|million|billion)\b\pZ?)?` + currencyForm)
)

const currencyForm = `(\p{Sc}|\b(USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|SGD|HKD|ZAR|` +
	`(dollar|euro|pound|franc|rupee)s?|yen)\b)`

// identifying says what in a claim could tell whom it is about: nothing, if it is empty.
func identifying(claim string) string {
	words := phrases(claim)
	switch {
	case addressForm.MatchString(claim):
		return "an e-mail address"
	case phoneForm.MatchString(claim):
		return "a run of phone-like digits"
	case amountForm.MatchString(claim) && hasPhrase(words, dealLanguage):
		return "a currency amount beside deal language"
	case hasPhrase(words, contractTerms):
		return "contract vocabulary"
	}
	return ""
}

// phrases writes the words of a text in lower case, with one space between those that white space or hyphens separate, and a
// bar where anything else does.
func phrases(text string) string {
	var b strings.Builder
	for _, r := range " " + text + " " {
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

func hasPhrase(words string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(words, " "+p+" ") {
			return true
		}
	}
	return false
}
