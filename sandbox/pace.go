package sandbox

import (
	"fmt"
	"time"
)

// pace is how long the background work of the service takes.
type pace struct {
	initialize time.Duration // a new campaign
	activate   time.Duration // an approved one, which is locked meanwhile
	reach      time.Duration // the contacts that fill a list
}

func defaultPace() pace { return pace{initialize: 30 * time.Second, activate: 3 * time.Second} }

func during(what string, d time.Duration, set func(*pace)) Option {
	return func(sb *Sandbox, _ *settings) error {
		if d < 0 {
			return fmt.Errorf("%s: %v is negative", what, d)
		}
		set(&sb.pace)
		return nil
	}
}

// InitializesFor sets how long a new campaign is initialized. The default is 30 seconds; zero means not at all.
func InitializesFor(d time.Duration) Option {
	return during("InitializesFor", d, func(p *pace) { p.initialize = d })
}

// ActivatesFor sets how long the activation of an approved campaign takes, and how long it, or a stop, holds the lock. The default is
// 3 seconds.
func ActivatesFor(d time.Duration) Option {
	return during("ActivatesFor", d, func(p *pace) { p.activate = d })
}

// ReachableAfter sets how long after a list was filled campaigns cannot reach its contacts. By default they reach them at once.
func ReachableAfter(d time.Duration) Option {
	return during("ReachableAfter", d, func(p *pace) { p.reach = d })
}
