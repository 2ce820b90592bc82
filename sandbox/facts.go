package sandbox

import (
	"net/http"

	"example.com/prospectkit/internal/op"
)

var factEndpoints = map[*op.Op]endpoint{
	op.FactsEdit: {handle: (*call).editFact, json: true},
}

const longestClaim = 1000

var factCategories = []string{
	"overview", "products", "pricing", "icp-use-cases", "differentiators", "competitors", "faq", "source-digest", "custom",
	"objection", "faq-insight",
}

func (c *call) editFact() (response, error) {
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
	f := c.ws.fact(id)
	invalid, missing, telling := body.err(), error(nil), error(nil)
	if f == nil || f.Retired || f.OtherTeam {
		missing = refuse("LEARNED_FACT_NOT_FOUND", "No learned fact of your team has this id.")
	} else {
		c.found(f.ID, id)
	}
	if found := c.identifying(claim); found != "" && invalid == nil {
		telling = &refusal{code: "LEARNED_FACT_NOT_ANONYMIZED", message: "The claim has " + found + ".", param: "claim"}
	}
	if err := c.first(invalid, missing, telling); err != nil {
		return response{}, err
	}

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

func (ws *workspace) fact(id string) *Fact {
	return find(ws.facts, func(f *Fact) bool { return sameID(f.ID, id) })
}
