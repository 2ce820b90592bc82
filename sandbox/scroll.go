package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// scrollTTL is how long a token lives.
const scrollTTL = 5 * time.Minute

// scrollToken leads to a page, once.
type scrollToken struct {
	query  string
	offset int
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
	from := 0
	if r.later {
		token := c.ws.scrolls[r.token]
		if token == nil || token.query != r.query {
			stop(invalid("scrollToken", "is spent, has expired or belongs to another query"))
		}
		from = min(token.offset, len(found))
	}
	to := min(len(found), from+r.size)
	next := ""
	c.buy(to-from, name+" found", func() {
		delete(c.ws.scrolls, r.token)
		if to < len(found) {
			next = c.mint(&scrollToken{r.query, to})
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
	c.sb.agenda.add(c.now.Add(scrollTTL), "scroll token expired", c.op.Name, func() bool {
		there := ws.scrolls[token] == t
		delete(ws.scrolls, token)
		return there
	})
	return token
}
