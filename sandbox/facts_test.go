package sandbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

const facts = "/business/knowledge-hubs/learned-facts/"

func TestFactsAreEdited(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		edit := func(body object) object { return c.do("PATCH", facts+fact, body).ok(200)["fact"].(object) }
		require.Equal(t, object{"id": fact, "claim": "Saves time.", "category": "products"}, edit(object{"claim": "Saves time."}))
		require.Equal(t, object{"id": fact, "claim": "Saves time.", "category": "faq-insight"}, edit(object{"category": "faq-insight"}))
		for category := range strings.FieldsSeq("overview products pricing icp-use-cases differentiators competitors faq source-digest custom objection faq-insight") {
			require.Equal(t, category, edit(object{"claim": strings.Repeat("ä", 1000), "category": category})["category"])
		}
		require.Equal(t, "a", edit(object{"claim": "a"})["claim"])
		require.Equal(t, sandbox.Fact{ID: fact, Claim: "a", Category: "faq-insight"}, sb.Snapshot().Workspaces[0].Facts[0])
	})
}

func TestFactsThatAreNotEdited(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		before := sb.Snapshot().Workspaces[0].Facts
		for _, tc := range []struct {
			body  object
			param string
		}{
			{object{}, "claim"},
			{object{"text": "x"}, "claim"},
			{object{"claim": ""}, "claim"},
			{object{"claim": strings.Repeat("ä", 1001)}, "claim"},
			{object{"claim": nil}, "claim"},
			{object{"claim": 1, "category": "gossip"}, "claim"},
			{object{"category": "gossip"}, "category"},
			{object{"category": "FAQ"}, "category"},
			{object{"claim": "fine", "category": nil}, "category"},
		} {
			param, _ := c.do("PATCH", facts+fact, tc.body).fails(422, "VALIDATION_FAILED")
			require.Equal(t, tc.param, param, tc.body)
		}
		claim := object{"claim": "fine"}
		for _, missing := range []string{id(42), id(43), id(77)} {
			c.do("PATCH", facts+missing, claim).fails(404, "LEARNED_FACT_NOT_FOUND")
		}
		c.do("PATCH", facts+"12", claim).fails(422, "VALIDATION_FAILED")
		c.as(sb.Workspace("b").Token()).do("PATCH", facts+fact, claim).fails(404, "LEARNED_FACT_NOT_FOUND")
		require.Equal(t, before, sb.Snapshot().Workspaces[0].Facts)

		var made string
		sb.Do(func(tx *sandbox.Tx) { made = tx.Put("facts", sandbox.Row{"claim": "New."}) })
		c.do("PATCH", facts+made, claim).ok(200)
		sb.Do(func(tx *sandbox.Tx) { tx.Put("facts", sandbox.Row{"id": made, "retired": true}) })
		c.do("PATCH", facts+made, claim).fails(404, "LEARNED_FACT_NOT_FOUND")
	})
}

func TestTheAnonymizationGate(t *testing.T) {
	c := inPlace(t, sandbox.New(t, outreachOptions(sandbox.NoLimits())...))
	for _, claim := range []string{
		"Teams save a day a week.", "Ada Lovelace of Engines Ltd.", "Founded in 2019, 350 employees, 12 offices", "an @ sign", "ada@home",
		"12345678", "1,000,000,000 rows", "2019, 2020, 2021", "1234    56789", "Costs 30 EUR a month", "$5", "Buyers ask for a quote early",
		"They agreed on 900 people", "unquoted $5", "x_quote of $5", "USDX 900 agreed", "MUSD9 agreed", "9 eurosceptics agreed", "übermsa", "sowing", "msals",
		"contract. Term", "net: 30", "net 45", "net 300", "nets 30", "a master of service agreement",
	} {
		c.do("PATCH", facts+fact, object{"claim": claim}).ok(200)
	}
	for _, claim := range []string{
		"write to ada.b+x@mail.example.com!", "jörg@größe.example", "123456789", "call +49 (30) 1234-567 now", "(030)/123.45.67 8",
		"a discount of $5", "EUR 1,500.50 were Agreed", "a quote of 3k euros", "2 million £ by contract", "5€, renewal", "PROPOSAL: 900 usd",
		"negotiated 10 pounds", "USD900 agreed", "900usd agreed", "agreed on 5kEUR", "Renewal Date", "contract  term", "a termination\nclause", "auto-renew", "auto renew", "payment terms",
		"net 30", "net-60", "NET90", "a master service agreement", "the MSA.", "SOW", "three NDAs", "contract terms", "$500 discounts",
		"auto-renewal", "renewal dates", "contracting for $5", "non-disclosure", "non disclosure", "(NDA)",
	} {
		param, _ := c.do("PATCH", facts+fact, object{"claim": claim, "category": "faq"}).fails(422, "LEARNED_FACT_NOT_ANONYMIZED")
		require.Equal(t, "claim", param)
	}
	for word := range strings.FieldsSeq("discount quote contract renewal proposal negotiated agreed") {
		c.do("PATCH", facts+fact, object{"claim": word + ", then USD 900"}).fails(422, "LEARNED_FACT_NOT_ANONYMIZED")
		c.do("PATCH", facts+fact, object{"claim": word + ", then 900 people"}).ok(200)
	}
	require.Equal(t, "products", at(c.do("PATCH", facts+fact, object{"claim": "fine"}).ok(200), "fact", "category"), "a refused edit changes nothing")
}
