package exchange

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// IdleTimeout is how long the default transport keeps an idle connection: less than servers do (Node.js announces 5 s, and closes after 6).
const IdleTimeout = 4 * time.Second

// Idle is how long the server keeps an idle connection, as far as it announces that. The zero value knows of nothing.
type Idle struct{ announced atomic.Int64 } // in seconds, and one more; 0: not announced

// Hear notes what a response announces: Keep-Alive: timeout=5.
func (i *Idle) Hear(h http.Header) {
	for _, line := range h["Keep-Alive"] {
		for param := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
			if seconds, err := strconv.ParseUint(strings.Trim(value, `" `), 10, 32); err == nil && strings.EqualFold(name, "timeout") {
				i.announced.Store(int64(seconds) + 1)
			}
		}
	}
}

// Fresh is how long a connection may have been idle that the server is not just closing; 0: none that was idle will do.
func (i *Idle) Fresh() time.Duration {
	told := i.announced.Load()
	if told == 0 {
		return IdleTimeout
	}
	announced := time.Duration(told-1) * time.Second
	if announced < 2*time.Second {
		return 0
	}
	return min(IdleTimeout, announced-time.Second)
}
