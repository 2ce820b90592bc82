package exchange

import (
	"net/http"
	"strings"
	"sync/atomic"
)

// Relayed is whether responses have passed a gateway that may repeat a request without a body, as far as they tell. The zero value knows of none.
type Relayed struct{ seen atomic.Bool }

// Hear notes what a gateway adds to a response.
func (r *Relayed) Hear(h http.Header) {
	for name := range h {
		switch name {
		case "Via", "Age", "Cache-Status", "X-Varnish", "X-Served-By":
		default:
			if name != "X-Cache" && !strings.HasPrefix(name, "X-Cache-") {
				continue
			}
		}
		r.seen.Store(true)
		return
	}
}

// Seen reports whether a response has passed one.
func (r *Relayed) Seen() bool { return r.seen.Load() }
