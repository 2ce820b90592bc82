package spend

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"
)

// ErrUnknownPrice says that nobody knows what a call can cost. Match it with [errors.Is].
var ErrUnknownPrice = errors.New("spend: the price of the call is unknown")

// WebMonitorResult is how many credits a result of a web monitor costs (documented). An agent with a
// cap of n results costs at most n times as much.
const WebMonitorResult = 50

// Call is what a guard knows of a call before it is sent.
type Call struct {
	ID      string   // of the call and of its ticket
	Op      string   // such as "search.prospects"
	IDs     []string // in the path of the request, in order
	Body    []byte   // JSON, as it is sent; empty for a call without a body and for an upload
	Results int      // the most that the response can hold; 0: unknown
	Agent   *Agent   // that the call starts; nil: none, or unknown
	Repeats bool     // it may be sent, and billed, more than once
}

// Agent is what is known of the cost of an agent that starts.
type Agent struct {
	Op     string // of its creation, such as "agents.create-web-monitor"
	PerRun int64  // its maxCreditSpend: credits that one run may spend (documented); 0: no limit
	Every  int    // days from one run to the next; 0: undocumented for this kind of agent

	Until time.Time // when it expires at the latest; zero: it never does
}

// WorstCase returns how many credits the agent can spend in so many days: one run at its start, and
// the later ones, Every days apart, each at most PerRun credits. It fails with [ErrUnknownPrice] if the agent
// has no limit, or if how often it runs is undocumented.
func (a Agent) WorstCase(days int) (int64, error) {
	switch {
	case days < 1:
		return 0, fmt.Errorf("%w: %d days", ErrUnknownPrice, days)
	case a.PerRun <= 0:
		return 0, fmt.Errorf("%w: the agent has no maxCreditSpend", ErrUnknownPrice)
	case a.Every <= 0:
		return 0, fmt.Errorf("%w: how often this kind of agent runs is undocumented", ErrUnknownPrice)
	}
	if !a.Until.IsZero() {
		days = min(days, a.days())
	}
	return times(a.PerRun, int64(days/a.Every)+1), nil
}

// days is how many days are left, the last one as a whole. A time.Duration ends after 292 years: seconds do not.
func (a Agent) days() int {
	const day = 24 * 60 * 60
	now := time.Now()
	left := a.Until.Unix() - now.Unix()
	if a.Until.Nanosecond() > now.Nanosecond() {
		left++
	}
	return int(max(1, (left+day-1)/day))
}

// lifetime is WorstCase until the agent expires.
func (a Agent) lifetime() (int64, error) {
	if a.Until.IsZero() {
		return 0, fmt.Errorf("%w: the agent never expires", ErrUnknownPrice)
	}
	return a.WorstCase(a.days())
}

// Prices says what the calls of an operation cost, by its name. Most prices are undocumented: look them up in your plan. A free read is
// refused with any price but {}, because it may be sent more than once.
type Prices map[string]Price

// Price is the sum of its parts, in credits. The zero value says that the operation is free.
type Price struct {
	// PerCall is what each call costs.
	PerCall int64

	// PerItem is what each element of an array in the request body costs. ItemsIn is the name of that
	// array in the body. A body without it has an unknown price.
	PerItem int64
	ItemsIn string

	// PerResult is what each result in the response costs. The guard reserves for the largest page that
	// the call asks for, and commits what arrived. A call whose page has no known bound has an unknown price.
	PerResult int64

	// Runs is how many runs of an agent to count, each at its maxCreditSpend. Use it for kinds of agents
	// whose runs have no documented frequency, and for agents that never expire. It is no price for agents.activate,
	// where the configuration of the draft is unknown: give that a PerCall of all runs that you allow for.
	Runs int

	// WorstCase returns the most that a call can cost. It is called before the call is sent, from many
	// goroutines at once. It may ask the guard, which locks nothing meanwhile. An error refuses the call.
	WorstCase func(Call) (int64, error) `json:"-"`
}

func (p Price) check() error {
	if p.PerCall < 0 || p.PerItem < 0 || p.PerResult < 0 || p.Runs < 0 {
		return errors.New("is negative")
	}
	if (p.PerItem != 0) != (p.ItemsIn != "") {
		return errors.New("has only one of PerItem and ItemsIn")
	}
	return nil
}

// of returns the most that a call can cost, and the part of it that each result costs.
func (p Prices) of(c Call) (credits, each int64, err error) {
	price, known := p[c.Op]
	if c.Agent != nil { // what is known of this agent says more than a price for whatever starts
		if of, ok := p[c.Agent.Op]; ok {
			price, known = of, true
		} else if credits, err = c.Agent.lifetime(); err == nil && !c.Repeats {
			return credits, 0, nil
		}
	}
	switch {
	case c.Repeats && (!known || price.costs()):
		return 0, 0, fmt.Errorf("%w: the class of %s says that it costs nothing, so it may be sent more than once: give it no price but {}", ErrUnknownPrice, c.Op)
	case known:
		credits, err = price.worst(c)
	case c.Agent != nil:
	default:
		err = ErrUnknownPrice
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%w (give one for %s)", err, c.Op)
	}
	return credits, price.PerResult, nil
}

func (p Price) costs() bool {
	return p.PerCall != 0 || p.PerItem != 0 || p.PerResult != 0 || p.Runs != 0 || p.WorstCase != nil
}

func (p Price) worst(c Call) (sum int64, err error) {
	sum = p.PerCall
	if p.PerItem != 0 {
		n, err := elements(c.Body, p.ItemsIn)
		if err != nil {
			return 0, err
		}
		sum = plus(sum, times(p.PerItem, int64(n)))
	}
	if p.PerResult != 0 {
		if c.Results <= 0 {
			return 0, fmt.Errorf("%w: how many results it can have is unknown", ErrUnknownPrice)
		}
		sum = plus(sum, times(p.PerResult, int64(c.Results)))
	}
	if p.Runs != 0 {
		if c.Agent == nil || c.Agent.PerRun <= 0 {
			return 0, fmt.Errorf("%w: no maxCreditSpend of the agent is known, so Runs is no price: give a PerCall", ErrUnknownPrice)
		}
		sum = plus(sum, times(c.Agent.PerRun, int64(p.Runs)))
	}
	if p.WorstCase != nil {
		most, err := p.ask(c)
		if err != nil {
			return 0, err
		}
		sum = plus(sum, most)
	}
	return sum, nil
}

// ask calls WorstCase. A function that panics knows no price.
func (p Price) ask(c Call) (most int64, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: WorstCase panicked", ErrUnknownPrice)
		}
	}()
	c.IDs, c.Body = slices.Clone(c.IDs), slices.Clone(c.Body)
	if most, err = p.WorstCase(c); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknownPrice, err)
	}
	if most < 0 {
		return 0, fmt.Errorf("%w: WorstCase returned %d", ErrUnknownPrice, most)
	}
	return most, nil
}

// elements counts the elements of an array in a JSON object.
func elements(body []byte, name string) (int, error) {
	var fields map[string]json.RawMessage
	var array []json.RawMessage
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(fields[name], &array) != nil || array == nil {
		return 0, fmt.Errorf("%w: the request body has no array %q", ErrUnknownPrice, name)
	}
	return len(array), nil
}

// plus and times stay at the largest number instead of passing it. Their arguments are not negative.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low <= math.MaxInt64 { //nolint:gosec // G115: neither is negative
		return int64(low)
	}
	return math.MaxInt64
}
