package sandbox

import (
	"errors"
	"fmt"
	"time"

	"example.com/prospectkit/internal/op"
)

// Option configures a sandbox.
type Option func(*Sandbox) error

// always is an option without a mistake to make.
func always(set func(*Sandbox)) Option { return checked(true, "", set) }

// checked is an option that is a mistake unless it is valid.
func checked(valid bool, mistake string, set func(*Sandbox)) Option {
	return func(sb *Sandbox) error {
		if !valid {
			return errors.New(mistake)
		}
		set(sb)
		return nil
	}
}

// Seed gives the sandbox its first state. Without it, there is one empty workspace with 10,000 credits.
func Seed(state State) Option { return always(func(sb *Sandbox) { sb.seed = state }) }

// WithClock gives the sandbox another clock than that of the machine.
func WithClock(c Clock) Option {
	return checked(c != nil, "WithClock: no clock", func(sb *Sandbox) { sb.clock = c })
}

// Credits gives every workspace of the seed this balance, zero or more, whatever the seed says.
func Credits(n int64) Option {
	return checked(n >= 0, "Credits: the balance is negative", func(sb *Sandbox) { sb.credits = &n })
}

// Prices are credits for each row that an operation adds, finds or delivers, by the name of the operation. A people
// watcher pays for each watched contact. Without [WithPrices], a row that is found or delivered costs 1, a result of a web monitor 50, and
// the rest nothing: only the 50 is documented.
type Prices map[string]int64

var defaultPrices = Prices{
	"agents.create-web-monitor":      50,
	"agents.create-people-watcher":   1,
	"agents.create-person-discovery": 1,
	"search.prospects":               1,
	"search.run-saved":               1,
	"search.companies":               1,
	"search.save-to-list":            1,
}

// WithPrices sets prices of zero or more, of operations that may spend credits. The others keep their values. What agents.activate starts has
// the price of its creation.
func WithPrices(prices Prices) Option {
	return func(sb *Sandbox) error {
		for name, price := range prices {
			if o, ok := op.ByName(name); !ok || !o.Spends.Possible() || o == op.AgentsActivate {
				return fmt.Errorf("WithPrices: no operation %q has a price", name)
			}
			if price < 0 {
				return fmt.Errorf("WithPrices: %s: %d is negative", name, price)
			}
			sb.prices[name] = price
		}
		return nil
	}
}

// HideFor keeps a created list out of the listings for a while, as if reads lagged.
func HideFor(d time.Duration) Option { return always(func(sb *Sandbox) { sb.hideFor = d }) }

// AllowRemote lets [Sandbox.Handler] accept every host name. Then any web page in a browser that can reach it can use it, too.
func AllowRemote() Option { return always(func(sb *Sandbox) { sb.remote = true }) }

// NoLimits raises the limits of all surfaces: a million requests a minute, a thousand million a day. Responses still have the
// RateLimit headers.
func NoLimits() Option {
	return always(func(sb *Sandbox) {
		for surface := range op.DocumentedLimits {
			sb.limit(surface, Limit{})
		}
	})
}

// Limit is how many requests a surface accepts. A zero means that there is no such window; two zeros mean the limits of [NoLimits].
type Limit struct{ PerMinute, PerDay int }

// Limits replaces the limits of surfaces: lists, campaigns, account, search, saved-searches, agents, contacts, companies,
// imports, reference. Surfaces that are not named keep theirs.
func Limits(limits map[string]Limit) Option {
	return func(sb *Sandbox) error {
		for name, limit := range limits {
			if _, ok := op.DocumentedLimits[op.Surface(name)]; !ok {
				return fmt.Errorf("Limits: no surface %q", name)
			}
			if limit.PerMinute < 0 || limit.PerDay < 0 {
				return fmt.Errorf("Limits: %s: a limit is negative", name)
			}
			sb.limit(op.Surface(name), limit)
		}
		return nil
	}
}

// SlidingWindows makes the windows slide. By default they start at a first request and reset as a whole.
func SlidingWindows() Option { return always(func(sb *Sandbox) { sb.sliding = true }) }

// InitializesFor sets how long a new campaign is initialized. The default is 30 seconds; zero means not at all.
func InitializesFor(d time.Duration) Option {
	return checked(d >= 0, "InitializesFor: the time is negative", func(sb *Sandbox) { sb.initializes = d })
}

// ActivatesFor sets how long the activation of an approved campaign takes, and how long it, or a stop, holds the lock. The default is
// 3 seconds.
func ActivatesFor(d time.Duration) Option {
	return checked(d >= 0, "ActivatesFor: the time is negative", func(sb *Sandbox) { sb.activates = d })
}
