package sandbox

import (
	"fmt"
	"slices"
	"time"
)

// LedgerEntry is one movement of credits. Entries are only ever added.
type LedgerEntry struct {
	Time      time.Time `json:"time"`
	Operation string    `json:"operation"` // empty if it came from the test
	RequestID string    `json:"requestId"`
	Amount    int64     `json:"amount"` // negative if it was spent
	Reason    string    `json:"reason"`
	Balance   int64     `json:"balance"` // afterwards
}

// Balance returns the credits that are left.
func (w *Tenant) Balance() int64 {
	return inspect(w, func(ws *workspace) int64 { return ws.Credits })
}

// Ledger copies every movement of credits.
func (w *Tenant) Ledger() []LedgerEntry {
	return inspect(w, func(ws *workspace) []LedgerEntry { return slices.Clone(ws.ledger) })
}

// AddCredits adds credits, or removes them if n is negative.
func (tx *Tx) AddCredits(n int64, reason string) {
	tx.change("AddCredits", func(now time.Time) bool {
		if tx.ws.Credits+n < 0 {
			return false
		}
		tx.ws.book(LedgerEntry{Time: now, Amount: n, Reason: reason})
		return true
	})
}

// price is what n rows cost. It ends the request if the balance is too low, so call it before any effect.
func (c *call) price(n int) int64 {
	return c.costs(n, c.sb.prices[c.op.Name])
}

func (c *call) costs(n int, each int64) int64 {
	if n < 0 || each > 0 && int64(n) > c.ws.Credits/each {
		deny("INSUFFICIENT_CREDITS", fmt.Sprintf("This needs %d x %d credits, and %d are left.", n, each, c.ws.Credits))
	}
	return int64(n) * each
}

// spend books credits. Call it in an effect.
func (c *call) spend(amount int64, reason string) {
	if amount > 0 {
		c.spent += amount
		c.ws.book(LedgerEntry{Time: c.now, Operation: c.op.Name, RequestID: c.id, Amount: -amount, Reason: reason})
	}
}

// buy makes a change, for the price of n rows.
func (c *call) buy(n int, reason string, change func(), format string, args ...any) {
	amount := c.price(n)
	c.effect(func() {
		change()
		c.spend(amount, reason)
	}, format, args...)
}

// charge books the price of a read, which has no other effect.
func (c *call) charge(reason, effect string) {
	if amount := c.price(1); amount > 0 {
		c.effect(func() { c.spend(amount, reason) }, "%s", effect)
	}
}

func (ws *workspace) book(e LedgerEntry) {
	ws.Credits += e.Amount
	e.Balance = ws.Credits
	ws.ledger = append(ws.ledger, e)
}

// books is the state of a workspace before a request.
type books struct {
	entries, version int
	balance          int64
}

// audit checks the invariants: it compares the books before and after a request.
func (c *call) audit(status int) (problems []string) {
	fail := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("request %s, %s, %d: ", c.id, c.op.Name, status)+fmt.Sprintf(format, args...))
	}
	balance := c.before.balance
	for _, e := range c.ws.ledger[c.before.entries:] {
		balance += e.Amount
		if e.RequestID != c.id || e.Balance != balance {
			fail("the ledger does not add up: %+v", e)
		}
	}
	if balance != c.ws.Credits || balance < 0 {
		fail("the balance is %d, the ledger says %d", c.ws.Credits, balance)
	}
	for _, a := range agents.in(c.ws) {
		if most := c.ws.spec(a).maxSpend; most > 0 && a.Spent > most {
			fail("a run of agent %s spent %d, and %d is the most", a.ID, a.Spent, most)
		}
	}
	for _, problem := range c.ws.auditMessages() {
		fail("%s", problem)
	}
	if status < 400 {
		return problems
	}
	if len(c.ws.ledger) != c.before.entries {
		fail("a refused request cost credits")
	}
	if c.ws.version != c.before.version || len(c.effects) > 0 {
		fail("a refused request changed the state: %v", c.effects)
	}
	return problems
}
