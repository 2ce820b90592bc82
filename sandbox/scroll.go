package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
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

// page is the request of a page of any search.
type page struct {
	query string // all of it but the token
	size  int
	token string
	later bool // there is a token
}

func (c *call) readPage() (p page) {
	p.size = c.body.integer("size", 1, maxSearchSize, defaultSearchSize)
	p.token, p.later = c.body.text("scrollToken")
	rest := maps.Clone(c.body.fields)
	delete(rest, "scrollToken")
	p.query = c.req.URL.Path + string(must(json.Marshal(rest)))
	return p
}

// scroll returns the next page of results, for its price, with a token if there are more.
func (c *call) scroll(p page, name string, found []json.RawMessage) response {
	from := 0
	if p.later {
		token := c.ws.scrolls[p.token]
		if token == nil || token.query != p.query {
			stop(invalid("scrollToken", "is spent, has expired or belongs to another query"))
		}
		from = min(token.offset, len(found))
	}
	to := min(len(found), from+p.size)
	body := object{name: append([]json.RawMessage{}, found[from:to]...)}
	c.buy(to-from, name+" found", func() {
		delete(c.ws.scrolls, p.token)
		if to < len(found) {
			body["scrollToken"] = c.mint(&scrollToken{p.query, to})
		}
	}, "%s found: %d", name, to-from)
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
