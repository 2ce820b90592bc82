package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

var crmRoom = map[*op.Op]handler{
	op.ListsCRMPush: (*call).pushToCRM,
}

var (
	_               = documented("crm.ids", "with contactIds, 1 to 500, only these are pushed, without looking at the list, and fields are overwritten; without, the whole list is pushed and nothing overwritten")
	_               = documented("crm.refusals", "a company list answers CONTACT_LIST_REQUIRED, a CRM that is not connected CRM_NOT_CONNECTED")
	_               = inferred("crm.unknown", "unknown keys of the body are ignored")
	ruleCRMAccepted = assumed("crm.status", "a push is answered with 202")
	_               = ambient("crm.kinds", "the five supported kinds are those of the seed; their names are masked in the document")
)

const crmKinds = 5

// CRMPush is a push into a CRM: recorded here, and going nowhere.
type CRMPush struct {
	Time       time.Time
	RequestID  string
	CRM        string
	ListID     string
	ContactIDs []string // what was pushed
	Overwrite  bool     // whether fields of existing records were overwritten
}

// CRMPushes copies what would have reached a CRM.
func (w *Tenant) CRMPushes() []CRMPush {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	pushes := slices.Clone(w.ws.pushes)
	for i := range pushes {
		pushes[i].ContactIDs = slices.Clone(pushes[i].ContactIDs)
	}
	return pushes
}

// Outgoing is something that would have left the service. Nothing ever does.
type Outgoing struct {
	Time      time.Time
	RequestID string
	Kind      string // "crm" or "message"
	To        string // a CRM, or the id of a contact
	Count     int    // of contacts

	CampaignID string // of a message, whose request is the one that approved it: none, if the seed did
	SendID     string
}

// Outbox lists everything that would have left the service, oldest first.
func (w *Tenant) Outbox() []Outgoing {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	out := slices.Clone(w.ws.messages)
	for _, p := range w.ws.pushes {
		out = append(out, Outgoing{Time: p.Time, RequestID: p.RequestID, Kind: "crm", To: p.CRM, Count: len(p.ContactIDs)})
	}
	slices.SortStableFunc(out, func(a, b Outgoing) int { return a.Time.Compare(b.Time) })
	return out
}

func (c *call) pushToCRM() (answer, error) {
	id, err := c.listID()
	if err != nil {
		return answer{}, err
	}
	body, err := c.fields()
	if err != nil {
		return answer{}, err
	}
	var v checks
	crm := body.required(&v, "crm")
	if len(v.messages) == 0 && !slices.Contains(c.ws.crm.Supported, crm) {
		v.fail("crm", "has to be one of %s", strings.Join(c.ws.crm.Supported, ", "))
	}
	contacts, chosen := body.ids(&v, "contactIds")
	if err := v.err(); err != nil {
		return answer{}, err
	}
	l, err := c.listByID(id)
	switch {
	case err != nil:
		return answer{}, err
	case l.EntityType != ContactList:
		return answer{}, refuse("CONTACT_LIST_REQUIRED", "The list is a company list.")
	case !slices.Contains(c.ws.crm.Connected, crm):
		return answer{}, refuse("CRM_NOT_CONNECTED", fmt.Sprintf("%s is not connected.", crm))
	}

	c.uses(ruleCRMAccepted)
	if !chosen {
		contacts = slices.Clone(l.ids)
	}
	push := CRMPush{c.now, c.id, crm, l.ID, contacts, chosen}
	c.effect(func() { c.ws.pushes = append(c.ws.pushes, push) }, "pushed to %s: %d contacts", crm, len(contacts))
	return reply(http.StatusAccepted, object{"crm": crm, "listIds": []string{l.ID}})
}
