package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.AccountMe:           {handle: (*call).me},
	op.AccountCredits:      {handle: (*call).credits},
	op.SearchFilterOptions: {handle: (*call).filterOptions},
})

func (c *call) me() response {
	u := c.ws.User
	return reply(http.StatusOK, object{"user": object{"id": u.ID, "email": u.Email, "name": u.Name}})
}

func (c *call) credits() response {
	return reply(http.StatusOK, object{"credits": object{"balance": c.ws.Credits}})
}

func (c *call) filterOptions() response {
	return reply(http.StatusOK, object{"filterOptions": c.ws.filterOptions()})
}

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
	tx.do("AddCredits", func(now time.Time) error {
		if tx.ws.Credits+n < 0 {
			return fmt.Errorf("the balance is only %d", tx.ws.Credits)
		}
		tx.ws.book(LedgerEntry{Time: now, Amount: n, Reason: reason})
		return nil
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

// Outgoing is something that the service would have sent. The sandbox sends nothing.
type Outgoing struct {
	Time      time.Time `json:"time"`
	RequestID string    `json:"requestId"`
	Kind      string    `json:"kind"`  // "crm" or "message"
	To        string    `json:"to"`    // a CRM, or the id of a contact
	Count     int       `json:"count"` // of contacts

	CampaignID string `json:"campaignId,omitempty"` // of a message, whose request is the one that approved it: none, if the seed did
	SendID     string `json:"sendId,omitempty"`

	ListID     string   `json:"listId,omitempty"` // of a push into a CRM
	ContactIDs []string `json:"contactIds,omitempty"`
	Overwrite  bool     `json:"overwrite,omitempty"` // fields of existing records
}

// Outbox lists everything that the service would have sent, oldest first.
func (w *Tenant) Outbox() []Outgoing {
	return inspect(w, func(ws *workspace) []Outgoing { return copied(ws.sent) })
}
