package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"example.com/prospectkit/internal/op"
)

// ScrollPlan sets the undocumented behavior of scroll tokens. The zero value means the defaults.
type ScrollPlan struct {
	TTL        time.Duration // default five minutes
	Repeatable bool          // the newest token of a scroll may be sent again, until the page after it has been read
	Code       string        // of the refusal; default VALIDATION_FAILED
}

// Scrolling changes how scroll tokens behave.
func Scrolling(plan ScrollPlan) Option {
	switch _, documented := op.CodeByName(plan.Code); {
	case plan.TTL < 0:
		return mistaken("Scrolling: the TTL is negative")
	case !documented && plan.Code != "":
		return mistaken("Scrolling: the code %s is undocumented", plan.Code)
	}
	return always(func(sb *Sandbox) { sb.scroll = plan.complete() })
}

func (p ScrollPlan) complete() ScrollPlan {
	p.TTL, p.Code = cmp.Or(p.TTL, 5*time.Minute), cmp.Or(p.Code, "VALIDATION_FAILED")
	return p
}

// scrollToken leads to a page.
type scrollToken struct {
	query    string
	offset   int
	furthest *int // how far the scroll has been read
}

// scrollRequest is the request of a page of any search.
type scrollRequest struct {
	query string // all of it but the token, in one form
	size  int
	token string
	later bool // there is a token
}

func (f *form) readScroll() (r scrollRequest) {
	r.size = f.integer("size", 1, maxSearchSize, defaultSearchSize)
	r.token, r.later = f.text("scrollToken")
	return r
}

// scrollPage returns the next page of results, for its price, with a token if there are more.
func (c *call) scrollPage(r scrollRequest, name string, found []json.RawMessage, show func(json.RawMessage) json.RawMessage) response {
	from, furthest := 0, new(int)
	if r.later {
		token := c.ws.scrolls[r.token]
		if token == nil || token.query != r.query || token.offset < *token.furthest {
			stop(&refusal{code: c.sb.scroll.Code, message: "The scroll token is spent, has expired or belongs to another query.", param: "scrollToken"})
		}
		from, furthest = min(token.offset, len(found)), token.furthest
	}
	to := min(len(found), from+r.size)
	next := ""
	c.buy(to-from, name+" found", func() {
		*furthest = from
		if r.later && !c.sb.scroll.Repeatable {
			delete(c.ws.scrolls, r.token)
		}
		if to < len(found) {
			next = c.mint(&scrollToken{query: r.query, offset: to, furthest: furthest})
		}
	}, "%s found: %d", name, to-from)
	body := object{name: appendEach([]json.RawMessage{}, found[from:to], show)}
	if next != "" {
		body["scrollToken"] = next
	}
	return reply(http.StatusOK, body)
}

// mint makes a token, which expires by the clock.
func (c *call) mint(t *scrollToken) string {
	c.ws.minted++
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", c.ws.number, c.ws.minted))
	token := hex.EncodeToString(sum[:20])
	ws := c.ws
	ws.scrolls[token] = t
	c.sb.agenda.add(c.now.Add(c.sb.scroll.TTL), "scroll token expired", c.op.Name, func() bool {
		there := ws.scrolls[token] == t
		delete(ws.scrolls, token)
		return there
	})
	return token
}
