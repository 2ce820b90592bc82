package tests

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"example.com/prospectkit"
	"example.com/prospectkit/event"
)

// Canary gathers what is reported as undocumented, as "kind name value".
type Canary struct {
	mu   sync.Mutex
	Seen []string
}

// Observe is the observer.
func (c *Canary) Observe(_ context.Context, e prospectkit.Event) {
	if e.Kind == event.KindUndocumented {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.Seen = append(c.Seen, strings.TrimSpace(fmt.Sprint(e.Undocumented.Kind, " ", e.Undocumented.Name, " ", e.Undocumented.Value)))
	}
}

// Option gives a client the observer.
func (c *Canary) Option() prospectkit.ClientOption { return prospectkit.WithObserver(c.Observe) }
