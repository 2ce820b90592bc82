package claim_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/examples/claim"
)

// found writes findings as rule and words.
func found(text string) (all []string) {
	for _, f := range claim.Check(text) {
		all = append(all, string(f.Rule)+": "+text[f.Start:f.End])
	}
	return all
}

func TestCheck_ClaimsThatPass(t *testing.T) {
	for _, text := range []string{
		"", "Teams save a day a week.", "Founded in 2019, 350 employees, 12 offices", "ends with @ sign", "ada@home",
		"ISO 27001 and SOC 2", "Costs 30 EUR a month", "Buyers ask for a quote early", "They agreed on the agenda",
		"12345678", "1,000,000,000 rows", "2019, 2020, 2021", "call 4711", "networks of 30 people", "NET: 30 apps",
		"Contracting", "Sowing", "NDAx", "unquoted $5", "nets 30", "payment term", "master services agreement", "the agenda",
		"übermsa", "msaß", "9 or 10 of 100 people in 3 of 4 teams",
	} {
		require.Empty(t, found(text), text)
	}
}

func TestCheck_ClaimsThatAreLikelyRefused(t *testing.T) {
	for text, want := range map[string][]string{
		"write to ada.b+x@mail.example.com!": {"e-mail address: ada.b+x@mail.example.com"},
		"jörg@größe.example":                 {"e-mail address: jörg@größe.example"},
		"call 123456789":                     {"9 or more phone-like digits: 123456789"},
		"call +49 (30) 1234-567 now":         {"9 or more phone-like digits: +49 (30) 1234-567"},
		"call (030)/123.45.67":               {"9 or more phone-like digits: (030)/123.45.67"},
		"a discount of $5":                   {"currency amount beside deal language: discount", "currency amount beside deal language: $5"},
		"EUR 1,500.50 were Agreed":           {"currency amount beside deal language: EUR 1,500.50", "currency amount beside deal language: Agreed"},
		"a quote of 3k euros, 2 million £":   {"currency amount beside deal language: quote", "currency amount beside deal language: 3k euros", "currency amount beside deal language: 2 million £"},
		"their renewal date is near":         {"contract vocabulary: renewal date"},
		"Contract  Term: 2 years":            {"contract vocabulary: Contract  Term"},
		"a termination\nclause":              {"contract vocabulary: termination\nclause"},
		"it will auto-renew, or auto renew":  {"contract vocabulary: auto-renew", "contract vocabulary: auto renew"},
		"payment terms are net 30":           {"contract vocabulary: payment terms", "contract vocabulary: net 30"},
		"Net-60 or NET90":                    {"contract vocabulary: Net-60", "contract vocabulary: NET90"},
		"a master service agreement (MSA)":   {"contract vocabulary: master service agreement", "contract vocabulary: MSA"},
		"discounts of $5":                    {"currency amount beside deal language: discounts", "currency amount beside deal language: $5"},
		"contract terms, auto-renewals":      {"contract vocabulary: contract terms", "contract vocabulary: auto-renewals"},
		"three NDAs, MSAs and SOWs":          {"contract vocabulary: NDAs", "contract vocabulary: MSAs", "contract vocabulary: SOWs"},
		"SOW, NDA and non-disclosure.":       {"contract vocabulary: SOW", "contract vocabulary: NDA", "contract vocabulary: non-disclosure"},
	} {
		require.Equal(t, want, found(text), text)
	}
}

// Each word of the document counts, whether or not it goes on, in either case, and only beside an amount.
func TestCheck_DealLanguage(t *testing.T) {
	for word := range strings.FieldsSeq("discount quote contract renewal proposal negotiated agreed") {
		for _, form := range []string{word, strings.ToUpper(word)} {
			require.Equal(t, []string{
				"currency amount beside deal language: " + form, "currency amount beside deal language: USD 900",
			}, found(form+", then USD 900"))
			require.Empty(t, found(form+", then 900 people"))
			require.Empty(t, found("x"+form+", then USD 900"))
			require.Len(t, found(form+"s, then USD 900"), 2)
		}
	}
}

func TestCheck_ContractVocabulary(t *testing.T) {
	for _, words := range []string{
		"renewal date", "contract term", "termination clause", "auto-renew", "payment terms", "net 30", "net 60", "net 90",
		"master service agreement", "MSA", "SOW", "non-disclosure", "NDA",
	} {
		for _, form := range []string{words, strings.ToUpper(words), strings.ToLower(words)} {
			require.Equal(t, []string{"contract vocabulary: " + form}, found("the "+form+" of it"), words)
			require.Empty(t, found("the x"+form+" of it"), words)
			goesOn := strings.Contains(words, " ") || strings.Contains(words, "-")
			require.Equal(t, goesOn && !strings.HasPrefix(words, "net"), len(found("the "+form+"x of it")) > 0, words)
		}
	}
	require.Empty(t, found("net 45"))
	require.Empty(t, found("net 300"))
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"", "a@b.c", "+49 (30) 1234-567", "discount of $5", "€ 5 agreed", "net-30 MSA", "\xff\xfe 123456789", "auto\u00a0renew", "contract term 1.000,00 USD",
	} {
		f.Add(seed, "plain")
	}
	f.Fuzz(func(t *testing.T, text, more string) {
		findings := claim.Check(text)
		require.Equal(t, findings, claim.Check(text), "it depends on the claim alone")
		rules := make(map[claim.Rule]int)
		last := 0
		for _, finding := range findings {
			require.GreaterOrEqual(t, finding.Start, last, "in the order of the text")
			require.Less(t, finding.Start, finding.End)
			require.LessOrEqual(t, finding.End, len(text))
			words := text[finding.Start:finding.End]
			require.True(t, utf8.ValidString(words) || !utf8.ValidString(text), "no character is cut")
			last = finding.Start
			rules[finding.Rule]++
		}
		require.NotEqual(t, 1, rules[claim.Deal], "an amount and a word, at least")
		if !strings.Contains(text, "@") {
			require.Zero(t, rules[claim.Email])
		}
		longer := claim.Check(text + "\n\n" + more)
		for rule, n := range rules {
			count := len(slices.DeleteFunc(slices.Clone(longer), func(f claim.Finding) bool { return f.Rule != rule }))
			require.GreaterOrEqual(t, count, n, "what follows does not hide %s", rule)
		}
	})
}

// A phrase does not hide one that overlaps it.
func TestCheck_OverlappingPhrases(t *testing.T) {
	require.Equal(t, []string{"contract vocabulary: contract termination", "contract vocabulary: termination clause"},
		found("They asked for a contract termination clause."))
}

func TestCheck_Rules(t *testing.T) {
	for text, want := range map[string][]claim.Rule{
		"nothing to hide":                    nil,
		"ask a@b.example or +49 30 12345678": {claim.Email, claim.Digits},
		"the auto-renewal and an NDA":        {claim.Contract, claim.Contract},
		"agreed on $500":                     {claim.Deal, claim.Deal},
		"costs $500":                         nil,
		"a quote":                            nil,
	} {
		var got []claim.Rule
		for _, f := range claim.Check(text) {
			require.Less(t, f.Start, f.End)
			got = append(got, f.Rule)
		}
		require.Equal(t, want, got, text)
	}
}

// A word of a contract, or of a deal, is not a part of another word, in any script.
func TestCheck_WholeWords(t *testing.T) {
	for text, want := range map[string]int{
		"NDA": 1, "(NDA)": 1, "an NDA, two NDAs": 2, "xNDA": 0, "NDAx": 0, "\u00e9NDA": 0, "NDA\u00e9": 0, "NDA_": 0, "_NDA": 0, "NDA1": 0, "\u0661NDA": 0,
		"NDA-NDA": 2, "msa net30": 2, "net 45": 0,
	} {
		require.Len(t, claim.Check(text), want, text)
	}
}

// Findings come in the order of the text, whatever their rules, the shorter first.
func TestCheck_Order(t *testing.T) {
	const text = "an NDA, agreed on $500 with +49 30 12345678 or a@b.example"
	require.Equal(t, []claim.Finding{
		{Rule: claim.Contract, Start: 3, End: 6},
		{Rule: claim.Deal, Start: 8, End: 14},
		{Rule: claim.Deal, Start: 18, End: 22},
		{Rule: claim.Digits, Start: 28, End: 43},
		{Rule: claim.Email, Start: 47, End: 58},
	}, claim.Check(text))
	both := claim.Check("123456789@b.example")
	require.Equal(t, []claim.Finding{{Rule: claim.Digits, Start: 0, End: 9}, {Rule: claim.Email, Start: 0, End: 19}}, both)
}
